"""What is closed at the end of a `with` block."""

from __future__ import annotations

from typing import Self


class Closing:
    """A context manager that closes itself."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes what is open."""
        raise NotImplementedError
