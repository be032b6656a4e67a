"""The example store and the knowledge file of an agent."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from ...tools.database import Database, Schema
from ...tools.errors import KnowledgeError, SettingsError
from ...tools.examples import (
    ExampleStore,
    check_embedding_name,
    has_example_store,
    make_default_store,
    make_embedding,
    open_seeded_store,
)
from ...tools.knowledge import Entry, Knowledge
from ...tools.knowledge.read import Layers, knowledge_path, read_knowledge
from ...tools.knowledge.write import KnowledgeWriter


class LazyExampleStore:
    """The example store of an agent, opened on first use.

    A store given by its location shows the built-in examples too as long as it shares few of its own. A folder that is
    not there yet is made when something is saved, not before.
    """

    def __init__(self, source: ExampleStore | str | Path | None, embedding: str, stack: ExitStack) -> None:
        check_embedding_name(embedding)
        self._source = source
        self.can_save_examples = source is not None
        self._embedding = embedding
        self._stack = stack
        self._lock = threading.Lock()
        self._stores: dict[str, ExampleStore] = {}

    def open_store_for_search(self) -> ExampleStore:
        """Return the example store to search: the agent's own or the built-in examples."""
        return self.open_own_store() or self._open_store_once("built in", make_default_store)

    def open_own_store(self) -> ExampleStore | None:
        """Return the agent's own store; None if nothing was ever saved in the store."""
        unmade = self._source is None or (isinstance(self._source, str | Path) and not has_example_store(self._source))
        return None if unmade else self.open_store_for_saving()

    def open_store_for_saving(self) -> ExampleStore:
        """Return the store in which examples are saved; raise an error without a store."""
        source = self._source
        if source is None:
            raise SettingsError(
                "this agent has no example store to save in: pass one as `examples`, a folder or a Chroma server's URL"
            )
        if not isinstance(source, str | Path):
            return source
        return self._open_store_once("own", lambda: open_seeded_store(source, make_embedding(self._embedding)))

    def _open_store_once(self, name: str, open_store: Callable[[], ExampleStore]) -> ExampleStore:
        with self._lock:
            if name not in self._stores:
                self._stores[name] = self._stack.enter_context(open_store())
            return self._stores[name]


OFF = "off"  # given as a file: use none, also where there is one

_Stamp = tuple[tuple[int, int] | None, ...]


class KnowledgeSource:
    """The knowledge files of an agent, cached and shared by all people and threads."""

    def __init__(self, path: Path | str | None) -> None:
        self._path = None if path is None else Path(path)  # None for the one that belongs to the database
        self._off = path is not None and str(path) == OFF
        self._lock = threading.Lock()
        self._cache: dict[Path, tuple[tuple[Path, ...], _Stamp, Layers]] = {}
        if self._path is not None and not self._off:
            self._read_cached_file(self._path)

    def path(self, database: Database) -> Path | None:
        """Return the path of a database's knowledge file; None if knowledge is off."""
        return None if self._off else self._path or knowledge_path(database)

    def layers(self, path: Path | None) -> tuple[_Stamp, Layers] | None:
        """Return the version and contents of a knowledge file; None if the file is missing."""
        return None if path is None or not path.exists() else self._read_cached_file(path)

    def _read_cached_file(self, path: Path) -> tuple[_Stamp, Layers]:
        if not path.exists():
            raise KnowledgeError(f"there is no knowledge file {path}")
        with self._lock:
            entry = self._cache.get(path)
            if entry is None or entry[1] != _read_file_stamps(entry[0]):
                files: list[Path] = []
                layers = read_knowledge(path, files)
                entry = self._cache[path] = tuple(files), _read_file_stamps(files), layers
            return entry[1:]


