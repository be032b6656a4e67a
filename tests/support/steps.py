"""How much work a piece of Python does, counted: the same on every machine, however busy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def steps(work: Callable[[], object]) -> int:
    """Return how many lines of Python a piece of work runs."""
    lines = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return lines


def grows_in_proportion(work: Callable[[int], object], size: int) -> bool:
    """Whether twice the size takes about twice the lines."""
    work(size // 2)  # what is done once only; of the same size, what is remembered would not be counted
    return steps(lambda: work(2 * size)) < 3 * steps(lambda: work(size)) + 1_000
