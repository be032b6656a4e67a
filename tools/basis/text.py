"""What an answer rests on, in about three lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..sql.explain.phrases import listed, plain_name
from .days import MIDNIGHT

if TYPE_CHECKING:
    from .basis import Basis
    from .filters import Filter

_ORIGINS = {
    "verified": "A verified query",
    "definition": "A query by definition",
    "generated": "A generated query",
    "offline": "A query read offline, by a grammar",
    "edited": "A query edited by a person",
}
_MOST = 4
_LEADS = {"rows": "only where", "groups": "only groups where", "part": "in parts of it only where"}
_DUPLICATES = {"kept": "", "removed": "duplicates removed", "none": ""}


def basis_text(basis: Basis) -> str:
    """The lines: what is read and what a row is; which rows; what was assumed and cut."""
    tables = f" over {listed([plain_name(table) for table in basis.tables])}" if basis.tables else ""
    rows = ", ".join(filter(None, (basis.grain, _DUPLICATES[basis.duplicates] if basis.grain else "")))
    first = "; ".join(filter(None, (f"{_ORIGINS[basis.origin]}{tables}", rows, _date(basis))))
    second = [_only(lead, [one for one in basis.filters if _place(one) == place]) for place, lead in _LEADS.items()]
    known = (
        [f"{'definition' if len(basis.definitions) == 1 else 'definitions'} used: {listed(basis.definitions)}"]
        if basis.definitions
        else []
    )
    known += [*basis.nulls[:_MOST], *filter(None, (basis.cut and f"shown: {basis.cut}", basis.ties))]
    known += [f"assumed: {', '.join(basis.assumed)}"] if basis.assumed else []
    third = "; ".join(known)
    lines = [f"{line[:1].upper()}{line[1:]}." for line in (first, "; ".join(filter(None, second)), third) if line]
    return "\n".join([*lines, *([f"Other readings: {basis.readings}"] if basis.readings else [])])


def _place(told: Filter) -> str:
    """Where a condition is told; nowhere if the range of the date says all of it, and the question asks for it."""
    if told.part:
        return "part"
    if told.groups:
        return "groups"
    return "rows" if told.words is None or not told.ranged else ""


def _only(lead: str, filters: list[Filter]) -> str:
    said = [_filter(one) for one in filters[:_MOST]]
    if len(filters) > _MOST:
        said.append(f"{len(filters) - _MOST} more")
    return f"{lead} {'; '.join(said)}" if said else ""


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
    last = date.last.removesuffix(MIDNIGHT)
    end = f"{date.last} (the rest of that day is out)" if last != date.last else date.last
    if date.first and date.last:
        said = f"{name} {date.first} to {end}" if date.first != date.last else f"{name} {date.first}"
    elif date.first or date.last:
        said = f"{name} from {date.first}" if date.first else f"{name} up to {end}"
    elif basis.filters:
        return newest and f"the newest {name} is {date.newest}"
    else:
        said = f"by {name}"
    return f"{said}{f' ({newest})' if newest else ''}"
