"""Definitions that sixty questions need, and those that they are shown: Chinook, Northwind and the sample database.

`data/knowledge_*.yaml` hold forty entries a database, `data/knowledge_questions.yaml` the questions with what each
needs. Both were written before there was anything to retrieve them with. Where `data/knowledge_others_*.yaml` and
`data/knowledge_others_questions.yaml` are there, by people who have not seen the retrieval, half of everything is
theirs: of ours stay the first ten questions a database, what they need, and further entries up to twenty.
"""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np

from ...prompts.tokens import estimate_tokens
from ...tools.database import Database
from ...tools.errors import SettingsError
from ...tools.knowledge import Knowledge, read_knowledge
from ...tools.knowledge.read import Layers
from ...tools.linking import SchemaLinker
from ...tools.record_files import read_records
from ...tools.sample import build_sample
from ...tools.values import ValueIndex
from .registry import BenchOptions

DATA = Path(__file__).parent / "data"
_PLACES = {"chinook": "chinook/Chinook_Sqlite.sqlite", "northwind": "northwind/northwind.sqlite"}
_REPEATS = 5
_OUR_QUESTIONS, _OUR_ENTRIES = 10, 20
"""What stays of ours for each database where others have written the other half."""


@dataclass(frozen=True)
class _Asked:
    """A question with the keys of the entries that it needs."""

    question: str
    needs: frozenset[str]
    by_others: bool


@dataclass
class _Count:
    """What questions needed and were shown."""

    needed: int = 0
    shown: int = 0
    hit: int = 0

    def rates(self) -> dict[str, object]:
        """As the figures have them."""
        return {
            "needed": self.needed,
            "needed_shown": round(self.hit / self.needed, 4),
            "shown_not_needed": round(1 - self.hit / self.shown, 4) if self.shown else 0.0,
        }


def run(options: BenchOptions) -> dict[str, object]:
    """The figures, over all questions.

    Returns:
        `questions`; `needed`, the definitions that they need; `needed_shown`, the share of those that are shown;
        `shown_not_needed`, the share of what is shown that is not needed; `tokens` that a question is shown; `p50_ms`
        of a retrieval, linking not counted; `by_others`, how many questions and entries others wrote and the same
        rates over their questions alone, None where there are none.
    """
    others = (DATA / "knowledge_others_questions.yaml").exists()
    asked = _questions(others, options.limit)
    whole, theirs, entries, tokens = _Count(), _Count(), 0, 0
    times: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, questions in asked.items():
            place = _PLACES.get(name)
            path = options.folder / "sample-dbs" / place if place else build_sample(Path(folder) / "kestrel.sqlite")
            with Database.open(path) as database:
                layers = _entries(name, questions) if others else read_knowledge(DATA / f"knowledge_{name}.yaml")
                entries += len(layers[-1]) if others else 0
                knowledge = Knowledge.of(layers, database)
                _check(name, knowledge, questions)
                linker = SchemaLinker(knowledge.schema, ValueIndex.open(database))
                for one in questions:
                    linked = [(item.table, item.column, item.p) for item in linker.link(one.question).items]
                    found = knowledge.find(one.question, linked)
                    for _ in range(_REPEATS):
                        start = time.perf_counter()
                        knowledge.find(one.question, linked)
                        times.append(time.perf_counter() - start)
                    keys = {entry.key for entry in found.entries}
                    for count in (whole, theirs) if one.by_others else (whole,):
                        count.needed += len(one.needs)
                        count.shown += len(keys)
                        count.hit += len(one.needs & keys)
                    tokens += estimate_tokens("\n".join(entry.line for entry in found.entries))
    count = sum(map(len, asked.values()))
    by_others = sum(one.by_others for questions in asked.values() for one in questions)
    return {
        "questions": count,
        **whole.rates(),
        "tokens": round(tokens / count),
        "p50_ms": round(1000 * float(np.percentile(times, 50)), 2),
        "by_others": {"questions": by_others, "entries": entries, **theirs.rates()} if by_others else None,
    }


def _questions(others: bool, limit: int | None) -> dict[str, list[_Asked]]:
    """The questions by database, ours first."""
    asked: dict[str, list[_Asked]] = defaultdict(list)
    files = ("knowledge_questions.yaml", *(("knowledge_others_questions.yaml",) if others else ()))
    for file in files:
        records = cast("Sequence[Mapping[str, object]]", read_records(DATA / file))
        for record in records[:limit]:
            name, needs = str(record["database"]), frozenset(cast("list[str]", record["needs"]))
            if not others or file != files[0] or len(asked[name]) < _OUR_QUESTIONS:
                asked[name].append(_Asked(str(record["question"]), needs, file != files[0]))
    return asked


def _entries(name: str, questions: Sequence[_Asked]) -> Layers:
    """Half of the entries ours, half by others."""
    needed = {key for one in questions if not one.by_others for key in one.needs}
    (ours,) = read_knowledge(DATA / f"knowledge_{name}.yaml")
    kept = [entry for entry in ours if entry.key in needed]
    kept += [entry for entry in ours if entry.key not in needed][: max(0, _OUR_ENTRIES - len(kept))]
    return (tuple(kept), *read_knowledge(DATA / f"knowledge_others_{name}.yaml"))


def _check(name: str, knowledge: Knowledge, questions: Sequence[_Asked]) -> None:
    """Entries fit the database, and what questions need is there.

    Raises:
        SettingsError: Not so; the message names the first.
    """
    if knowledge.problems:
        raise SettingsError(f"the entries don't fit {name}: {knowledge.problems[0]}")
    keys = {entry.key for entry in knowledge.entries}
    for one in questions:
        if missing := sorted(one.needs - keys):
            raise SettingsError(f"{name}: {one.question!r} needs {missing[0]!r}, which is no entry")
