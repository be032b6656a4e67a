"""An instance of DuckDB in memory that holds nothing but what a session may read, and whose settings are locked.

Files are views over them; a DuckDB file is attached read-only under a name that no query can guess, with views over
what may be seen; sheets and data frames are tables. Once all is set up, the file system is closed but for the named
files, which are read and never written, extensions stay unloaded, and the settings are locked.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import duckdb

from ...errors import DatabaseUnavailable
from ..quoting import quoted
from ..schema import ForeignKey
from ..server.catalogue import Catalogue, Relation
from ..session import Permissions
from .attached import attach, attached_tables
from .entries import Entry, column, keys_between, visible
from .failures import failure
from .identifiers import column_names, table_name, told_apart
from .named_files import NamedFiles
from .sources import File, Sources, is_known
from .tables import hold, sheets
from .text_files import literal, read_text_file

if TYPE_CHECKING:
    import pandas

_MEMORY_BYTES = 400_000_000
_DISK_BYTES = 4_000_000_000
_THREADS = 4
# Reading all of such a file takes seconds where it has to be taken apart.
_SLOW_BYTES = 100_000_000


@dataclass(frozen=True)
class Contents:
    """What an instance is made from: files, or data frames by their tables' names."""

    sources: Sources | None = None
    frames: Mapping[str, pandas.DataFrame] | None = None
    state_of_frames: str = ""

    def state(self) -> str:
        """Changes whenever the contents do."""
        return self.sources.state() if self.sources is not None else self.state_of_frames


