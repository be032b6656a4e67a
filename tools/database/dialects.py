"""Sqlglot's dialects, adapted to current engines."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ErrorLevel, ParseError, SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from ..derived import LOCK
from ..errors import ResultTooLarge

MOST_PARTS = 200
"""SELECTs and joined tables of a query together: no question needs a tenth of them."""

MOST_JOINS = 64
"""As many tables as SQLite joins at all. PostgreSQL plans twice as many outer joins for minutes, whatever its limits of
time, and so it does a chain of a thousand common table expressions, which `MOST_PARTS` keeps out."""

MOST_TOKENS = 25_000
"""Words, values and signs of a query that is parsed: the parser takes about a second for so many, in the caller's time.
"""

REMEMBERED_LENGTH = 4_000
"""Of longer queries only the last few are remembered, so that what is remembered stays small."""

_SELECT_OR_JOIN = re.compile(r"\b(?:select|join)\b", re.IGNORECASE)
_JOINS = re.compile(r"\bjoin\b", re.IGNORECASE)
_DEEPEST = 150
"""Of brackets, CASEs and types within each other."""
_DEEPEST_TWICE = 12
"""Of what the parser reads in two ways at each level: lists, types' names as functions, joins that await their ON."""
_LONGEST_CHAIN = 50
"""Of calls and places of lists, as in `a.f(1).g(2)[3]`: the parser goes through all before it at each one."""
_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE}
_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE}
_FOLLOWING = {TokenType.DOT, TokenType.L_BRACKET, TokenType.L_BRACE}
_ENDS_CHAIN = {TokenType.COMMA, TokenType.AND, TokenType.OR}
_STARTS_ARGUMENT = {TokenType.L_PAREN, TokenType.COMMA}
_LAMBDA_FUNCTIONS = {
    *("apply", "array_apply", "array_filter", "array_reduce", "array_transform", "columns", "filter", "list_apply"),
    *("list_filter", "list_reduce", "list_transform", "reduce"),
}
_ARROW_LAMBDAS: Mapping[str, Collection[str]] = {"duckdb": _LAMBDA_FUNCTIONS, "mysql": (), "postgres": (), "sqlite": ()}
"""By dialect in which `->` reads JSON: the functions whose arguments may be lambdas that are written with it."""
_JOINS_WITHOUT_ON = {TokenType.CROSS, TokenType.NATURAL}
_JOIN_CONDITIONS = {TokenType.ON, TokenType.USING}


@dataclass
class _BracketCounts:
    """Counts since an opening bracket: double parses, chained calls and joins without ON."""

    twice: int = 0
    chain: int = 0
    joins: int = 0


class TooManyTokens(ParseError):
    """The error raised for a text with too many tokens to parse."""


def count_selects_and_joins(sql: str) -> int:
    """Return the number of SELECTs and joins in a text, including strings and comments."""
    return len(_SELECT_OR_JOIN.findall(sql))


def check_selects_and_joins(sql: str) -> None:
    """Raise `ResultTooLarge` if a statement has more SELECTs and joins than engines can plan."""
    count, joins = count_selects_and_joins(sql), len(_JOINS.findall(sql))
    if count > MOST_PARTS:
        raise ResultTooLarge(f"the statement has {count:,} SELECTs and joins; the limit is {MOST_PARTS}")
    if joins > MOST_JOINS:
        raise ResultTooLarge(f"the statement joins {joins} tables; the limit is {MOST_JOINS}")


def parse_tokens(tokens: list[Token], sql: str, grammar: Dialect) -> list[exp.Expr | None]:
    """Parse the tokens of an untrusted SQL text into syntax trees.

    Raises:
        TooManyTokens: It has more than `MOST_TOKENS`.
        SqlglotError: It cannot be read, whatever the parser stumbles over.
        RecursionError: It is nested too deeply.
    """
    _check_nesting_depth(tokens, grammar)
    if len(tokens) > MOST_TOKENS:
        raise TooManyTokens(f"the statement has {len(tokens):,} words, values and signs; the limit is {MOST_TOKENS:,}")
    try:
        return grammar.parser(error_level=ErrorLevel.IMMEDIATE).parse(_mark_json_arrows(tokens, grammar), sql)
    except (SqlglotError, RecursionError):
        raise
    except Exception as error:
        raise ParseError(f"the SQL parser failed ({type(error).__name__})") from error


