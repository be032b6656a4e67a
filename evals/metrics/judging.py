"""Judges of predictions by gold results: strictly, or as the published evaluators do."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal

from sqlglot import exp

from ...tools.database import Cell, Database, Limits, Schema, Table
from ...tools.errors import DatabaseUnavailable, QueryError, QueryFailed, QueryRejected
from ...tools.results import same_result
from ...tools.sql import Query, is_ordered, return_default_if_unparsable
from ..datasets.load import ClosingContext, Dataset, GoldTurn, SingleDatabaseCache
from ..official.exact_match import EMQuery, Unparsed, compare_clauses, compute_hardness, parse, read_foreign_key_maps
from ..official.execution import OfficialDatabases, execute_and_compare, list_suite_files

CANDIDATES = 1_000
"""Rows past the gold's that are looked at; of a tie with more of them, the others do not count as right."""

GOLD_LIMITS = Limits(seconds=30.0, rows=200_000, result_bytes=200_000_000)

OTHER_RESULT = "its result changes from run to run"
_BY_CHANCE = re.compile(r"\brandom(blob)?\s*\(", re.IGNORECASE)
_TRIALS = 8  # how often a query that calls RANDOM is run again, to see whether its result is another

_Row = tuple[Cell, ...]


class Unfit(QueryError):
    """A gold query that runs but whose result cannot judge an answer.

    What to do: use a gold query with fewer rows, or one whose result is always the same.
    """


@dataclass(frozen=True)
class RowOrder:
    """A gold query's row order."""

    ordered: bool  # whether its outermost level has an ORDER BY; one in a subquery or a window says nothing
    with_keys: str = ""  # the query with its sort keys as further output columns; empty if they cannot be added
    keys: int = 0  # how many were added
    without_limit: str = ""  # `with_keys` without the limit; empty if there is none, or rows are skipped before it


@return_default_if_unparsable(RowOrder(False))
def find_row_order(gold: str, dialect: str = "sqlite", schema: Schema | None = None) -> RowOrder:
    """Return a gold query's row order; unordered if sqlglot cannot parse it."""
    query = Query.of(gold, dialect, schema)
    # An order that chance decides is none.
    if not query.order or query.order[0].find(exp.Rand):
        return RowOrder(False)
    scope = query.find_scope(query.order[0].parent_select or query.tree)
    # DISTINCT and compounds would have the keys take part in what they compare.
    if scope is None or scope.select.args.get("distinct"):
        return RowOrder(True)
    edit = query.edit()
    for term in query.order:
        if scope.select.is_star and isinstance(term.this.unnest(), exp.Literal):
            return RowOrder(True)
        key = query.resolve_order_or_group_term(term.this, scope)
        at = query.reference(key)
        if at and at.owner is scope and at.source and at.source.name and not scope.is_merged_column(at.column):
            # A name may be ambiguous where it is no sort key.
            edit.of(key).set("table", at.source.identifier.copy())
        for column in query.find(exp.Column, within=key):
            if (value := query.resolve_order_or_group_term(column, scope)) is not column:
                if column.parent_select is not scope.select or query.ancestor(column, exp.Values):
                    return RowOrder(True)  # in a sub-query, what the alias stands for could mean something else
                edit.of(column).replace(exp.paren(value))
        edit.of(scope.select).append("expressions", exp.paren(edit.of(key)))
    with_keys = edit.tree.sql(query.rules.grammar)
    for statement in (edit.tree, edit.of(scope.select)):
        statement.set("limit", None)
    return RowOrder(True, with_keys, len(query.order), edit.sql if query.limit and not query.offset else "")


