"""Texts that may be SQL: whether they are, their statements, and changes of a database."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from sqlglot import exp

from ..database.schema import Schema
from ..errors import SettingsError, SQLParseError
from .parse import find_statement_ends
from .query import Query

_AGGREGATES = [name for name, kind in exp.FUNCTION_BY_NAME.items() if issubclass(kind, exp.AggFunc)]
_CLAUSE = r"(?:SELECT|WHERE|HAVING|(?:GROUP|ORDER) BY|WITH \w+ AS)\b"
_AGGREGATE = "|".join(_AGGREGATES)
_SQL_BEGINS = re.compile(rf"\(*{_CLAUSE}|S(?:ELECT?|ELCT|LECT)\b|(?:{_AGGREGATE})\(|(?i:{_AGGREGATE})\([\w ]*[._*]")
_WHERE = re.compile(r"^\s*WHERE\s+", re.IGNORECASE)
# What changes a database; in small letters only whole statements, as `insert into the cart` may be words.
_CHANGES = re.compile(
    r"\(*(?:(?i:WITH)\b[^;]*\)\s*)?"
    r"(?:(?:DELETE FROM|(?:INSERT|REPLACE|MERGE) INTO|UPDATE \S+ SET|TRUNCATE|DROP|ALTER|CREATE|GRANT|PRAGMA)\b"
    r"|(?i:delete from \S+(?: where\b|;?$)|(?:drop|alter|create|truncate) (?:table|view|index|trigger)\b"
    r"|insert into \S+ (?:\(.*\) )?(?:values|select)\b|update \S+ set \S+ ?=))"
)
_QUERY_BEGINS = re.compile(r"(?:^|\*/)[\s(]*(?:SELECT|WITH\s[^;]{1,999}?\bSELECT)\b", re.IGNORECASE | re.MULTILINE)
_FUNCTION = re.compile(r"\w\(")
_WORDS = exp.Connector, exp.Anonymous
_COMPARED = exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.Between

# A comparison of one name with one value or none yet: `orders.total > 5`, `net_price >`. If only columns have such
# names, or the schema has it, what does not parse after AND, or lacks its end or closing quote, is broken SQL.
_COMPARISON = re.compile(
    r"\(*(?P<explicit>(?=\w*[._]|\w+\s*(?:=|(?i:LIKE))\s*'))?(?P<name>[^\W\d]\w*(?:\.\w+)*)"
    r"\s*(?:[<>]=?|<>|!=|==?|(?i:\b(?:LIKE|BETWEEN)\b))\s*(?:'[^']*'?|\"[^\"]*\"?|[\w.+-]*)\)*"
    r"(?:\s+(?:AND|OR)\b.*|\s+(?i:and|or)(?:\s.*[<>=(])?)?"
)

# What is opened and never closed goes to the end: to look for its end from every other opening would take quadratic
# time.
_SPACING = re.compile(
    r"""(?P<kept> "(?:[^"]|"")*" | `[^`]*` | \[[^\]]*(?:\]|\Z) | '(?:[^']|'')*')
      | (?: \s | --[^\n]* | /\*.*?(?:\*/|\Z) )+""",
    re.VERBOSE | re.DOTALL,
)
"""Spaces and comments between tokens, and what may hold characters like them without being them."""


def is_surely_sql(text: str, schema: Schema) -> bool:
    """Whether the text of a definition is surely SQL, not words that happen to parse as SQL."""
    if read_statement(text, schema.dialect) is not None or _SQL_BEGINS.match(text) or begins_write_statement(text):
        return True
    clause = _WHERE.match(text)
    text = strip_where(text)
    try:
        tree = Query.of(f"SELECT {text}", schema.dialect).tree
    except SQLParseError:
        comparison = _COMPARISON.fullmatch(text.strip().rstrip(";"))
        if comparison is None or comparison["explicit"] is not None:
            return comparison is not None
        return any(table.column(comparison["name"]) for table in schema.tables)
    # `year (fiscal)`, `e.g. tips` and `shop.example.com` are words.
    if _FUNCTION.search(text) and any(not isinstance(node, _WORDS) for node in tree.find_all(exp.Func)):
        return True
    if any(schema.table(column.table) for column in tree.find_all(exp.Column) if f"{column.table}." in text):
        return True
    term = tree.expressions[0] if len(tree.expressions) == 1 else None
    if isinstance(term, exp.Binary) and all(isinstance(node, exp.Binary | exp.Literal) for node in term.walk()):
        return True  # `1/0`
    if not isinstance(term, exp.Connector | exp.Predicate | exp.Not):
        return False
    # `spent > 5` may be words; `spent_total > 5`, `where spent > 5` and `spent = 5` are not.
    is_explicit = clause or any(column.table or "_" in column.name for column in term.find_all(exp.Column))
    comparison = term.find(*_COMPARED) if is_explicit else term.find(exp.EQ, exp.NEQ, exp.Like, exp.Between)
    columns = (column.name for column in term.find_all(exp.Column))
    is_known = isinstance(term, exp.EQ | exp.NEQ) and any(t.column(name) for name in columns for t in schema.tables)
    return comparison is not None and (is_known or term.find(exp.Literal) is not None)


def strip_where(text: str) -> str:
    """Return a condition without the word WHERE before it."""
    return _WHERE.sub("", text, count=1)


def begins_write_statement(text: str) -> bool:
    """Whether a text begins like a statement that changes a database."""
    return _CHANGES.match(text) is not None


def read_in_any_dialect(sql: str) -> Query:
    """Return the analysis of a query of an unknown engine; raise `SQLParseError` if unparsable."""
    for dialect in ("sqlite", "postgres", "mysql", "duckdb"):
        with suppress(SQLParseError):
            return Query.of(sql, dialect)
    return Query.of(sql, "sqlite")


def read_statement(text: str, dialect: str) -> exp.Expr | None:
    """Return the syntax tree of a query on tables; None for any other text."""
    try:
        tree = Query.of(text.strip().rstrip(";"), dialect).tree
    except SQLParseError:
        return None
    return tree if isinstance(tree, exp.Query) and tree.find(exp.Table) is not None else None


def squeeze_spaces(sql: str) -> str:
    """Return SQL with one space in place of spaces and comments between tokens."""
    return _SPACING.sub(lambda match: match["kept"] or " ", sql).strip()


def check_has_queries(text: str, path: Path) -> None:
    """Raise `SettingsError` if no statement in a file's text begins like a query."""
    if _QUERY_BEGINS.search(text) is None:
        raise SettingsError(
            f"{path} has no SQL queries: give a file of SELECT statements, or another that --help names"
        )


def split_statements(text: str, dialect: str) -> Iterator[str]:
    """Yield the statements of a text, split at semicolons outside literals and comments."""
    ends = find_statement_ends(text, dialect)
    if ends is None:
        yield from (line for line in text.splitlines() if line.strip())
        return
    start = 0
    for end in ends:
        yield text[start:end].strip()
        start = end + 1
    if text[start:].strip():
        yield text[start:].strip()
