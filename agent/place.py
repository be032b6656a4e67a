"""Which of a turn's queries a model is asked for: a model that replays recorded ones has to know."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from .state import AgentState

_current: ContextVar[int | None] = ContextVar("tableturn_place", default=None)


def place_of(node: str, state: AgentState) -> int:
    """The place of the query that a node asks for, from 0: drafts by their number, then the merge and the revisions.

    A draft that could not be had keeps its place, and a second try has that of the first.
    """
    if node == "rephrase":
        return 0  # the state is still that of the turn before
    if node == "candidate":
        return state["candidate"]
    if node == "select":
        return state["candidates"]
    lost = sum(draft["attempt"] is None for draft in state.get("drafts", []))
    return lost + len(state.get("attempts", []))


@contextmanager
def asking_for(place: int) -> Generator[None]:
    """Within it, models are asked for the query of that place."""
    token = _current.set(place)
    try:
        yield
    finally:
        _current.reset(token)


def current_place() -> int | None:
    """The place of the query that is asked for; None outside a graph."""
    return _current.get()
