"""Parsing of one query, tolerant of the benchmarks' habits in SQLite's dialect."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import NamedTuple, ParamSpec, TypeVar

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from ..database.dialects import MOST_PARTS, REMEMBERED_LENGTH, count_selects_and_joins, parse_text
from ..errors import SQLParseError
from .dialects import DialectRules, get_dialect_rules

P = ParamSpec("P")
T = TypeVar("T")
D = TypeVar("D")

MAX_LENGTH = 50_000
"""Characters that are looked at, as many as a query may have by default."""

_SPLIT_OPERATOR = re.compile(
    r"""'(?:[^']|'')*' | "(?:[^"]|"")*" | `[^`]*` | \[[^\]]*(?:\]|$) | --[^\n]* | /\*.*?(?:\*/|$)
      | (?P<split> [<>!=] \s+ = | < \s+ > | \| \s+ \| )""",
    re.VERBOSE | re.DOTALL,
)
_TOKEN = re.compile(r" but got <Token.*", re.DOTALL)
_MAYBE_SPLIT = re.compile(r"[<>!=]\s+[=>]|\|\s+\|")

# sqlglot logs a warning when it falls back to an opaque command; that is an ordinary parse error here.
logging.getLogger("sqlglot").addFilter(
    lambda record: "Falling back to parsing as a 'Command'" not in record.getMessage()
)


# What the parser cannot read is refused where it is parsed; another fault of an analysis is ours, and raised as it is.
def guard_nesting_depth(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function to raise `SQLParseError` if the SQL is nested too deeply."""

    @wraps(function)
    def call_guarded_function(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except RecursionError:
            raise SQLParseError("The SQL is nested too deeply to be read; simplify it.") from None

    return call_guarded_function


def return_default_if_unparsable(default: D) -> Callable[[Callable[P, T]], Callable[P, T | D]]:
    """Decorate a function to return `default` if the SQL is invalid or nested too deeply."""

    def decorate_function(function: Callable[P, T]) -> Callable[P, T | D]:
        @wraps(function)
        def call_or_return_default(*args: P.args, **kwargs: P.kwargs) -> T | D:
            try:
                return function(*args, **kwargs)
            except (SQLParseError, RecursionError):
                return default

        return call_or_return_default

    return decorate_function


class QueryToken(NamedTuple):
    """A token of a query; `start` and `end` are offsets into its text, both inclusive."""

    token_type: TokenType
    text: str
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class ParsedQuery:
    """A parsed query: text, tokens, syntax tree and rules of the dialect."""

    sql: str  # the text that was parsed, with split operators joined
    tokens: tuple[QueryToken, ...]
    tree: exp.Expr  # a query (`SELECT`, compound, `VALUES`), with `start` and `end` in each identifier's `meta`
    rules: DialectRules


def join_split_operators(sql: str) -> str:
    """Join operators that are split by spaces, such as `> =`, outside strings and comments."""
    if not _MAYBE_SPLIT.search(sql):
        return sql
    return _SPLIT_OPERATOR.sub(lambda m: "".join(m["split"].split()) if m["split"] else m[0], sql)


@guard_nesting_depth
def parse(sql: str, dialect: str = "sqlite") -> ParsedQuery:
    """Parse one query. The result may be shared, so the caller must not change it.

    Semicolons at either end are forgiven, and split operators in SQLite's dialect.

    Raises:
        SQLParseError: It is empty, too long, not SQL, more than one statement, or not a query.
    """
    if len(sql) > MAX_LENGTH:
        raise SQLParseError(f"The SQL has {len(sql):,} characters; at most {MAX_LENGTH:,} are read.")
    outcome = _read_cached(sql, dialect) if len(sql) <= REMEMBERED_LENGTH else _read_long_cached(sql, dialect)
    if isinstance(outcome, str):
        raise SQLParseError(outcome)
    return outcome


def _parse_or_get_error(sql: str, dialect: str) -> ParsedQuery | str:
    """Return the parsed query, or the error message if the SQL is not one query."""
    try:
        return _parse_query(sql, dialect)
    except SQLParseError as error:
        return str(error)


def _parse_query(sql: str, dialect: str) -> ParsedQuery:
    rules = get_dialect_rules(dialect)
    text = (join_split_operators(sql) if rules.is_sqlite else sql).strip().strip(";").strip()
    if not text:
        raise SQLParseError("There is no SQL: the text is empty.")
    if count_selects_and_joins(text) > MOST_PARTS:
        raise SQLParseError(f"The SQL has more than {MOST_PARTS} SELECTs and joins; simplify it.")
    try:
        if "|>" in text and any(token.token_type is TokenType.PIPE_GT for token in rules.grammar.tokenize(text)):
            # sqlglot drops what it has no place for: DISTINCT and INTO after `|> SELECT`.
            raise SQLParseError("Steps after |> are not read; write one SELECT with sub-queries.")
        tokens, trees = parse_text(text, rules.grammar)
    except SqlglotError as error:
        raise SQLParseError(_shorten_parse_error(error)) from None
    statements = [tree for tree in trees if tree is not None]
    if len(statements) != 1:
        raise SQLParseError(f"Expected one SQL query, found {len(statements)} statements; write only one.")
    tree = statements[0]
    if not isinstance(tree, exp.Query | exp.Values) or tree.args.get("into"):
        first_word = text.split(None, 1)[0].upper()
        kind = tree.key.upper() if first_word == "WITH" else first_word
        raise SQLParseError(f"Expected a query that reads (SELECT ...), found {kind[:40]}.")
    if isinstance(tree, exp.Select) and not tree.expressions:
        raise SQLParseError("The SELECT names no columns; write what it should return.")
    if rules.is_sqlite and "fetch" in text.lower() and tree.find(exp.Fetch) is not None:
        raise SQLParseError("SQLite has no FETCH FIRST; write LIMIT.")
    for limit in [*tree.find_all(exp.Fetch, exp.Limit)] if _OTHER_LIMIT.search(text) else ():
        if isinstance(limit, exp.Limit) and isinstance(limit.expression, exp.Null | exp.Var):
            limit.pop()
        elif isinstance(limit, exp.Fetch) and limit.args.get("count") is None:
            limit.set("count", exp.Literal.number(1))
    tree = _expand_joins_with_alias(_expand_in_tables(tree) if rules.is_sqlite else tree)
    if rules.words_as_text:
        _mark_bracketed_names(text, tree)
    query_tokens = (QueryToken(token.token_type, token.text, token.start, token.end) for token in tokens)
    return ParsedQuery(text, tuple(query_tokens), tree, rules)


_read_cached, _read_long_cached = lru_cache(512)(_parse_or_get_error), lru_cache(8)(_parse_or_get_error)


def parse_query_tree(sql: str, dialect: str = "sqlite") -> exp.Expr:
    """Parse one query and return a copy of the syntax tree, which the caller may change."""
    return parse(sql, dialect).tree.copy()


def find_statement_ends(text: str, dialect: str) -> list[int] | None:
    """Return the offsets of semicolons between statements; None if a string is unclosed."""
    try:
        tokens = get_dialect_rules(dialect).grammar.tokenize(text)
    except SqlglotError:
        return None
    return [token.start for token in tokens if token.token_type is TokenType.SEMICOLON]


_WRITES = (
    exp.Insert,
    exp.Update,
    exp.Delete,
    exp.Merge,
    exp.Create,
    exp.Drop,
    exp.Alter,
    exp.TruncateTable,
    exp.Command,
    exp.Attach,
    exp.Detach,
    exp.Into,
    exp.NextValueFor,
)
CHANGES = re.compile(
    r"(?:TRUNCATE|MERGE|GRANT|REVOKE|CALL|VACUUM|REINDEX|ANALYZE|COPY|DO|REFRESH|LOCK|COMMENT|RENAME|INSTALL|EXPORT)\b"
    r"(?!\s*[:,.])"
    # One before a query is only left out.
    r"|SET\b(?!\s*[:,.])(?![^;]*;\s*(?:SELECT|WITH)\b)",
    re.IGNORECASE,
)
"""How statements begin that change something, and that are not read in every dialect."""

READS = re.compile(r"(?:(?:UN)?PIVOT|SUMMARIZE|DESCRIBE|SHOW|TABLE)\s+[\w\"`(]", re.IGNORECASE)
"""How others begin that read, and that are not read in every dialect."""

_CHANGING_CALLS = ("nextval", "setval")
_INTO_FILE = re.compile(r"\bINTO\s+(?:OUTFILE|DUMPFILE)\b", re.IGNORECASE)
_PRAGMA_CHANGES = re.compile(r"\s*PRAGMA\s+[\w.]+\s*=", re.IGNORECASE)


def is_write_statement(sql: str, dialect: str = "sqlite") -> bool:
    """Whether the text is a statement that would change data, tables or the connection.

    It is for words to people: what may run is decided by the engine (`Database.execute`).
    """
    if CHANGES.match(sql.lstrip()) or _PRAGMA_CHANGES.match(sql):
        return True
    try:
        trees = [parse(sql, dialect).tree]
    except SQLParseError:
        try:
            trees = [tree for tree in parse_text(sql, get_dialect_rules(dialect).grammar)[1] if tree is not None]
        except (SqlglotError, RecursionError):
            return _INTO_FILE.search(sql) is not None
    calls = (call.name.lower() for tree in trees for call in tree.find_all(exp.Anonymous))
    return any(tree.find(*_WRITES) for tree in trees) or any(call in _CHANGING_CALLS for call in calls)


_OTHER_LIMIT = re.compile(r"\bFETCH\b|\bLIMIT\s+(?:ALL|NULL)\b", re.IGNORECASE)
"""Limits that say nothing, or 1, without a number."""


def _expand_in_tables(tree: exp.Expr) -> exp.Expr:
    """Replace SQLite's `x IN accounts` in a tree by `x IN (SELECT * FROM accounts)`."""
    if all(node.args.get("field") is None for node in tree.find_all(exp.In)):
        return tree
    tree = tree.copy()
    for node in list(tree.find_all(exp.In)):
        field = node.args.get("field")
        if isinstance(field, exp.Column):
            table = exp.Table(this=field.this, db=field.args.get("table"))
        elif isinstance(field, exp.Func):
            table = exp.Table(this=field)
        else:
            continue
        node.set("field", None)
        node.set("query", exp.Subquery(this=exp.select(exp.Star()).from_(table, copy=False)))
    return tree


def _expand_joins_with_alias(tree: exp.Expr) -> exp.Expr:
    """Replace `(a JOIN b ON ...) AS t` in a tree by `(SELECT * FROM a JOIN b ON ...) AS t`."""
    if not any(node.alias and is_from_item(node.this) for node in tree.find_all(exp.Subquery)):
        return tree
    tree = tree.copy()
    for node in [node for node in tree.find_all(exp.Subquery) if node.alias and is_from_item(node.this)]:
        node.set("this", exp.select(exp.Star()).from_(node.this, copy=False))
    return tree


def is_from_item(node: exp.Expr) -> bool:
    """Whether an expression in parentheses is a table or join in FROM, not a query."""
    while isinstance(node, exp.Subquery | exp.Values):
        if node.args.get("alias") or node.args.get("joins"):
            return True
        node = node.this
    return isinstance(node, exp.Table)


def _mark_bracketed_names(text: str, tree: exp.Expr) -> None:
    """Mark names in `[...]` or back-ticks in `meta`, because they are never strings."""
    if "`" not in text and "[" not in text:
        return
    for identifier in tree.find_all(exp.Identifier):
        start = identifier.meta.get("start")
        if start is not None and text[start] in "`[":
            identifier.meta["bracketed"] = True


def _shorten_parse_error(error: SqlglotError) -> str:
    details = getattr(error, "errors", None)
    if not details:
        return " ".join(str(error).split())[:200]
    first = details[0]
    description = _TOKEN.sub("", str(first.get("description") or "Invalid SQL")).rstrip(".")
    near = " ".join(f"{first.get('highlight') or ''}{first.get('end_context') or ''}".split())[:40]
    return f"{description}, near {near!r}." if near else f"{description}, at the end of the query."
