"""Gold queries that may be wrong, each with the evidence against it."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias

from sqlglot import exp

from ...tools.database import Cell, Schema
from ...tools.database.quoting import quote
from ...tools.errors import QueryError, SettingsError, SQLParseError
from ...tools.sql import regularize
from ...tools.sql.parse import parse
from ..adjudication.ruling import Adjudicator, Ruling
from ..datasets import Dataset, GoldTurn, read_predictions
from ..metrics.judging import StrictJudge
from .bench.gold import DatasetDatabases, Rows

DisputeKind = Literal["fails", "value", "text", "join", "twin", "systems", "verdict"]
"""What speaks against a gold: it does not run; it looks for a value that is not written so; it compares text where
numbers or dates are meant; the same question has another gold; systems agree on something else; a reader says so."""

_MOST_VALUES = 1_000
"""Distinct values of a column that are read; one with more is passed over."""

_ENOUGH = 0.95
"""Share of a column's values that must read as numbers, or as dates, for it to hold them."""

_AGREEING = 2
"""Systems that must agree on a result: the same mistake is made by two, but not often one that a reader calls right."""

_NUMBER = re.compile(r"[-+]?[$]?\d{1,3}(?:,\d{3})+(?:\.\d+)?%?|[-+]?[$]?\d+(?:\.\d+)?%?")
_DATES = ("%B %d, %Y", "%d %B %Y", "%B%d,%Y", "%b %d, %Y", "%d %b %Y", "%B %Y", "%m/%d/%Y", "%d-%b-%Y")


@dataclass(frozen=True)
class Dispute:
    """A doubt about one gold query, with a sentence of evidence."""

    question: GoldTurn
    kind: DisputeKind
    evidence: str


class GoldQueries(DatasetDatabases):
    """A dataset's gold queries, with the databases and a judge to run them."""

    def __init__(self, dataset: Dataset) -> None:
        super().__init__(dataset)
        self.judge = self._stack.enter_context(StrictJudge(dataset))

    def fetch_query_rows(self, question: GoldTurn, sql: str) -> Rows | None:
        """Return a query's rows; None if it fails or the database is missing."""
        found = self.run(question.database, sql) if self.get(question.database) is not None else None
        return None if isinstance(found, QueryError) else found

    @cached_property
    def parsed_queries(self) -> Sequence[tuple[GoldTurn, exp.Expr, Schema]]:
        """The gold queries that can be parsed, as syntax trees with qualified columns."""
        found: list[tuple[GoldTurn, exp.Expr, Schema]] = []
        for question in self.dataset.questions:
            if (schema := self.schema(question.database)) is None:
                continue
            try:
                found.append((question, parse(regularize(question.golds[0], schema)).tree, schema))
            except SQLParseError:
                continue
        return found

    def differs(self, question: GoldTurn, sql: str) -> bool:
        """Whether a query runs and gives another result than the gold."""
        verdict = self.judge.judge(question, sql)
        return verdict.valid and verdict.ex is False

    def contradicts_gold(self, question: GoldTurn, sql: str) -> bool:
        """Whether the query differs from gold by more than extra columns or repeated rows."""
        if not self.differs(question, sql):
            return False
        ours, theirs = self.fetch_query_rows(question, question.golds[0]), self.fetch_query_rows(question, sql)
        if ours is None or theirs is None or set(ours) == set(theirs):
            return False
        one, other = (set(map(frozenset, zip(*rows, strict=True))) for rows in (ours, theirs))
        return not (one <= other or other <= one)


Predictions: TypeAlias = Mapping[str, Mapping[str, str]]
"""SQL by question id, by the system's name."""


def read_published_predictions(data: Path | None, dataset: Dataset) -> Predictions:
    """Read the published predictions for a split, by system name.

    Raises:
        SettingsError: A file there does not fit the split.
    """
    if data is None:
        return {}
    place = f"{dataset.name}_{dataset.split}"
    single = sorted((data / "predictions" / place).glob("*.sql"))
    dialogues = sorted((data / "predictions" / "multi_turn").glob(f"{place}.*.json"))
    found = {path.stem: read_predictions(path, dataset) for path in single}
    return found | {path.stem.partition(".")[2]: read_dialogues(path, dataset) for path in dialogues}