class Instance:
    """An open instance; gone with its private folder when the last connection to it is.

    Attributes:
        state: Of its contents when it was opened.
        private: The name of the attached file, which no message may show; empty where there is none.
        catalogue: What may be read.
        slow: The names of tables that take seconds to be read whole.
        remarks: What was guessed of files whose texts could be read otherwise, and what to do.
    """

    def __init__(self, contents: Contents, permissions: Permissions, *, thorough: bool = False) -> None:
        """Sets it up.

        Args:
            contents: Where the tables are.
            permissions: What of them may be seen.
            thorough: Whether types in files are found by all rows.

        Raises:
            DatabaseUnavailable: Something cannot be read, or nothing may be seen.
            SettingsError: The permissions name what is not there.
        """
        self.state = contents.state()
        self.private = f"p{secrets.token_hex(16)}" if contents.sources and contents.sources.database else ""
        self._folder = Path(mkdtemp(prefix="tableturn-"))
        self._clear = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._thorough = thorough
        self._root = duckdb.connect(":memory:", config=_settings(self._folder, contents))
        self._files = NamedFiles()
        self._files.serve(self._root)
        try:
            entries, keys = self._found(contents)
            self.entries = self._made(visible(entries, permissions))
            self._lock()
        except duckdb.Error as error:
            self._root.close()
            raise DatabaseUnavailable(f"the database cannot be opened: {failure(error, self.private)}") from None
        except BaseException:
            self._root.close()
            raise
        self.remarks = tuple(remark for entry in self.entries for remark in _remarks(entry))
        self.slow = frozenset(entry.shown for entry in self.entries if entry.slow)
        self.catalogue = _catalogue(self.entries, keys_between(keys, self.entries))

    def close(self) -> None:
        """Lets go of it once no connection is left, and leaves no file behind."""
        self._root.close()
        self._clear()

    def connect(self) -> duckdb.DuckDBPyConnection:
        """Another connection to it."""
        return self._root.cursor()

    def _found(self, contents: Contents) -> tuple[Sequence[Entry], Sequence[ForeignKey]]:
        if contents.frames is not None:
            names = told_apart([table_name(name) for name in contents.frames])
            held = zip(names, contents.frames.values(), strict=True)
            return [_of_frame(name, frame) for name, frame in held], ()
        assert contents.sources is not None
        if contents.sources.database is not None:
            attach(self._root, contents.sources.database, self.private)
            return attached_tables(self._root, self.private)
        return self._of_files(contents.sources.files()), ()

    def _of_files(self, files: Iterable[File]) -> list[Entry]:
        entries: list[Entry] = []
        for file in files:
            try:
                entries.extend(self._of_file(file))
            except duckdb.Error as error:
                raise DatabaseUnavailable(f"the file {file.path} cannot be read: {failure(error)}") from None
        names = told_apart([entry.name for entry in entries])
        return [replace(entry, name=name) for entry, name in zip(entries, names, strict=True)]

    def _of_file(self, file: File) -> Iterable[Entry]:
        if file.kind == "workbook":
            for sheet in list(sheets(file.path)):
                yield replace(_of_frame(table_name(sheet.name), sheet.frame), comment=sheet.title)
            return
        yield self._of_text(file) if file.kind == "text" else self._of_records(file)

    def _of_text(self, file: File) -> Entry:
        text = read_text_file(self._root, self._files, file.path, self._folder, thorough=self._thorough)
        if len(text.columns) == 1 and not is_known(file.path):
            raise DatabaseUnavailable(
                f"{file.path} is not a table: its lines are not separated by a comma, semicolon, tab or bar; if it is"
                " a table with one column, name it .csv"
            )
        renamed = dict(text.columns)
        columns = tuple(
            (name, column(renamed[name], declared, comment=text.dated.get(name, "")))
            for name, declared in self._described(text.scan)
        )
        comment = "; ".join(filter(None, (*text.remarks, text.title)))
        slow = file.path.stat().st_size > _SLOW_BYTES
        return Entry(file.table, columns, text.scan, comment=comment, slow=slow, path=text.path, remarks=text.remarks)

    def _of_records(self, file: File) -> Entry:
        """A file of Parquet or JSON."""
        address = literal(self._files.address(file.path))
        if file.kind == "parquet":
            scan, estimate, slow = f"read_parquet({address})", self._rows_of_parquet(file.path), False
            described = self._described(scan)
        else:
            slow, estimate = file.path.stat().st_size > _SLOW_BYTES, None
            whole = ", sample_size = -1" if self._thorough or not slow else ""
            # Other dates would be found, but not read: they stay text.
            described = self._described(f"read_json({address}{whole}, dateformat = '%Y-%m-%d')")
            listed = ", ".join(f"{literal(name)}: {literal(declared)}" for name, declared in described)
            scan = f"read_json({address}, columns = {{{listed}}})"
        names = column_names([name for name, _ in described])
        columns = tuple((own, column(shown, declared)) for shown, (own, declared) in zip(names, described, strict=True))
        return Entry(file.table, columns, scan, estimate=estimate, slow=slow, path=file.path)

    def _described(self, scan: str) -> list[tuple[str, str]]:
        """Names and types of the columns."""
        return [(str(row[0]), str(row[1])) for row in self._root.execute(f"DESCRIBE SELECT * FROM {scan}").fetchall()]

    def _rows_of_parquet(self, path: Path) -> int:
        asked = f"SELECT sum(num_rows) FROM parquet_file_metadata({literal(self._files.address(path))})"
        return int(self._root.execute(asked).fetchall()[0][0])

    def _made(self, entries: Sequence[Entry]) -> tuple[Entry, ...]:
        """Makes the tables; without those views of a file that cannot be read any more."""
        if not entries:
            raise DatabaseUnavailable("the database has no tables that you may read")
        made: dict[str, Entry] = {}
        for schema in {entry.schema for entry in entries} - {"main"}:
            self._root.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(schema)}")
        waiting = list(entries)
        # A view that is declared anew comes after all that it reads; where one of those is not made, neither is it.
        while ready := [entry for entry in waiting if not entry.is_anew or (entry.reads or set()) <= made.keys()]:
            waiting = [entry for entry in waiting if entry not in ready]
            made |= {entry.key: done for entry in ready if (done := self._make(entry)) is not None}
        return tuple(made[entry.key] for entry in entries if entry.key in made)

    def _make(self, entry: Entry) -> Entry | None:
        if entry.frame is not None:
            return self._holding(entry, entry.frame)
        listed = ", ".join(f"{quoted(own)} AS {quoted(held.name)}" for own, held in entry.columns)
        name = f"{quoted(entry.schema)}.{quoted(entry.name)}"
        try:
            self._root.execute(f"CREATE VIEW {name} AS SELECT {listed} FROM {entry.scan}")
        except duckdb.Error:
            if entry.kind != "view":
                raise
            return None
        return entry

    def _holding(self, entry: Entry, frame: pandas.DataFrame) -> Entry:
        """Copies what may be seen of a frame."""
        places = [int(own) for own, _ in entry.columns]
        named = frame.iloc[:, places].set_axis([held.name for _, held in entry.columns], axis=1)
        hold(self._root, entry.name, named)
        described = self._root.execute(f"DESCRIBE {quoted(entry.name)}").fetchall()
        columns = tuple((str(row[0]), column(str(row[0]), str(row[1]))) for row in described)
        return Entry(entry.name, columns, quoted(entry.name), comment=entry.comment, estimate=len(frame))

    def _lock(self) -> None:
        self._files.keep(entry.path for entry in self.entries if entry.path is not None)
        listed = ", ".join(map(literal, self._files.addresses()))
        self._root.execute(f"SET allowed_paths = [{listed}]")
        self._root.execute("SET enable_external_access = false")
        self._root.execute("SET lock_configuration = true")


