"""Other readings that answers tell, held against what analysts say that questions leave open."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import cast

from tests.support.scripted import ScriptedModel

from ....agent import SQLAgent
from ....tools.record_files import read_records
from ....tools.sample import build_sample
from .registry import BenchOptions, Figures, divide, share

QUESTIONS = Path(__file__).parent / "data" / "rival_questions.yaml"
"""Questions with a query that a competent analyst wrote and what it leaves open."""

_SAMPLES = {"chinook": "chinook/Chinook_Sqlite.sqlite", "northwind": "northwind/northwind.sqlite"}
_SETTINGS = {"record": "off", "examples": "none", "clarify": False, "readings": "tell"}


def run(options: BenchOptions) -> Figures:
    """Return whether the reading that a question hangs on is shown, and none if nothing is open.

    `decisive` are questions that a reading changes, `decisive_shown` the share of those whose reading is shown,
    `by_matter` shown of all; `false_alarms` is the share of settled questions at which a reading is said to change
    something. The model writes the analyst's query.
    """
    records = cast("Sequence[Mapping[str, str]]", read_records(QUESTIONS))[: options.limit]
    model = ScriptedModel(script=lambda prompt: "")
    shown: dict[str, list[bool]] = defaultdict(list)
    missed: list[str] = []
    alarms: list[str] = []
    settled = 0
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
                    matter, question = record["matter"], record["question"]
                    readings = agent.ask(question).readings
                    found = {reading.matter for reading in readings.tried if not reading.same}
                    if matter == "settled":
                        settled += 1
                        alarms += [f"{question} {readings.line}"] if found else []
                    else:
                        shown[matter].append(matter in found)
                        missed += [] if matter in found else [f"{matter}: {question}"]
    flags = [flag for found in shown.values() for flag in found]
    return {
        "questions": len(records),
        "decisive": len(flags),
        "decisive_shown": share(flags) if flags else None,
        "by_matter": {matter: f"{sum(shown[matter])} of {len(shown[matter])}" for matter in sorted(shown)},
        "false_alarms": divide(len(alarms), settled) if settled else None,
        "missed": missed,
        "alarms": alarms,
    }
