"""The files that an instance reads, under names of our own, for reading and nothing else.

What DuckDB's settings let a query reach, it may read and write. So they name no path of the file system at all, but
addresses that only this knows, and it opens files for reading.
"""

from __future__ import annotations

import hashlib
import io
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsspec.spec import AbstractFileSystem

if TYPE_CHECKING:
    import duckdb

_PROTOCOL = "tableturn"
_PREFIX = f"{_PROTOCOL}://"


class _Reading(io.FileIO):
    """An open file, which DuckDB may let go of without closing it."""

    def __del__(self) -> None:
        self.close()


class NamedFiles(AbstractFileSystem):  # pyright: ignore[reportUntypedBaseClass]
    """A file system of the files that were given an address."""

    protocol = _PROTOCOL
    cachable = False

    def __init__(self) -> None:
        super().__init__()
        self._paths: dict[str, Path] = {}

    def serve(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Lets an instance of DuckDB read them."""
        connection.register_filesystem(self)

    def address(self, path: Path) -> str:
        """The address of a file, which ends as its name does: by that, DuckDB knows what is compressed."""
        # The same in every process, so that one can tell another how a file is read.
        name = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
        address = f"{name}{''.join(each for each in path.suffixes[-2:] if each[1:].isalnum())}"
        self._paths[address] = path
        return _PREFIX + address

    def _open(self, path: str, mode: str = "rb", *_: Any, **__: Any) -> Any:
        if mode != "rb":
            raise PermissionError("the files of a database are read, never written")
        return _Reading(self._path(path), "rb")

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Size and kind."""
        return {"name": path, "size": os.stat(self._path(path)).st_size, "type": "file"}

    def modified(self, path: str) -> datetime:
        """When it was written last."""
        return datetime.fromtimestamp(os.stat(self._path(path)).st_mtime, UTC)

    def exists(self, path: str, **_: Any) -> bool:
        """Whether there is a file of that address."""
        return self._bare(path) in self._paths

    def glob(self, path: str, maxdepth: int | None = None, **_: Any) -> list[str]:
        """An address stands for itself."""
        del maxdepth
        return [path] if self.exists(path) else []

    def _path(self, address: str) -> Path:
        try:
            return self._paths[self._bare(address)]
        except KeyError:
            raise FileNotFoundError("there is no such file in the database") from None

    @staticmethod
    def _bare(address: str) -> str:
        return address.removeprefix(_PREFIX)
