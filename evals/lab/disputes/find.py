"""Searches for gold queries that there is reason to doubt, each with its evidence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from sqlglot import exp

from ....tools.database import Cell, Schema, Table
from ....tools.database.quoting import quoted
from ....tools.sql import check
from ...adjudication.ruling import Adjudicator, Ruling
from ...datasets import Dataset, Question
from .golds import Dispute, Golds, Predictions, home

_MOST_VALUES = 1_000
"""Distinct values of a column that are read; one with more is passed over."""

_ENOUGH = 0.95
"""Share of a column's values that must read as numbers, or as dates, for it to hold them."""

_AGREEING = 2
"""Systems that must agree on a result: the same mistake is made by two, but not often one that a reader calls right."""

_NUMBER = re.compile(r"[-+]?[$]?\d{1,3}(?:,\d{3})+(?:\.\d+)?%?|[-+]?[$]?\d+(?:\.\d+)?%?")
_DATES = ("%B %d, %Y", "%d %B %Y", "%B%d,%Y", "%b %d, %Y", "%d %b %Y", "%B %Y", "%m/%d/%Y", "%d-%b-%Y")

Search = Callable[[Golds], Iterator[Dispute]]
"""Looks for doubts of one kind, in the dataset's order."""


def find_disputes(
    dataset: Dataset, rulings: Sequence[Ruling] = (), predictions: Predictions | None = None
) -> list[Dispute]:
    """Return golds that there is reason to doubt, in the dataset's order; one may be doubted for several reasons.

    Args:
        dataset: The questions.
        rulings: Of a verdict file.
        predictions: Of published systems.
    """
    searches: tuple[Search, ...] = (
        failures,
        value_disputes,
        text_disputes,
        join_disputes,
        twin_disputes,
        partial(verdict_disputes, rulings=rulings),
        partial(system_disputes, rulings=rulings, predictions=predictions or {}),
    )
    # What is to be declined has no gold to be doubted.
    dataset = replace(dataset, questions=tuple(question for question in dataset.questions if question.golds))
    places = {question.id: place for place, question in enumerate(dataset.questions)}
    with Golds(dataset) as golds:
        found = [dispute for search in searches for dispute in search(golds)]
    return sorted(found, key=lambda dispute: places[dispute.question.id])


def failures(golds: Golds) -> Iterator[Dispute]:
    """Yield golds that do not run, or cannot be judged by."""
    for question in golds.dataset.questions:
        if golds.schema(question) is not None and (why := golds.judge.unfit(question)):
            yield Dispute(question, "fails", why)


def join_disputes(golds: Golds) -> Iterator[Dispute]:
    """Yield golds in which static analysis finds a product of tables."""
    for question, _, schema in golds.trees:
        found = [finding for finding in check(question.golds[0], schema) if finding.kind == "cartesian_product"]
        if found:
            yield Dispute(question, "join", found[0].message)


def twin_disputes(golds: Golds) -> Iterator[Dispute]:
    """Yield golds whose results differ from that of the same question, asked after the same turns."""
    twins: dict[tuple[str, ...], list[Question]] = {}
    for turns in golds.dataset.interactions:
        asked: tuple[str, ...] = (turns[0].database,)
        for turn in turns:
            asked = (*asked, _words(turn.text))
            twins.setdefault(asked, []).append(turn)
    for alike in twins.values():
        for question in alike:
            others = [twin for twin in alike if twin is not question and golds.contradicts(question, twin.golds[0])]
            if others:
                told = "; ".join(f"question {twin.id} has {twin.golds[0]}" for twin in others[:2])
                yield Dispute(question, "twin", f"the same question with another gold: {told}")


def _words(text: str) -> str:
    return " ".join(re.findall(r"[\w.%<>=']+", text.casefold()))


def verdict_disputes(golds: Golds, rulings: Iterable[Ruling]) -> Iterator[Dispute]:
    """Yield golds that somebody has called wrong."""
    with Adjudicator(golds.dataset, rulings) as adjudicator:
        for question in golds.dataset.questions:
            ruling = adjudicator.ruling(question, question.golds[0])
            if ruling is not None and ruling.verdict == "wrong":
                yield Dispute(question, "verdict", ruling.why or f"{ruling.by or 'a reader'} calls it wrong")


