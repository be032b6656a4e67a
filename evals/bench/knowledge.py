"""Definitions that sixty questions need, and those that they are shown: Chinook, Northwind and the sample database.

`data/knowledge_*.yaml` hold forty entries a database, `data/knowledge_questions.yaml` the questions with what each
needs. Both were written before there was anything to retrieve them with.
"""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import numpy as np

from ...prompts.tokens import estimate_tokens
from ...tools.database import Database
from ...tools.errors import SettingsError
from ...tools.knowledge import Knowledge, read_knowledge
from ...tools.linking import SchemaLinker
from ...tools.record_files import read_records
from ...tools.sample import build_sample
from ...tools.values import ValueIndex
from .registry import BenchOptions

DATA = Path(__file__).parent / "data"
_PLACES = {"chinook": "chinook/Chinook_Sqlite.sqlite", "northwind": "northwind/northwind.sqlite"}
_REPEATS = 5


def run(options: BenchOptions) -> dict[str, object]:
    """The figures, over all questions.

    Returns:
        `questions`; `needed`, the definitions that they need; `needed_shown`, the share of those that are shown;
        `shown_not_needed`, the share of what is shown that is not needed; `tokens` that a question is shown; `p50_ms`
        of a retrieval, linking not counted.
    """
    asked: dict[str, list[Mapping[str, object]]] = defaultdict(list)
    records = cast("Sequence[Mapping[str, object]]", read_records(DATA / "knowledge_questions.yaml"))
    for record in records[: options.limit]:
        asked[str(record["database"])].append(record)
    needed = shown = hit = tokens = 0
    times: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, questions in asked.items():
            place = _PLACES.get(name)
            path = options.folder / "sample-dbs" / place if place else build_sample(Path(folder) / "kestrel.sqlite")
            with Database.open(path) as database:
                knowledge = Knowledge.of(read_knowledge(DATA / f"knowledge_{name}.yaml"), database)
                if knowledge.problems:
                    raise SettingsError(f"the entries don't fit {name}: {knowledge.problems[0]}")
                linker = SchemaLinker(knowledge.schema, ValueIndex.open(database))
                for record in questions:
                    question, wanted = str(record["question"]), set(cast("list[str]", record["needs"]))
                    linked = [(item.table, item.column, item.p) for item in linker.link(question).items]
                    found = knowledge.find(question, linked)
                    for _ in range(_REPEATS):
                        start = time.perf_counter()
                        knowledge.find(question, linked)
                        times.append(time.perf_counter() - start)
                    keys = {entry.key for entry in found.entries}
                    needed, shown, hit = needed + len(wanted), shown + len(keys), hit + len(wanted & keys)
                    tokens += estimate_tokens("\n".join(entry.line for entry in found.entries))
    count = sum(map(len, asked.values()))
    return {
        "questions": count,
        "needed": needed,
        "needed_shown": round(hit / needed, 4),
        "shown_not_needed": round(1 - hit / shown, 4),
        "tokens": round(tokens / count),
        "p50_ms": round(1000 * float(np.percentile(times, 50)), 2),
    }
