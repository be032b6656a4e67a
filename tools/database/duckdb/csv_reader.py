"""A reader of files of separated values, with the options that DuckDB detects."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import duckdb

from ..quoting import literal

DATE_TYPES = ("DATE", "TIMESTAMP")
SKIPPING = "ignore_errors = true"
"""The option by which lines are left out that have more or fewer cells than the others."""

PADDING = "null_padding = true, parallel = false"
"""The options by which short lines are filled up, which cells of several lines need."""

_FORMAT = re.compile(r", (date|timestamp)format = '([^']*)'")
# How the report on a file says that there is no such sign.
_NONE = "(empty)"


@dataclass(frozen=True)
class CsvReader:
    """A reader of a text file by DuckDB, with the given and the detected options."""

    connection: duckdb.DuckDBPyConnection
    address: str
    sample_rows: int | None  # how many rows are looked at for types; None for all
    options: str
    delimiter: str = ""
    details: str = ""  # the options that it found
    columns: tuple[tuple[str, str], ...] = ()  # names with types
    quote: str = '"'
    skipped_lines: int = 0  # lines above the table
    has_header: bool = True
    comment: str = ""  # how lines begin that are left out

    def sniff_options(self, options_sql: str = "") -> CsvReader:
        """Return the reader with the options that DuckDB detects, given `options_sql` options."""
        options = self.options + options_sql
        (row,) = self.connection.execute(
            "SELECT Delimiter, Quote, Escape, Comment, SkipRows, HasHeader, DateFormat, TimestampFormat, Columns"
            f" FROM sniff_csv({literal(self.address)}, {options}, sample_size = {self.sample_rows or -1})"
        ).fetchall()
        delimiter, quote, escape, comment, skip_count, header, days, times, columns = row
        # Quotes may come later, even if the rows that were looked at have none.
        quote, escape = (sign if sign != _NONE else '"' for sign in (quote, escape))
        details = f", quote = {literal(quote)}, escape = {literal(escape)}"
        for name, value in (
            *(("delim", delimiter), ("header", bool(header)), ("skip", skip_count), ("comment", comment)),
            *(("dateformat", days), ("timestampformat", times)),
        ):
            if value is not None and value != _NONE and f", {name} = " not in options:
                details += f", {name} = {value if isinstance(value, int) else literal(str(value))}"
        types = tuple((str(column["name"]), str(column["type"])) for column in cast("list[dict[str, Any]]", columns))
        layout = {"quote": str(quote), "skipped_lines": int(skip_count), "has_header": bool(header)}
        layout["comment"] = "" if comment in (None, _NONE) else str(comment)
        return replace(self, options=options, delimiter=str(delimiter), details=details, columns=types, **layout)

    def sniff_cells(self, options_sql: str) -> CsvReader:
        """Return the reader with `options_sql` options, and with a header if it has one now."""
        # Names that are numbers are taken for cells as soon as cells are read as numbers.
        return self.sniff_options(
            options_sql + (f", header = {str(self.has_header).lower()}" if ", header = " not in self.options else "")
        )

    @property
    def typed_count(self) -> int:
        """The number of columns whose type is not text."""
        return sum(kind != "VARCHAR" for _, kind in self.columns)

    def with_text_columns(self, names: Collection[str]) -> CsvReader:
        """Return a copy of the reader in which the named columns are read as text."""
        kinds = ((name, "VARCHAR" if name in names else kind) for name, kind in self.columns)
        return replace(self, columns=tuple(kinds))

    def keep_as_text(self, texts: CsvReader, conditions: Mapping[str, str], limit: int | None = None) -> CsvReader:
        """Return a copy of the reader that reads a column as text if its texts meet a condition."""
        (flags,) = texts.rows(", ".join(conditions.values()), limit) if conditions else ([],)
        return self.with_text_columns({name for name, is_wrong in zip(conditions, flags, strict=True) if is_wrong})

    @property
    def scan(self) -> str:
        """The `read_csv` call in SQL, with every option given explicitly."""
        column_list = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in self.columns)
        options = f"{self.options}{self.details}, columns = {{{column_list}}}"
        return f"read_csv({literal(self.address)}, auto_detect = false, {options})"

    @property
    def date_formats(self) -> dict[str, str]:
        """The format of each column of dates; empty if it is ISO's."""
        formats = dict(_FORMAT.findall(self.options + self.details))
        return {name: formats.get(kind.lower(), "") for name, kind in self.columns if kind in DATE_TYPES}

    def rows(self, select_list: str, limit: int | None = None) -> list[Any]:
        """Run a select list over the file's cells as texts, or over the first `limit` rows."""
        texts = replace(self, columns=tuple((name, "VARCHAR") for name, _ in self.columns)).scan
        source = texts if limit is None else f"(SELECT * FROM {texts} LIMIT {limit})"
        return self.connection.execute(f"SELECT {select_list} FROM {source}").fetchall()

    def count_uneven_lines(self, options_sql: str = "") -> tuple[int, int]:
        """Return the numbers of lines that `SKIPPING` leaves out, and of all lines."""
        lines = self.options.replace(SKIPPING, f"{PADDING}, strict_mode = false")
        readers = (replace(self, options=options) for options in (self.options + options_sql, lines))
        kept, every = (int(reader.rows("count(*)")[0][0]) for reader in readers)
        return every - kept, every
