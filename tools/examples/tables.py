"""Named tables of vectors and text fields, in plain memory or in Chroma."""

from __future__ import annotations

import errno
import hashlib
import os
import struct
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast
from urllib.parse import urlsplit

import numpy as np

from ..errors import ExampleStoreError
from ..folders import data_folder
from .embedding import Vectors
from .example import one_line

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

FORMAT = "2"
"""Layout of the tables, and the rules by which questions and SQL become keys; a store of another one is refused.

A change of `mask` or `make_sql_skeleton` needs another number here, and one of `embed` another `embedding.VERSION`:
keys made by other rules are not near each other. A test holds what they give to these numbers.
"""

# Many neighbours and a wide search keep recall over 0.98 with a million pairs (`evals.lab bench examples-scale`) and
# where thousands of questions differ by one word. The index is written to disk every 2,000 rows; rows since then are
# indexed again when the store is opened.
_HNSW = {"space": "cosine", "ef_construction": 100, "max_neighbors": 32, "ef_search": 300, "sync_threshold": 2_000}
_REBUILT_SUFFIX = "-anew"
"""Ends the names of tables that 0.2.0 built to replace others. Where the other is gone, such a one replaces it."""

_PAGE = 1_000
_SECONDS = 60.0
"""How long a server may take to answer."""
_PAUSES = (0.0, 0.1, 0.5)
"""Seconds to wait where a server trips over rows that are being written."""
_READ_WHOLE = 64_000_000
"""Bytes of a file up to which all of it is checked; a larger one would take seconds."""
_REPAIR = (
    "; if its index is damaged, close what uses the store, delete the folders in it (the examples are in "
    "chroma.sqlite3) and run `tableturn examples reindex`"
)
_REPLACE = "; if its file is damaged, put back a copy of it, or move it away and import its examples anew"
_REPAIRS = {"hnsw": _REPAIR, "malformed": _REPLACE, "not a database": _REPLACE, "log store": _REPLACE}
"""What helps, by what Chroma says of a damaged index or database file."""
_T = TypeVar("_T")

# Chroma keeps one engine a folder for all clients of a process, and makes it without a lock.
_opening = threading.Lock()

Fields = Mapping[str, str]
"""A row's text fields by name."""

_DECIMALS = 4
"""Rows whose similarity differs beyond are equally near: the last bits of a sum differ by processor."""


class Row(NamedTuple):
    """A stored row; `similarity` is the cosine to the searched vector, or 1 if none."""

    id: str
    fields: Fields
    similarity: float = 1.0


def get_store_folder() -> Path:
    """Return the default folder of the example store."""
    return data_folder() / "examples"


def has_example_store(location: str | Path) -> bool:
    """Whether an example store exists at a location; True for every server URL."""
    if "://" in str(location):
        return True
    path = Path(location)
    try:
        return path.exists() and (not path.is_dir() or (path / "chroma.sqlite3").exists())
    except OSError:
        return True


Table = tuple[str, str]
"""An owner of examples, and the name of a table of theirs. A table that nothing was written to is an empty one."""


