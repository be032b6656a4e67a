"""What to write instead of what SQLite does not know."""

from __future__ import annotations

import re

from ..database.schema import Schema
from .names import KEYWORDS, fold
from .parse import join_split_operators

_STRING = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"")
_OTHER_DIALECTS = {
    "year": "strftime('%Y', ...)",
    "month": "strftime('%m', ...)",
    "day": "strftime('%d', ...)",
    "extract": "strftime('%Y', ...)",
    "date_format": "strftime('%Y-%m', ...)",
    "to_char": "strftime('%Y-%m', ...)",
    "to_date": "date(...)",
    "now": "datetime('now')",
    "curdate": "date('now')",
    "getdate": "datetime('now')",
    "datediff": "julianday(a) - julianday(b)",
    "concat": "a || b",
    "left": "substr(text, 1, n)",
    "right": "substr(text, -n)",
    "len": "length(...)",
    "isnull": "ifnull(a, b)",
    "nvl": "ifnull(a, b)",
    "if": "iif(condition, a, b)",
    "string_agg": "group_concat(value, separator)",
    "stddev": "an expression with avg(x * x) and avg(x)",
    "regexp": "LIKE or GLOB",
}
"""Functions of other databases, and what SQLite has in their place."""

_FOREIGN: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), advice)
    for pattern, advice in (
        (r"^\s*(?!select\b|with\b|values\b|\(|--|/\*)", "start with SELECT, without code fences or explanations"),
        (
            r"^\s*\(\s*select\b|\b(union|intersect|except)(\s+all)?\s*\(",
            "write the SELECTs around UNION, INTERSECT or EXCEPT without parentheses",
        ),
        (r"\btop\s+\d|\bfetch\s+(first|next)\b", "use LIMIT at the end"),
        (r"\bilike\b", "use LIKE, which ignores case"),
        (r"\bextract\s*\(|\binterval\b", "use strftime and date modifiers such as date(x, '-1 year')"),
        (r"(=|<|>)\s*(any|all|some)\s*\(", "use IN, or compare with a sub-query's max or min"),
        (r"\w::\w", "use CAST(x AS type)"),
        (r"\bdistinct\s+on\s*\(", "use GROUP BY"),
    )
)
"""What another database's syntax, found in a query that SQLite cannot parse, asks for."""


def instead_of(function: str) -> str:
    """What SQLite has instead of another database's function; empty if nothing is known.

    Args:
        function: Its name in lower case.
    """
    return f"SQLite has {_OTHER_DIALECTS[function]}" if function in _OTHER_DIALECTS else ""


def syntax_advice(sql: str, message: str, near: str, schema: Schema) -> str:
    """What to write where SQLite cannot parse a query.

    Args:
        sql: The query.
        message: SQLite's.
        near: The token at which it stopped; empty if it names none.
        schema: Names that may be keywords.
    """
    if join_split_operators(sql) != sql:
        return "write operators such as >= and != without a blank"
    for part, advice in (
        ("clause should come after", "put ORDER BY and LIMIT at the very end, or that SELECT into FROM (SELECT ...)"),
        ("same number of result columns", "select as many columns on both sides"),
        ("sub-select returns", "let the sub-query select one column"),
        ("incomplete input", "finish the query; it breaks off"),
    ):
        if part in message:
            return advice
    names = {fold(name) for table in schema.tables for name in (table.name, *(column.name for column in table.columns))}
    if fold(near) in KEYWORDS & names:
        return f'write the name {near} in double quotes: "{near}"'
    for pattern, advice in _FOREIGN:
        if pattern.search(sql):
            return advice
    bare = _STRING.sub("", sql)
    opened, closed = bare.count("("), bare.count(")")
    if opened != closed:
        return f"there are {opened} opening and {closed} closing parentheses; make them match"
    return f"correct the query just before {near}" if near else ""
