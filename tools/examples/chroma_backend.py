"""Vector tables in Chroma: in memory, in a folder, or on a server."""

from __future__ import annotations

import hashlib
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import urlsplit

from ..errors import ExampleStoreError
from ..folders import data_folder
from .backend import REBUILT_SUFFIX, SIMILARITY_DECIMALS, Fields, Row
from .chroma_file import check_file
from .chroma_index import damaged_index
from .embedding import Vectors
from .messages import one_line

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

FORMAT = "2"
"""Layout of the tables, and the rules by which questions and SQL become keys; a store of another one is refused.

A change of `mask` or `sql_skeleton` needs another number here, and one of `embed` another `embedding.VERSION`: keys
made by other rules are not near each other. A test holds what they give to these numbers.
"""

# Many neighbours and a wide search keep recall over 0.98 with a million pairs (`evals.lab bench examples-scale`) and
# where thousands of questions differ by one word. The index is written to disk every 2,000 rows; rows since then are
# indexed again when the store is opened.
_HNSW = {"space": "cosine", "ef_construction": 100, "max_neighbors": 32, "ef_search": 300, "sync_threshold": 2_000}
_PAGE = 1_000
_SECONDS = 60.0
"""How long a server may take to answer."""
_PAUSES = (0.0, 0.1, 0.5)
"""Seconds to wait where another client is replacing the table, or a server trips over rows that are being written."""
_REPAIR = (
    "; if its index is damaged, close what uses the store, delete the folders in it (the examples are in "
    "chroma.sqlite3) and run `tableturn examples reindex`"
)
_T = TypeVar("_T")

# Chroma keeps one engine a folder for all clients of a process, and makes it without a lock.
_opening = threading.Lock()


def default_location() -> Path:
    """The folder of the store where none is named; a person would miss what is in it."""
    return data_folder() / "examples"


def is_made(location: str | Path) -> bool:
    """Whether there is something to open: a server's URL, a folder that holds a store, or whatever else is there.

    Opening a folder that holds none makes one.
    """
    if "://" in str(location):
        return True
    path = Path(location)
    try:
        return path.exists() and (not path.is_dir() or (path / "chroma.sqlite3").exists())
    except OSError:
        return True


class ChromaTable:
    """See `VectorTable`. Where another client has rebuilt the table, it is looked up again by its name.

    Args:
        collection: As it was found or made.
        batch: Rows that may be written at once.
        where: The store's location, for messages.
        find: Looks the collection up.
        forget: Called when there is none any more.
    """

    def __init__(
        self,
        collection: Collection,
        batch: int,
        where: str,
        find: Callable[[], Collection | None],
        forget: Callable[[], object],
    ) -> None:
        self._collection = collection
        self._batch = batch
        self._where = where
        self._find = find
        self._forget = forget

    def add(self, ids: Sequence[str], vectors: Vectors, fields: Sequence[Fields]) -> None:
        for start in range(0, len(ids), self._batch):
            part = slice(start, start + self._batch)
            rows = [dict(row) for row in fields[part]]
            self._do(lambda table, part=part, rows=rows: table.add(list(ids[part]), vectors[part], cast(Any, rows)))

    def update(self, ids: Sequence[str], fields: Sequence[Fields]) -> None:
        for start in range(0, len(ids), self._batch):
            part = slice(start, start + self._batch)
            rows = [dict(row) for row in fields[part]]
            self._do(lambda table, part=part, rows=rows: table.update(list(ids[part]), metadatas=cast(Any, rows)))

    def get(self, ids: Sequence[str]) -> dict[str, Row]:
        if not ids:
            return {}
        return {row.id: row for row in self._rows(ids=list(ids))}

    def having(self, names: Sequence[str], value: str, limit: int) -> list[Row]:
        tests = [{name: value} for name in names]
        return self._rows(where=tests[0] if len(tests) == 1 else {"$or": tests}, limit=limit)

    def nearest(self, vector: Vectors, k: int, among: Sequence[str] | None = None) -> list[Row]:
        ids = None if among is None else list(among)
        result = self._do(
            lambda table: table.query(
                query_embeddings=vector[None, :], ids=ids, n_results=k, include=["metadatas", "distances"]
            )
        )
        found = zip(result["ids"][0], (result["metadatas"] or [[]])[0], (result["distances"] or [[]])[0], strict=True)
        rows = (
            Row(id_, cast(Fields, fields or {}), round(1.0 - distance, SIMILARITY_DECIMALS))
            for id_, fields, distance in found
        )
        return sorted(rows, key=lambda row: (-row.similarity, row.id))

    def remove(self, ids: Sequence[str]) -> None:
        if ids:
            self._do(lambda table: table.delete(ids=list(ids)))

    def scan(self) -> Iterator[Row]:
        """See `VectorTable.scan`; read in pages."""
        offset = 0
        while rows := self._rows(limit=_PAGE, offset=offset):
            yield from rows
            offset += len(rows)

    def ids(self) -> list[str]:
        return list(self._do(lambda table: table.get(include=[]))["ids"])

    def count(self) -> int:
        return self._do(lambda table: table.count())

    def _rows(self, **which: Any) -> list[Row]:
        result = self._do(lambda table: table.get(include=["metadatas"], **which))
        return [
            Row(id_, cast(Fields, fields or {}))
            for id_, fields in zip(result["ids"], result["metadatas"] or [], strict=True)
        ]

    def _do(self, call: Callable[[Collection], _T]) -> _T:
        from chromadb.errors import InternalError, NotFoundError

        for pause in _PAUSES:
            try:
                return _do(lambda: call(self._collection), self._where)
            except ExampleStoreError as error:
                if not isinstance(error.__cause__, NotFoundError | InternalError):
                    raise
            time.sleep(pause)
            self._collection = self._find() or self._collection
        self._forget()
        return _do(lambda: call(self._collection), self._where)


