"""The knowledge of the database that an agent answers from: which file, read when it changes, checked once a person."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ...tools.errors import KnowledgeError
from ...tools.knowledge.place import knowledge_path
from ...tools.knowledge.read import read_knowledge
from ...tools.knowledge.write import KnowledgeWriter

if TYPE_CHECKING:
    from ...tools.database import Database
    from ...tools.knowledge import Entry, Knowledge
    from ...tools.knowledge.read import Layers

OFF = "off"
"""Given as a file: use none, also where there is one."""

_Stamp = tuple[tuple[int, int] | None, ...]


class KnowledgeSource:
    """The knowledge file, shared by everybody who asks. May be used from several threads.

    Args:
        given: The file, `off` for none; None for the one that belongs to the database, if there is one.

    Raises:
        KnowledgeError: The file that was given is not there, or wrong.
    """

    def __init__(self, given: Path | str | None) -> None:
        self._given = None if given is None else Path(given)
        self._off = given is not None and str(given) == OFF
        self._lock = threading.Lock()
        self._held: tuple[Path, tuple[Path, ...], _Stamp, Layers] | None = None
        if self._given is not None and not self._off:
            self._read(self._given)

    @property
    def chosen(self) -> bool:
        """Whether somebody named a file."""
        return self._given is not None and not self._off

    def path(self, database: Database) -> Path | None:
        """Where the knowledge of a database is, or would be written; None where it is switched off."""
        return None if self._off else self._given or knowledge_path(database)

    def layers(self, database: Database) -> tuple[_Stamp, Layers] | None:
        """What the file says now; None where there is none.

        Raises:
            KnowledgeError: It is wrong.
        """
        path = self.path(database)
        return None if path is None or not path.exists() else self._read(path)

    def writer(self, database: Database) -> KnowledgeWriter:
        """Adds to the file, in the name of whoever asks.

        Raises:
            KnowledgeError: Knowledge is switched off.
        """
        path = self.path(database)
        if path is None:
            raise KnowledgeError("knowledge is switched off: name a file with --knowledge")
        return KnowledgeWriter(path, database.session.identity.name)

    def _read(self, path: Path) -> tuple[_Stamp, Layers]:
        if not path.exists():
            raise KnowledgeError(f"there is no knowledge file {path}")
        with self._lock:
            if self._held is None or self._held[0] != path or self._held[2] != _stamp(self._held[1]):
                files: list[Path] = []
                layers = read_knowledge(path, files)
                self._held = path, tuple(files), _stamp(files), layers
            return self._held[2:]


class PersonKnowledge:
    """The same as one person may see it. May be used from several threads."""

    def __init__(self, source: KnowledgeSource, database: Database) -> None:
        self.source = source
        self._database = database
        self._lock = threading.Lock()
        self._made: tuple[tuple[_Stamp, str], Knowledge] | None = None

    def now(self) -> Knowledge | None:
        """What is known; None where there is no file. Reads the schema, so call it within an effect.

        Raises:
            KnowledgeError: The file is wrong.
        """
        from ...tools.knowledge.knowledge import Knowledge

        found = self.source.layers(self._database)
        if found is None:
            return None
        stamp, layers = found
        key = (stamp, self._database.schema().version)
        with self._lock:
            if self._made is None or self._made[0] != key:
                self._made = key, Knowledge.of(layers, self._database)
            return self._made[1]

    def hidden(self) -> tuple[Entry, ...]:
        """Entries of the files that this person may not see: nor may that person replace them or take them out.

        Raises:
            KnowledgeError: The file is wrong.
        """
        if not self._database.session.policy.permissions:
            return ()
        found, seen = self.source.layers(self._database), self.now()
        visible = {(entry.kind, entry.name.lower()) for entry in seen.entries} if seen else set[tuple[str, str]]()
        layers = found[1] if found else ()
        return tuple(entry for layer in layers for entry in layer if (entry.kind, entry.name.lower()) not in visible)

    def writer(self) -> KnowledgeWriter:
        """See `KnowledgeSource.writer`."""
        return self.source.writer(self._database)


def _stamp(paths: Iterable[Path]) -> _Stamp:
    """Tells one state of files from the next; of one that is not there, None."""

    def of(path: Path) -> tuple[int, int] | None:
        try:
            found = path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size

    return tuple(map(of, paths))
