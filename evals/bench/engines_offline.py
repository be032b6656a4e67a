"""EX of the offline translator on Spider dev where its queries run on another engine, against SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from ...agent.offline import OfflineTranslator
from ...tools.database import Database, Limits
from ...tools.errors import QueryError
from ..datasets import Question, load_dataset
from ..official.execution import same_rows
from .carried import PLACES, NotReachable
from .carried.determined import Expected, Row, determined
from .carried.tables import read_tables
from .offline import answer
from .registry import BenchOptions

_PARTIAL = "wta_1"
_ENGINES = ("sqlite", "duckdb", "postgres")
_LIMITS = Limits(seconds=60.0, rows=1_000_000, result_bytes=1_000_000_000)


@dataclass(frozen=True)
class _Asked:
    text: str
    expected: Expected


def run(options: BenchOptions) -> dict[str, object]:
    """EX by engine, and how many `questions` there were: the gold's rows in SQLite against the answer's in the engine.

    Only questions whose gold's rows SQL determines count, as in `engines`: elsewhere another engine may rightly give
    others. Databases whose rows break their own foreign keys are `left_out`: DuckDB cannot hold such keys, and without
    them the translator does not know what to join. Rows are compared as the published evaluator does it, but those
    that ORDER BY does not tell apart in any order. `--limit` takes that many questions from all over the set.
    """
    dataset = load_dataset("spider", "dev", options.folder).without({_PARTIAL})
    step = max(1, len(dataset.questions) // options.limit) if options.limit else 1
    by_database: dict[str, list[Question]] = {}
    for question in dataset.questions[::step][: options.limit]:
        by_database.setdefault(question.database, []).append(question)
    left_out = [name for name in by_database if _breaks_keys(dataset.database(name))]
    for name in left_out:
        del by_database[name]
    held = {name: _determined(dataset.database(name), asked) for name, asked in by_database.items()}
    questions = sum(map(len, held.values()))
    figures: dict[str, object] = {"questions": questions, "left_out": left_out}
    for name in _ENGINES:
        try:
            place = PLACES[name]()
        except NotReachable as error:
            figures[name] = {"not run": str(error)}
            continue
        with place:
            right = sum(
                _right(place.carry(dataset.database(database), database), asked) for database, asked in held.items()
            )
        figures[name] = round(right / questions, 4)
    return figures


def _breaks_keys(path: Path) -> bool:
    return any(not reference.kept for table in read_tables(path) for reference in table.references)


def _determined(path: Path, questions: Sequence[Question]) -> list[_Asked]:
    with Database.open(path) as database:
        schema = database.schema()
    known = {each.sql: each for each in determined(path, schema, [question.golds[0] for question in questions])}
    return [_Asked(question.text, known[question.golds[0]]) for question in questions if question.golds[0] in known]


def _right(url: str, questions: Sequence[_Asked]) -> int:
    with Database.open(url) as database:
        translator = OfflineTranslator(database)
        return sum(_is_right(translator, database, asked) for asked in questions)


def _is_right(translator: OfflineTranslator, database: Database, asked: _Asked) -> bool:
    sql, *_ = answer(translator, database, asked.text, ())
    try:
        found = database.execute(sql, _LIMITS).rows if sql else None
    except QueryError:
        return False
    runs = asked.expected.runs
    if found is None or len(found) != sum(map(len, runs)):
        return False
    rows = iter(found)
    settled = [row for run in runs for row in sorted(islice(rows, len(run)), key=_content)]
    gold = [row for run in runs for row in sorted(run, key=_content)]
    return same_rows(gold, settled, ordered="order by" in asked.expected.sql.lower())


def _content(row: Row) -> list[str]:
    """What a row is sorted by among those whose order is open: its values, whatever the order of the columns."""
    return sorted(map(repr, row))
