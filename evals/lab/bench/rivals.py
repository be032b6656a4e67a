"""Other readings that answers tell, held against what analysts say that questions leave open."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, cast

from tests.support.scripted import ScriptedModel

from ....agent import SQLAgent
from ....agent.records import Readings
from ....tools.record_files import read_records
from ....tools.sample import build_sample
from .measure import Figures, Measure, divide, share
from .registry import BenchOptions

QUESTIONS = Path(__file__).parent / "data" / "rival_questions.yaml"
"""Questions with a query that a competent analyst wrote and what it leaves open."""

_SAMPLES = {"chinook": "chinook/Chinook_Sqlite.sqlite", "northwind": "northwind/northwind.sqlite"}
_SETTINGS = {"record": "off", "examples": "none", "clarify": False, "readings": "tell"}


def _open_questions(options: BenchOptions) -> Iterator[tuple[Mapping[str, str], SQLAgent]]:
    """Yield questions with an agent whose model writes the analyst's query."""
    records = cast("Sequence[Mapping[str, str]]", read_records(QUESTIONS))[: options.limit]
    model = ScriptedModel(script=lambda prompt: "")
    with tempfile.TemporaryDirectory() as folder:
        for name, some in groupby(sorted(records, key=itemgetter("database")), itemgetter("database")):
            if name == "kestrel":
                path = build_sample(Path(folder) / "kestrel.sqlite")
            elif name in _SAMPLES:
                path = options.folder / "sample-dbs" / _SAMPLES[name]
            else:
                path = options.folder / "kaggle-dbqa" / "database" / name / f"{name}.sqlite"
            with SQLAgent(path, model=model, settings=_SETTINGS) as agent:
                for record in some:
                    model.script = lambda prompt, sql=record["sql"]: f"```sql\n{sql}\n```"
                    yield record, agent


def _find_readings(case: tuple[Mapping[str, str], SQLAgent]) -> tuple[Mapping[str, str], Readings]:
    record, agent = case
    return record, agent.ask(record["question"]).readings


def _count_readings(outcomes: list[tuple[Mapping[str, str], Readings]]) -> Figures:
    """Return whether the reading that a question hangs on is shown, and none if nothing is open.

    `decisive` are questions that a reading changes, `decisive_shown` the share of those whose reading is shown,
    `by_matter` shown of all; `false_alarms` is the share of settled questions at which a reading is said to change
    something.
    """
    judged = [
        (record["matter"], record["question"], readings.line, {each.matter for each in readings.tried if not each.same})
        for record, readings in outcomes
    ]
    matters = sorted({matter for matter, *_ in judged} - {"settled"})
    shown = {name: [name in found for matter, _, _, found in judged if matter == name] for name in matters}
    flags = [flag for found in shown.values() for flag in found]
    settled = [(f"{question} {line}", found) for matter, question, line, found in judged if matter == "settled"]
    alarms = [told for told, found in settled if found]
    return {
        "questions": len(outcomes),
        "decisive": len(flags),
        "decisive_shown": share(flags) if flags else None,
        "by_matter": {matter: f"{sum(found)} of {len(found)}" for matter, found in shown.items()},
        "false_alarms": divide(len(alarms), len(settled)) if settled else None,
        "missed": [f"{matter}: {text}" for matter, text, _, found in judged if matter not in {"settled", *found}],
        "alarms": alarms,
    }


MEASURES: Mapping[str, Measure[Any, Any]] = {
    "rivals": Measure(_open_questions, _find_readings, _count_readings),
}