class ChromaBackend:
    """See `Backend`. Every table carries the embedding's name, so that vectors of two kinds never meet."""

    def __init__(self, location: str | Path | None, embedding: str) -> None:
        """Opens or makes the store.

        Args:
            location: None for memory, a folder, or `http://host:port` of a Chroma server.
            embedding: Name of the embedding whose vectors the tables hold.

        Raises:
            ExampleStoreError: It cannot be opened, or was made by another version or with another embedding.
        """
        self._embedding = embedding
        self._where = "memory" if location is None else str(location)
        # All in-memory clients of a process see the same tables: a prefix keeps two stores apart.
        self._prefix = f"memory-{uuid.uuid4().hex}" if location is None else "tableturn"
        self._in_memory = location is None
        self._tables: dict[str, ChromaTable] = {}
        with _opening:
            self._client = _do(lambda: _client(location), self._where)
        try:
            self._batch = _do(self._client.get_max_batch_size, self._where)
            self._check()
        except BaseException:
            _close(self._client)
            raise

    def table(self, room: str, name: str, create: bool = False) -> ChromaTable | None:
        full = self._name(room, name)
        if (known := self._tables.get(full)) is not None:
            return known
        if not self._tables:
            self._check_indexes()
        collection = self._make(full, room) if create else self._find(full)
        if collection is None:
            return None
        table = ChromaTable(
            collection, self._batch, self._where, lambda: self._find(full), lambda: self._tables.pop(full, None)
        )
        self._tables[full] = table
        return table

    def rooms(self) -> list[str]:
        return sorted({str((collection.metadata or {}).get("room", "")) for collection in self._collections()})

    def clear(self, room: str, names: Sequence[str]) -> None:
        for name in names:
            full = self._name(room, name)
            self._tables.pop(full, None)
            if self._find(full) is not None:
                _do(lambda full=full: self._client.delete_collection(full), self._where)

    def replace(self, room: str, name: str, by: str) -> None:
        self.clear(room, [name])
        self._tables.pop(self._name(room, by), None)
        if (collection := self._find(self._name(room, by))) is not None:
            _do(lambda: collection.modify(name=self._name(room, name)), self._where)

    def close(self) -> None:
        if self._in_memory:
            for collection in self._collections():
                _do(lambda name=collection.name: self._client.delete_collection(name), self._where)
        self._tables.clear()
        with _opening:
            _close(self._client)

    def __enter__(self) -> ChromaBackend:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _name(self, room: str, name: str) -> str:
        # Chroma allows few characters in names, database names may have any.
        code = hashlib.sha256(room.encode()).hexdigest()[:16] if room else "shared"
        return f"{self._prefix}.{code}.{name}"

    def _collections(self) -> list[Collection]:
        found = _do(self._client.list_collections, self._where)
        return [collection for collection in found if collection.name.startswith(f"{self._prefix}.")]

    def _find(self, full: str) -> Collection | None:
        from chromadb.errors import NotFoundError

        def find() -> Collection | None:
            try:
                return self._client.get_collection(full, embedding_function=None)
            except NotFoundError:
                return None

        return _do(find, self._where)

    def _make(self, full: str, room: str) -> Collection:
        return _do(
            lambda: self._client.get_or_create_collection(
                full,
                embedding_function=None,
                configuration=cast(Any, {"hnsw": _HNSW}),
                metadata={"format": FORMAT, "embedding": self._embedding, "room": room},
            ),
            self._where,
        )

    def _check_indexes(self) -> None:
        """Looks at the index files before Chroma loads one, which a damaged one can end the whole process by.

        Raises:
            ExampleStoreError: One is damaged.
        """
        damaged = None if self._in_memory or "://" in self._where else damaged_index(Path(self._where))
        if damaged is not None:
            raise ExampleStoreError(f"the example store ({self._where}) failed: hnsw index {damaged.name}{_REPAIR}")

    def _check(self) -> None:
        """Refuses a store that would answer badly, and ends a replacement that was broken off."""
        collections = self._collections()
        names = {collection.name for collection in collections}
        for collection in collections:
            made = collection.metadata or {}
            if made.get("format") != FORMAT:
                raise ExampleStoreError(
                    f"the example store at {self._where} has format {made.get('format')}, this version reads {FORMAT}: "
                    "list its examples with the version that wrote it (`tableturn examples list --json --limit N`) "
                    "and import them into a new store"
                )
            if made.get("embedding") != self._embedding:
                raise ExampleStoreError(
                    f"the example store at {self._where} was built with the embedding {made.get('embedding')!r}, not "
                    f"{self._embedding!r}: open it with that embedding, or import its examples into a new store"
                )
            name = collection.name.removesuffix(REBUILT_SUFFIX)
            if name not in names:
                _do(lambda collection=collection, name=name: collection.modify(name=name), self._where)


