"""Golds that order or compare text where numbers or dates are meant: as text, '998' comes after '1660'."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from sqlglot import exp

from ...tools.database import Cell, Schema, Table
from ...tools.database.quoting import quoted
from ..datasets import Question
from .dispute import Dispute, Golds, home

_MOST_VALUES = 1_000
"""Distinct values of a column that are read; one with more is passed over."""

_ENOUGH = 0.95
"""Share of a column's values that must read as numbers, or as dates, for it to hold them."""

_NUMBER = re.compile(r"[-+]?[$]?\d{1,3}(?:,\d{3})+(?:\.\d+)?%?|[-+]?[$]?\d+(?:\.\d+)?%?")
_DATES = ("%B %d, %Y", "%d %B %Y", "%B%d,%Y", "%b %d, %Y", "%d %b %Y", "%B %Y", "%m/%d/%Y", "%d-%b-%Y")

Reader = Callable[[str], float | None]


def text_disputes(golds: Golds) -> Iterator[Dispute]:
    """Golds with another result once the text that they order or compare is read as what it says."""
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
        told = f"{' and '.join(columns)} compared as text: {_first(before)} instead of {_first(after)}"
        yield Dispute(question, "text", told)


def number(text: str) -> float | None:
    """What a text says as a number; None where it says none.

    >>> number("1,660"), number("$12.50"), number("Bath")
    (1660.0, 12.5, None)
    """
    found = text.strip()
    return float(re.sub(r"[$,%]", "", found)) if _NUMBER.fullmatch(found) else None


def date(text: str) -> float | None:
    """What a text says as a date, in days; None where it says none, or sorts as it is written.

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
    """The query with text columns read as numbers or dates where it orders or compares them, and their names."""
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
    """Where the kind of a value matters: order, the greatest and least, what is more or less than something."""
    return list(tree.find_all(exp.Ordered, exp.Max, exp.Min, exp.GT, exp.LT, exp.GTE, exp.LTE, exp.Between))


def _columns(node: exp.Expr) -> list[exp.Column]:
    """The columns that stand there by themselves."""
    sides = [node.this, *([node.expression] if isinstance(node, exp.Binary) else [])]
    return [side for side in sides if isinstance(side, exp.Column)]


def _readings(golds: Golds, question: Question, table: str, column: str) -> dict[str, float]:
    """What each text of a column says; empty where it holds no text, something else, or text that sorts rightly."""
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
    """Puts what the column's texts say in its place, and does the same to the constant that it is compared with."""
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
    if Counter(map(_said, before.rows)) != Counter(map(_said, after.rows)):
        return False
    if reread.find(exp.Max, exp.Min):
        return True  # one writes the number as text
    return not golds.differs(question, reread.sql("sqlite"))


def _said(row: tuple[Cell, ...]) -> tuple[object, ...]:
    return tuple(_cell(cell) for cell in row)


def _cell(cell: Cell) -> object:
    if isinstance(cell, str):
        said = number(cell)
        said = date(cell) if said is None else said
        return cell if said is None else said
    return float(cell) if isinstance(cell, int) else cell


def _first(table: Table) -> str:
    row = ", ".join(str(cell)[:40] for cell in table.rows[0][:4]) if table.rows else "nothing"
    return row if len(table.rows) < 2 else f"{row} and {len(table.rows) - 1} more"
