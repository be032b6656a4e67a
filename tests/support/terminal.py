"""A terminal with a screen: the command line as a person sees it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import pyte
from tableturn.evals.bench.pseudo_terminal import PROMPT, PseudoTerminal


class Screen(PseudoTerminal):
    """A pseudo-terminal that shows what was written as a screen does."""

    def __init__(
        self, arguments: Sequence[str], environment: Mapping[str, str] | None = None, size: tuple[int, int] = (80, 24)
    ) -> None:
        self._screen: Any = pyte.Screen(*size)
        self._stream: Any = pyte.ByteStream(self._screen)
        super().__init__(arguments, environment, size)

    def resize(self, columns: int, rows: int) -> None:
        """As a window: the screen with the terminal."""
        self._screen.resize(rows, columns)
        super().resize(columns, rows)

    def read(self, seconds: float) -> bytes:
        """Shows what came, too."""
        found = super().read(seconds)
        self._stream.feed(found)
        return found

    @property
    def lines(self) -> list[str]:
        """The screen's lines, without blanks at their ends, empty ones left out."""
        return [line.rstrip() for line in self._screen.display if line.strip()]

    @property
    def text(self) -> str:
        """The screen."""
        return "\n".join(self.lines)

    def until(self, text: str, seconds: float = 60.0) -> str:
        """Waits until a text is on the screen; the screen then."""
        until = time.monotonic() + seconds
        while text not in self.text:
            assert time.monotonic() < until, f"{text!r} did not come:\n{self.text}"
            self.read(0.2)
        return self.text

    def settled(self) -> str:
        """The screen once nothing more comes."""
        while self.read(0.6):
            pass
        return self.text

    def say(self, line: str) -> str:
        """Types a line, and waits for the next prompt; the screen then."""
        start = len(self.written)
        self.type(f"{line}\r")
        self.wait_for(PROMPT, start=start)
        return self.settled()
