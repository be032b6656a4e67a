"""Sources that a path names: a DuckDB file, or files of tables, in a folder or by a pattern."""

from __future__ import annotations

import codecs
import glob
import os
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from ...errors import DatabaseUnavailable
from ..quoting import get_naming_rules

_LONGEST = 60


def make_table_name(text: str) -> str:
    """Return a table name that needs no quotes, such as `Sales_2024_EU` for `Sales 2024 (EU)`."""
    normalized = unicodedata.normalize("NFKC", text)
    name = re.sub(r"\W+", "_", normalized).strip("_")[:_LONGEST] or "data"
    return f"t_{name}" if name[0].isdigit() or name.lower() in get_naming_rules("duckdb").reserved_words else name


def make_column_names(headers: Iterable[object]) -> list[str]:
    """Return column names for headers: one line each, numbered if empty or repeated."""
    names = [" ".join(str("" if header is None else header).replace("\0", " ").split()) for header in headers]
    return number_repeated_names([name or f"column{number}" for number, name in enumerate(names, start=1)])


def number_repeated_names(names: Sequence[str]) -> list[str]:
    """Return the names with a number added to repeated ones, ignoring case."""
    assigned_names: set[str] = set()
    lower_names = {name.lower() for name in names}
    result: list[str] = []
    for name in names:
        candidate, number = name, 2
        while candidate.lower() in assigned_names or (candidate != name and candidate.lower() in lower_names):
            candidate, number = f"{name}_{number}", number + 1
        assigned_names.add(candidate.lower())
        result.append(candidate)
    return result


FileKind = Literal["text", "parquet", "json", "workbook"]

_ENDING = re.compile(
    r"(?<=.)\.(?:(?P<text>[ct]sv(?:\.gz)?|tab|psv)|(?P<parquet>parquet)|(?P<json>(?:json|jsonl|ndjson)(?:\.gz)?)"
    r"|(?P<workbook>xls[xm]))\Z",
    re.IGNORECASE | re.DOTALL,
)
READ_EXTENSIONS = ".csv, .tsv, .tab, .psv, .parquet, .json, .jsonl, .ndjson, .xlsx, .xlsm"
_DATABASES = (".duckdb", ".ddb")
# Files with these endings, and those that begin so, are the other engine's, which says what is wrong with them.
_SQLITE_ENDINGS = (".db", ".sqlite", ".sqlite3", ".db3")
_OTHERS_MAGIC = b"SQLite format 3\0"
_MAGIC = b"DUCK"
_MAGIC_AT = 8
_START_BYTES = 4_000
_MOST_FILES = 1_000
PREFIX = "duckdb://"


@dataclass(frozen=True)
class TableFile:
    """A file with one table, or a workbook with several."""

    path: Path  # absolute
    kind: FileKind
    table: str  # the name of its table


@dataclass(frozen=True)
class TableSources:
    """The source of tables: a DuckDB file, or the files that match a pattern."""

    name: str  # the database's short name
    location: str
    database: Path | None = None
    pattern: str = ""
    fingerprint: str = ""  # of data frames, which do not change
    reversals: frozenset[str] = frozenset()  # guesses about files that are decided otherwise

    def files(self) -> tuple[TableFile, ...]:
        """Return the current files, ordered by name."""
        paths = _find_table_files(self.pattern)
        if not paths:
            source = "the folder" if Path(self.pattern).is_dir() else "the pattern"
            raise DatabaseUnavailable(
                f"{source} {self.pattern} contains no table files ({READ_EXTENSIONS}), or only links out of it"
            )
        if len(paths) > _MOST_FILES:
            raise DatabaseUnavailable(f"{self.pattern} matches {len(paths):,} files; the limit is {_MOST_FILES:,}")
        names = number_repeated_names([make_table_name(_get_file_stem(path)) for path in paths])
        return tuple(TableFile(path, kind_of(path) or "text", name) for path, name in zip(paths, names, strict=True))

    def state(self) -> str:
        """Return a key that changes whenever a file changes or is added."""
        if self.fingerprint:
            return self.fingerprint
        paths = [self.database] if self.database is not None else _find_table_files(self.pattern)
        return " ".join([*map(_make_file_state_key, paths), *sorted(self.reversals)]) or "gone"


