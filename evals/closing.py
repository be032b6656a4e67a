"""What is closed at the end of a `with` block."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from ..tools.database import Database


class Closing:
    """A context manager that closes itself."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what is open."""
        raise NotImplementedError


class OneOpen(Closing):
    """Databases of which one is open at a time: questions come database by database."""

    def __init__(self) -> None:
        self._open: tuple[str | Path, Database] | None = None

    def at(self, place: str | Path) -> Database:
        """Return the database of a place."""
        if self._open is None or self._open[0] != place:
            self.close()
            self._open = (place, Database.open(place))
        return self._open[1]

    def close(self) -> None:
        """Close the database that is open."""
        if self._open is not None:
            self._open[1].close()
            self._open = None
