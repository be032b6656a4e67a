"""The plan that Spark made of a statement: a second look, after the parser's, at what would really be read.

Spark's own analysis has then found every name. What it tells is text, a line an operator; lines can only be added to it
by what was refused before (`grammar.check_text`), never taken away.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from ...errors import QueryRejected

_ANALYSED, _AFTER = "== Analyzed Logical Plan ==\n", "\n== Optimized Logical Plan =="
_LINE = re.compile(r"(?P<indent>(?:[: ]  )*(?:[:+]- )?)(?P<node>\w+) ?(?P<rest>.*)")

_COMPUTING = frozenset(
    """
    Aggregate CTERelationDef CTERelationRef Deduplicate Distinct Except Expand Filter Generate GlobalLimit Intersect
    Join LateralJoin LocalLimit LocalRelation Offset OneRowRelation Project Range Sample Sort Subquery SubqueryAlias
    Union UnionLoop UnionLoopRef Window WithCTE
    """.split()  # noqa: SIM905 - as a list it would take a line a name
)
"""Operators that neither read a table nor do anything."""

_READING = {
    "Relation": re.compile(r"(?P<name>[^\[]+)\[.*"),
    "RelationV2": re.compile(r"\[.*\] (?P<name>\S+)"),
    "HiveTableRelation": re.compile(r"\[(?P<name>`.*?`), .*"),
    "View": re.compile(r"\((?P<name>`.*?`), \[.*"),
}
"""Operators that read, and where they name what they read; files that a query names by their paths have no name."""


def check_plan(explained: str, relations: Collection[tuple[str, str, str]]) -> None:
    """Refuses a plan that reads anything but tables and views of the catalogue, or does anything but read.

    What a view reads is for its maker to say.

    Args:
        explained: As EXPLAIN EXTENDED tells it.
        relations: Catalogue, schema and name of what may be read.

    Raises:
        QueryRejected: It does, or cannot be told.
    """
    start, found, after = explained.partition(_ANALYSED)[2].partition(_AFTER)
    if not found or not after:
        raise QueryRejected("Spark does not tell how it would run the statement: simplify it")
    names = {spelled for relation in relations for spelled in _spellings(*relation)}
    inside: int | None = None
    # The first line lists the columns.
    for line in start.rstrip().split("\n")[1:]:
        read = _LINE.fullmatch(line)
        if read is None:
            raise QueryRejected("the plan of the statement cannot be read: simplify it")
        depth = len(read["indent"])
        if inside is not None and depth > inside:
            continue
        inside = None
        _check(read["node"], read["rest"], names)
        if read["node"] == "View":
            inside = depth


def _check(node: str, rest: str, names: Collection[str]) -> None:
    if node in _READING:
        read = _READING[node].fullmatch(rest)
        if read is None or read["name"] not in names:
            raise QueryRejected("the statement reads what is no table of the database: name one")
    elif node not in _COMPUTING:
        raise QueryRejected(f"this connection only reads, but Spark would do {node}: write a plain SELECT")


def _spellings(catalogue: str, schema: str, name: str) -> tuple[str, str]:
    quoted = ".".join("`" + part.replace("`", "``") + "`" for part in (catalogue, schema, name))
    return f"{catalogue}.{schema}.{name}", quoted
