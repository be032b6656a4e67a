"""Tables in files: their names and types, and the SQL that selects their rows."""

from __future__ import annotations

import codecs
import hashlib
import io
import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
from fsspec.spec import AbstractFileSystem

from ...errors import DatabaseUnavailable
from ..quoting import literal, quote
from ..schema import ColumnSchema
from ..server.address import redact_message
from .cells import add_content_notices
from .decoding import measure_decompressed_size, open_decompressed_file
from .entries import TableEntry, make_column_schema, make_file_entry
from .notices import LOOKED_AT, NoticeCollector
from .sources import FileKind, TableFile, make_column_names
from .strays import find_stray_rows
from .tables import copy_frame_to_table, read_workbook
from .text_files import MOST_COLUMNS, SLOW_BYTES, check_column_count, inspect_text_file
from .total_queries import fetch_rows_with_totals

_PROTOCOL = "tableturn"
_PREFIX = f"{_PROTOCOL}://"
_BLANK_BYTES = 4_096  # A file of nothing but so many blanks is called empty.


class _OpenFile(io.FileIO):
    """An open file that closes itself when DuckDB drops it."""

    def __del__(self) -> None:
        self.close()


class NamedFileSystem(AbstractFileSystem):  # pyright: ignore[reportUntypedBaseClass]
    """A read-only file system that contains only the registered files."""

    # What DuckDB's settings let a query reach, it may read and write. So they name no path of the file system at all,
    # but addresses that only this knows.

    protocol = _PROTOCOL
    cachable = False

    def __init__(self) -> None:
        super().__init__()
        self._paths: dict[str, Path] = {}

    def serve(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Register this file system with a DuckDB connection."""
        connection.register_filesystem(self)

    def address(self, path: Path) -> str:
        """Register a file and return its address, which has the same file extension."""
        # By its end, DuckDB knows what is compressed. It is the same in every process, so that they can share a scan.
        name = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
        address = f"{name}{''.join(suffix for suffix in path.suffixes[-2:] if suffix[1:].isalnum())}"
        self._paths[address] = path
        return _PREFIX + address

    def _open(self, path: str, mode: str = "rb", *_: Any, **__: Any) -> Any:
        if mode != "rb":
            raise PermissionError("the files of a database can only be read")
        return _OpenFile(self._find_path(path), "rb")

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        return {"name": path, "size": self._find_path(path).stat().st_size, "type": "file"}

    def modified(self, path: str) -> datetime:
        return datetime.fromtimestamp(self._find_path(path).stat().st_mtime, UTC)

    def glob(self, path: str, maxdepth: int | None = None, **_: Any) -> list[str]:
        del maxdepth
        return [path] if self.exists(path) else []

    def _find_path(self, address: str) -> Path:
        try:
            return self._paths[address.removeprefix(_PREFIX)]
        except KeyError:
            raise FileNotFoundError("there is no such file in the database") from None


MEMORY_BYTES = 400_000_000
DISK_BYTES = 4_000_000_000
THREADS = min(4, os.cpu_count() or 1)
_ADVICE: dict[FileKind, str] = {
    "text": "check that it is a table of separated values, or save it again as CSV in UTF-8",
    "json": "check that it is an array of objects, or one object per line",
    "parquet": "write the file again",
    "workbook": "save it again as .xlsx, or its sheets as CSV files",
}
_NEEDS_MEMORY = "it needs more memory than reading a file may use: split it, or leave columns out"
_CLASS = re.compile(r"^(?:[A-Z]\w* )+Error: ")
# A line of the file, and what DuckDB tried on the way and what its settings are called.
_LINE = re.compile(r"Original Line:.*?(?=\n(?:Maximum|Value|Expected|Error)|\Z)", re.DOTALL)
_ERROR_HINTS = re.compile(r"\s*(?:The search space used|Stack Trace:|Possible |Try increasing|LINE 1:).*", re.DOTALL)
_ADDRESS = re.compile(r"tableturn://[^\s\"']*")
# An object or an array, but for one of objects, of which its column tells.
_NESTED = re.compile(r"\)\Z|[^)]\[\]\Z")
_PLACE = "tableturn_place"


def make_settings(folder: Path, disk_bytes: int = DISK_BYTES) -> dict[str, str | bool | int | float | list[str]]:
    """Return the settings of a DuckDB instance."""
    return {
        "memory_limit": f"{MEMORY_BYTES}B",
        "threads": THREADS,
        "temp_directory": str(folder / "temporary"),
        "max_temp_directory_size": f"{disk_bytes}B",
        "extension_directory": str(folder / "extensions"),
        "secret_directory": str(folder / "secrets"),
        "allow_persistent_secrets": "false",
        "allow_community_extensions": "false",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "python_enable_replacements": "false",
        "preserve_insertion_order": "true",
    }


def _check_not_empty(path: Path) -> None:
    with open_decompressed_file(path) as stream:
        start = stream.read(_BLANK_BYTES + 1)
    if len(start) <= _BLANK_BYTES and not start.removeprefix(codecs.BOM_UTF8).strip():
        raise DatabaseUnavailable(f"{path} is empty: it has no columns and no rows")


class FileReader:
    """A reader of the tables in files."""

    def __init__(self, folder: Path, *, thorough: bool, reversals: frozenset[str] = frozenset()) -> None:
        self._folder, self._thorough, self._reversals = folder, thorough, reversals
        # DuckDB would make it once it needs it; the kernel may refuse that by then.
        (folder / "temporary").mkdir()
        self._connection = duckdb.connect(":memory:", config=make_settings(folder))
        self._files = NamedFileSystem()
        self._files.serve(self._connection)

    def close(self) -> None:
        """Close the reader's DuckDB connection."""
        self._connection.close()

    def entries(self, file: TableFile) -> list[TableEntry]:
        """Read a file and return its table entries."""
        try:
            if file.kind in ("text", "json"):
                _check_not_empty(file.path)
            match file.kind:
                case "text":
                    entries = [
                        inspect_text_file(
                            *(self._connection, self._files.address, file, self._folder),
                            thorough=self._thorough,
                            reversals=self._reversals,
                        )
                    ]
                case "json":
                    entries = [self._read_json(file)]
                case "parquet":
                    entries = [self._read_parquet(file.path, file.table)]
                case "workbook":
                    entries = list(self._read_workbook(file))
            for entry in entries:
                check_column_count(file.path, len(entry.columns))
            if file.kind in ("json", "parquet"):
                entries = [self._add_notices(entry) for entry in entries]
        except (duckdb.OutOfMemoryException, MemoryError):
            raise DatabaseUnavailable(f"{file.path} cannot be read: {_NEEDS_MEMORY}") from None
        except (duckdb.Error, OSError, EOFError, zlib.error) as error:
            message = _ADDRESS.sub(lambda _: file.path.name, str(error))
            for noise in (_CLASS, _LINE, _ERROR_HINTS):
                message = noise.sub("", message)
            message = redact_message(message).rstrip(". ")
            is_allowed = os.access(file.path, os.R_OK)
            advice = _ADVICE[file.kind] if is_allowed else "its owner can give you the right to read it"
            raise DatabaseUnavailable(f"{file.path} cannot be read: {message}: {advice}") from None
        return entries

    def _read_workbook(self, file: TableFile) -> Iterator[TableEntry]:
        book = read_workbook(file.path, self._reversals)
        # The first table tells of sheets that are none.
        extra_notices = [notice for sheet in book if sheet.frame is None for notice in sheet.noticing.notices]
        for sheet in book:
            if sheet.frame is not None and len(sheet.frame.columns):
                copy_frame_to_table(self._connection, "sheet", sheet.frame)
                entry = self._read_parquet(self._copy_to_parquet("sheet"), sheet.noticing.table, sheet.title)
                sheet.noticing.notices += extra_notices
                extra_notices = []
                yield self._add_notices(entry, sheet.noticing)

    def _copy_to_parquet(self, rows: str) -> Path:
        """Copy rows to a new Parquet file and return its path."""
        copy = self._folder / f"{len(list(self._folder.iterdir()))}.parquet"
        self._connection.execute(f"COPY {rows} TO {literal(str(copy))} (FORMAT parquet)")
        return copy

    def _add_notices(self, entry: TableEntry, noticing: NoticeCollector | None = None) -> TableEntry:
        """Return a table entry with notices, and without stray rows unless it is a workbook sheet."""
        if noticing is None:
            noticing = NoticeCollector(entry.name, self._reversals, [*entry.notices])
            for column in entry.columns:
                if column.type.endswith(")[]"):
                    noticing.add(
                        "nested", "each cell holds several records, which are not counted as rows", column.name
                    )
                kinds = f"SELECT count(DISTINCT json_type({quote(column.name)})) FROM {entry.scan}"
                if column.type == "JSON" and self._connection.execute(kinds).fetchall() > [(1,)]:
                    noticing.add("mixed types", "values of several types are kept as JSON, not as numbers", column.name)
            if rows := fetch_rows_with_totals(self._connection, entry.columns, entry.scan):
                strays = find_stray_rows(noticing, (), rows)
                if strays:
                    places = ", ".join(map(str, strays))
                    numbered_sql = f"SELECT *, row_number() OVER () - 1 AS {_PLACE} FROM {entry.scan}"
                    table_sql = f"(SELECT * EXCLUDE ({_PLACE}) FROM ({numbered_sql}) WHERE {_PLACE} NOT IN ({places}))"
                    entry = self._read_parquet(self._copy_to_parquet(table_sql), entry.name)
        is_whole = entry.path is not None and measure_decompressed_size(entry.path, SLOW_BYTES) <= SLOW_BYTES
        scan = add_content_notices(self._connection, noticing, entry.columns, entry.scan, is_whole=is_whole)
        return replace(entry, scan=scan, notices=noticing.rename_notice_columns({}))

    def _read_json(self, file: TableFile) -> TableEntry:
        address = literal(self._files.address(file.path))
        slow = measure_decompressed_size(file.path, SLOW_BYTES) > SLOW_BYTES
        records = f"read_json_objects({address})"
        keys = f"SELECT unnest(json_keys(json)) AS key FROM (SELECT json FROM {records} LIMIT {LOOKED_AT})"
        count_sql = "count(DISTINCT key), count(DISTINCT lower(key))"
        ((count, folded_count),) = self._connection.execute(f"SELECT {count_sql} FROM ({keys})").fetchall()
        if count > MOST_COLUMNS:
            # To find the types of so many columns would take minutes.
            return make_file_entry(file.table, *_rename_columns(records, [("json", "JSON")]), file.path, slow=slow)
        sampling = ", sample_size = -1" if self._thorough or not slow else ""
        # Other dates would be found, but not read: they stay text.
        scan = f"read_json({address}{sampling}, dateformat = '%Y-%m-%d')"
        columns = self._describe_columns(scan)
        noticing = NoticeCollector(file.table)
        if folded_count < count:
            # Keys that differ in case cannot be declared as columns.
            noticing.add("keys", "keys that differ only in case are read as columns of their own, numbered")
        else:
            column_list = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in columns)
            scan = f"read_json({address}, columns = {{{column_list}}})"
        ((some,),) = self._connection.execute(f"SELECT count(*) FROM (FROM {records} LIMIT 2)").fetchall()
        if some and not count:
            noticing.add("nested", "its rows are not objects and make one column: write an array of objects")
        elif some == 1 and all(_NESTED.search(kind) for _, kind in columns):
            noticing.add("nested", "one object is read as one row: if it holds several, write an array of objects")
        notices = noticing.rename_notice_columns({})
        return make_file_entry(file.table, *_rename_columns(scan, columns), file.path, slow=slow, notices=notices)

    def _read_parquet(self, path: Path, table: str, comment: str = "") -> TableEntry:
        address = literal(self._files.address(path))
        sql = f"SELECT sum(num_rows) FROM parquet_file_metadata({address})"
        ((rows,),) = self._connection.execute(sql).fetchall()
        scan = f"read_parquet({address})"
        selection = _rename_columns(scan, self._describe_columns(scan))
        return make_file_entry(table, *selection, path, comment=comment, estimate=int(rows))

    def _describe_columns(self, scan: str) -> list[tuple[str, str]]:
        """Return the names and DuckDB types of a scan's columns."""
        rows = self._connection.execute(f"DESCRIBE SELECT * FROM {scan}").fetchall()
        return [(name, kind) for name, kind, *_ in rows]


def _rename_columns(scan: str, sources: list[tuple[str, str]]) -> tuple[list[ColumnSchema], str]:
    """Return columns under displayable names, and the SQL that selects them."""
    names = make_column_names(name for name, _ in sources)
    items = ", ".join(f"{quote(old_name)} AS {quote(name)}" for name, (old_name, _) in zip(names, sources, strict=True))
    columns = [make_column_schema(name, kind) for name, (_, kind) in zip(names, sources, strict=True)]
    return columns, f"(SELECT {items} FROM {scan})"
