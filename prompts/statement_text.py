"""Where a statement starts and ends in a text that is partly prose."""

from __future__ import annotations

import re

from ..tools.sql.parse import CHANGES, MAX_LENGTH, analysis_or, parse, statement_ends

LABELS: dict[str, str] = {
    "question": r"(?:self-contained |full |rephrased )?question|rephrased|meaning",
    "sure": r"(?:how )?sure|confidence|certainty",
    "ambiguous": r"ask(?:ing)? back|clarification(?: needed)?|clarify(?:ing question)?",
    "unanswerable": r"cannot answer|can[’']t answer|cannot be answered|unanswerable|not answerable",
    "small_talk": r"small[ _-]?talk",
}
LABEL = re.compile(
    r"^[ \t>*#_-]{0,8}(?:" + "|".join(f"(?P<{name}>{words})" for name, words in LABELS.items()) + r")[ \t*_]{0,4}:(?!:)"
    r"[ \t*_]{0,4}(?P<text>[^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_COMMENT_LINE = re.compile(r"[ \t]*--")

_START = re.compile(
    r"(?:SELECT|VALUES|INSERT|UPDATE|DELETE|REPLACE|CREATE|DROP|ALTER|PRAGMA|ATTACH|EXPLAIN)\b(?!\s*[:,.])"
    # Words that begin sentences too, in one case and before what only statements have.
    r"|(?-i:(?=[A-Z]{2}|[a-z]))(?:TRUNCATE\s+TABLE|MERGE\s+INTO|REFRESH\s+MATERIALIZED|LOCK\s+TABLE|CALL\s+[\w.\"`]+\s*\("
    r"|(?:GRANT|REVOKE)\s+(?:ALL|SELECT|INSERT|UPDATE|DELETE|USAGE|CREATE|EXECUTE|CONNECT)\b"
    r"|REINDEX\s+(?:TABLE|INDEX|SCHEMA|DATABASE)|COPY\s[^\n]*\s(?:TO|FROM)\s+(?:'|STDIN|STDOUT|PROGRAM)"
    r"|DO\s+(?:\$|LANGUAGE\s|')|COMMENT\s+ON\s+(?:TABLE|COLUMN|VIEW|DATABASE|SCHEMA)"
    r"|SET(?![^;]*;\s*(?:SELECT|WITH)\b)\s+(?:(?:LOCAL|SESSION|GLOBAL)\s+)?(?:[\w.@]+\s*=|(?-i:\w+\s+TO\b)|(?-i:ROLE)\s)"
    r"|(?-i:(?:TRUNCATE|VACUUM|ANALYZE|REINDEX|LOCK|GRANT|REVOKE)\b(?!\s*[:,.])))"
    r"|WITH\s+(?:RECURSIVE\s+)?[\w\"`\[\]]+\s*(?:\(|AS\b)|\(\s*SELECT\b",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"\s*(?:--[^\n]*\n|/\*.*?\*/)", re.DOTALL)
_NEXT_LABEL = re.compile(
    r"^[ \t>*#-]{0,12}(?:\*\*|__)?"
    r"(?:sql\s*result|result|answer|explanation|notes?|question|q|a|sql|output|reasoning)"
    r"(?:\*\*|__)?\s*\d*\s*:",
    re.IGNORECASE | re.MULTILINE,
)
_PROSE_LINE = re.compile(
    r"^(?:This|The|These|It|Here|Note|Explanation|In this|Which|However|If|You|I|We|Let|Please|Hope)\b"
    r"[ ,:]+[a-z`\"(]",
    re.MULTILINE,
)
_CLAUSES = (
    "FROM|WHERE|GROUP|ORDER|LIMIT|OFFSET|HAVING|UNION|INTERSECT|EXCEPT|JOIN|LEFT|RIGHT|FULL|INNER|CROSS|NATURAL|AND|OR|ON"
    "|SELECT|WINDOW"
)
_CONTINUES = re.compile(rf"\s*(?:(?:{_CLAUSES}|{_CLAUSES.lower()})\b|[(),])")
"""How a paragraph starts that still belongs to the statement: prose would have a capital there, then small letters."""

_FENCE = re.compile(r"^[ \t>]*```", re.MULTILINE)
_SURELY = re.compile(r"[A-Z]{4,}\b|\(|--|[a-z]+\b[^\n]*\s(?i:from)\s")
"""In capitals, or in small letters with a FROM: SQL even where it does not parse."""

_FROM = re.compile(r"\bfrom\b", re.IGNORECASE)

_PARSE_LIMIT = 10_000
"""Characters; whether something longer in the middle of prose is SQL is not worth the time to find out."""


def starts_like_sql(text: str, *, is_block: bool = False) -> bool:
    """Whether the text, comments aside, begins as a statement does; of a block of SQL the first word tells enough."""
    position = 0
    while comment := _COMMENT.match(text, position):
        position = comment.end()
    text = text[position:].lstrip()
    return _START.match(text) is not None or (is_block and CHANGES.match(text) is not None)


def until_prose(text: str) -> str:
    """`text`, which starts with a statement, up to where it goes on in prose."""
    ends = [len(text)]
    for pattern in (_NEXT_LABEL, _PROSE_LINE, _FENCE):
        if found := pattern.search(text, 1):
            ends.append(found.start())
    text = text[: min(ends)]
    depth = counted = 0
    for gap in re.finditer(r"\n[ \t]*\n", text):
        depth += text.count("(", counted, gap.start()) - text.count(")", counted, gap.start())
        counted = gap.start()
        if depth <= 0 and not _CONTINUES.match(text, gap.end()):
            return text[: gap.start()]
    return text


def first_statement(text: str, dialect: str = "sqlite") -> tuple[str, bool]:
    """Up to the first semicolon outside strings and comments, without it; and whether another statement follows."""
    text = text.strip()
    if text.count("`") % 2:
        text = text.strip("`").strip()
    if len(text) > MAX_LENGTH:  # it will be refused for its length
        return text.rstrip("; \n\t"), False
    ends = statement_ends(text, dialect)
    if ends is None:
        return text.rstrip("; \n\t"), False
    return (text[: ends[0]].strip(), starts_like_sql(text[ends[0] + 1 :])) if ends else (text, False)


def is_sql(text: str, dialect: str = "sqlite") -> bool:
    """Whether a text that starts like a statement is one, rather than prose such as "Select the rows ..."."""
    if _SURELY.match(text) or CHANGES.match(text):
        return True
    return _FROM.search(text) is not None and parses(first_statement(text, dialect)[0], dialect)


@analysis_or(False)
def parses(text: str, dialect: str = "sqlite") -> bool:
    """Whether the text is one query; a very long one counts as none."""
    return len(text) <= _PARSE_LIMIT and bool(parse(text, dialect))


def before_labels(text: str, dialect: str = "sqlite") -> str:
    """`text`, which starts with a statement, up to the first labelled line after it.

    A line within a text, a quoted name or a comment belongs to the statement.

    Args:
        text: The statement and what follows it.
        dialect: Of the statement, by sqlglot's name.
    """
    for label in LABEL.finditer(text):
        statement = text[: label.start()]
        if starts_like_sql(statement) and not _COMMENT_LINE.match(label[0]) and _is_closed(statement, dialect):
            return statement.rstrip()
    return text


def _is_closed(text: str, dialect: str) -> bool:
    """Whether no text, quoted name or comment is open at the end."""
    return statement_ends(text, dialect) is not None and text.count("/*") <= text.count("*/")