def _mark_json_arrows(tokens: list[Token], grammar: Dialect) -> list[Token]:
    """Return the tokens with a plus before arguments such as `column -> 'key'`.

    Sqlglot would take them for lambdas. A plus before an operand is not in the syntax tree.
    """
    lambdas = _ARROW_LAMBDAS.get(type(grammar).__name__.lower())
    kinds = [token.token_type for token in tokens]
    if lambdas is None or TokenType.ARROW not in kinds:
        return tokens
    marked, openings = list[Token](), [0]  # places of open brackets
    for at, token in enumerate(tokens):
        is_wrapped = kinds[at : at + 3 : 2] == [TokenType.L_PAREN, TokenType.R_PAREN]  # as in `(column) -> 'key'`
        arrow = at + 3 if is_wrapped else at + 1
        if at and kinds[at - 1] in _STARTS_ARGUMENT and kinds[arrow : arrow + 1] == [TokenType.ARROW]:
            name = tokens[openings[-1] - 1].text.lower()
            is_list = kinds[at - 1] == TokenType.L_PAREN and name != "columns"  # the lambda comes after it
            if is_list or name not in lambdas:
                marked.append(Token(TokenType.PLUS, "+", token.line, token.col, token.start, token.end))
        if kinds[at] in _OPENING:
            openings.append(at)
        elif kinds[at] in _CLOSING and len(openings) > 1:
            openings.pop()
        marked.append(token)
    return marked


def parse_text(sql: str, grammar: Dialect) -> tuple[Sequence[Token], Sequence[exp.Expr | None]]:
    """Return the tokens and syntax trees of an SQL text from a cache; do not change them."""
    parse_or_get_error = _parse_or_get_error if len(sql) <= REMEMBERED_LENGTH else _parse_long_or_get_error
    with LOCK:  # of threads that ask first for a text, one parses it
        outcome = parse_or_get_error(sql, grammar)
    if isinstance(outcome, SqlglotError):
        raise copy(outcome)
    return outcome


def _parse_anew(sql: str, grammar: Dialect) -> tuple[Sequence[Token], Sequence[exp.Expr | None]] | SqlglotError:
    """Return the tokens and syntax trees of an SQL text, or the error if it cannot be read."""
    try:
        tokens = grammar.tokenize(sql)
        return tokens, parse_tokens(tokens, sql, grammar)
    except SqlglotError as error:
        return copy(error)  # without its traceback, which would keep the callers' frames


# What a turn runs is estimated, checked and explained: these are one reading, though drafts side by side and what is
# counted for them come between. A grammar counts by its class, as sqlglot compares them; none has settings of its own.
_parse_or_get_error, _parse_long_or_get_error = lru_cache(64)(_parse_anew), lru_cache(8)(_parse_anew)


def parse_statement(sql: str, dialect: str) -> exp.Expr:
    """Return the cached syntax tree of the first statement in a text; do not change the tree."""
    tree = next(iter(parse_text(sql, get_sqlglot_dialect(dialect))[1]), None)
    if tree is None:
        raise ParseError("the text contains no statement")
    return tree


def _check_nesting_depth(tokens: list[Token], grammar: Dialect) -> None:
    """Raise `RecursionError` if tokens are nested or chained too deeply to be parsed."""
    types, nested_types = grammar.parser_class.TYPE_TOKENS, grammar.parser_class.NESTED_TYPE_TOKENS
    levels = [_BracketCounts()]
    cases = angles = froms = 0
    before: Token | None = None
    for token in tokens:
        kind, last = token.token_type, before and before.token_type
        level = levels[-1]
        if last in _CLOSING and kind in _FOLLOWING:
            level.chain += 1
        elif kind in _ENDS_CHAIN:
            level.chain = 0
        if kind == TokenType.JOIN and last not in _JOINS_WITHOUT_ON:
            level.joins += 1
        elif kind in _JOIN_CONDITIONS:
            level.joins = max(level.joins - 1, 0)
        if kind in _OPENING:
            twice = kind == TokenType.L_BRACKET or last in types
            levels.append(_BracketCounts(level.twice + level.joins + twice))
        elif kind in _CLOSING and len(levels) > 1:
            levels.pop()
        if kind == TokenType.HINT:
            for hint in token.comments:  # the parser parses it apart
                _check_nesting_depth(grammar.tokenize(hint), grammar)
        cases = max(cases + (kind == TokenType.CASE) - (kind == TokenType.END), 0)
        froms += kind == last == TokenType.FROM
        angles = max(angles + (kind == TokenType.LT and last in nested_types) - (kind == TokenType.GT), 0)
        if len(levels) + cases + angles + froms > _DEEPEST or levels[-1].twice + levels[-1].joins > _DEEPEST_TWICE:
            raise RecursionError("the brackets are nested too deeply")
        if level.chain > _LONGEST_CHAIN:
            raise RecursionError("too many calls are chained")
        before = token


def get_sqlglot_dialect(dialect: str) -> Dialect:
    """Return sqlglot's dialect by name; standard SQL for an unknown name."""
    if dialect == "spark":
        # Whoever reads other dialects has no need of it.
        from .spark.statements import Spark4

        return Spark4()
    return (Dialect.get(dialect) or Dialect)()
