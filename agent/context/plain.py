"""First questions that are settled before a translator is asked: about the tables, to change data, of bare columns."""

from __future__ import annotations

import re

from ...prompts.replies import Rephrasing
from ...tools.database import Schema
from ...tools.words import english_stem, name_parts
from ..advice import advisory

READS_ONLY = "Nothing was changed: this only reads."
"""What an answer says that shows what somebody wanted deleted."""

_TABLES = re.compile(
    r"(?:what|which)(?: are)?(?: all)?(?: the)? tables"
    r"(?: (?:are|do|does|is|exist|there|you|we|i|it|have|has|know|in|the|this|here|database|db|see|of|can|ask|about))*"
    r"|(?:please )?(?:show|list|name|give)(?: me)?(?: all)?(?: of)?(?: the)? tables"
    r"(?: (?:in|of) (?:the|this) (?:database|db))?",
    re.IGNORECASE,
)
_CHANGES = re.compile(r"(?:please |can you |could you )*(?:delete|remove|erase|truncate|drop) (?=\w)", re.IGNORECASE)
_BARE = re.compile(
    r"(?:please )?(?:(?:show|list|give|tell)(?: me)?|what (?:are|is))(?: all)?(?: of)? (?:the|their|its) (\w+)",
    re.IGNORECASE,
)
_NAMED = 40
"""Tables that an answer names."""

_CHOICES = 6
"""Tables that are offered."""


@advisory("plain questions", "")
def about_tables(question: str, schema: Schema) -> str:
    """The answer to `what tables are there?`; empty for any other question, and where a table is called so."""
    if not _TABLES.fullmatch(question.strip(" .?!")) or schema.table("tables") or schema.table("table"):
        return ""
    names = [table.name for table in schema.tables]
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    tables = "one table" if len(names) == 1 else f"{len(names):,} tables"
    return f"The database has {tables}: {', '.join(names[:_NAMED])}{more}."


@advisory("plain questions", "")
def what_it_is(question: str) -> str:
    """A request to delete something as a request to show it; empty for any other question."""
    found = _CHANGES.match(question)
    return f"Show {question[found.end() :]}" if found else ""


@advisory("plain questions", None)
def bare_columns(question: str, schema: Schema) -> Rephrasing | None:
    """What to ask back where nothing is named but a column that several tables have, as by `Show the names`."""
    found = _BARE.fullmatch(question.strip(" .?!"))
    if found is None:
        return None
    wanted = english_stem(found[1].lower())
    if any(wanted in _stems(table.name) for table in schema.tables):
        return None
    having = [
        table.name for table in schema.tables if any(_stems(column.name)[-1:] == [wanted] for column in table.columns)
    ]
    if len(having) < 2:
        return None
    choices = tuple(f"{found[1].lower()} of {name.replace('_', ' ')}" for name in having[:_CHOICES])
    return Rephrasing(question, question, "ambiguous", f"The {found[1].lower()} of what?", choices)


def _stems(name: str) -> list[str]:
    return list(map(english_stem, name_parts(name)))
