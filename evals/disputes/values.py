"""Golds that look for a value otherwise than it is written in the data: spaces around it, or other capitals."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from ...tools.database import Cell, Schema, Table
from ...tools.database.quoting import quoted
from ..datasets import Question
from .dispute import Dispute, Golds, home


def value_disputes(golds: Golds) -> Iterator[Dispute]:
    """Golds with another result once spaces and capitals are passed over, where they find nothing as they are written.

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
                told = f"nothing is found; with spaces and capitals passed over in {where}: {_shown(other)}"
                yield Dispute(question, "value", told)
        elif golds.differs(question, loose.sql("sqlite")) and (missed := _missed(golds, question, tree, schema)):
            yield Dispute(question, "value", f"{missed}; with its spelling passed over: {_shown(other)}")


def _loosened(tree: exp.Expr) -> tuple[exp.Expr, list[str]]:
    """The query with every comparison of text made loose, and the comparisons that were."""
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
    """The first constant that stands nowhere in its column as it is written, but otherwise does; empty without one."""
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
    """No rows, or one that says that nothing was counted or found."""
    return not table.rows or (len(table.rows) == 1 and all(cell in (None, 0) for cell in table.rows[0]))


def _shown(table: Table) -> str:
    first = ", ".join(_cell(cell) for cell in table.rows[0][:4]) if table.rows else "nothing"
    return first if len(table.rows) < 2 else f"{len(table.rows)} rows, such as {first}"


def _cell(cell: Cell) -> str:
    return "NULL" if cell is None else str(cell)[:40]