class MemoryBackend:
    """Tables of vectors and text fields in memory, with exact search."""

    def __init__(self) -> None:
        self._tables: dict[Table, dict[str, tuple[Row, Vectors]]] = defaultdict(dict)

    def put(self, table: Table, rows: Mapping[str, Fields], vectors: Vectors, *, overwrite: bool = False) -> None:
        """Write rows by identifier; existing ones are kept, or replaced if `overwrite` is set."""
        old_rows = self._tables[table]
        for (id_, fields), vector in zip(rows.items(), vectors, strict=True):
            if overwrite or id_ not in old_rows:
                old_rows[id_] = Row(id_, fields), vector

    def get(self, table: Table, ids: Sequence[str]) -> dict[str, Row]:
        """Return the existing rows with the given identifiers, by identifier."""
        rows = self._tables[table]
        return {id_: rows[id_][0] for id_ in ids if id_ in rows}

    def find_rows_by_value(self, table: Table, names: Sequence[str], value: str, limit: int | None) -> list[Row]:
        """Return rows in which one of the named fields is `value`."""
        return [row for row in self.scan(table) if value in map(row.fields.get, names)][:limit]

    def find_nearest_rows(self, table: Table, vector: Vectors, k: int, among: Sequence[str] | None = None) -> list[Row]:
        """Return the k rows nearest to a vector, best first, searching only `among` if given."""
        id_set = None if among is None else frozenset(among)
        entries = [entry for id_, entry in list(self._tables[table].items()) if id_set is None or id_ in id_set]
        vectors = np.reshape([entry for _, entry in entries], (len(entries), len(vector)))
        # Not by BLAS, whose threads spin for longer than they compute.
        similarities = np.einsum("ij,j->i", vectors, vector).round(_DECIMALS)
        order = np.argsort(-similarities, kind="stable")[:k]
        return [entries[i][0]._replace(similarity=float(similarities[i])) for i in order]

    def remove(self, table: Table, ids: Iterable[str]) -> None:
        """Remove rows; unknown identifiers are ignored."""
        for id_ in ids:
            self._tables[table].pop(id_, None)

    def scan(self, table: Table) -> Iterator[Row]:
        """Yield all rows in insertion order, without rows added during the scan."""
        return (row for row, _ in list(self._tables[table].values()))

    def list_row_ids(self, table: Table) -> list[str]:
        """Return the identifiers of all rows."""
        return list(self._tables[table])

    def count(self, table: Table) -> int:
        """Return the number of rows."""
        return len(self._tables[table])

    def list_owners(self) -> list[str]:
        """Return all owners of tables, an empty text for shared ones, in alphabetical order."""
        return sorted({owner for owner, _ in list(self._tables)})

    def close(self) -> None:
        """Free the tables; the backend must not be used afterwards."""
        self._tables.clear()


