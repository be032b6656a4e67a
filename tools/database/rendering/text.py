"""Names, values and comments of a database in prompts: short, on one line, delimited.

What a database holds was written by others. A value can't end the line or the quotes it stands in, and so can't pass
for an instruction or for another part of the schema.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ...derived import cache_in_first_argument
from ..column_kinds import TextForm, classify_text_form, find_missing_value_text
from ..quoting import get_naming_rules
from ..schema import ColumnSchema, Schema
from ..table import Cell

_LONGEST_NAME = 100
_LONGEST_VALUE = 40
_LONGEST_COMMENT = 100


@lru_cache(maxsize=50_000)
def format_identifier(name: str, dialect: str) -> str:
    """Return a name as an SQL identifier, quoted if the dialect requires it."""
    rules = get_naming_rules(dialect)
    if len(name) <= _LONGEST_NAME and rules.can_be_unquoted(name):
        return name
    return rules.quote(one_line(name, _LONGEST_NAME))


@dataclass(frozen=True)
class NameFormatter:
    """A formatter of names as SQL identifiers; calling it formats a column's name.

    Attributes:
        used_names: (table, column) pairs in lower case that earlier queries used; the column is empty for a table.
        samples: How many sample values a column at most shows.
    """

    schema: Schema
    used_names: frozenset[tuple[str, str]] = frozenset()
    samples: int = 0

    def __call__(self, column: str) -> str:
        return format_identifier(column, self.schema.dialect)

    def quote_table(self, name: str) -> str:
        """Return a table's name as SQL, with the schema's name if needed."""
        return ".".join(map(self, self.schema.path(name)))

    def is_used_before(self, table: str, column: str = "") -> bool:
        """Whether earlier queries used a table or one of its columns."""
        return (table.lower(), column.lower()) in self.used_names


def format_literal(value: Cell) -> str:
    """Return a value as a short SQL literal; a cut text ends with an ellipsis."""
    if isinstance(value, str):
        if len(value) > _LONGEST_VALUE or not value.isprintable():
            value = one_line(value, _LONGEST_VALUE)
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bytes):
        return f"<{len(value)} bytes>"
    return "NULL" if value is None else repr(value)


def format_sample_values(column: ColumnSchema, number: int) -> str:
    """Return sample values separated by commas; an empty text if none is informative."""
    # Numbers of a key only identify rows.
    if not number or not column.samples or (column.primary_key and column.kind == "number"):
        return ""
    return ", ".join([format_literal(value) for value in list_nonblank_samples(column)[:number]])


def list_nonblank_samples(column: ColumnSchema) -> list[Cell]:
    """Return the sample values of a column without blank texts."""
    return [value for value in column.samples if not isinstance(value, str) or value.strip()]


def quote_comment(comment: str, longest: int = _LONGEST_COMMENT) -> str:
    """Return a schema comment in quotes; an empty text if there is no comment."""
    return '"' + one_line(comment, longest).replace('"', "'") + '"' if comment else ""


def one_line(text: str, longest: int) -> str:
    """Return a text on one line, without control characters, cut to `longest` characters."""
    if not text.isprintable():
        text = "".join([character if character.isprintable() else " " for character in text[: 2 * longest]])
    return text if len(text) <= longest else text[: longest - 1] + "…"


_FORMS: dict[TextForm, str] = {
    "numbers": "numbers as text",
    "signed": "numbers as text, with signs",
    "dates": "does not sort by date",
    "mixed_dates": "dates of several forms",
}


@cache_in_first_argument
def list_column_pitfalls(column: ColumnSchema) -> tuple[str, ...]:
    """Return warnings on a column: padded texts, numbers as text, dates that do not sort."""
    texts = [value for value in column.samples if isinstance(value, str)]
    if not texts:
        return ()
    pitfalls: list[str] = []
    if any(text.strip() and text != text.strip() for text in texts):
        pitfalls.append("padded with spaces")
    if form := classify_text_form(column):
        pitfalls.append(_FORMS[form])
    if (missing := find_missing_value_text(column)) is not None:
        pitfalls.append(f"{format_literal(missing)} for none")
    return tuple(pitfalls)