def _client(location: str | Path | None) -> ClientAPI:
    import chromadb
    from chromadb.config import Settings

    quiet = Settings(anonymized_telemetry=False)
    if location is None:
        return chromadb.EphemeralClient(quiet)
    if isinstance(location, str) and "://" in location:
        url = urlsplit(location)
        if url.scheme not in ("http", "https"):
            raise ExampleStoreError(
                f"no example store can be opened at {location}: name a folder, or http://host:port of a Chroma server"
            )
        port = url.port or (443 if url.scheme == "https" else 80)
        client = chromadb.HttpClient(url.hostname or "", port, ssl=url.scheme == "https", settings=quiet)
        for session in _sessions(client):
            session.timeout = _SECONDS
        return client
    check_file(Path(location) / "chroma.sqlite3")
    return chromadb.PersistentClient(Path(location), quiet)


def _close(client: ClientAPI) -> None:
    sessions = _sessions(client)
    cast(Any, client).close()
    for session in sessions:
        session.close()


def _sessions(client: ClientAPI) -> list[Any]:
    """A server's client's HTTP sessions, which Chroma neither gives a time limit nor closes; none of other clients."""
    parts = (client, getattr(client, "_admin_client", None))
    sessions = [getattr(getattr(part, "_server", None), "_session", None) for part in parts]
    return [session for session in sessions if session is not None]


def _do(call: Callable[[], _T], where: str) -> _T:
    """Runs a call into Chroma; what it raises has no common base that is narrower than Exception.

    Where its Rust code panics, that is no `Exception` even.
    """
    try:
        return call()
    except ExampleStoreError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        repair = _REPAIR if "hnsw" in str(error).lower() and Path(where).is_dir() else ""
        raise ExampleStoreError(f"the example store ({where}) failed: {one_line(error)}{repair}") from error