@dataclass(frozen=True)
class ExpectedResult:
    """The result of an accepted query, with its row order and ties."""

    table: Table  # its rows
    order: RowOrder  # whether and by what they are ordered
    ties: Sequence[_Row] | None = None  # a label for each row, its sort keys; None if they are unknown
    # All rows of the tie that its LIMIT cuts through, among them those that it gave; empty if there is none.
    cut: Sequence[_Row] = ()

    def allows(self, table: Table) -> bool:
        """Whether a result equals the expected one, up to tied rows that a LIMIT cuts."""
        if same_result(self.table, table, self.order.ordered, self.ties):
            return True
        if not self.ties or not self.cut:
            return False
        head = [row for row, label in zip(self.table.rows, self.ties, strict=True) if label != self.ties[-1]]
        count = len(self.ties) - len(head)
        matches = Counter(self.cut) & Counter(table.rows)
        # A single row may be any of the tie; of several, those count that the result does contain.
        choices = [[row] for row in self.cut] if count == 1 else [list(matches.elements())[:count]]
        return any(
            same_result([*head, *rows], table, ordered=True, ties=self.ties) for rows in choices if len(rows) == count
        )


def compute_expected_result(database: Database, sql: str, limits: Limits = GOLD_LIMITS) -> ExpectedResult:
    """Run an accepted query; return the result with its row order and ties.

    Raises:
        Unfit: Its result is too large, or another each time.
        QueryError: It does not run.
    """
    table = database.execute(sql, limits)
    if table.truncated:
        raise Unfit(f"its result has more than {limits.rows:,} rows", "too_large")
    order = find_row_order(sql, database.dialect, database.schema() if is_ordered(sql, database.dialect) else None)
    expected = ExpectedResult(table, order)
    try:
        keyed_rows = database.execute(order.with_keys, limits).rows if order.with_keys and table.rows else ()
        if keyed_rows and [row[: -order.keys] for row in keyed_rows] == list(table.rows):
            ties = [row[-order.keys :] for row in keyed_rows]
            cut_rows: list[_Row] = []
            if order.without_limit:
                past = database.execute(order.without_limit, replace(limits, rows=len(ties) + CANDIDATES)).rows
                cut_rows = [row[: -order.keys] for row in past if row[-order.keys :] == ties[-1]]
            # The limit cuts through no tie if the gold has all of its rows.
            expected = ExpectedResult(table, order, ties, cut_rows if len(cut_rows) > ties.count(ties[-1]) else ())
    except QueryError:
        pass  # then ties are unknown
    for _ in range(_TRIALS if _BY_CHANCE.search(sql) else 0):
        if not expected.allows(database.execute(sql, limits)):
            raise Unfit(OTHER_RESULT)
    return expected


@dataclass(frozen=True)
class Verdict:
    """The verdict on a prediction: execution accuracy, exact match, and errors."""

    question: GoldTurn  # what was asked
    sql: str  # the prediction
    ex: bool | None = None  # whether it gives the gold's result; None if the gold cannot be judged by
    em: bool | None = None  # whether it matches the gold clause by clause; None if that cannot be judged
    valid: bool = False  # whether it runs
    hardness: str = ""  # Spider's level, or the dataset's own; empty if the gold has none
    error: str = ""  # why a prediction does not run, or why the gold cannot be judged by; empty otherwise
    was_asked: bool = True  # whether there was a prediction, or room for one: False if it could not be asked
    broken: bool = False  # whether the question of a trial is at fault: none of its own queries runs

    def mark_as_not_asked(self, reason: str) -> Verdict:
        """Return the verdict without an outcome: model or database was out of reach."""
        return replace(self, ex=None, em=None, valid=False, error=_NOT_ASKED + reason, was_asked=False)


