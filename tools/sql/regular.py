"""The regular form of SQL (CREDIT-SQL 3.2 and appendix F), with the meaning unchanged.

The tree says what each name stands for; the query's own tokens are then written out again with only names, quotes,
spacing and a few synonymous spellings changed. Nothing that the parser might understand differently from the engine is
ever re-generated from the tree: casts, functions, precedence and join order stay as they were written.

The regular form: keywords upper case; functions, and names whose case does not count, lower case; names quoted only
where they need it; strings in single quotes; every column qualified by its table, or by the alias where the table
occurs more than once; aliases of tables that occur once removed; `AS` written out; `==` as `=`, `<>` as `!=`,
`INNER JOIN` as `JOIN`, `LEFT OUTER JOIN` as `LEFT JOIN`, `ASC` left out, `LIMIT a, b` as `LIMIT b OFFSET a`; one space
between words, none inside parentheses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations, pairwise, takewhile

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from ..database.quoting import NamingRules
from ..database.schema import Schema
from ..words import make_word_set
from .dialects import fold, quote_regular_name, quote_string_literal
from .parse import QueryToken, guard_nesting_depth, return_default_if_unparsable
from .query import Query
from .scope import NameResolution, QuerySource, Reference, iterate_enclosing_scopes

_NOT_FUNCTIONS = make_word_set(
    """select from where and or not in is like glob regexp match between exists all any distinct as on using join cross
    natural inner left right full outer by group having order limit offset union intersect except values case when then
    else with recursive over filter partition rows range groups escape collate materialized"""
)
"""Words that may stand before a parenthesis without being a function."""

_SPELLED = {"==": "=", "<>": "!=", "ISNULL": "IS NULL", "NOTNULL": "IS NOT NULL"}
_LITERALS = frozenset(
    {
        TokenType.NUMBER,
        TokenType.STRING,
        TokenType.HEX_STRING,
        TokenType.BIT_STRING,
        TokenType.BYTE_STRING,
        TokenType.NATIONAL_STRING,
        TokenType.RAW_STRING,
        TokenType.HEREDOC_STRING,
        TokenType.UNICODE_STRING,
    }
)
_PREFIXED = frozenset({"-", "+", "~"})
_OPERATORS = frozenset(
    {"=", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "%", "||", "&", "|", "<<", ">>", "->", "->>"}
)


@guard_nesting_depth
def regularize(sql: str, schema: Schema) -> str:
    """Return a query in regular form: uniform case, quotes, aliases and spaces."""
    query = Query.of(sql, schema.dialect, schema)
    if any(reference.kind == "text_name" for reference in query.resolution.references):
        return query.sql  # a column is named by an expression's very spelling: any change might lose it
    return write_regular_query(query, make_regularizing_edits(query))


@return_default_if_unparsable(False)
def same_sql(a: str, b: str, schema: Schema) -> bool:
    """Whether two queries have the same regular form; False if either cannot be parsed."""
    return regularize(a, schema) == regularize(b, schema)


@dataclass
class TokenEdits:
    """Changes to the tokens of a query, which `write_regular_query` applies."""

    text: dict[int, str] = field(default_factory=dict)  # offset of a token's first character to what is written instead
    # Offsets of the tokens that are left out; an `AS` before a dropped alias goes with it.
    deletions: set[int] = field(default_factory=set)
    aliases: set[int] = field(default_factory=set)  # offsets of names that need `AS` before them
    mask: str | None = None  # written instead of every literal; None writes literals as they are


def make_regularizing_edits(query: Query) -> TokenEdits:
    """Return the edits that bring names, aliases and strings into regular form."""
    edits, resolution = TokenEdits(), query.resolution
    naming = resolution.rules.naming
    for identifier in query.find(exp.Identifier):
        start = identifier.meta.get("start")
        if start is not None:
            edits.text[start] = quote_regular_name(resolution.rules.key(identifier), naming)
            if is_alias_name(identifier) and identifier.arg_key != "columns":
                edits.aliases.add(start)
    aliased = _find_sources_keeping_alias(resolution)
    for scope in resolution.scopes:
        for source in scope.sources:
            _drop_source_alias(source, aliased, edits)
            name = source.node.this if isinstance(source.node, exp.Table) else None  # None for ROWS FROM (...), too
            if naming.tables_exact and name is not None and "start" in name.meta:
                edits.text[name.meta["start"]] = _get_unaliased_name(source, naming)
    for reference in resolution.references:
        _edit_reference(reference, aliased, edits, naming)
    return edits


def is_alias_name(identifier: exp.Identifier) -> bool:
    """Whether an identifier is an alias of a column or table, but not of a CTE."""
    parent = identifier.parent
    return isinstance(parent, exp.Alias | exp.TableAlias) and not isinstance(parent.parent, exp.CTE)


def _find_sources_keeping_alias(resolution: NameResolution) -> set[QuerySource]:
    """Return the sources that keep their alias because their names would clash.

    Starts from those that occur twice and adds until all names that will be visible are distinct where they must be: in
    a SELECT, and between a correlated reference and what it refers to. The aliases of sources that end up without one
    play no part, which makes the outcome the same when it is computed again from the regular form.
    """
    result = {
        source
        for scope in resolution.scopes
        for source in scope.sources
        if not source.base_name or sum(source.base_name == other.base_name for other in scope.sources) > 1
    }
    result |= {
        reference.source for reference in resolution.references if reference.source and reference.node.args.get("db")
    }
    # A name that is no column may be an alias that stands for a whole row, as in PostgreSQL.
    unknown = {fold(reference.column) for reference in resolution.references if reference.source is None}
    result |= {source for scope in resolution.scopes for source in scope.sources if fold(source.name) in unknown}
    while True:
        clashing = {loser for pair in _pair_sources(resolution) if (loser := _find_clash(*pair, result)) is not None}
        if not clashing:
            return result
        result |= clashing


def _pair_sources(resolution: NameResolution) -> Iterator[tuple[QuerySource, QuerySource]]:
    """Yield pairs of sources whose visible names must differ."""
    for scope in resolution.scopes:
        yield from combinations(scope.sources, 2)
    for reference in resolution.references:
        if reference.source is not None:
            yield from ((reference.source, other) for other in _iterate_sources_between(reference))


def _find_clash(first: QuerySource, second: QuerySource, aliased: set[QuerySource]) -> QuerySource | None:
    """Return the source that must keep its alias because visible names clash, or None."""
    if _get_visible_name(first, aliased) != _get_visible_name(second, aliased):
        return None
    return next((source for source in (first, second) if source not in aliased), None)


def _iterate_sources_between(reference: Reference) -> Iterator[QuerySource]:
    """Yield the sources of the scopes between a correlated reference and its source."""
    for level in takewhile(lambda level: level is not reference.owner, iterate_enclosing_scopes(reference.scope)):
        yield from level.sources


def _get_visible_name(source: QuerySource, aliased: set[QuerySource]) -> str:
    return source.name if source in aliased else source.base_name


def _get_unaliased_name(source: QuerySource, naming: NamingRules) -> str:
    """Return the name of a table or CTE without an alias."""
    if not naming.tables_exact or source.query is not None:
        return quote_regular_name(source.base_name, naming)
    table = source.table
    name = source.node.name if table is None else table.path[-1] if source.node.args.get("db") else table.name
    return quote_regular_name(name, naming)


def _drop_source_alias(source: QuerySource, aliased: set[QuerySource], edits: TokenEdits) -> None:
    alias = source.node.args.get("alias")
    if alias is None or source in aliased or not isinstance(alias.this, exp.Identifier):
        return
    start = alias.this.meta.get("start")
    if start is not None:
        edits.deletions.add(start)


def _edit_reference(reference: Reference, aliased: set[QuerySource], edits: TokenEdits, naming: NamingRules) -> None:
    node, source = reference.node, reference.source
    start = node.this.meta.get("start")
    if reference.kind == "string":
        if start is not None:
            edits.text[start] = quote_string_literal(reference.column)
        return
    if source is None:
        return
    visible = _get_visible_name(source, aliased)
    table_name = quote_regular_name(visible, naming) if source in aliased else _get_unaliased_name(source, naming)
    qualifier = node.args.get("table")
    if qualifier is not None:
        if "start" in qualifier.meta:
            edits.text[qualifier.meta["start"]] = table_name
        return
    key = naming.key(node.name, in_quotes=bool(node.this.args.get("quoted")))
    if reference.kind in ("column", "rowid") and start is not None and _can_qualify(reference, key, visible, aliased):
        edits.text[start] = f"{table_name}.{quote_regular_name(key, naming)}"


def _can_qualify(reference: Reference, key: str, visible: str, aliased: set[QuerySource]) -> bool:
    owner = reference.owner
    if not visible or owner is None or owner.is_merged_column(key):
        return False
    if sum(_get_visible_name(other, aliased) == visible for other in owner.sources) > 1:
        return False
    return all(_get_visible_name(other, aliased) != visible for other in _iterate_sources_between(reference))


class SQLPiece(str):
    """A token of the SQL to write; `role` is `name`, `function`, `word`, `literal` or `mark`."""

    __slots__ = ("role",)
    role: str

    def __new__(cls, text: str, role: str) -> SQLPiece:
        piece = super().__new__(cls, text)
        piece.role = role
        return piece


_BEFORE_OPERAND = _OPERATORS | {"SELECT", "DISTINCT", "WHERE", "AND", "OR", "ON", "HAVING", "GROUP BY", "ORDER BY"}


def write_regular_query(query: Query, edits: TokenEdits) -> str:
    """Write a query in regular form, with the edits applied."""
    return _join_pieces(_rewrite_limit(_remove_column_parentheses(_write_token_pieces(query, edits))))


def _write_token_pieces(query: Query, edits: TokenEdits) -> list[SQLPiece]:
    pieces: list[SQLPiece] = []
    tokens = [*query.tokens, None]
    before: QueryToken | None = None
    for token, after in pairwise(tokens):
        assert token is not None
        last = pieces[-1] if pieces else None
        if token.start in edits.deletions:
            if last == "AS" and last.role == "word":
                pieces.pop()
        elif token.start in edits.text:
            if token.start in edits.aliases and last != "AS":
                pieces.append(SQLPiece("AS", "word"))
            pieces.append(SQLPiece(edits.text[token.start], "name"))
        elif before is not None and token.token_type is TokenType.DOT and before.start in edits.deletions:
            pass
        elif last in ("<", ">") and before is not None and token.text == last and token.start == before.end + 1:
            pieces[-1] = SQLPiece(last * 2, "mark")  # sqlglot's tokens halve the shift operators
        elif last == "!" and before is not None and token.text[:1] == "~" and token.start == before.end + 1:
            pieces[-1] = SQLPiece(f"!{token.text}", "mark")
        else:
            pieces += _spell_token(query.sql, before, token, after, edits.mask)
        before = token
    return pieces


def _spell_token(
    sql: str, before: QueryToken | None, token: QueryToken, after: QueryToken | None, mask: str | None
) -> list[SQLPiece]:
    """Return the pieces of a token that is not a name; none if it is redundant."""
    raw = sql[token.start : token.end + 1]
    if token.token_type in _LITERALS:
        return [SQLPiece((_requote_string_literal(raw) if mask is None else mask), "literal")]
    word = " ".join(raw.split())
    if not (word[:1].isalpha() or word[:1] == "_"):
        return [SQLPiece(_SPELLED.get(word, word), "mark")]
    upper = word.upper()
    if after is not None and after.token_type is TokenType.L_PAREN and word.lower() not in _NOT_FUNCTIONS:
        is_type = before is not None and before.token_type is TokenType.ALIAS
        return [SQLPiece(upper if is_type else word.lower(), "function")]
    if upper in ("INNER", "OUTER", "ASC") or (upper == "ALL" and before and before.token_type is TokenType.SELECT):
        return []
    return [SQLPiece(_SPELLED.get(upper, upper), "word")]


def _requote_string_literal(raw: str) -> str:
    """Return a string literal in single quotes if its meaning stays the same."""
    inner = raw[1:-1]
    return f"'{inner}'" if raw[0] == raw[-1] == '"' and not set(inner) & set("'\"\\") else raw


def _remove_column_parentheses(pieces: list[SQLPiece]) -> list[SQLPiece]:
    """Remove parentheses around a single column."""
    output: list[SQLPiece] = []
    index = 0
    while index < len(pieces):
        piece = pieces[index]
        is_needed = output[-2:] == ["DISTINCT", "ON"]
        if piece == "(" and output and output[-1] in _BEFORE_OPERAND and output[-1].role != "literal" and not is_needed:
            end = index + 1
            while end < len(pieces) and (pieces[end].role == "name" or pieces[end] == "."):
                end += 1
            if end < len(pieces) and end > index + 1 and pieces[end] == ")":
                output += pieces[index + 1 : end]
                index = end + 1
                continue
        output.append(piece)
        index += 1
    return output


def _rewrite_limit(pieces: list[SQLPiece]) -> list[SQLPiece]:
    """Rewrite `LIMIT a, b` as `LIMIT b OFFSET a`."""
    for index, piece in enumerate(pieces):
        if piece != "LIMIT" or piece.role != "word":
            continue
        depth, comma, end = 0, None, len(pieces)
        for position in range(index + 1, len(pieces)):
            depth += {"(": 1, ")": -1}.get(pieces[position], 0)
            if depth < 0:
                end = position
                break
            if depth == 0 and pieces[position] == ",":
                comma = position
        if comma is not None:
            clause = [*pieces[comma + 1 : end], SQLPiece("OFFSET", "word"), *pieces[index + 1 : comma]]
            return [*pieces[: index + 1], *_rewrite_limit(clause), *_rewrite_limit(pieces[end:])]
    return pieces


def _join_pieces(pieces: list[SQLPiece]) -> str:
    texts: list[str] = []
    before: SQLPiece | None = None
    unary = False
    for piece in pieces:
        # Two minus signs together begin a comment.
        if before is not None and (before == piece == "-" or not (unary or _is_written_without_space(before, piece))):
            texts.append(" ")
        texts.append(piece)
        unary = piece.role == "mark" and piece in _PREFIXED and _is_operand_expected_after(before)
        before = piece
    return "".join(texts)


def _is_written_without_space(before: SQLPiece, piece: SQLPiece) -> bool:
    """Whether two tokens are written without a space between them."""
    if piece.role == "mark" and (piece in (",", ")") or (piece == "." and before.role in ("name", "word"))):
        return True
    if before.role == "mark" and before in ("(", ".", ":", "@", "$"):
        return True
    return before.role == "function" and piece == "("


def _is_operand_expected_after(before: SQLPiece | None) -> bool:
    """Whether a sign after this token is a prefix instead of an operator."""
    if before is None or before.role == "word":
        return before not in ("END", "NULL", "TRUE", "FALSE")
    return before.role == "mark" and (before in _OPERATORS or before in ("(", ","))
