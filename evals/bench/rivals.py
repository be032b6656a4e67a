"""Whether the reading that a question hangs on is shown, and none where nothing is open.

`data/rival_questions.yaml` holds questions over the sample database, Chinook, Northwind and KaggleDBQA's databases with
a query that a competent analyst wrote and what it leaves open. The agent answers each with that query.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import numpy as np
from pydantic import PrivateAttr

from ...agent import Answer, SQLAgent
from ...tools.record_files import read_records
from ...tools.sample import build_sample
from .registry import BenchOptions
from .stand_in import InstantModel

DATA = Path(__file__).parent / "data" / "rival_questions.yaml"
_PLACES = {"chinook": "chinook/Chinook_Sqlite.sqlite", "northwind": "northwind/northwind.sqlite"}
_REPEATS = 3
_SETTINGS = {"record": "off", "examples": "none", "clarify": False}

_Record = Mapping[str, object]


def run(options: BenchOptions) -> dict[str, object]:
    """The figures, over all questions.

    Returns:
        `questions`; `decisive`, those that a reading changes; `decisive_shown`, the share of those whose reading is
        shown; `by_matter`, shown of all; `false_alarms`, the share of settled questions at which a reading is said to
        change something; per question `extra_queries`, `extra_requests` and `extra_ms`, the median and the 95th
        percentile.
    """
    asked: dict[str, list[_Record]] = defaultdict(list)
    for record in cast("Sequence[_Record]", read_records(DATA))[: options.limit]:
        asked[str(record["database"])].append(record)
    outcomes: list[tuple[_Record, Answer, Answer, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, records in asked.items():
            model = _Analyst()
            model.know({str(record["question"]): str(record["sql"]) for record in records})
            with SQLAgent(_path(name, options, Path(folder)), model=model, settings=_SETTINGS) as agent:
                agent.ask(str(records[0]["question"]))  # the schema is read, indexes are built
                outcomes += [(record, *_both(agent, str(record["question"]))) for record in records]
    return _figures(outcomes)


class _Analyst(InstantModel):
    """Writes the SQL that is known for a question."""

    _known: dict[str, str] = PrivateAttr(default_factory=dict[str, str])

    def know(self, known: Mapping[str, str]) -> None:
        """Takes questions with their SQL."""
        self._known = dict(known)

    def reply(self, prompt: str) -> str:
        """See `InstantModel`."""
        question = max(self._known, key=lambda known: (prompt.rfind(known), len(known)))
        return f"```sql\n{self._known[question]}\n```"


def _path(name: str, options: BenchOptions, folder: Path) -> Path:
    if name == "kestrel":
        return build_sample(folder / "kestrel.sqlite")
    if name in _PLACES:
        return options.folder / "sample-dbs" / _PLACES[name]
    return options.folder / "kaggle-dbqa" / "database" / name / f"{name}.sqlite"


def _both(agent: SQLAgent, question: str) -> tuple[Answer, Answer, float]:
    """The answer with readings and without, and the milliseconds that they took: of the quickest runs of each."""
    answers: dict[str, Answer] = {}
    spent: dict[str, float] = {}
    for readings in ("off", "tell") * _REPEATS:
        start = time.perf_counter()
        answers[readings] = agent.ask(question, settings={"readings": readings})
        spent[readings] = min(spent.get(readings, math.inf), 1000 * (time.perf_counter() - start))
    return answers["tell"], answers["off"], spent["tell"] - spent["off"]


def _figures(outcomes: Sequence[tuple[_Record, Answer, Answer, float]]) -> dict[str, object]:
    shown: Counter[str] = Counter()
    of: Counter[str] = Counter()
    missed: list[str] = []
    alarms: list[str] = []
    for record, answer, _, _ in outcomes:
        matter, question = str(record["matter"]), str(record["question"])
        decisive = {outcome.matter for outcome in answer.readings.tried if not outcome.same}
        of[matter] += 1
        if matter == "settled":
            alarms += [f"{question} {answer.readings.line}"] if decisive else []
            continue
        shown[matter] += matter in decisive
        missed += [] if matter in decisive else [f"{matter}: {question}"]
    open_ones = of.total() - of["settled"]
    count, extra = len(outcomes), [milliseconds for *_, milliseconds in outcomes]
    requests = sum(answer.usage.llm_calls - without.usage.llm_calls for _, answer, without, _ in outcomes)
    return {
        "questions": count,
        "decisive": open_ones,
        "decisive_shown": round(shown.total() / open_ones, 4) if open_ones else None,
        "by_matter": {matter: f"{shown[matter]} of {of[matter]}" for matter in sorted(of) if matter != "settled"},
        "false_alarms": round(len(alarms) / of["settled"], 4) if of["settled"] else None,
        "extra_queries": round(sum(answer.readings.agreement.ran for _, answer, _, _ in outcomes) / count, 2),
        "extra_requests": round(requests / count, 2),
        "extra_ms_p50": round(float(np.percentile(extra, 50)), 1),
        "extra_ms_p95": round(float(np.percentile(extra, 95)), 1),
        "missed": missed,
        "alarms": alarms,
    }