def read_dialogues(path: Path, dataset: Dataset) -> dict[str, str]:
    """Read predicted SQL by question id from a file of dialogues; skip missing dialogues.

    Raises:
        SettingsError: The file cannot be read.
    """
    try:
        known = {
            (dialogue["db_id"], *(turn["question"].strip() for turn in dialogue["turns"])): dialogue["turns"]
            for dialogue in json.loads(path.read_text(encoding="utf-8"))
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SettingsError(f"predictions: {path} cannot be read: {error!r}") from error
    found: dict[str, str] = {}
    for turns in dataset.interactions:
        predicted = known.get((turns[0].database, *(turn.text.strip() for turn in turns)), ())
        found |= {turn.id: str(one["prediction"]) for turn, one in zip(turns, predicted, strict=False)}
    return found


def find_disputes(
    dataset: Dataset, rulings: Sequence[Ruling] = (), predictions: Predictions | None = None
) -> list[Dispute]:
    """Return doubts about gold queries in the dataset's order; a query may have several."""
    # What is to be declined has no gold to be doubted.
    dataset = replace(dataset, questions=tuple(question for question in dataset.questions if question.golds))
    places = {question.id: place for place, question in enumerate(dataset.questions)}
    with GoldQueries(dataset) as golds, Adjudicator(dataset, rulings) as adjudicator:
        found = [
            *_find_failing_golds(golds),
            *_find_golds_with_misspelt_values(golds),
            *_find_golds_comparing_texts(golds),
            *_find_golds_with_unjoined_tables(golds),
            *_find_contradictory_golds(golds),
            *_find_rejected_golds(golds, adjudicator, predictions or {}),
        ]
    return sorted(found, key=lambda dispute: places[dispute.question.id])


def _find_failing_golds(golds: GoldQueries) -> Iterator[Dispute]:
    """Yield a dispute for each gold query that fails or whose result cannot judge an answer."""
    for question in golds.dataset.questions:
        if golds.schema(question.database) is None:
            continue
        if isinstance(why := golds.judge.find_expected_results(question), str):
            yield Dispute(question, "fails", why)


def _find_golds_with_unjoined_tables(golds: GoldQueries) -> Iterator[Dispute]:
    """Yield a dispute for each gold query with fewer join conditions than joins."""
    for question, tree, _ in golds.parsed_queries:
        for select in tree.find_all(exp.Select):
            joins = [join.this for join in select.args.get("joins") or ()]
            sides = ({column.table for column in node.find_all(exp.Column)} for node in select.find_all(exp.Binary))
            if sum(len(on) > 1 for on in sides) < len(joins) and all(isinstance(each, exp.Table) for each in joins):
                yield Dispute(question, "join", f"Nothing joins {joins[-1].sql()}.")


def _find_contradictory_golds(golds: GoldQueries) -> Iterator[Dispute]:
    """Yield a dispute for each gold query that another gold of the same question contradicts."""
    twins: dict[tuple[str, ...], list[GoldTurn]] = defaultdict(list)
    for turns in golds.dataset.interactions:
        asked: tuple[str, ...] = (turns[0].database,)
        for turn in turns:
            asked = (*asked, " ".join(re.findall(r"[\w.%<>=']+", turn.text.casefold())))
            twins[asked].append(turn)
    for alike in twins.values():
        for question in alike:
            others = [one for one in alike if one is not question and golds.contradicts_gold(question, one.golds[0])]
            if others:
                told = "; ".join(f"question {twin.id} has {twin.golds[0]}" for twin in others[:2])
                yield Dispute(question, "twin", f"the same question with another gold: {told}")


def _find_rejected_golds(golds: GoldQueries, adjudicator: Adjudicator, predictions: Predictions) -> Iterator[Dispute]:
    """Yield gold queries that a reader calls wrong, or that systems and a reader contradict.

    The latter if no system agrees with the gold. Systems alone prove little: of the golds on Spider dev that four of
    six published ones contradict with one voice, half are sound, and all six look for a value that is not in the data.
    """
    for question in golds.dataset.questions:
        known, _ = adjudicator.find_rulings(question)
        if (ruling := known.get(adjudicator.normalize_sql(question, question.golds[0]))) and ruling.verdict == "wrong":
            yield Dispute(question, "verdict", ruling.why or f"{ruling.by or 'a reader'} calls it wrong")
        right = [one for one in known.values() if one.verdict == "right" and golds.contradicts_gold(question, one.sql)]
        given = {name: found[question.id] for name, found in predictions.items() if found.get(question.id)}
        if not right or any(golds.judge.judge(question, sql).ex for sql in given.values()):
            continue
        for ruling in right:
            asked = replace(question, golds=(ruling.sql,))
            agreeing = [name for name, sql in given.items() if golds.judge.judge(asked, sql).ex]
            if len(agreeing) >= _AGREEING:
                told = f"{', '.join(agreeing)} give what a reader calls right: {ruling.why or ruling.sql}"
                yield Dispute(question, "systems", told)
                break


def _find_golds_with_misspelt_values(golds: GoldQueries) -> Iterator[Dispute]:
    """Yield gold queries that find other rows if spaces and case are ignored.

    Either the whole query finds nothing, or one of its constants stands nowhere in its column.
    """
    for question, tree, schema in golds.parsed_queries:
        copy, changed = tree.copy(), list[str]()
        for node in list(copy.find_all(exp.EQ, exp.NEQ, exp.In)):
            others = node.expressions if isinstance(node, exp.In) else [node.expression]
            texts = all(isinstance(side, exp.Column) or side.is_string for side in others)
            if isinstance(node.this, exp.Column) and others and texts:
                changed.append(node.sql("sqlite"))
                for side in (node.this, *others):
                    side.replace(exp.func("LOWER", exp.func("TRIM", side.copy())))
        loose = copy.sql("sqlite")
        found = golds.fetch_query_rows(question, question.golds[0]) if changed else None
        other = golds.fetch_query_rows(question, loose) if found is not None else None
        if found is None or other is None:
            continue
        if _is_empty_result(found):
            if not _is_empty_result(other):
                where = " and ".join(changed)
                told = f"nothing is found; with spaces and capitals passed over in {where}: {_summarize_rows(other)}"
                yield Dispute(question, "value", told)
        elif golds.differs(question, loose) and (missed := _describe_misspelt_constant(golds, question, tree, schema)):
            yield Dispute(question, "value", f"{missed}; with its spelling passed over: {_summarize_rows(other)}")


def _describe_misspelt_constant(golds: GoldQueries, question: GoldTurn, tree: exp.Expr, schema: Schema) -> str:
    """Return the first constant that is spelled differently in its column, in words, or ''."""
    for node in tree.find_all(exp.EQ, exp.NEQ):
        place = _resolve_column(node.this, schema) if isinstance(node.this, exp.Column) else None
        if place is None or not node.expression.is_string:
            continue
        table, column = map(quote, place)
        constant = node.expression.sql("sqlite")
        written = f"SELECT DISTINCT {column} FROM {table} WHERE lower(trim({column})) = lower(trim({constant}))"
        found = golds.fetch_query_rows(question, written)
        texts = [str(row[0]) for row in found or ()]
        if texts and node.expression.name not in texts:
            return f"{constant} is written {texts[0]!r} in {'.'.join(place)}"
    return ""


def _resolve_column(column: exp.Column, schema: Schema) -> tuple[str, str] | None:
    """Return the table and column of a qualified column, or None if it is not in the schema."""
    select = column.find_ancestor(exp.Select)
    sources = {table.alias_or_name.lower(): table.name for table in select.find_all(exp.Table)} if select else {}
    table = schema.table(sources.get(column.table.lower(), column.table))
    found = table.column(column.name) if table is not None else None
    return (table.name, found.name) if table is not None and found is not None else None


def _is_empty_result(rows: Rows) -> bool:
    """Whether rows are empty, or one row of zeros and NULLs."""
    return not rows or (len(rows) == 1 and all(cell in (None, 0) for cell in rows[0]))


def _summarize_rows(rows: Rows) -> str:
    cells = ["NULL" if cell is None else str(cell)[:40] for cell in (rows[0] if rows else ("nothing",))]
    first = ", ".join(cells[:4])
    return first if len(rows) < 2 else f"{len(rows)} rows, such as {first}"


def _find_golds_comparing_texts(golds: GoldQueries) -> Iterator[Dispute]:
    """Yield gold queries whose result changes if texts are compared as numbers or dates."""
    readings: dict[tuple[str, str, str], dict[str, float]] = {}
    for question, tree, schema in golds.parsed_queries:
        reread, names = tree.copy(), dict[str, None]()
        # Order, the greatest and least, what is more or less than something: there the kind of a value matters.
        places = reread.find_all(exp.Ordered, exp.Max, exp.Min, exp.GT, exp.LT, exp.GTE, exp.LTE, exp.Between)
        sides = [side for node in places for side in (node.this, node.args.get("expression"))]
        for column in [side for side in sides if isinstance(side, exp.Column)]:
            place = _resolve_column(column, schema)
            if place is None:
                continue
            key = (question.database, *place)
            if key not in readings:
                readings[key] = _parse_column_texts(golds, question, *place)
            if readings[key]:
                names[".".join(place)] = None
                _replace_texts_by_numbers(column, readings[key])
        sql = reread.sql("sqlite")
        before, after = (golds.fetch_query_rows(question, each) if names else None for each in (question.golds[0], sql))
        if before is None or after is None:
            continue
        one, other = (Counter(tuple(map(_parse_cell, row)) for row in rows) for rows in (before, after))
        # Of a greatest or least number, one of the two writes the number as text.
        if one == other and (reread.find(exp.Max, exp.Min) or not golds.differs(question, sql)):
            continue
        told = f"{' and '.join(names)} compared as text: {_summarize_rows(before)} instead of {_summarize_rows(after)}"
        yield Dispute(question, "text", told)


def parse_number(text: str) -> float | None:
    """Parse a text as a number; return None if it is not a number.

    >>> parse_number("1,660"), parse_number("$12.50"), parse_number("Bath")
    (1660.0, 12.5, None)
    """
    found = text.strip()
    return float(re.sub(r"[$,%]", "", found)) if _NUMBER.fullmatch(found) else None


def parse_date(text: str) -> float | None:
    """Parse a text as a date; return its day number, or None if no known format fits.

    >>> parse_date("January 2, 2001") - parse_date("December 31, 2000")
    2.0
    """
    found = " ".join(text.split())
    for form in _DATES:
        try:
            return float(datetime.strptime(found, form).toordinal())
        except ValueError:
            continue
    return None


def _parse_column_texts(golds: GoldQueries, question: GoldTurn, table: str, column: str) -> dict[str, float]:
    """Parse a column's texts as numbers or dates; return {} if the texts sort correctly."""
    name = quote(column)
    sql = f"SELECT DISTINCT {name} FROM {quote(table)} WHERE typeof({name}) = 'text' AND trim({name}) != ''"
    found = golds.fetch_query_rows(question, f"{sql} LIMIT {_MOST_VALUES + 1}")
    texts = [str(row[0]) for row in found or ()]
    if len(texts) < 2 or len(texts) > _MOST_VALUES:
        return {}
    for read in (parse_number, parse_date):
        readings = {text: said for text in texts if (said := read(text)) is not None}
        if len(readings) >= _ENOUGH * len(texts):
            return {} if sorted(readings) == sorted(readings, key=readings.__getitem__) else readings
    return {}


def _replace_texts_by_numbers(column: exp.Column, readings: dict[str, float]) -> None:
    """Replace a text column by parsed numbers, and parse the constants compared with it."""
    parent = column.parent
    for name in ("this", "expression", "low", "high"):
        literal = parent.args.get(name) if parent is not None else None
        if isinstance(literal, exp.Literal) and literal.is_string:
            said = _parse_cell(literal.name)
            if isinstance(said, float):
                literal.replace(exp.Literal.number(said))
    case = exp.Case(this=column.copy(), ifs=[])
    for text, said in readings.items():
        case.append("ifs", exp.If(this=exp.Literal.string(text), true=exp.Literal.number(said)))
    if isinstance(parent, exp.Ordered):
        parent.set("nulls_first", False)  # the text "null" says nothing: it is neither first nor last
    column.replace(case)


def _parse_cell(cell: Cell) -> Cell:
    """Return a cell's number or date, or the cell itself if it is neither."""
    if isinstance(cell, str):
        said = parse_number(cell)
        said = parse_date(cell) if said is None else said
        return cell if said is None else said
    return float(cell) if isinstance(cell, int) else cell