class ClauseJudge(ClosingContext):
    """A judge of exact set match; foreign keys come from tables.json or the database."""

    def __init__(self, dataset: Dataset) -> None:
        self.databases = OfficialDatabases(dataset.find_file)
        self.close = self.databases.close
        self._foreign_keys: dict[str, dict[str, str] | None] = {}
        for path in reversed(dataset.tables):
            self._foreign_keys.update(read_foreign_key_maps(path))

    def get_hardness(self, question: GoldTurn) -> str:
        """Return a question's difficulty level, the dataset's or Spider's; empty if unknown."""
        gold = None if question.level else self.parse_query(question, question.golds[0])
        return question.level or (compute_hardness(gold) if gold else "")

    def is_exact_match(self, question: GoldTurn, sql: str, *, any_gold: bool = False) -> bool | None:
        """Return whether a prediction matches a gold query exactly (EM); None if unknown."""
        foreign_keys = self._get_foreign_keys(question.database)
        texts = question.golds if any_gold else question.golds[:1]
        golds = [gold for text in texts if (gold := self.parse_query(question, text)) is not None]
        if foreign_keys is None or not golds:
            return None
        # The official tool replaces the word wherever it stands, in names as well.
        query = self.parse_query(question, sql.replace("value", "1"))
        return any(not compare_clauses(query, gold, foreign_keys) for gold in golds)

    def find_prediction_differences(self, question: GoldTurn, sql: str) -> tuple[str, ...]:
        """Return the clauses in which a prediction differs from the first gold, if readable."""
        gold = self.parse_query(question, question.golds[0])
        keys = self._get_foreign_keys(question.database) or {}
        return () if gold is None else compare_clauses(self.parse_query(question, sql), gold, keys)

    def _get_foreign_keys(self, database: str) -> dict[str, str] | None:
        if database not in self._foreign_keys:
            try:
                self._foreign_keys[database] = self.databases.read_foreign_keys(database)
            except DatabaseUnavailable:
                self._foreign_keys[database] = None
        return self._foreign_keys[database]

    def parse_query(self, question: GoldTurn, sql: str) -> EMQuery | None:
        """Parse a query as the official evaluator does; None if the query cannot be parsed."""
        try:
            return parse(sql, self.databases.names(question.database))
        except (Unparsed, DatabaseUnavailable):
            return None


UNFIT = "the gold query cannot be used for judging"
UNREACHABLE, _NOT_ASKED = "the database cannot be opened", "not asked: "


def describe_unanswered(errors: Sequence[str]) -> str:
    """Describe how many questions have no answer, and why; return '' if all have one."""
    reasons = [error for error in errors if error.startswith((UNREACHABLE, _NOT_ASKED))]
    count = f"questions without an answer: {len(reasons)} of {len(errors)}"
    why = "".join(reasons[:1]).removeprefix(_NOT_ASKED)
    return why and f"{count}: {why}; run the same command again to ask again"


class StrictJudge(ClosingContext):
    """A judge that compares results with all gold queries' results, on every suite database.

    Rows are multisets, columns match jointly by content, order counts only if the gold's outermost level orders and
    then up to ties, of rows tied at its LIMIT any will do, numbers have a tolerance, DISTINCT stays, NULL equals NULL
    alone; every query runs read-only and within limits. EM is the published exact set match: it has no stricter form.
    """

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self.clauses = ClauseJudge(dataset)
        self._databases = SingleDatabaseCache()
        self._gold = lru_cache(32)(self._run_gold_query)

    def close(self) -> None:
        """Close all open databases."""
        self.clauses.close()
        self._databases.close()

    def judge(self, question: GoldTurn, sql: str) -> Verdict:
        """Judge one prediction."""
        if not question.golds:
            return Verdict(question, sql, error="no query answers it")  # it is to be declined
        level = self.clauses.get_hardness(question)
        golds = self.find_expected_results(question)
        if isinstance(golds, str):
            return Verdict(question, sql, hardness=level, error=golds)
        verdict = Verdict(
            question, sql, False, self.clauses.is_exact_match(question, sql, any_gold=True), hardness=level
        )
        if not sql.strip():
            return replace(verdict, error="no prediction")
        try:
            is_same = all(self._has_expected_result(file, sql, results) for file, results in golds.items())
        except DatabaseUnavailable as error:  # gone since its gold ran
            return Verdict(question, sql, hardness=level, error=f"{UNREACHABLE}: {error}")
        except QueryError as error:
            return replace(verdict, error=str(error))
        if not is_same and sql in question.golds:
            return replace(verdict, ex=None, valid=True, error=f"{UNFIT}: {OTHER_RESULT}")
        return replace(verdict, ex=is_same, valid=True)

    def get_gold_table(self, question: GoldTurn) -> Table | None:
        """Return the first gold query's result on the schema's main database; None if it fails."""
        try:
            return self._gold(self._dataset.locate(question.database), question.golds[0]).table
        except (QueryError, DatabaseUnavailable):
            return None

    def find_expected_results(self, question: GoldTurn) -> dict[str | Path, list[ExpectedResult]] | str:
        """Return the gold queries' results by database, or why they cannot be used."""
        try:
            location = self._dataset.locate(question.database)
            files = list_suite_files(location, question.database) if isinstance(location, Path) else [location]
            return {file: [self._gold(file, gold) for gold in question.golds] for file in files}
        except (Unfit, QueryRejected) as error:
            return f"{UNFIT}: {error}"
        except DatabaseUnavailable as error:
            return f"{UNREACHABLE}: {error}"
        except QueryError as error:
            return f"the gold query does not run: {question.disputed or error}"

    def _has_expected_result(self, file: str | Path, sql: str, golds: list[ExpectedResult]) -> bool:
        # One row more than any gold has tells as much as all of them.
        most = max(len(gold.table.rows) for gold in golds)
        table = self._databases.open(file).execute(sql, replace(GOLD_LIMITS, rows=most + 1))
        return any(gold.allows(table) for gold in golds)

    def _run_gold_query(self, file: str | Path, sql: str) -> ExpectedResult:
        return compute_expected_result(self._databases.open(file), sql)


