"""The knowledge of the database that an agent answers from: which file, read when it changes, checked once a person."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from ...tools.errors import KnowledgeError
from ...tools.knowledge.place import knowledge_path
from ...tools.knowledge.read import read_knowledge
from ...tools.knowledge.write import KnowledgeWriter

if TYPE_CHECKING:
    from ...tools.database import Database
    from ...tools.knowledge import Knowledge
    from ...tools.knowledge.read import Layers

OFF = "off"
"""Given as a file: use none, also where there is one."""

_Stamp = tuple[int, int]


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
        self._held: tuple[Path, _Stamp, Layers] | None = None
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
        if path is None or _stamp(path) is None:
            return None
        return self._read(path)

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
        stamp = _stamp(path)
        if stamp is None:
            raise KnowledgeError(f"there is no knowledge file {path}")
        with self._lock:
            if self._held is None or self._held[:2] != (path, stamp):
                self._held = path, stamp, read_knowledge(path)
            return self._held[1], self._held[2]


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

    def writer(self) -> KnowledgeWriter:
        """See `KnowledgeSource.writer`."""
        return self.source.writer(self._database)


def _stamp(path: Path) -> _Stamp | None:
    """Tells one state of a file from the next; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