class PersonKnowledge:
    """The knowledge that one person may see; several threads may share one object.

    What people with other rights have defined stays as it is, whether this person may see it or not. A definition that
    would replace or contradict it goes to a file of its own beside the knowledge file, for people with equal rights.
    """

    def __init__(self, source: KnowledgeSource, database: Database, shared: PersonKnowledge | None = None) -> None:
        self.source = source
        self._database = database
        self._key = database.rights.key  # of those with equal rights
        self._shared = shared  # of somebody with equal rights, who reads the same
        self._lock = threading.Lock()
        self._last_reading: tuple[_Stamp, Schema, Knowledge] | None = None

    def read(self) -> Knowledge | None:
        """Read the schema and return the current knowledge; None if there is no knowledge file."""
        if self._shared is not None:
            return self._shared.read()
        path = self._knowledge_path
        main, private = self.source.layers(path), self.source.layers(_get_private_knowledge_path(path, self._key))
        if main is None and private is None:
            return None
        (stamp, layers), (more, above) = main or ((), ()), private or ((), ())
        above = tuple(tuple(map(self._hide_private_source, layer)) for layer in above)
        stamp, layers = (*stamp, *more), (*layers, *above)
        schema = self._database.schema()
        with self._lock:
            if self._last_reading is None or self._last_reading[0] != stamp or self._last_reading[1] is not schema:
                self._last_reading = stamp, schema, Knowledge.of(layers, self._database)
            return self._last_reading[2]

    def add(self, entry: Entry) -> Entry:
        """Add an entry in its author's name, or else this person's, and return the stored entry."""
        key, path = self._key, self._knowledge_path
        if path is None:
            raise KnowledgeError("knowledge is switched off: name a file with --knowledge")
        rivals = [other for other in self._read_entries(path) if _conflict(entry, other) and other.rights != key]
        private = _get_private_knowledge_path(path, key)
        if private is not None and (rivals or any(_conflict(entry, other) for other in self._read_entries(private))):
            path = private
        else:
            # Those who wrote it may not be able to see the new one: theirs must not vanish before their eyes.
            for other in rivals:
                if (private_path := _get_private_knowledge_path(path, other.rights)) is not None:
                    KnowledgeWriter(private_path, other.author).add(other)
        author = entry.author or self._database.session.identity.name
        new = KnowledgeWriter(path, author).add(replace(entry, rights=key))
        return self._hide_private_source(new)

    def remove(self, name: str) -> bool:
        """Remove a definition that this person may remove; return whether it existed."""
        key, path = self._key, self._knowledge_path
        private = _get_private_knowledge_path(path, key)
        if private is not None and KnowledgeWriter(private).remove(name):
            return True
        if path is None:
            return False
        # Only what was written under the same rights: what else is there must not be told.
        if KnowledgeWriter(path).remove(name, key or None):
            return True
        knowledge = self.read()
        if knowledge is not None and any(entry.name.lower() == name.lower() for entry in knowledge.entries):
            raise KnowledgeError(f"{name!r} was defined by people with other permissions: only they can remove it")
        return False

    @property
    def _knowledge_path(self) -> Path | None:
        return self.source.path(self._database)

    def _hide_private_source(self, entry: Entry) -> Entry:
        """Return the entry with the shared file as source, to hide the private file."""
        return replace(entry, source=self._knowledge_path.name) if self._knowledge_path else entry

    def _read_entries(self, path: Path) -> list[Entry]:
        layers = self.source.layers(path)
        return [entry for layer in layers[1] for entry in layer] if layers else []


def _get_private_knowledge_path(path: Path | None, key: str) -> Path | None:
    """Return the knowledge file of people with narrower rights; None for full rights."""
    return path.with_suffix(f".{key}.yaml") if path and key else None


def _conflict(entry: Entry, other: Entry) -> bool:
    """Whether two entries define the same name, or would contradict each other."""
    word_kinds = {"term", "metric"}
    if {entry.kind, other.kind} <= word_kinds and set(entry.phrases) & set(other.phrases):
        return True
    return (entry.kind, entry.name.lower()) == (other.kind, other.name.lower())


def _read_file_stamps(paths: Iterable[Path]) -> _Stamp:
    """Return the modification times and sizes of files, to detect changes."""

    def read_file_stamp(path: Path) -> tuple[int, int] | None:
        try:
            status = path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size

    return tuple(map(read_file_stamp, paths))
