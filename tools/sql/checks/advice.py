"""Advice on functions and syntax that an engine does not know."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from ...database.quoting import get_engine_name, get_naming_rules
from ...database.schema import Schema
from ..dialects import KEYWORDS, fold
from ..parse import join_split_operators

_STRING = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"")

_DATE_PARTS = {"year": "%Y", "month": "%m", "day": "%d"}
_INSTEAD: Mapping[str, Mapping[str, str]] = {
    "sqlite": {
        **{name: f"strftime('{part}', ...)" for name, part in _DATE_PARTS.items()},
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
    },
    "postgres": {
        **{name: f"extract({name} FROM ...)" for name in _DATE_PARTS},
        "strftime": "to_char(date, 'YYYY-MM') or extract(year FROM date)",
        "date_format": "to_char(date, 'YYYY-MM')",
        "julianday": "date - date, a number of days",
        "datediff": "date - date, a number of days",
        "date_diff": "date - date, a number of days",
        "date_add": "date + interval '1 day'",
        "datetime": "CAST(... AS timestamp)",
        "curdate": "current_date",
        "getdate": "now()",
        "ifnull": "coalesce(a, b)",
        "isnull": "coalesce(a, b)",
        "nvl": "coalesce(a, b)",
        "if": "CASE WHEN condition THEN a ELSE b END",
        "iif": "CASE WHEN condition THEN a ELSE b END",
        "group_concat": "string_agg(value, separator)",
        "instr": "strpos(text, part)",
        "len": "length(...)",
        "total": "coalesce(sum(...), 0)",
        "median": "percentile_cont(0.5) WITHIN GROUP (ORDER BY ...)",
        "round": "round(CAST(... AS numeric), n)",
    },
    "mysql": {
        "strftime": "date_format(date, '%Y-%m') or year(date)",
        "to_char": "date_format(date, '%Y-%m')",
        "to_date": "str_to_date(text, '%Y-%m-%d')",
        "date_trunc": "date_format(date, '%Y-%m-01')",
        "julianday": "datediff(a, b)",
        "getdate": "now()",
        "string_agg": "group_concat(value SEPARATOR ', ')",
        "listagg": "group_concat(value SEPARATOR ', ')",
        "iif": "if(condition, a, b)",
        "isnull": "ifnull(a, b)",
        "nvl": "ifnull(a, b)",
        "len": "char_length(...)",
        "strpos": "instr(text, part)",
        "total": "ifnull(sum(...), 0)",
        "initcap": "an expression with upper, left and substring",
    },
    "duckdb": {
        "date_format": "strftime(date, '%Y-%m')",
        "to_char": "strftime(date, '%Y-%m')",
        "to_date": "strptime(text, '%Y-%m-%d')",
        "datediff": "date_diff('day', start, end)",
        "date_sub": "date - INTERVAL 1 DAY",
        "curdate": "current_date",
        "getdate": "now()",
        "nvl": "ifnull(a, b)",
        "isnull": "ifnull(a, b)",
        "iif": "CASE WHEN condition THEN a ELSE b END",
        "char_length": "length(...)",
        "total": "coalesce(sum(...), 0)",
        "datetime": "CAST(... AS TIMESTAMP)",
    },
}
"""By dialect: functions of other databases, and what the dialect's engine has in their place."""

_ONE_SELECT = (r"^\s*(?!select\b|with\b|values\b|\(|--|/\*)", "start with SELECT, without code fences or explanations")
_TOP = (r"\btop\s+\d", "use LIMIT at the end")
_TOP_OR_FETCH = (r"\btop\s+\d|\bfetch\s+(first|next)\b", "use LIMIT at the end")
_ILIKE = (r"\bilike\b", "use LIKE, which ignores case")
_CAST = (r"\w::\w", "use CAST(x AS type)")
_DISTINCT_ON = (r"\bdistinct\s+on\s*\(", "use GROUP BY")
_BACK_TICKS = ("`", "write names in double quotes, not in back-ticks")
_QUALIFY = (r"\bqualify\b", "compute the window function in a sub-query, and filter outside of it")
_GROUP_ALL = (r"\bgroup\s+by\s+all\b", "name the columns in GROUP BY")
_LIMIT_PAIR = (r"\blimit\s+\d+\s*,\s*\d+", "write LIMIT n OFFSET m")
_GLOB = (r"\bglob\b", "use LIKE, or a regular expression")

_FOREIGN: Mapping[str, tuple[tuple[str, str], ...]] = {
    "sqlite": (
        _ONE_SELECT,
        (
            r"^\s*\(\s*select\b|\b(union|intersect|except)(\s+all)?\s*\(",
            "write the SELECTs around UNION, INTERSECT or EXCEPT without parentheses",
        ),
        _TOP_OR_FETCH,
        _ILIKE,
        (r"\bextract\s*\(|\binterval\b", "use strftime and date modifiers such as date(x, '-1 year')"),
        (r"(=|<|>)\s*(any|all|some)\s*\(", "use IN, or compare with a sub-query's max or min"),
        _CAST,
        _DISTINCT_ON,
    ),
    "postgres": (_ONE_SELECT, _TOP, _BACK_TICKS, _LIMIT_PAIR, _QUALIFY, _GROUP_ALL, _GLOB),
    "mysql": (
        _ONE_SELECT,
        _TOP_OR_FETCH,
        _ILIKE,
        _CAST,
        _DISTINCT_ON,
        (r"\bfull\s+(outer\s+)?join\b", "use LEFT JOIN, UNION, RIGHT JOIN"),
        (r"\bnulls\s+(first|last)\b", "sort by x IS NULL first"),
        (r"\bfilter\s*\(", "aggregate CASE WHEN condition THEN x END"),
        _QUALIFY,
        _GROUP_ALL,
        _GLOB,
    ),
    "duckdb": ((r"^\s*(?!select\b|with\b|values\b|from\b|\(|--|/\*)", _ONE_SELECT[1]), _TOP, _BACK_TICKS, _LIMIT_PAIR),
}
"""By dialect: what another database's syntax, found in a query that cannot be parsed, asks for."""


def suggest_substitute_function(function: str, dialect: str = "sqlite") -> str:
    """Return the engine's substitute for another database's function; empty if unknown."""
    substitutes = _INSTEAD.get(dialect, {})
    return f"{get_engine_name(dialect)} has {substitutes[function]}" if function in substitutes else ""


def advise_on_syntax_error(sql: str, message: str, near: str, schema: Schema) -> str:
    """Return advice for a syntax error; `near` is the token at which parsing stopped."""
    rules = get_naming_rules(schema.dialect)
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
    keywords = KEYWORDS if schema.dialect == "sqlite" else KEYWORDS | rules.reserved_words
    if fold(near) in keywords & names:
        marks = "back-ticks" if rules.mark == "`" else "double quotes"
        return f"write the name {near} in {marks}: {rules.quote(near)}"
    for pattern, advice in _compile_syntax_patterns(schema.dialect):
        if pattern.search(sql):
            return advice
    bare = _STRING.sub("", sql)
    opening, closing = bare.count("("), bare.count(")")
    if opening != closing:
        return f"there are {opening} opening and {closing} closing parentheses; make them match"
    return f"correct the query just before {near}" if near else ""


@lru_cache(maxsize=16)
def _compile_syntax_patterns(dialect: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    foreign = _FOREIGN.get(dialect, ())
    return tuple((re.compile(pattern, re.IGNORECASE), advice) for pattern, advice in foreign)
