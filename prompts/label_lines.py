"""The labelled lines of a reply beside its SQL: how sure the model is, what it understood, why it declines."""

from __future__ import annotations

import re

from ..tools.sql.parse import statement_ends
from .statement_text import starts_like_sql

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
_COMMENT = re.compile(r"[ \t]*--")


def before_labels(text: str, dialect: str = "sqlite") -> str:
    """`text`, which starts with a statement, up to the first labelled line after it.

    A line within a text, a quoted name or a comment belongs to the statement.

    Args:
        text: The statement and what follows it.
        dialect: Of the statement, by sqlglot's name.
    """
    for label in LABEL.finditer(text):
        statement = text[: label.start()]
        if starts_like_sql(statement) and not _COMMENT.match(label[0]) and _is_closed(statement, dialect):
            return statement.rstrip()
    return text


def _is_closed(text: str, dialect: str) -> bool:
    """Whether no text, quoted name or comment is open at the end."""
    return statement_ends(text, dialect) is not None and text.count("/*") <= text.count("*/")
