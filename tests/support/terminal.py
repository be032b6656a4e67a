"""A terminal, and one with a screen: the command line as a person types to it and sees it."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import pyte
from rich.style import Style
from rich.text import Text

PROMPT = "\x1b[?2004h"
"""What a prompt begins with: pasted text is to come marked as such."""

CTRL_C, CTRL_D, CTRL_R, TAB, ENTER, UP = "\x03", "\x04", "\x12", "\t", "\r", "\x1b[A"


class PseudoTerminal:
    """The command line, run at a terminal of its own while used as a context manager.

    Attributes:
        written: All that it wrote so far.
    """

    def __init__(
        self, arguments: Sequence[str], environment: Mapping[str, str] | None = None, size: tuple[int, int] = (80, 24)
    ) -> None:
        """Starts `tableturn`.

        Args:
            arguments: What follows its name.
            environment: Variables beside this program's own.
            size: Columns and rows.
        """
        self.written = b""
        self._own, theirs = pty.openpty()
        self.resize(*size)
        # The cursor's place is not asked for: nobody would answer.
        more = {"TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"} | dict(environment or {})
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tableturn", *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={name: value for name, value in (os.environ | more).items() if name not in ("LINES", "COLUMNS")},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._own)

    def resize(self, columns: int, rows: int) -> None:
        """Makes it another size, as dragging a window does."""
        fcntl.ioctl(self._own, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, keys: str) -> None:
        """Types keys."""
        os.write(self._own, keys.encode())

    def read(self, seconds: float) -> bytes:
        """What it writes next, waited for so long; empty where nothing came, or it ended."""
        try:
            ready, _, _ = select.select([self._own], [], [], seconds)
            found = os.read(self._own, 65_536) if ready else b""
        except OSError:
            return b""
        self.written += found
        return found

    def wait_for(self, text: str, seconds: float = 120.0, start: int = 0) -> float:
        """Waits until it has written a text; when that came, by `time.monotonic`.

        Args:
            text: What is waited for.
            seconds: For so long.
            start: In what it wrote from there on.

        Raises:
            TimeoutError: It has not.
        """
        until = time.monotonic() + seconds
        while text.encode() not in self.written[start:]:
            if not self.read(0.5) and (self._process.poll() is not None or time.monotonic() > until):
                raise TimeoutError(f"{text!r} did not come: {self.written[start:][-2_000:]!r}")
        return time.monotonic()

    def interrupt(self) -> None:
        """Ctrl-C from outside, as a program sends it."""
        self._process.send_signal(signal.SIGINT)

    def leave(self, seconds: float = 60.0) -> int:
        """Waits for its end, reading what it writes; its exit code."""
        until = time.monotonic() + seconds
        while self._process.poll() is None and time.monotonic() < until:
            self.read(0.1)
        while self.read(0.1):
            pass
        return self._process.wait(1)


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
