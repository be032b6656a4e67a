"""Names, values and comments of a database in prompts: short, on one line, delimited.

What a database holds was written by others. A value can't end the line or the quotes it stands in, and so can't pass
for an instruction or for another part of the schema.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ...derived import derived
from ..column_kinds import TextForm, find_stand_in, text_form
from ..quoting import naming_of
from ..schema import ColumnSchema, Schema
from ..table import Cell

_LONGEST_NAME = 100
_LONGEST_VALUE = 40
_LONGEST_COMMENT = 100


@lru_cache(maxsize=50_000)
def write_identifier(name: str, dialect: str) -> str:
    """Return a name as a query writes it, in quotes if the dialect needs them."""
    rules = naming_of(dialect)
    if len(name) <= _LONGEST_NAME and rules.is_plain(name):
        return name
    return rules.quote(one_line(name, _LONGEST_NAME))


@dataclass(frozen=True)
class NameWriter:
    """A writer of names as queries write them; calling it writes a column's name.

    Attributes:
        marked: (table, column) pairs in lower case that earlier queries used; the column is empty for a table itself.
        samples: How many sample values a column at most shows.
    """

    schema: Schema
    marked: frozenset[tuple[str, str]] = frozenset()
    samples: int = 0

    def __call__(self, column: str) -> str:
        return write_identifier(column, self.schema.dialect)

    def write_table(self, name: str) -> str:
        """Write a table's name, preceded by its schema's if needed."""
        return ".".join(map(self, self.schema.path(name)))

    def is_used(self, table: str, column: str = "") -> bool:
        """Whether earlier queries used a table, or one of its columns."""
        return (table.lower(), column.lower()) in self.marked


def write_literal(value: Cell) -> str:
    """Write a value as a short SQL literal; a cut text ends with an ellipsis."""
    if isinstance(value, str):
        if len(value) > _LONGEST_VALUE or not value.isprintable():
            value = one_line(value, _LONGEST_VALUE)
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bytes):
        return f"<{len(value)} bytes>"
    return "NULL" if value is None else repr(value)


def write_samples(column: ColumnSchema, number: int) -> str:
    """Write sample values, separated by commas; empty if none is informative."""
    # Numbers of a key only identify rows.
    if not number or not column.samples or (column.primary_key and column.kind == "number"):
        return ""
    return ", ".join([write_literal(value) for value in filled_samples(column)[:number]])


def filled_samples(column: ColumnSchema) -> list[Cell]:
    """Return sample values without empty and blank texts."""
    return [value for value in column.samples if not isinstance(value, str) or value.strip()]


def quote_comment(comment: str, longest: int = _LONGEST_COMMENT) -> str:
    """Write a comment from the schema in quotes; empty if there is none."""
    return '"' + one_line(comment, longest).replace('"', "'") + '"' if comment else ""


def one_line(text: str, longest: int) -> str:
    """Return a text without line breaks and control characters, cut to `longest` characters."""
    if not text.isprintable():
        text = "".join([character if character.isprintable() else " " for character in text[: 2 * longest]])
    return text if len(text) <= longest else text[: longest - 1] + "…"


_FORMS: dict[TextForm, str] = {
    "numbers": "numbers as text",
    "signed": "numbers as text, with signs",
    "dates": "does not sort by date",
    "mixed_dates": "dates of several forms",
}


@derived
def list_pitfalls(column: ColumnSchema) -> tuple[str, ...]:
    """Return remarks: padded texts, numbers as text, dates that do not sort."""
    texts = [value for value in column.samples if isinstance(value, str)]
    if not texts:
        return ()
    found: list[str] = []
    if any(text.strip() and text != text.strip() for text in texts):
        found.append("padded with spaces")
    if form := text_form(column):
        found.append(_FORMS[form])
    if (missing := find_stand_in(column)) is not None:
        found.append(f"{write_literal(missing)} for none")
    return tuple(found)
