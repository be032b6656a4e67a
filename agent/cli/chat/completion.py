"""Completing what is typed: commands, names of tables and columns, and values of the database."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from ....tools.errors import TableturnError
from ....tools.terminal import safe
from .commands import BY_NAME

if TYPE_CHECKING:
    from ....tools.database import Schema
    from ....tools.values import ValueIndex

_MOST = 30
"""Completions of a kind."""

_WORDS = 4
"""Words of a value that may have been typed."""

_SHORTEST = 2
"""Characters from which values are looked for."""

_WORD = re.compile(r"[^\s,;()\"'?]+$")


class ChatCompleter(Completer):
    """Completes as whoever asks may read: hidden names and values are not in what it looks in.

    Args:
        schema: Gives the schema as it stands.
        values: The value index; it is built when it is first needed, which may take a while.
    """

    def __init__(self, schema: Callable[[], Schema], values: ValueIndex) -> None:
        self._schema = schema
        self._values = values
        self._paths = PathCompleter(expanduser=True)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """See prompt_toolkit; what cannot be looked up is not completed."""
        typed = document.text_before_cursor.lstrip()
        try:
            if typed[:1] != "/":
                yield from self._words(typed)
                return
            name, blank, rest = typed.partition(" ")
            if not blank:
                yield from _commands(name)
            elif name in BY_NAME:
                yield from self._arguments(BY_NAME[name].completes, rest, complete_event)
        except (TableturnError, OSError):
            return

    def _arguments(self, kind: str, rest: str, event: CompleteEvent) -> Iterator[Completion]:
        if kind == "files":
            yield from self._paths.get_completions(Document(rest, len(rest)), event)
        elif kind == "commands":
            yield from _commands(f"/{rest.lstrip('/')}", len(rest))
        elif kind in ("tables", "columns"):
            yield from self._names(rest, columns=kind == "columns", tables=kind == "tables", dotted=True)
        else:
            yield from self._words(rest)

    def _words(self, typed: str) -> Iterator[Completion]:
        found = _WORD.search(typed)
        if found is None:
            return
        yield from self._names(found[0], columns=True, tables=True)
        seen: set[str] = set()
        for start in _starts(typed):
            begun = typed[start:]
            if len(begun) < _SHORTEST or len(seen) >= _MOST:
                continue
            for table, column, value in self._values.beginning(begun, _MOST):
                if value not in seen and safe(value) == value and "\n" not in value:
                    seen.add(value)
                    yield Completion(value, -len(begun), display_meta=f"{table}.{column}")

    def _names(self, begun: str, *, columns: bool, tables: bool, dotted: bool = False) -> Iterator[Completion]:
        schema, low = self._schema(), begun.lower()
        found: dict[str, str] = {}
        for table in schema.tables:
            if tables and _begins(table.name, low):
                found.setdefault(table.name, "table")
            for column in table.columns if columns else ():
                whole = f"{table.name}.{column.name}"
                if (dotted or "." in low) and whole.lower().startswith(low):
                    found.setdefault(whole, "column")
                elif _begins(column.name, low):
                    found.setdefault(whole if dotted else column.name, f"column of {table.name}")
        for name, meta in list(found.items())[:_MOST]:
            if safe(name) == name:
                yield Completion(name, -len(begun), display_meta=meta)


def _commands(begun: str, typed: int | None = None) -> Iterator[Completion]:
    for name, command in BY_NAME.items():
        if name.startswith(begun):
            text = name if typed is None else name[1:]
            yield Completion(text, -(len(begun) if typed is None else typed), display=name, display_meta=command.about)


def _begins(name: str, begun: str) -> bool:
    """Whether a name, or one of its parts, begins so."""
    low = name.lower()
    return low.startswith(begun) or any(part.startswith(begun) for part in re.split(r"[_\s]+", low) if begun)


def _starts(typed: str) -> list[int]:
    """Where a value could begin: the last few words, the longest run first."""
    places = [match.start() for match in re.finditer(r"[^\s,;()\"'?]+", typed)]
    return places[-_WORDS:] if typed[-1:].strip() or len(places) > 1 else []