def _settings(folder: Path, contents: Contents) -> dict[str, str | bool | int | float | list[str]]:
    held = sum(int(frame.memory_usage(deep=True).sum()) for frame in (contents.frames or {}).values())
    return {
        "memory_limit": f"{_MEMORY_BYTES + 2 * held}B",
        "threads": min(_THREADS, os.cpu_count() or 1),
        "temp_directory": str(folder / "temporary"),
        "max_temp_directory_size": f"{_DISK_BYTES}B",
        "extension_directory": str(folder / "extensions"),
        "secret_directory": str(folder / "secrets"),
        "allow_persistent_secrets": "false",
        "allow_community_extensions": "false",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "python_enable_replacements": "false",
        "preserve_insertion_order": "true",
    }


def _of_frame(name: str, frame: pandas.DataFrame) -> Entry:
    """A frame's index counts as columns where it has names."""
    flat = frame.reset_index() if any(level is not None for level in frame.index.names) else frame
    names = column_names(flat.columns)
    if not names:
        raise DatabaseUnavailable(f"the table {name} has no columns")
    columns = tuple((str(place), column(shown, "VARCHAR")) for place, shown in enumerate(names))
    return Entry(name, columns, frame=flat, estimate=len(flat))


def _remarks(entry: Entry) -> Iterable[str]:
    for remark in entry.remarks:
        yield f"{entry.shown}: {remark}; if letters are wrong, save the file as UTF-8"
    for _, held in entry.columns if entry.path is not None else ():
        if held.comment:
            yield f"{entry.shown}.{held.name}: {held.comment}; write dates as 2024-12-31 to be sure"


def _catalogue(entries: Sequence[Entry], keys: tuple[ForeignKey, ...]) -> Catalogue:
    relations = tuple(
        Relation(
            entry.schema,
            entry.name,
            entry.shown,
            tuple(held for _, held in entry.columns),
            entry.kind,
            entry.comment,
            entry.estimate,
            entry.query,
        )
        for entry in sorted(entries, key=lambda each: each.schema != "main")
    )
    told = repr([(each.shown, each.kind, each.comment, each.columns, each.definition) for each in relations]) + repr(
        keys
    )
    return Catalogue(hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:16], relations, keys)