def system_disputes(golds: Golds, rulings: Iterable[Ruling], predictions: Predictions) -> Iterator[Dispute]:
    """Yield golds that no system agrees with, while several give a result that a reader calls right.

    Systems alone prove little: of the golds on Spider dev that four of six published ones contradict with one voice,
    half are sound, and all six look for a value that is not in the data.
    """
    with Adjudicator(golds.dataset, rulings) as adjudicator:
        for question in golds.dataset.questions:
            accepted = [ruling for ruling in adjudicator.accepted(question) if golds.contradicts(question, ruling.sql)]
            if not accepted:
                continue
            given = {name: found[question.id] for name, found in predictions.items() if found.get(question.id)}
            if any(golds.judge.judge(question, sql).ex for sql in given.values()):
                continue
            for ruling in accepted:
                agreeing = _agreeing(golds, question, ruling.sql, given)
                if len(agreeing) >= _AGREEING:
                    told = f"{', '.join(agreeing)} give what a reader calls right: {ruling.why or ruling.sql}"
                    yield Dispute(question, "systems", told)
                    break


def _agreeing(golds: Golds, question: Question, sql: str, given: dict[str, str]) -> Sequence[str]:
    asked = replace(question, golds=(sql,))
    return [name for name, prediction in given.items() if golds.judge.judge(asked, prediction).ex]


def value_disputes(golds: Golds) -> Iterator[Dispute]:
    """Yield golds with another result once spaces and capitals are passed over, if they find nothing as they are.

    Either the whole query finds nothing, or one of its constants stands nowhere in its column.
    """
    for question, tree, schema in golds.trees:
        loose, changed = _loosened(tree)
        found = golds.run(question, question.golds[0]) if changed else None
        other = golds.run(question, loose.sql("sqlite")) if isinstance(found, Table) else None
        if not isinstance(found, Table) or not isinstance(other, Table):
            continue
        if _is_nothing(found):
            if not _is_nothing(other):
                where = " and ".join(changed)
                told = f"nothing is found; with spaces and capitals passed over in {where}: {_show_rows(other)}"
                yield Dispute(question, "value", told)
        elif golds.differs(question, loose.sql("sqlite")) and (missed := _missed(golds, question, tree, schema)):
            yield Dispute(question, "value", f"{missed}; with its spelling passed over: {_show_rows(other)}")


def _loosened(tree: exp.Expr) -> tuple[exp.Expr, list[str]]:
    """Return the query with every comparison of text made loose, and the comparisons that were."""
    copy = tree.copy()
    changed: list[str] = []
    for node in list(copy.find_all(exp.EQ, exp.NEQ, exp.In)):
        others = node.expressions if isinstance(node, exp.In) else [node.expression]
        if isinstance(node.this, exp.Column) and others and all(_is_text(side) for side in others):
            changed.append(node.sql("sqlite"))
            for side in (node.this, *others):
                side.replace(exp.func("LOWER", exp.func("TRIM", side.copy())))
    return copy, changed


def _missed(golds: Golds, question: Question, tree: exp.Expr, schema: Schema) -> str:
    """Return the first constant that its column holds only in another spelling; empty without one."""
    for node in tree.find_all(exp.EQ, exp.NEQ):
        place = home(node.this, schema) if isinstance(node.this, exp.Column) else None
        if place is None or not isinstance(node.expression, exp.Literal) or not node.expression.is_string:
            continue
        table, column = map(quoted, place)
        constant = node.expression.sql("sqlite")
        written = f"SELECT DISTINCT {column} FROM {table} WHERE lower(trim({column})) = lower(trim({constant}))"
        found = golds.run(question, written)
        texts = [str(row[0]) for row in found.rows] if isinstance(found, Table) else []
        if texts and node.expression.name not in texts:
            return f"{constant} is written {texts[0]!r} in {'.'.join(place)}"
    return ""


def _is_text(side: exp.Expr) -> bool:
    return isinstance(side, exp.Column) or (isinstance(side, exp.Literal) and side.is_string)


def _is_nothing(table: Table) -> bool:
    """Whether there are no rows, or one that says that nothing was counted or found."""
    return not table.rows or (len(table.rows) == 1 and all(cell in (None, 0) for cell in table.rows[0]))


def _show_rows(table: Table) -> str:
    first = ", ".join(_show_cell(cell) for cell in table.rows[0][:4]) if table.rows else "nothing"
    return first if len(table.rows) < 2 else f"{len(table.rows)} rows, such as {first}"


def _show_cell(cell: Cell) -> str:
    return "NULL" if cell is None else str(cell)[:40]


def text_disputes(golds: Golds) -> Iterator[Dispute]:
    """Yield golds with another result once the text that they order or compare is read as what it says."""
    readers: dict[tuple[str, str, str], dict[str, float]] = {}
    for question, tree, schema in golds.trees:
        reread, columns = _reread(golds, question, tree, schema, readers)
        if not columns:
            continue
        before, after = golds.run(question, question.golds[0]), golds.run(question, reread.sql("sqlite"))
        if not isinstance(before, Table) or not isinstance(after, Table):
            continue
        if _alike(golds, question, before, after, reread):
            continue
        told = f"{' and '.join(columns)} compared as text: {_show_rows(before)} instead of {_show_rows(after)}"
        yield Dispute(question, "text", told)