class ChromaBackend:
    """Tables in Chroma, each a collection that is marked with the embedding's name."""

    def __init__(self, location: str | Path, embedding: str) -> None:
        """Open or make the store in a folder or at a Chroma server's URL."""
        if "://" not in str(location):
            location = Path(location).absolute()  # Chroma shares clients by path, and opens files again later
        self._embedding = embedding
        self._where = str(location)
        self._checked = False
        with _opening:
            self.client = self.call_chroma(lambda: _open_chroma_client(location))
        try:
            self.batch: int = self.call_chroma(self.client.get_max_batch_size)
            self._check_collections()
        except BaseException:
            _close_chroma_client(self.client)
            raise

    def put(self, table: Table, rows: Mapping[str, Fields], vectors: Vectors, *, overwrite: bool = False) -> None:
        settings: Any = {
            "configuration": {"hnsw": _HNSW},
            "metadata": {"format": FORMAT, "embedding": self._embedding, "room": table[0]},
            "embedding_function": None,
        }
        self.call_chroma(lambda: self.client.get_or_create_collection(_make_collection_name(table), **settings))
        ids, fields = list(rows), list(map(dict, rows.values()))
        for part in (slice(start, start + self.batch) for start in range(0, len(ids), self.batch)):
            self._call(table, "upsert" if overwrite else "add", ids[part], vectors[part], fields[part])

    def get(self, table: Table, ids: Sequence[str]) -> dict[str, Row]:
        return {row.id: row for row in self._get_rows(table, ids=list(ids))} if ids else {}

    def find_rows_by_value(self, table: Table, names: Sequence[str], value: str, limit: int | None) -> list[Row]:
        tests = [{name: value} for name in names]
        return self._get_rows(table, where=tests[0] if len(tests) == 1 else {"$or": tests}, limit=limit)

    def find_nearest_rows(self, table: Table, vector: Vectors, k: int, among: Sequence[str] | None = None) -> list[Row]:
        includes = ["metadatas", "distances"]
        result = self._call(table, "query", vector[None], ids=among and list(among), n_results=k, include=includes)
        parts = (result[part][0] if result else () for part in ("ids", *includes))
        # Chroma goes on finding what another process removed, without its fields.
        rows = [Row(id_, row, round(1.0 - far, _DECIMALS)) for id_, row, far in zip(*parts, strict=True) if row]
        return sorted(rows, key=lambda row: (-row.similarity, row.id))

    def remove(self, table: Table, ids: Sequence[str]) -> None:
        if ids:
            self._call(table, "delete", ids=list(ids))

    def scan(self, table: Table) -> Iterator[Row]:
        offset = 0
        while rows := self._get_rows(table, limit=_PAGE, offset=offset):
            yield from rows
            offset += len(rows)

    def list_row_ids(self, table: Table) -> list[str]:
        return (self._call(table, "get", include=[]) or {"ids": []})["ids"]

    def count(self, table: Table) -> int:
        return self._call(table, "count") or 0

    def _get_rows(self, table: Table, **filters: Any) -> list[Row]:
        result = self._call(table, "get", include=["metadatas"], **filters)
        return list(map(Row, result["ids"], result["metadatas"])) if result else []

    def _call(self, table: Table, method: str, *values: Any, **options: Any) -> Any:
        """Call a method of a table's collection by name; None if there is no collection."""
        from chromadb.errors import NotFoundError

        def call_collection() -> Any:
            with suppress(NotFoundError):
                collection = self.client.get_collection(_make_collection_name(table), embedding_function=None)
                return getattr(collection, method)(*values, **options)

        self._check_index_files()
        return self.call_chroma(call_collection)

    def list_owners(self) -> list[str]:
        return sorted({str((collection.metadata or {}).get("room", "")) for collection in self._list_collections()})

    def close(self) -> None:
        with _opening:
            _close_chroma_client(self.client)

    def call_chroma(self, call: Callable[[], _T]) -> _T:
        """Run a call into Chroma; raise any Chroma error as `ExampleStoreError`."""
        pauses = iter(_PAUSES)
        while True:
            try:
                return call()
            except BaseException as error:
                kind = type(error).__name__
                if kind == "InternalError" and (pause := next(pauses, None)) is not None:
                    time.sleep(pause)
                    continue
                foreign = isinstance(error, Exception) and not isinstance(error, ExampleStoreError)
                if not foreign and kind != "PanicException":
                    raise
                repairs = (repair for words, repair in _REPAIRS.items() if words in str(error).lower())
                repair = next(repairs, "") if Path(self._where).is_dir() else ""
                text = f"the example store ({self._where}) failed: {one_line(error)}{repair}"
                raise ExampleStoreError(text) from error

    def _list_collections(self) -> list[Collection]:
        return [c for c in self.call_chroma(self.client.list_collections) if c.name.startswith("tableturn.")]

    def _check_index_files(self) -> None:
        """Check once, before Chroma reads the index files, that none is damaged."""
        if not self._checked and "://" not in self._where and (path := find_damaged_index(Path(self._where))):
            raise ExampleStoreError(f"the example store ({self._where}) failed: hnsw index {path.name}{_REPAIR}")
        self._checked = True

    def _check_collections(self) -> None:
        """Refuse a store of another format or embedding; finish an interrupted replacement."""
        collections = self._list_collections()
        names = {collection.name for collection in collections}
        for collection in collections:
            meta = collection.metadata or {}
            if meta.get("format") != FORMAT:
                raise ExampleStoreError(
                    f"the example store at {self._where} has format {meta.get('format')}, this version reads {FORMAT}: "
                    "list its examples with the version that wrote it (`tableturn examples list --json --limit N`) "
                    "and import them into a new store"
                )
            if (name := str(meta.get("embedding"))) != self._embedding:
                kind, _, model = name.partition("-")
                choice = f"{kind}:{model}" if kind in ("openai", "sentence") else kind
                raise ExampleStoreError(
                    f"the example store at {self._where} was built with the embedding {name}, not {self._embedding}: "
                    f"open it with --embedding {choice}, or import its examples into a new store"
                )
            name = collection.name.removesuffix(_REBUILT_SUFFIX)
            if name not in names:
                self.call_chroma(lambda collection=collection, name=name: collection.modify(name=name))


