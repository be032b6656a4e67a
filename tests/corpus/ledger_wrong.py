"""Wrong answers, of models and by faults in the data: how many carry a warning, with the ledger and without."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tableturn import Answer, SQLAgent
from tableturn.evals.datasets import load_dataset, read_predictions
from tableturn.evals.lab.bench.gold import PARTIAL
from tableturn.evals.lab.bench.registry import Figures, share
from tableturn.tools.database import Database
from tableturn.tools.errors import TableturnError

from tests.support.scripted import writes

SEED = 38
REAL = 60  # wrong drafts of published systems that run
_ABSENT = re.compile(r"\bno row of .+? has .+? in [^.]+", re.IGNORECASE)


@dataclass(frozen=True)
class WrongAnswer:
    """A question with a query whose answer is wrong, by what the query asks or by what the data lack.

    Attributes:
        kind: `real`, or the kind of the planted fault.
        path: The database.
        question: The question.
        sql: The query.
        about: What tells it from others where it is listed.
    """

    kind: str
    path: Path
    question: str
    sql: str
    about: str = ""

    @property
    def origin(self) -> str:
        """`real`, or `planted`."""
        return "real" if self.kind == "real" else "planted"


def find_real_answers(data: Path, most: int = REAL) -> Iterator[WrongAnswer]:
    """Yield wrong drafts of published systems for Spider's development questions, drawn by a seed."""
    whole = load_dataset("spider", "dev", data)
    wrong: list[WrongAnswer] = []
    for path in sorted((data / "predictions" / "spider_dev").glob("*.sql")):
        outcomes = json.loads((data / "official_scores" / f"spider_dev.{path.stem}.json").read_text(encoding="utf-8"))
        drafts = read_predictions(path, whole)
        for question, outcome in zip(whole.questions, outcomes, strict=True):
            if not outcome["exec"] and question.database not in PARTIAL:
                place, sql = whole.find_file(question.database), drafts[question.id]
                wrong.append(WrongAnswer("real", place, question.text, sql, f"{path.stem} {question.golds[0]}"))
    Random(SEED).shuffle(wrong)
    seen = set[str]()
    for answer in wrong:
        if answer.question not in seen and _runs(answer):
            seen.add(answer.question)
            yield answer
        if len(seen) == most:
            return


def _runs(answer: WrongAnswer) -> bool:
    with Database.open(answer.path) as database:
        try:
            database.execute(answer.sql)
        except TableturnError:
            return False  # a query with an error is sent back, and no answer
    return True


def ask(wrong: WrongAnswer, ledger: str) -> tuple[str, ...]:
    """Return what an answer's text or confidence says against it."""
    settings = {"examples": "none", "ledger": ledger, "max_attempts": 1, "today": "none"}
    with SQLAgent(wrong.path, model=writes(wrong.sql), settings=settings) as agent:
        answer = agent.ask(wrong.question)
    return tuple(_list_warnings(answer))


def _list_warnings(answer: Answer) -> Iterator[str]:
    """Yield what speaks against an answer; that nothing came out is seen, but is no warning."""
    lines = (answer.ledger.line if answer.ledger is not None else "", answer.readings.line, answer.confidence_reason)
    yield from filter(None, (*lines, *(() if answer.truncated else answer.notes)))
    yield from _ABSENT.findall(answer.text)


def count_warnings(answers: Iterable[WrongAnswer]) -> Figures:
    """Return the shares of wrong answers that carry a warning, without the ledger and with it, by kind."""
    asked = [(answer, ask(answer, "off"), ask(answer, "auto")) for answer in answers]
    kinds = dict[str, Figures]()
    for kind in ("all", "planted", *dict.fromkeys(answer.kind for answer, *_ in asked)):
        own = [found for answer, *found in asked if kind in ("all", answer.kind, answer.origin)]
        before, after = (share([bool(found[place]) for found in own]) for place in range(2))
        kinds[kind] = {"n": len(own), "without_ledger": before, "with_ledger": after}
    listed = [f"{one.kind}: {one.question}\n  {one.sql}\n  {one.about}\n  {found}" for one, _, found in asked]
    return {**kinds, "answers": listed}
