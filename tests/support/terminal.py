"""A terminal with a screen: the command line as a person sees it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import pyte
from rich.style import Style
from rich.text import Text
from tableturn.evals.bench.pseudo_terminal import PROMPT, PseudoTerminal


class _Faint(pyte.Screen):
    """A screen that keeps what is faint, for which pyte has no place: as struck through, which nothing here is."""

    def select_graphic_rendition(self, *attrs: int, **more: Any) -> None:
        """See pyte."""
        super().select_graphic_rendition(*(9 if attr == 2 else attr for attr in attrs), **more)


class Screen(PseudoTerminal):
    """A pseudo-terminal that shows what was written as a screen does."""

    def __init__(
        self, arguments: Sequence[str], environment: Mapping[str, str] | None = None, size: tuple[int, int] = (80, 24)
    ) -> None:
        self._screen: Any = _Faint(*size)
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

    @property
    def styled(self) -> list[Text]:
        """The screen's lines in their colours, empty ones at its end left out."""
        rows = [self._screen.buffer[number] for number in range(self._screen.lines)]
        lines = [Text().join(_cell(row[column]) for column in range(self._screen.columns)) for row in rows]
        for line in lines:
            line.rstrip()
        while lines and not lines[-1].plain:
            del lines[-1]
        return lines

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


def _cell(cell: Any) -> Text:
    """One character of a screen, as rich writes it."""
    colour = {"default": None, "brown": "yellow"}.get(cell.fg, cell.fg)
    return Text(cell.data, Style(color=colour, bold=cell.bold, dim=cell.strikethrough, italic=cell.italics))
