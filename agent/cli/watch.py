"""What a person sees while a turn is taken: where it is, and its SQL as the model writes it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from ...tools.terminal import safe

if TYPE_CHECKING:
    from ..answers.events import Event

DOING = {
    "rephrase": "finding what it is about",
    "link": "looking for examples",
    "candidate": "comparing drafts",
    "select": "checking the result",
    "retrieve": "writing SQL",
    "generate": "running it",
    "reason": "running it",
    "execute": "checking the result",
    "critique": "deciding",
    "revise": "running it again",
    "clarify": "reading the question",
}
"""What goes on once a node has finished."""

_TABLES = 5
"""Linked tables that are named."""


@contextmanager
def show_progress() -> Generator[Callable[[Event], None]]:
    """Shows events on a terminal's standard error as they come, and clears them away at the end; nothing elsewhere.

    Terminals that cannot move the cursor show nothing: what could not be cleared away would stand beside the answer.
    """
    console = Console(stderr=True)
    if not console.is_terminal or console.is_dumb_terminal:
        yield lambda event: None
        return
    watched = _Watched(console)
    with Live(console=console, transient=True, get_renderable=watched.shown, redirect_stdout=False) as live:

        def progress(event: Event) -> None:
            if watched.told(event):
                live.refresh()

        yield progress


class _Watched:
    """What is to be seen of a turn at the moment."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._spinner = Spinner("dots" if console.encoding.startswith("utf") else "line")
        self._doing = "reading the question"
        self._about = ""
        self._sql = ""
        self._draft = 0

    def told(self, event: Event) -> bool:
        """Takes an event in; whether it is to be seen at once."""
        if event.kind == "linked":
            tables: list[str] = event.data["tables"]
            self._about = ", ".join(tables[:_TABLES]) + (", ..." if len(tables) > _TABLES else "")
        elif event.kind == "sql_delta":
            if event.data["draft"] != self._draft:
                self._draft, self._sql = event.data["draft"], ""
            self._sql += event.data["text"]
        elif event.kind == "sql":
            self._sql = event.data["sql"]
        elif event.kind == "rows" and event.data["error"] is None and event.data["row_count"] is not None:
            self._doing = f"{event.data['row_count']:,} row(s)"
        elif event.kind == "node" and event.name in DOING:
            self._doing = DOING[event.name]
        else:
            return False
        return True

    def shown(self) -> RenderableType:
        """The spinner's line, and as many of the last lines of SQL as there is room for."""
        doing = f"{self._doing} ({self._about})" if self._about else self._doing
        self._spinner.update(text=Text(safe(doing), style="dim", no_wrap=True, overflow="ellipsis"))
        sql = Text(safe(self._sql))
        lines = sql.wrap(self._console, self._console.width)[-max(self._console.height - 3, 1) :]
        return Group(self._spinner, *lines) if self._sql else self._spinner