def number(text: str) -> float | None:
    """Return what a text says as a number; None if it says none.

    >>> number("1,660"), number("$12.50"), number("Bath")
    (1660.0, 12.5, None)
    """
    found = text.strip()
    return float(re.sub(r"[$,%]", "", found)) if _NUMBER.fullmatch(found) else None


def date(text: str) -> float | None:
    """Return what a text says as a date, in days; None if it says none, or sorts as it is written.

    >>> date("January 2, 2001") - date("December 31, 2000")
    2.0
    """
    found = " ".join(text.split())
    for form in _DATES:
        try:
            return float(datetime.strptime(found, form).toordinal())
        except ValueError:
            continue
    return None


def _reread(
    golds: Golds,
    question: Question,
    tree: exp.Expr,
    schema: Schema,
    kept: dict[tuple[str, str, str], dict[str, float]],
) -> tuple[exp.Expr, list[str]]:
    """Return the query with text columns read as numbers or dates where it orders or compares them, and their names."""
    copy = tree.copy()
    names: list[str] = []
    for column in [found for node in _places(copy) for found in _columns(node)]:
        place = home(column, schema)
        if place is None:
            continue
        key = (question.database, *place)
        if key not in kept:
            kept[key] = _readings(golds, question, *place)
        if kept[key]:
            names.append(f"{place[0]}.{place[1]}")
            _replace(column, kept[key])
    return copy, list(dict.fromkeys(names))


def _places(tree: exp.Expr) -> list[exp.Expr]:
    """Return where the kind of a value matters: order, the greatest and least, what is more or less than something."""
    return list(tree.find_all(exp.Ordered, exp.Max, exp.Min, exp.GT, exp.LT, exp.GTE, exp.LTE, exp.Between))


def _columns(node: exp.Expr) -> list[exp.Column]:
    """Return the columns that stand there by themselves."""
    sides = [node.this, *([node.expression] if isinstance(node, exp.Binary) else [])]
    return [side for side in sides if isinstance(side, exp.Column)]


def _readings(golds: Golds, question: Question, table: str, column: str) -> dict[str, float]:
    """Return what each text of a column says; empty if it holds no text, something else, or text that sorts rightly."""
    name = quoted(column)
    sql = f"SELECT DISTINCT {name} FROM {quoted(table)} WHERE typeof({name}) = 'text' AND trim({name}) != ''"
    found = golds.run(question, f"{sql} LIMIT {_MOST_VALUES + 1}")
    texts = [str(row[0]) for row in found.rows] if isinstance(found, Table) else []
    if len(texts) < 2 or len(texts) > _MOST_VALUES:
        return {}
    for read in (number, date):
        readings = {text: said for text in texts if (said := read(text)) is not None}
        if len(readings) >= _ENOUGH * len(texts):
            return {} if sorted(readings) == sorted(readings, key=readings.__getitem__) else readings
    return {}


def _replace(column: exp.Column, readings: dict[str, float]) -> None:
    """Put what the column's texts say in its place, and does the same to the constant that it is compared with."""
    parent = column.parent
    for literal in _constants(parent, column) if parent is not None else ():
        said = number(literal.name) if literal.is_string else None
        said = date(literal.name) if literal.is_string and said is None else said
        if said is not None:
            literal.replace(exp.Literal.number(said))
    case = exp.Case(this=column.copy(), ifs=[])
    for text, said in readings.items():
        case.append("ifs", exp.If(this=exp.Literal.string(text), true=exp.Literal.number(said)))
    if isinstance(parent, exp.Ordered):
        parent.set("nulls_first", False)  # the text "null" says nothing: it is neither first nor last
    column.replace(case)


def _constants(parent: exp.Expr, column: exp.Column) -> Sequence[exp.Literal]:
    sides = [parent.args.get(name) for name in ("this", "expression", "low", "high")]
    return [side for side in sides if isinstance(side, exp.Literal) and side is not column]


def _alike(golds: Golds, question: Question, before: Table, after: Table, reread: exp.Expr) -> bool:
    """Whether both say the same, a number kept as text being a number."""
    if Counter(map(_read_row, before.rows)) != Counter(map(_read_row, after.rows)):
        return False
    if reread.find(exp.Max, exp.Min):
        return True  # one writes the number as text
    return not golds.differs(question, reread.sql("sqlite"))


def _read_row(row: tuple[Cell, ...]) -> tuple[object, ...]:
    return tuple(_read_cell(cell) for cell in row)


def _read_cell(cell: Cell) -> object:
    if isinstance(cell, str):
        said = number(cell)
        said = date(cell) if said is None else said
        return cell if said is None else said
    return float(cell) if isinstance(cell, int) else cell
