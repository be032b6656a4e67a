"""What an answer rests on, in about three lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..sql.explain.phrases import listed, plain_name

if TYPE_CHECKING:
    from .basis import Basis, DateUse
    from .filters import Filter

_ORIGINS = {
    "verified": "A verified query",
    "definition": "A query by definition",
    "generated": "A generated query",
    "offline": "A query read offline, by a grammar",
    "edited": "A query edited by a person",
}
_MOST = 4
_DUPLICATES = {"kept": "", "removed": "duplicates removed", "none": ""}


def basis_text(basis: Basis) -> str:
    """The lines: what is read and what a row is; which rows; what was assumed and cut."""
    tables = f" over {listed([plain_name(table) for table in basis.tables])}" if basis.tables else ""
    rows = ", ".join(filter(None, (basis.grain, _DUPLICATES[basis.duplicates] if basis.grain else "")))
    first = "; ".join(filter(None, (f"{_ORIGINS[basis.origin]}{tables}", rows, _date(basis))))
    told = [one for one in basis.filters if not _is_range(one, basis.date)]
    filters = [_filter(one) for one in told[:_MOST]]
    if len(told) > _MOST:
        filters.append(f"{len(told) - _MOST} more")
    second = f"Only where {'; '.join(filters)}" if filters else ""
    known = (
        [f"{'definition' if len(basis.definitions) == 1 else 'definitions'} used: {listed(basis.definitions)}"]
        if basis.definitions
        else []
    )
    known += [*basis.nulls[:_MOST], *filter(None, (basis.cut and f"shown: {basis.cut}", basis.ties))]
    known += [f"assumed: {', '.join(basis.assumed)}"] if basis.assumed else []
    third = "; ".join(known)
    lines = [f"{line[:1].upper()}{line[1:]}." for line in (first, second, third) if line]
    return "\n".join([*lines, *([f"Other readings: {basis.readings}"] if basis.readings else [])])


def _is_range(told: Filter, date: DateUse | None) -> bool:
    """Whether a condition is said by the range of the date already, and comes from the question."""
    if date is None or told.words is None or told.columns != (f"{date.table}.{date.column}",):
        return False
    return bool(date.first or date.last)


def _filter(told: Filter) -> str:
    return f"{told.text} (from “{told.words}”)" if told.words else f"{told.text} (not in the question)"


def _date(basis: Basis) -> str:
    date = basis.date
    if date is None:
        return ""
    newest = f"the newest is {date.newest}" if date.newest else ""
    name = plain_name(date.column)
    if not date.used:
        return f"the newest {name} is {date.newest}" if date.newest else ""
    if date.first and date.last:
        said = f"{name} {date.first} to {date.last}" if date.first != date.last else f"{name} {date.first}"
    elif date.first or date.last:
        said = f"{name} from {date.first}" if date.first else f"{name} up to {date.last}"
    elif any(f"{date.table}.{date.column}" in one.columns for one in basis.filters):
        return newest and f"the newest {name} is {date.newest}"
    else:
        said = f"any {name}"
    return f"{said}{f' ({newest})' if newest else ''}"