def is_duckdb_source(text: str) -> bool:
    """Whether the DuckDB engine opens a path, by its extension, first bytes or as a folder."""
    path = Path(text).expanduser()
    if path.suffix.lower() in _DATABASES or kind_of(path) is not None or path.is_dir():
        return True
    if not path.is_file():
        return glob.has_magic(text) and not path.exists()
    start = _read_first_bytes(path)
    is_other = path.suffix.lower() in _SQLITE_ENDINGS or not start or start.startswith(_OTHERS_MAGIC)
    return not is_other or start.startswith(_MAGIC, _MAGIC_AT)


def kind_of(path: Path) -> FileKind | None:
    """Return the kind of a file by its extension; None if it is unknown."""
    match = _ENDING.search(path.name)
    return cast("FileKind", match.lastgroup) if match else None


def find_sources(text: str) -> TableSources:
    """Return the table sources that a path or a URL names."""
    if text.lower().startswith(PREFIX):
        url, text = text, text[len(PREFIX) :].partition("?")[0].partition("/")[2]
        if text in ("", ":memory:"):
            raise DatabaseUnavailable(f"{url} does not name a file: write duckdb:///path/to/file.duckdb")
    path = Path(text).expanduser().absolute()
    if path.is_file() and kind_of(path) is None:
        start = _read_first_bytes(path)
        if start.startswith(_MAGIC, _MAGIC_AT):
            return TableSources(_replace_bytes(path.stem), _replace_bytes(str(path.resolve())), path)
        if b"\0" in start and not start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise DatabaseUnavailable(
                f"{path} cannot be read: it is neither an SQLite or DuckDB database nor a table file "
                f"({READ_EXTENSIONS}, or any text with separated columns); save it as one of these"
            )
    if not path.exists() and not glob.has_magic(str(path)):
        raise DatabaseUnavailable(f"there is no file {path}")
    if path.exists() and not path.is_file() and not path.is_dir():
        raise DatabaseUnavailable(f"{path} cannot be read: it is neither a file nor a folder")
    name = _get_file_stem(path) if path.is_file() else _find_folder(path).name
    location = path.resolve() if path.exists() else path
    sources = TableSources(_replace_bytes(make_table_name(name)), _replace_bytes(str(location)), pattern=str(path))
    sources.files()
    return sources


def _find_folder(path: Path) -> Path:
    """Return the folder that a pattern begins with; a path that exists as it is."""
    return next(folder for folder in (path, *path.parents) if folder.exists() or not glob.has_magic(str(folder)))


def _find_table_files(pattern: str) -> Sequence[Path]:
    path = Path(pattern)
    if path.is_file():
        return [path]
    inside = path.iterdir() if path.is_dir() else map(Path, glob.iglob(pattern, recursive=True))
    # Whoever may put a link into the folder shall not have other files of this machine read.
    root = _find_folder(path).resolve()
    candidates = (file for file in inside if not file.name.startswith((".", "~$")) and kind_of(file) and file.is_file())
    try:
        return sorted(file for file in candidates if file.resolve().is_relative_to(root))
    except OSError as error:
        raise DatabaseUnavailable(f"the folder {path} cannot be read: {error.strerror}") from None


def _get_file_stem(path: Path) -> str:
    return path.stem if kind_of(path) is None else _ENDING.sub("", path.name)


def _read_first_bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_START_BYTES)
    except OSError as error:
        raise DatabaseUnavailable(f"{path} cannot be read: {error.strerror}") from None


def _make_file_state_key(path: Path) -> str:
    try:
        status = os.stat(path)
    except OSError:
        return "gone"
    return f"{status.st_dev}.{status.st_ino}.{status.st_size}.{status.st_mtime_ns}"


def _replace_bytes(text: str) -> str:
    """Return a name with undecodable bytes replaced, for prompts and stores."""
    return os.fsencode(text).decode("utf-8", "replace")