def _make_collection_name(table: Table) -> str:
    # Chroma allows few characters in names, database names may have any.
    owner, name = table
    code = hashlib.sha256(owner.encode()).hexdigest()[:16] if owner else "shared"
    return f"tableturn.{code}.{name}"


def _open_chroma_client(location: str | Path) -> ClientAPI:
    import chromadb
    from chromadb.config import Settings

    quiet = Settings(anonymized_telemetry=False)
    if isinstance(location, str) and "://" in location:
        url = urlsplit(location)
        if url.scheme not in ("http", "https"):
            raise ExampleStoreError(
                f"no example store can be opened at {location}: name a folder, or http://host:port of a Chroma server"
            )
        port = url.port or (443 if url.scheme == "https" else 80)
        client = chromadb.HttpClient(url.hostname or "", port, ssl=url.scheme == "https", settings=quiet)
        for session in _find_http_sessions(client):
            session.timeout = _SECONDS
        return client
    folder = Path(location)
    if folder.exists() and not folder.is_dir():
        raise ExampleStoreError(
            f"{location} is a file, and an example store is a folder: name a new folder, or a store's"
        )
    try:  # Chroma writes even to read, and says nothing of rights
        folder.mkdir(parents=True, exist_ok=True)
        if not all(os.access(path, os.W_OK) for path in (folder, *folder.glob("chroma.sqlite3"))):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise ExampleStoreError(
            f"cannot write the example store {location}: {error.strerror}: name another folder (--store, --examples)"
        ) from None
    return chromadb.PersistentClient(folder, quiet)


def _close_chroma_client(client: ClientAPI) -> None:
    sessions = _find_http_sessions(client)
    cast(Any, client).close()
    for session in sessions:
        session.close()


def _find_http_sessions(client: ClientAPI) -> list[Any]:
    """Return the HTTP sessions of a Chroma client, which Chroma neither limits nor closes."""
    parts = (client, getattr(client, "_admin_client", None))
    sessions = [getattr(getattr(part, "_server", None), "_session", None) for part in parts]
    return [session for session in sessions if session is not None]


# Links of an index that lead nowhere end the process that loads it. The layout is hnswlib's: a header; for each element
# its links on the lowest level, its vector and its label. What is wrong with higher levels Chroma mends or reports.
_HEADER = struct.Struct("<iQQQQQQiIQQQdQ")
_WORD = 4


def find_damaged_index(store: Path) -> Path | None:
    """Return the folder of a damaged index; None if all indexes can be loaded."""
    for header in sorted(store.glob("*/header.bin")):
        with suppress(OSError, struct.error):
            if _is_valid_index(header.parent):
                continue
        return header.parent
    return None


def _is_valid_index(folder: Path) -> bool:
    header = _HEADER.unpack((folder / "header.bin").read_bytes()[: _HEADER.size])
    _, start, capacity, count, size, label, data, _, entry, _, most, *_ = header
    lowest, links = folder / "data_level0.bin", most + 1
    fits = start == 0 and most < 10_000 and data == _WORD * links < label == size - 8 and not size % _WORD
    if not fits or count > capacity or lowest.stat().st_size < count * size or (count and entry >= count):
        return False
    if count * size > _READ_WHOLE:
        return True
    blocks = np.fromfile(lowest, "<u4", count * size // _WORD).reshape(count, size // _WORD)[:, :links]
    link_counts = (blocks[:, 0] & 0xFFFF)[:, None]
    vacant = np.arange(1, links) > link_counts
    return bool(np.all(link_counts < links) and np.all((blocks[:, 1:] < count) | vacant))
