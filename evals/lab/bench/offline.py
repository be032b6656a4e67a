"""The offline translator alone, on the published dev sets and on other engines: what a reader gets with no model.

EX as the published evaluators judge it. Interactions are answered with the translator's own earlier queries as history;
an utterance that holds a question asked back and its answer (CoSQL, ` | `) is put to it as such.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from tests.tools.database.carried import carry, explain_missing, read_tables

from ....agent.offline import OfflineTranslator
from ....prompts.generate import GenerateTask
from ....prompts.rephrase import RephraseTask
from ....tools.database import Database, Limits
from ....tools.errors import NotUnderstood, QueryError
from ....tools.linking import PastTurn
from ...datasets import Dataset, Question, load_dataset
from ...metrics import OfficialJudge, Verdict, summarize
from ...official.execution import same_rows
from .determined import Expected, determined
from .gold import Databases
from .measure import Figures, Measure, Whole, share
from .registry import BenchOptions

_GATE = 0.8
"""Confidence from which a draft is taken without another look."""

_PARTIAL = "wta_1"
"""Its rows are incomplete in the published copy."""

_SETS = ("spider", "sparc", "cosql", "spider-syn", "spider-dk")
_ENGINES = ("sqlite", "duckdb", "postgres")
_LIMITS = Limits(seconds=60.0, rows=1_000_000, result_bytes=1_000_000_000)


@dataclass(frozen=True)
class _Draft:
    """A translator's query, empty if it declines; `offered` is whether a person is given it by default."""

    sql: str
    confidence: float = 0.0
    offered: bool = False


def _translate(offline: OfflineTranslator, database: Database, text: str, history: Sequence[PastTurn]) -> _Draft:
    question, *more = (part.strip() for part in text.split(" | "))
    clarification = (more[0], more[1]) if len(more) == 2 else None
    schema, past = database.schema(), tuple(history)
    try:
        rephrasing = offline.do(RephraseTask(question, past, schema, clarification)).reply
        draft = offline.do(GenerateTask(question, rephrasing, schema, past)).reply
    except NotUnderstood:
        return _Draft("")
    return _Draft(draft.sql, draft.confidence or 0.0, rephrasing.intent == "answerable")


def _read_sets(options: BenchOptions) -> Iterator[Dataset]:
    for name in _SETS:
        dataset = load_dataset(name, "dev", options.folder)
        if any(question.database == _PARTIAL for question in dataset.questions):
            dataset = dataset.without({_PARTIAL})
        yield dataset.first(options.limit)


def _answer_set(dataset: Dataset) -> tuple[str, list[tuple[Verdict, _Draft]]]:
    answered: list[tuple[Verdict, _Draft]] = []
    translators: dict[str, OfflineTranslator] = {}
    with Databases(dataset) as databases, OfficialJudge(dataset) as judge:
        for turns in dataset.interactions:
            name = turns[0].database
            database = databases.open(name)
            if name not in translators:
                translators[name] = OfflineTranslator(database)
                _translate(translators[name], database, "How many are there?", ())
            history: list[PastTurn] = []
            for question in turns:
                draft = _translate(translators[name], database, question.text, history)
                history.append(PastTurn(question.text, sql=draft.sql))
                answered.append((judge.judge(question, draft.sql), draft))
    return dataset.name, answered


