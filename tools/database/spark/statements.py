"""Statements for Spark: their syntax, their form for sending, and the check of plans.

Standing in FROM, a statement that does anything but read is a mistake of syntax to Spark: it would run every other one.
The plan is a second look, after the parser's, at what would really be read: Spark's own analysis has then found every
name. What it tells is text, a line an operator; lines can only be added to it by what `check_text` refuses,
never taken away.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from sqlglot.dialects.spark import Spark

from ...errors import QueryRejected
from ..profile import read_engine_profile
from ..server.statement_check import StatementGrammar
from ..table import Limits

TOO_LARGE = "tableturn: a value is too large"
"""What a statement makes the server say of a value that may not be sent."""

PROFILE = read_engine_profile(__package__ or "")


class Spark4(Spark):
    """The sqlglot dialect of Spark 4.0, in which a doubled quote stands for a quote."""

    class Tokenizer(Spark.Tokenizer):
        """A tokenizer in which a backslash or a doubled quote escapes a quote."""

        STRING_ESCAPES = ["\\", "'", '"']  # noqa: RUF012 - as sqlglot declares it


GRAMMAR = StatementGrammar(Spark4(), PROFILE)

# Before it reads a statement, the server puts settings and environment variables in the place of `${name}`.
_SUBSTITUTION = "${"
# What would begin a new line where the server tells a plan, as it is or by its escape.
_BREAK = re.compile(r"(?P<control>[\0-\x1f\x7f])|\\(?:(?P<escape>[nruU0-7])|.)", re.DOTALL)

# Types whose values the client takes as they are, by how their names begin; all others are sent as text.
_PLAIN = (
    *("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "void"),
    *("date", "timestamp", "string", "char", "varchar", "binary"),
)
_NOT_PLAIN = ("interval",)
_LONG_TYPES = ("string", "char", "varchar", "binary")
_NESTED_TYPES = ("array", "map", "struct")

_ANALYSED, _AFTER = "== Analyzed Logical Plan ==\n", "\n== Optimized Logical Plan =="
_LINE = re.compile(r"(?P<indent>(?:[: ]  )*(?:[:+]- )?)(?P<node>\w+) ?(?P<rest>.*)")
_READING = {
    "Relation": re.compile(r"(?P<name>[^\[]+)\[.*"),
    "RelationV2": re.compile(r"\[.*\] (?P<name>\S+)"),
    "HiveTableRelation": re.compile(r"\[(?P<name>`.*?`), .*"),
    "View": re.compile(r"\((?P<name>`.*?`), \[.*"),
}
"""Operators that read, and where they name what they read; files that a query names by their paths have no name."""


def check_text(statement: str) -> None:
    """Refuse a statement with server variables, or with line breaks in its texts or names."""
    if _SUBSTITUTION in statement:
        raise QueryRejected("'${' is not allowed here because Spark reads settings with it: write concat('$', '{')")
    for match in _BREAK.finditer(statement):
        if match["control"] or match["escape"]:
            raise QueryRejected("texts and names must not contain line breaks: write chr(10) instead")


def wrap_query(sql: str) -> str:
    """Return the statement as a sub-query, so that Spark accepts nothing but a query."""
    return f"SELECT * FROM ({sql})"


def limit_rows(sql: str, types: Sequence[str], limits: Limits) -> str:
    """Return a checked SELECT limited to the wanted rows.

    `types` are those of its columns, as Spark names them: `array<int>`. Values that are neither numbers, times, texts
    nor bytes are sent as text, JSON where they have parts.
    """
    names = [f"c{number}" for number in range(1, len(types) + 1)]
    fields = ", ".join(names)
    cells = ", ".join(_render_check(name, kind, limits.cell_bytes) for name, kind in zip(names, types, strict=True))
    return f"SELECT {cells} FROM (SELECT * FROM ({sql}) AS s({fields}) LIMIT {int(limits.rows) + 1}) AS r({fields})"


def convert_column(name: str, kind: str) -> str:
    """Return SQL for a column in a form that the client can receive: unchanged or as text."""
    if kind.startswith(_PLAIN) and not kind.startswith(_NOT_PLAIN):
        return name
    return f"to_json({name})" if kind.startswith(_NESTED_TYPES) else f"CAST({name} AS STRING)"


def _render_check(name: str, kind: str, longest: int) -> str:
    value = convert_column(name, kind)
    if value == name and not kind.startswith(_LONG_TYPES):
        return name
    return (
        f"CASE WHEN octet_length({value}) > {int(longest)} THEN raise_error('{TOO_LARGE}') ELSE {value} END AS {name}"
    )


def check_plan(plan: str, relations: Collection[tuple[str, str, str]]) -> None:
    """Raise an error for a plan that does more than read the catalogue's tables and views.

    `relations` are catalogue, schema and name of what may be read. What a view reads is for its maker to say.
    """
    start, marker, after = plan.partition(_ANALYSED)[2].partition(_AFTER)
    if not marker or not after:
        raise QueryRejected("Spark does not tell how it would run the statement: simplify it")
    plain_names = {".".join(relation) for relation in relations}
    quoted_names = {".".join("`" + name.replace("`", "``") + "`" for name in relation) for relation in relations}
    inside: int | None = None
    # The first line lists the columns.
    for line in start.rstrip().split("\n")[1:]:
        match = _LINE.fullmatch(line)
        if match is None:
            raise QueryRejected("the plan of the statement cannot be read: simplify it")
        depth = len(match["indent"])
        if inside is not None and depth > inside:
            continue
        node = match["node"]
        inside = depth if node == "View" else None
        if node in _READING:
            table_match = _READING[node].fullmatch(match["rest"])
            if table_match is None or table_match["name"] not in plain_names | quoted_names:
                raise QueryRejected("the statement reads something other than a table of the database: name a table")
        elif node not in PROFILE.operators:
            raise QueryRejected(f"this connection only reads, but Spark would do {node}: write a plain SELECT")
