"""The terminal between prompts: what is typed while the agent works is kept unseen for the next line."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

try:
    import termios
except ImportError:  # not there on Windows, where typing is kept anyway
    termios = None

_INPUT, _LOCAL = 0, 3
"""Places in what `tcgetattr` gives."""

_before: Any = None
"""How the terminal was before the conversation."""


@contextmanager
def keeps_typing() -> Generator[None]:
    """Within it, keys are neither shown nor put together to lines; Ctrl-C works as ever, and throws none away."""
    global _before
    if termios is None:
        yield
        return
    _before = termios.tcgetattr(sys.stdin)
    now = termios.tcgetattr(sys.stdin)
    now[_INPUT] &= ~termios.ICRNL
    now[_LOCAL] = now[_LOCAL] & ~(termios.ICANON | termios.ECHO) | termios.NOFLSH
    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, now)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, _before)


@contextmanager
def as_before() -> Generator[None]:
    """Within it, the terminal is as it was before the conversation: for another program, such as an editor."""
    if termios is None or _before is None:
        yield
        return
    now = termios.tcgetattr(sys.stdin)
    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, _before)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, now)
