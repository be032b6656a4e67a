"""What the offline translator must stand: questions about other databases, a thousand tables, the whole graph."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import process_time

from ...agent import make_settings
from ...agent.offline.engine import Engine
from ...tools.database import Database
from ...tools.database.names import quoted
from ...tools.errors import NotUnderstood
from ...tools.values import IndexBounds, ValueIndex
from ..datasets import Dataset
from ..metrics import OfficialJudge
from ..runner.agents import Agents
from .schema_scale import build_large

_TABLES = 1_000
_FOLLOWED = 5
"""How many questions there are to one that is also put as a follow-up."""

_ABOUT_LARGE = (
    "How many rows of entity 12 are there?",
    "What is the average field 2 of entity 7?",
    "Show the field 1 of entity 40 with the highest field 4",
    "Which entity 3 have a field 1 of word 7 and more than 2 entity 9?",
    "List all entity 900 sorted by field 6 in descending order",
    "What are the names of singers without any concert in Paris or Rome?",
)


def foreign_questions(dataset: Dataset) -> dict[str, object]:
    """Every question put to each of the dataset's databases that it is not about, some after another query as well."""
    names = list(dict.fromkeys(question.database for question in dataset.questions))
    times: list[float] = []
    crashes = 0
    for name in names:
        others = [question.text for question in dataset.questions if question.database != name]
        with Database.open(dataset.database(name)) as database:
            engine = _indexed(database, ValueIndex.open(database))
            before = f"SELECT * FROM {quoted(database.schema().tables[0].name)}"
            for questions, base in ((others, ""), (others[::_FOLLOWED], before)):
                spent, failed = _asked(engine, questions, base)
                times += spent
                crashes += failed
    times.sort()
    return {
        "questions": len(times),
        "databases": len(names),
        "crashes": crashes,
        "p99_ms": _ms(times[int(0.99 * (len(times) - 1))]) if times else None,
        "max_ms": _ms(times[-1]) if times else None,
    }


def thousand_tables_ms() -> float:
    """The longest that a question about a database of 1,000 tables takes, once its names and values are indexed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.sqlite"
        build_large(path, _TABLES)
        with Database.open(path) as database:
            values = ValueIndex.open(database, cache=Path(folder), bounds=IndexBounds(seconds=600))
            spent, _ = _asked(_indexed(database, values), _ABOUT_LARGE)
    return _ms(max(spent))


def through_graph(dataset: Dataset) -> float:
    """EX where each question goes through the whole graph, none asked back."""
    agents = Agents(dataset, "offline", make_settings({"clarify": False}), None)
    right = 0
    with OfficialJudge(dataset) as judge:
        for question in dataset.questions:
            with agents.conversation(question.database) as conversation:
                answer = conversation.ask(question.text)
            right += bool(judge.judge(question, answer.sql or "").ex)
    agents.close()
    return right / len(dataset.questions)


def _indexed(database: Database, values: ValueIndex) -> Engine:
    """The parser, its names and values indexed, which happens once."""
    engine = Engine(database, values)
    engine.names()
    values.find("", 1)
    return engine


def _asked(engine: Engine, questions: Sequence[str], base: str = "") -> tuple[list[float], int]:
    """Seconds of the processor for each question, and how many failed otherwise than by being declined."""
    times: list[float] = []
    crashes = 0
    gc.collect()
    gc.freeze()  # what the benchmark holds, above all its questions, is not the translator's garbage to look through
    for question in questions:
        start = process_time()
        try:
            engine.answer(question, base)
        except NotUnderstood:
            pass
        except Exception:  # noqa: BLE001 - any other failure is what is counted
            crashes += 1
        times.append(process_time() - start)
    gc.unfreeze()
    return times, crashes


def _ms(seconds: float) -> float:
    return round(1000 * seconds, 1)
