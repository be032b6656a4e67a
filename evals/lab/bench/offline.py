"""The offline translator alone, on published dev sets and on other engines.

EX as the published evaluators judge it. Interactions are answered with the translator's own earlier queries as history;
an utterance that holds a question asked back and its answer (CoSQL, ` | `) is put to it as such.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from pandas import DataFrame

from tests.tools.database.carried import carry, explain_missing, read_tables

from ....agent.offline import OfflineTranslator
from ....prompts.generate import GenerateSQLTask
from ....prompts.rephrase import RephraseTask
from ....tools.database import Cell, Database
from ....tools.errors import NotUnderstood, QueryError
from ....tools.linking import PastTurn
from ...datasets import Dataset, GoldTurn, load_dataset
from ...metrics.judging import ExpectedResult, OfficialJudge
from ...metrics.summary import share as known_share
from ...metrics.summary import summarize
from ...official.execution import have_same_rows
from .engines import find_determined_results
from .gold import LIMITS, PARTIAL, DatasetDatabases, Rows
from .registry import BenchOptions, Figures, Measure, Row, share, wrap_row

_GATE = 0.8
"""Confidence from which a draft is taken without another look."""

_SETS = ("spider", "sparc", "cosql", "spider-syn", "spider-dk")
_ENGINES = ("sqlite", "duckdb", "postgres")

_Draft = tuple[str, float, bool]
"""A translator's query, empty if it declines; its confidence; and whether a person is given it by default."""


def _translate(offline: OfflineTranslator, database: Database, text: str, history: Sequence[PastTurn] = ()) -> _Draft:
    question, *more = (part.strip() for part in text.split(" | "))
    clarification = (more[0], more[1]) if len(more) == 2 else None
    schema, past = database.schema(), tuple(history)
    try:
        rephrasing = offline.do(RephraseTask(question, past, schema, clarification)).reply
        draft = offline.do(GenerateSQLTask(question, rephrasing, schema, past)).reply
    except NotUnderstood:
        return "", 0.0, False
    return draft.sql, draft.confidence or 0.0, rephrasing.intent == "answerable"


def _read_dev_sets(options: BenchOptions) -> Iterator[Dataset]:
    for name in _SETS:
        dataset = load_dataset(name, "dev", options.folder)
        if any(question.database in PARTIAL for question in dataset.questions):
            dataset = dataset.without(PARTIAL)
        yield dataset.head(options.limit)


def _answer_and_judge_questions(dataset: Dataset) -> Iterator[Row]:
    """Yield whether each answer is right, and whether its query is confident or missing."""
    translators: dict[str, OfflineTranslator] = {}
    with DatasetDatabases(dataset) as databases, OfficialJudge(dataset) as judge:
        for turns in dataset.interactions:
            place = turns[0].database
            database = databases.open(place)
            if place not in translators:
                translators[place] = OfflineTranslator(database)
                _translate(translators[place], database, "How many are there?")
            history: list[PastTurn] = []
            for turn in turns:
                sql, sure, given = _translate(translators[place], database, turn.text, history)
                history.append(PastTurn(turn.text, sql=sql))
                verdict = judge.judge(turn, sql)
                about = {"set": dataset.name, "declined": not sql, "sure": sure >= _GATE, "given": given}
                yield about | {"verdict": verdict, "ex": verdict.ex}


def _compute_dataset_figures(table: DataFrame) -> Figures:
    """Return EX by dataset, and the share and EX of the answers that pass the gate."""
    ex = {name: summarize(list(rows["verdict"])) for name, rows in table.groupby("set")}
    spider = table[table["set"] == "spider"]
    offered, gated = spider[spider["given"]]["ex"], spider[spider["sure"]]["ex"]
    return {
        "spider_dev": {
            "ex": ex["spider"].all.ex,
            "declined": spider["declined"].mean(),
            "by_default": {"declined": 1 - len(offered) / len(spider), "ex_of_answered": known_share(offered)},
        },
        **{f"{name}_dev": {"qm": ex[name].all.ex, "im": ex[name].interactions.ex} for name in ("sparc", "cosql")},
        "spider_syn": ex["spider-syn"].all.ex,
        "spider_dk": ex["spider-dk"].all.ex,
        "gate": {"share": len(gated) / len(spider), "ex": known_share(gated)},
    }


measure_offline = Measure(_read_dev_sets, _answer_and_judge_questions, _compute_dataset_figures)


def _answer_on_engines(options: BenchOptions) -> Iterator[Row]:
    """Yield whether questions with determined gold rows are right on each available engine.

    Databases whose rows break their own foreign keys are left out: DuckDB cannot hold such keys, and without them the
    translator does not know what to join. The limit takes that many questions from all over the set.
    """
    dataset = load_dataset("spider", "dev", options.folder).without(PARTIAL)
    step = max(1, len(dataset.questions) // options.limit) if options.limit else 1
    by_database: dict[str, list[GoldTurn]] = defaultdict(list)
    for question in dataset.questions[::step][: options.limit]:
        by_database[question.database].append(question)
    for name, questions in by_database.items():
        path = dataset.find_file(name)
        if any(not reference.kept for table in read_tables(path) for reference in table.references):
            yield {"engine": "left out", "database": name, "right": False}
            continue
        with Database.open(path) as database:
            known = find_determined_results(database, [question.golds[0] for question in questions])
        for engine in (engine for engine in _ENGINES if not explain_missing(engine)):
            with tempfile.TemporaryDirectory() as folder, Database.open(carry(path, engine, Path(folder))) as database:
                translator = OfflineTranslator(database)
                for one in (one for one in questions if one.golds[0] in known):
                    sql, _, _ = _translate(translator, database, one.text)
                    right = _has_gold_rows(database, sql, known[one.golds[0]])
                    yield {"engine": engine, "database": name, "right": right}


def _compute_ex_by_engine(table: DataFrame) -> Figures:
    """Return EX on each engine over questions whose gold rows SQL determines."""
    rows = {engine: table[table["engine"] == engine] for engine in ("left out", *_ENGINES)}
    figures: Figures = {"left_out": list(rows["left out"]["database"]), "questions": len(rows["sqlite"])}
    for engine in _ENGINES:
        missing = explain_missing(engine)
        figures[engine] = {"not run": missing} if missing else share(rows[engine]["right"])
    return figures


measure_engines_offline = Measure(_answer_on_engines, wrap_row, _compute_ex_by_engine)


def _has_gold_rows(database: Database, sql: str, wanted: ExpectedResult) -> bool:
    """Whether a query's rows equal the gold rows, compared as the published evaluator does.

    Those that ORDER BY does not tell apart may come in any order.
    """
    gold = wanted.table.rows
    try:
        found = database.execute(sql, LIMITS).rows if sql else None
    except QueryError:
        return False
    if found is None or len(found) != len(gold):
        return False

    def sort_tied_rows(rows: Rows) -> list[tuple[Cell, ...]]:
        """Sort rows that tie in the order by their values, in any order of columns."""
        runs = groupby(zip(wanted.ties or [()] * len(rows), rows, strict=True), itemgetter(0))
        return [row for _, run in runs for _, row in sorted(run, key=lambda pair: sorted(map(repr, pair[1])))]

    return have_same_rows(sort_tied_rows(gold), sort_tied_rows(found), ordered=wanted.order.ordered)
