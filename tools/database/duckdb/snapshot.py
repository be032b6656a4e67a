"""What files, or data frames, held at one time: a folder of copies, and the workers that query it."""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import ormsgpack

from ...forkserver import available
from ..session import Permissions
from ..workers import Workers
from .entries import About, Found, pack_found
from .reading import NURSERY, QUERIES, read_files
from .sources import Sources, told_apart

if TYPE_CHECKING:
    import pandas

_FRAMES = "frames.duckdb"


@dataclass(frozen=True)
class Contents:
    """Files, or data frames by their tables' names."""

    sources: Sources | None = None
    frames: Mapping[str, pandas.DataFrame] | None = None
    state_of_frames: str = ""

    def state(self) -> str:
        """Return a key that changes whenever the contents do."""
        return self.sources.state() if self.sources is not None else self.state_of_frames

    def found(self, folder: Path, *, thorough: bool = False) -> Found:
        """Find what an instance is made from; copies are made in the folder."""
        if self.sources is None:
            from .tables import copied_frames

            return Found(copied_frames(self.frames or {}, folder / _FRAMES))
        if self.sources.database is not None:
            return Found(self.sources.database)
        entries = list(read_files(self.sources.files(), folder / "read", thorough=thorough))
        names = told_apart([entry.name for entry in entries])
        return Found(entries=tuple(replace(entry, name=name) for entry, name in zip(entries, names, strict=True)))


class Snapshot:
    """Contents in the state in which they were opened; gone with its folder and workers when nobody holds it."""

    def __init__(self, contents: Contents, permissions: Permissions, *, thorough: bool = False) -> None:
        self.state = contents.state()
        folder = Path(mkdtemp(prefix="tableturn-"))
        self._clear = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        found = contents.found(folder, thorough=thorough)
        if available():
            opening = ormsgpack.packb((QUERIES, pack_found(found, permissions), bytes(folder)))
            self.queries = Workers(NURSERY, opening, folder)
        else:
            from .instance import Instance

            self.queries = Instance(found, permissions, folder / "own")
        self.about = About.unpack(self.queries.about)

    def close(self) -> None:
        """Let go of it, and leave no file behind."""
        self.queries.close()
        self._clear()
