"""An instance of DuckDB in memory that holds nothing but what a session may read, and whose settings are locked.

Files are views over them; a DuckDB file is attached read-only under a name that no query can guess, with views over
what may be seen; sheets and data frames are tables. Once all is set up, the file system is closed but for the named
files, which are read and never written, extensions stay unloaded, and the settings are locked.
"""

from __future__ import annotations

import hashlib
import secrets
import shutil
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import duckdb

from ...errors import DatabaseUnavailable, NothingReadable
from ..quoting import quoted
from ..schema import ForeignKey
from ..server.catalogue import Catalogue, Relation
from ..session import Permissions
from .attached import attach, attached_tables
from .entries import Entry, column, keys_between, visible
from .failures import failure
from .files import settings
from .identifiers import column_names, table_name, told_apart
from .named_files import NamedFiles
from .reading import read_files
from .sources import Sources
from .tables import hold
from .text_files import literal

if TYPE_CHECKING:
    import pandas


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
        self._root = duckdb.connect(":memory:", config=settings(self._folder, _held(contents.frames)))
        self._files = NamedFiles()
        self._files.serve(self._root)
        try:
            entries, keys = self._found(contents)
            shown = visible(entries, permissions)
            # Before any of what was read from files is declared.
            self._close_files(shown)
            self.entries = self._made(shown)
            self._root.execute("SET lock_configuration = true")
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
        entries = list(read_files(contents.sources.files(), self._folder / "read", thorough=self._thorough))
        names = told_apart([entry.name for entry in entries])
        return [replace(entry, name=name) for entry, name in zip(entries, names, strict=True)], ()

    def _made(self, entries: Sequence[Entry]) -> tuple[Entry, ...]:
        """Makes the tables; without those views of a file that cannot be read any more."""
        if not entries:
            raise NothingReadable("the database has no tables that you may read")
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

    def _close_files(self, entries: Iterable[Entry]) -> None:
        listed = ", ".join(literal(self._files.address(entry.path)) for entry in entries if entry.path is not None)
        self._root.execute(f"SET allowed_paths = [{listed}]")
        self._root.execute("SET enable_external_access = false")


def _held(frames: Mapping[str, pandas.DataFrame] | None) -> int:
    return sum(int(frame.memory_usage(deep=True).sum()) for frame in (frames or {}).values())


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