class BirdJudge(ClosingContext):
    """A judge that compares sets of rows with the first gold query's, as BIRD's script does."""

    def __init__(self, dataset: Dataset) -> None:
        self._databases = OfficialDatabases(dataset.find_file, seconds=30.0)
        self.close = self._databases.close

    def judge(self, question: GoldTurn, sql: str) -> Verdict:
        """Judge one prediction."""
        try:
            file = self._databases.locate(question.database)
            gold = self._databases.fetch_gold_rows(file, question.golds[0])
        except (QueryFailed, DatabaseUnavailable) as error:
            return Verdict(question, sql, hardness=question.level, error=str(error))
        try:
            got = self._databases.fetch_rows(file, sql) if sql.strip() else None
            error = "" if got is not None else "no prediction"
        except (sqlite3.Error, ValueError, OverflowError) as failure:
            got, error = None, str(failure)
        right = got is not None and set(got) == set(gold)
        return Verdict(question, sql, right, None, got is not None, question.level, error)


class OfficialJudge(ClauseJudge):
    """A judge that uses only the first gold query, with the official evaluator's faults.

    If the official tool stops (at a gold that it cannot read or run), the verdict has no EX and says why.
    """

    def judge(self, question: GoldTurn, sql: str) -> Verdict:
        """Judge one prediction."""
        level = self.get_hardness(question)
        try:
            execution = execute_and_compare(sql, question.golds[0], question.database, self.databases)
        except (QueryFailed, DatabaseUnavailable) as error:
            return Verdict(question, sql, hardness=level, error=str(error))
        em = self.is_exact_match(question, sql)
        return Verdict(question, sql, execution.same, em, not execution.error, level, execution.error)


def make_official_judge(dataset: Dataset) -> OfficialJudge | BirdJudge:
    """Return the judge that reproduces the dataset's published evaluator."""
    return BirdJudge(dataset) if dataset.name == "bird" else OfficialJudge(dataset)


ErrorClass = Literal["no answer", "does not run", "gold error", "DB value", "imprecise", "logic"]
"""SQL-CRAFT's table 3, with the answers that never got that far.

`gold error` is a disputed gold; `DB value` the right query with other constants; `imprecise` columns too many;
`logic` every other difference. SQL-CRAFT's `ambiguity` takes a reader, and counts as `logic` or `imprecise` here.
"""


def classify_error(verdict: Verdict, clauses: ClauseJudge) -> ErrorClass | None:
    """Return the category of a wrong answer; None for a right one."""
    question, sql = verdict.question, verdict.sql
    if verdict.ex or not verdict.was_asked:
        return None
    if question.disputed or verdict.ex is None:
        return "gold error"
    if not sql:
        return "no answer"
    if not verdict.valid:
        return "does not run"
    if verdict.em:
        return "DB value"
    query, gold = clauses.parse_query(question, sql), clauses.parse_query(question, question.golds[0])
    if query is None or gold is None or len(query.outputs) <= len(gold.outputs):
        return "logic"
    other_clauses = set(clauses.find_prediction_differences(question, sql)) - {"select", "keywords"}
    return "logic" if other_clauses else "imprecise"
