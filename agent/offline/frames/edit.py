"""From one frame to another: narrowed, counted, respelled, or turned into what it leaves out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ....tools.errors import NotUnderstood
from ....tools.sql.findings import ColumnValues
from .frame import Column, Condition, Frame, Operator, Scalar, Term

_OPPOSITE: dict[Operator, Operator] = {"not in": "in", "in": "not in", "!=": "=", "not like": "like"}

Group = tuple[Condition, ...]


def picked(frame: Frame, key: Column, *, left_out: bool = False) -> Condition:
    """That a row's key is among those of the frame's rows, or among none of them."""
    return Condition(Term(key), "not in" if left_out else "in", replace(frame, select=(Term(key),)))


def rows_of(frame: Frame, key: Column) -> Frame:
    """The number of the key's rows that a frame picks."""
    return Frame((Term(key, "count", True),), (key.table,), ((picked(frame, key),),))


def counted(frame: Frame, key: Column | None) -> Frame:
    """How many rows the frame has, or groups where it has groups.

    Args:
        frame: Any frame.
        key: What tells the rows of its first table apart.

    Raises:
        NotUnderstood: It cannot be counted in place, and there is no key.
    """
    alone = len(frame.select) == 1 and frame.distinct
    of = frame.group[0] if frame.group else frame.select[0].column if alone else None
    if not (frame.having or frame.limit or frame.combine):
        return replace(frame, select=(Term(of, "count", of is not None),), order=(), group=(), distinct=False)
    if (key := of or key) is None:
        raise NotUnderstood(f"Nothing tells the rows of {frame.used()[0]} apart, so I cannot count these.")
    return rows_of(frame, key)


def meeting(frame: Frame, condition: Condition, key: Column | None) -> Frame:
    """What the frame gives that also meets a condition which no row can meet at once with one of its own.

    Args:
        frame: Any frame.
        condition: The other condition, on a term that the frame compares too.
        key: What tells the rows of its first table apart, by which a count of them is narrowed.
    """
    also, count = ((condition,),), frame.select[:1] if len(frame.select) == 1 else ()
    key = count[0].column or key if count and count[0].aggregate == "count" else None
    if key is not None:
        other = picked(Frame(tables=frame.tables, where=also), key)
        return replace(frame, select=(Term(key, "count", True),), where=(*frame.where, (other,)))
    kept = (
        g for g in frame.where if not (len(g) == 1 and g[0].term == condition.term and isinstance(g[0].value, Scalar))
    )
    second = Frame(frame.select, frame.tables, (*kept, *also), frame.group, frame.having)
    return replace(frame, order=(), limit=None, offset=0, combine=("intersect", second))


def holder(frame: Frame, titles: Iterable[Term]) -> Frame:
    """The row with the highest or lowest value, which is all that the frame gives; shown by the terms that name it."""
    extreme = frame.select[0]
    return replace(frame, select=tuple(titles), order=((Term(extreme.column), extreme.aggregate == "max"),), limit=1)


def per_group(frame: Frame, keys: Iterable[Column], shown: Iterable[Term], computes: Iterable[Term]) -> Frame:
    """What a frame computes of all its rows, or counts, of each group of them.

    Args:
        frame: Any frame.
        keys: What the rows of a group have in common.
        shown: What names a group.
        computes: What is computed instead of what the frame computes; may be empty.
    """
    computed = tuple(computes) or tuple(term for term in frame.select if term.aggregate) or (Term(None, "count"),)
    return replace(frame, select=(*shown, *computed), group=tuple(keys), limit=None)


def complement(frame: Frame, key: Column) -> Frame:
    """The rows that the frame leaves out: those that fail its only condition, else all that it does not pick."""
    only = frame.where[0][0] if len(frame.where) == 1 == len(frame.where[0]) else None
    if only is not None and only.operator in _OPPOSITE:
        return replace(frame, where=((replace(only, operator=_OPPOSITE[only.operator]),),))
    return Frame(frame.select, (key.table,), ((picked(frame, key, left_out=True),),))


def narrowed(frame: Frame, where: Iterable[Group], *, swap: bool = False) -> Frame:
    """The frame with more conditions; one on a column that is compared already takes the old one's place.

    Args:
        frame: Any frame; queries that its conditions compare with are narrowed in its stead where they hold the column.
        where: Groups of conditions to add.
        swap: Whether a new condition replaces any old one on its column, not only one that it contradicts.
    """
    kept, added = frame.where, list(where)
    for new in tuple(added):
        inside = tuple(_inside(new, old) for old in kept)
        if inside != kept:
            kept = inside
            added.remove(new)
    for new in tuple(added):
        left = tuple(_without(new, old) for old in kept)
        if left != kept:
            kept = left
            added.remove(new)
    kept = tuple(old for old in kept if not any(_replaces(new, old, swap) for new in added))
    return replace(frame, where=tuple(dict.fromkeys((*kept, *added))))


def _inside(new: Group, old: Group) -> Group:
    """An old condition with the new one in the place of its like, inside the query that it compares with."""
    if len(old) != 1 or not isinstance(inner := old[0].value, Frame) or all(c.operator != "=" for c in new):
        return old
    where = tuple(new if _replaces(new, one, False) else one for one in inner.where)
    return (replace(old[0], value=replace(inner, where=where)),) if where != inner.where else old


def _without(new: Group, old: Group) -> Group:
    """Alternatives less the one that is denied."""
    if len(new) != 1 or new[0].operator != "!=" or len(old) < 2:
        return old
    return tuple(one for one in old if one != replace(new[0], operator="="))


def _replaces(new: Group, old: Group, swap: bool) -> bool:
    """Whether a new condition on a column takes the old one's place: no row can equal two values."""
    if {c.term for c in new} != {c.term for c in old}:
        return False
    equals = any(c.operator in ("=", "like") for c in (*new, *old))
    return swap or equals or {c.operator for c in new} == {c.operator for c in old}


def respelled(frame: Frame, values: ColumnValues) -> Frame:
    """The frame with texts that their columns do not hold replaced by the nearest ones that they do."""
    where = tuple(tuple(_respelled(condition, values) for condition in group) for group in frame.where)
    return replace(frame, where=where)


def _respelled(condition: Condition, values: ColumnValues) -> Condition:
    column, text = condition.term.column, condition.value
    if column is None or not isinstance(text, str) or condition.operator not in ("=", "!="):
        return condition
    if values.holds(column.table, column.name, text):
        return condition
    near = values.nearest(column.table, column.name, text)
    return replace(condition, value=near[0]) if near else condition