def _count_sets(sets: list[tuple[str, list[tuple[Verdict, _Draft]]]]) -> Figures:
    """Return EX by dataset, and the share of answers that the gate lets through with their EX."""
    answered = dict(sets)
    spider = answered["spider"]
    n = len(spider)
    gated = [verdict for verdict, draft in spider if draft.confidence >= _GATE]
    offered = [verdict for verdict, draft in spider if draft.offered]
    summaries = {name: summarize([verdict for verdict, _ in found]) for name, found in sets}
    return {
        "spider_dev": {
            "ex": summaries["spider"].all.ex,
            "declined": sum(not draft.sql for _, draft in spider) / n,
            "by_default": {"declined": 1 - len(offered) / n, "ex_of_answered": _ex(offered)},
        },
        "sparc_dev": {"qm": summaries["sparc"].all.ex, "im": summaries["sparc"].interactions.ex},
        "cosql_dev": {"qm": summaries["cosql"].all.ex, "im": summaries["cosql"].interactions.ex},
        "spider_syn": summaries["spider-syn"].all.ex,
        "spider_dk": summaries["spider-dk"].all.ex,
        "gate": {"share": len(gated) / n, "ex": _ex(gated)},
    }


def _ex(verdicts: Sequence[Verdict]) -> float | None:
    judged = [verdict.ex for verdict in verdicts if verdict.ex is not None]
    return sum(judged) / len(judged) if judged else None


def _measure_engines(options: BenchOptions) -> Figures:
    """Return EX on each engine, on questions whose gold's rows SQL determines: elsewhere another may give other rows.

    Databases whose rows break their own foreign keys are left out: DuckDB cannot hold such keys, and without them the
    translator does not know what to join. The limit takes that many questions from all over the set.
    """
    dataset = load_dataset("spider", "dev", options.folder).without({_PARTIAL})
    step = max(1, len(dataset.questions) // options.limit) if options.limit else 1
    by_database: dict[str, list[Question]] = {}
    for question in dataset.questions[::step][: options.limit]:
        by_database.setdefault(question.database, []).append(question)
    left_out: list[str] = []
    held: dict[Path, list[tuple[str, Expected]]] = {}
    for name, questions in by_database.items():
        path = dataset.database(name)
        if any(not reference.kept for table in read_tables(path) for reference in table.references):
            left_out.append(name)
            continue
        with Database.open(path) as database:
            schema = database.schema()
        known = {each.sql: each for each in determined(path, schema, [question.golds[0] for question in questions])}
        held[path] = [(one.text, known[one.golds[0]]) for one in questions if one.golds[0] in known]
    figures: Figures = {"left_out": left_out, "questions": sum(map(len, held.values()))}
    for engine in _ENGINES:
        missing = explain_missing(engine)
        figures[engine] = {"not run": missing} if missing else share(list(_answer_on_engine(engine, held)))
    return figures


def _answer_on_engine(engine: str, held: Mapping[Path, Sequence[tuple[str, Expected]]]) -> Iterator[bool]:
    """Yield whether each answer's rows there are the gold's rows in SQLite."""
    with tempfile.TemporaryDirectory() as folder:
        for path, questions in held.items():
            with Database.open(carry(path, engine, Path(folder))) as database:
                translator = OfflineTranslator(database)
                yield from (_is_right(translator, database, text, expected) for text, expected in questions)


def _is_right(translator: OfflineTranslator, database: Database, text: str, expected: Expected) -> bool:
    """Whether an answer's rows are the gold's, compared as the published evaluator does it.

    Those that ORDER BY does not tell apart may come in any order.
    """
    sql = _translate(translator, database, text, ()).sql
    try:
        found = database.execute(sql, _LIMITS).rows if sql else None
    except QueryError:
        return False
    if found is None or len(found) != sum(map(len, expected.runs)):
        return False
    rows = iter(found)
    # Rows whose order is open are sorted by their values, whatever the order of the columns.
    settled = [row for run in expected.runs for row in sorted(islice(rows, len(run)), key=_sorting)]
    gold = [row for run in expected.runs for row in sorted(run, key=_sorting)]
    return same_rows(gold, settled, ordered="order by" in expected.sql.lower())


def _sorting(row: Sequence[object]) -> list[str]:
    return sorted(map(repr, row))


MEASURES: Mapping[str, Measure[Any, Any] | Whole] = {
    "engines-offline": Whole(_measure_engines),
    "offline": Measure(_read_sets, _answer_set, _count_sets),
}
