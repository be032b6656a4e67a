"""Cancellation of a running turn, which leaves the conversation as it was before."""

from __future__ import annotations

import asyncio
import copy
import signal
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any, TypeVar, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

from ..tools.database import Cancellation

S = TypeVar("S", bound=BaseCheckpointSaver[Any])

KEY = "__tableturn_turn"
"""Where a run's configuration carries its `OpenTurn`; names that start so are not written into checkpoints."""


class OpenTurn:
    """A turn that is running.

    A turn is written at its end alone (LangGraph's `durability="exit"`), so that one which is undone before that leaves
    nothing behind. Whichever comes first decides: being undone, or being written.
    """

    def __init__(self, *, watched: bool = False) -> None:
        self.watched = watched  # whether somebody sees what it finds before it ends
        self.cancellation = Cancellation()  # ends what runs for it
        self.before: list[CheckpointTuple | None] = []  # the checkpoint that it starts from: looked at, then run from
        self.written = False  # whether it was kept
        self.interrupted = False  # whether Ctrl-C ended it
        self.failed = False  # whether an error ended it
        self._lock = threading.Lock()

    def store_start(self, checkpoint: CheckpointTuple | None) -> CheckpointTuple | None:
        """Store the checkpoint that the turn starts from, unless it has pending writes."""
        if checkpoint is None or not checkpoint.pending_writes:
            self.before.append(checkpoint)
        return checkpoint

    @property
    def is_undone(self) -> bool:
        """Whether the turn failed or was cancelled before anything was saved."""
        return not self.written and (self.failed or self.cancellation.cancelled)

    def write(self) -> bool:
        """Mark the turn as saved unless it was undone; return whether it may be saved."""
        with self._lock:
            self.written = not self.is_undone
            return self.written


def get_open_turn(config: RunnableConfig | None) -> OpenTurn | None:
    """Return the open turn of a run; None if `Conversation` did not start the run."""
    turn = cast("Mapping[str, Any]", (config or {}).get("configurable") or {}).get(KEY)
    return turn if isinstance(turn, OpenTurn) else None


def make_undoable(saver: S) -> S:
    """Return a copy of a checkpointer that does not save failed or cancelled turns.

    It reads the checkpoint that a turn starts from only once.
    """
    clone = copy.copy(saver)

    def get_tuple(config: RunnableConfig) -> CheckpointTuple | None:
        turn = get_open_turn(config) or OpenTurn()
        return turn.before.pop() if turn.before else turn.store_start(saver.get_tuple(config))

    async def aget_tuple(config: RunnableConfig) -> CheckpointTuple | None:
        turn = get_open_turn(config) or OpenTurn()
        return turn.before.pop() if turn.before else turn.store_start(await call_saver(saver, "get_tuple", config))

    def write_unless_undone(name: str, config: RunnableConfig, *args: Any, **kwargs: Any) -> Any:
        turn = get_open_turn(config)
        return getattr(saver, name)(config, *args, **kwargs) if turn is None or turn.write() else config

    async def awrite_unless_undone(name: str, config: RunnableConfig, *args: Any, **kwargs: Any) -> Any:
        turn = get_open_turn(config)
        return await call_saver(saver, name, config, *args, **kwargs) if turn is None or turn.write() else config

    vars(clone).update(get_tuple=get_tuple, aget_tuple=aget_tuple)
    for name in ("put", "put_writes"):
        vars(clone).update({name: partial(write_unless_undone, name), f"a{name}": partial(awrite_unless_undone, name)})
    return clone


async def call_saver(saver: BaseCheckpointSaver[Any], name: str, *args: Any, **kwargs: Any) -> Any:
    """Call a checkpointer's method without blocking, in a thread if it has no async form."""
    try:
        return await getattr(saver, f"a{name}")(*args, **kwargs)
    except NotImplementedError:
        return await asyncio.to_thread(getattr(saver, name), *args, **kwargs)


@contextmanager
def cancel_on_ctrl_c(turn: OpenTurn) -> Generator[None]:
    """Make Ctrl-C cancel the turn while the context is open, instead of interrupting code.

    Only where Python's own handling of the signal is in place, and in the main thread, which alone can have another.

    Raises:
        KeyboardInterrupt: There was one, and the turn was undone.
    """
    is_main_thread = threading.current_thread() is threading.main_thread()
    if not is_main_thread or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def handle_interrupt(number: int, frame: FrameType | None) -> None:
        if turn.interrupted:
            raise KeyboardInterrupt  # twice: at once, whatever it breaks
        turn.interrupted = True
        turn.cancellation.cancel()

    signal.signal(signal.SIGINT, handle_interrupt)
    try:
        yield
    except Exception:
        if turn.interrupted and turn.is_undone:
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
