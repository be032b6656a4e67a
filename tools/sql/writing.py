"""A query's tokens written out in the regular form."""

from __future__ import annotations

from itertools import pairwise

from sqlglot.tokenizer_core import Token, TokenType

from .parse import Parsed
from .renaming import Edits

_NOT_FUNCTIONS = frozenset(
    """select from where and or not in is like glob regexp match between exists all any distinct as on using join cross
    natural inner left right full outer by group having order limit offset union intersect except values case when then
    else with recursive over filter partition rows range groups escape collate isnull notnull
    materialized""".split()  # noqa: SIM905 - read as a sentence
)
"""Words that may stand before a parenthesis without being a function."""

_SPELLED = {
    "==": "=",
    "<>": "!=",
    "ISNULL": "IS NULL",
    "NOTNULL": "IS NOT NULL",
}
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


class Piece(str):
    """One written token. `role` is `name`, `function`, `word`, `literal` or `mark`."""

    __slots__ = ("role",)
    role: str

    def __new__(cls, text: str, role: str) -> Piece:
        piece = super().__new__(cls, text)
        piece.role = role
        return piece


_BEFORE_OPERAND = _OPERATORS | {"SELECT", "DISTINCT", "WHERE", "AND", "OR", "ON", "HAVING", "GROUP BY", "ORDER BY"}


def write(parsed: Parsed, edits: Edits) -> str:
    """The regular form's text.

    Args:
        parsed: The query.
        edits: What its names become.
    """
    return _space(_reorder_limit(_unwrap(_pieces(parsed, edits))))


def _pieces(parsed: Parsed, edits: Edits) -> list[Piece]:
    pieces: list[Piece] = []
    tokens = [*parsed.tokens, None]
    before: Token | None = None
    for token, following in pairwise(tokens):
        assert token is not None
        last = pieces[-1] if pieces else None
        if token.start in edits.dropped:
            if last == "AS" and last.role == "word":
                pieces.pop()
        elif token.start in edits.text:
            if token.start in edits.aliases and last != "AS":
                pieces.append(Piece("AS", "word"))
            pieces.append(Piece(edits.text[token.start], "name"))
        elif before is not None and token.token_type is TokenType.DOT and before.start in edits.dropped:
            pass
        elif last in ("<", ">") and before is not None and token.text == last and token.start == before.end + 1:
            pieces[-1] = Piece(last * 2, "mark")  # sqlglot's tokens halve the shift operators
        else:
            pieces += _plain(parsed.sql, before, token, following, edits.mask)
        before = token
    return pieces


def _plain(sql: str, before: Token | None, token: Token, following: Token | None, mask: str | None) -> list[Piece]:
    """A token that is no name; nothing for one that only repeats what is so anyway."""
    raw = sql[token.start : token.end + 1]
    if token.token_type in _LITERALS:
        return [Piece((_plain_text(raw) if mask is None else mask), "literal")]
    word = " ".join(raw.split())
    if not (word[:1].isalpha() or word[:1] == "_"):
        return [Piece(_SPELLED.get(word, word), "mark")]
    upper = word.upper()
    if following is not None and following.token_type is TokenType.L_PAREN and word.lower() not in _NOT_FUNCTIONS:
        is_type = before is not None and before.token_type is TokenType.ALIAS
        return [Piece(upper if is_type else word.lower(), "function")]
    if upper in ("INNER", "OUTER", "ASC") or (upper == "ALL" and before and before.token_type is TokenType.SELECT):
        return []
    return [Piece(_SPELLED.get(upper, upper), "word")]


def _plain_text(raw: str) -> str:
    """A literal in single quotes, where MySQL's double quotes mean the same."""
    inner = raw[1:-1]
    return f"'{inner}'" if raw[0] == raw[-1] == '"' and not set(inner) & set("'\"\\") else raw


def _unwrap(pieces: list[Piece]) -> list[Piece]:
    """Parentheses around nothing but a column left out, where they can be nothing else."""
    kept: list[Piece] = []
    index = 0
    while index < len(pieces):
        piece = pieces[index]
        needed = kept[-2:] == ["DISTINCT", "ON"]
        if piece == "(" and kept and kept[-1] in _BEFORE_OPERAND and kept[-1].role != "literal" and not needed:
            end = index + 1
            while end < len(pieces) and (pieces[end].role == "name" or pieces[end] == "."):
                end += 1
            if end < len(pieces) and end > index + 1 and pieces[end] == ")":
                kept += pieces[index + 1 : end]
                index = end + 1
                continue
        kept.append(piece)
        index += 1
    return kept


def _reorder_limit(pieces: list[Piece]) -> list[Piece]:
    """`LIMIT a, b` as `LIMIT b OFFSET a`."""
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
            swapped = [*pieces[comma + 1 : end], Piece("OFFSET", "word"), *pieces[index + 1 : comma]]
            return [*pieces[: index + 1], *_reorder_limit(swapped), *_reorder_limit(pieces[end:])]
    return pieces


def _space(pieces: list[Piece]) -> str:
    written: list[str] = []
    before: Piece | None = None
    unary = False
    for piece in pieces:
        # Two minus signs together begin a comment.
        if before is not None and (before == piece == "-" or not (unary or _tight(before, piece))):
            written.append(" ")
        written.append(piece)
        unary = piece.role == "mark" and piece in _PREFIXED and _expects_operand(before)
        before = piece
    return "".join(written)


def _tight(before: Piece, piece: Piece) -> bool:
    """Whether nothing stands between two pieces."""
    if piece.role == "mark" and (piece in (",", ")") or (piece == "." and before.role in ("name", "word"))):
        return True
    if before.role == "mark" and before in ("(", ".", ":", "@", "$"):
        return True
    return before.role == "function" and piece == "("


def _expects_operand(before: Piece | None) -> bool:
    """Whether a sign after this piece is a prefix, not an operator."""
    if before is None or before.role == "word":
        return before not in ("END", "NULL", "TRUE", "FALSE")
    return before.role == "mark" and (before in _OPERATORS or before in ("(", ","))
