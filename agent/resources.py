"""What the nodes reach the world through: opened once when an agent is built, shared by all of its conversations."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from langchain_core.tools import BaseTool

from ..tools.database import Database
from ..tools.linking import SchemaLinker
from ..tools.toolset import Toolset
from ..tools.values import ValueIndex
from .settings import Settings
from .translator import Translator


@dataclass(frozen=True)
class Resources:
    """The agent's means.

    Attributes:
        database: Where questions are answered.
        values: Its value index.
        tools: The tools that the tool nodes wrap.
        translator: Gives the translator for a run's settings.
        settings: The agent's own; a run may override single fields.
    """

    database: Database
    values: ValueIndex
    tools: Toolset
    translator: Callable[[Settings], Translator]
    settings: Settings
    _linkers: dict[str, SchemaLinker] = field(default_factory=dict[str, SchemaLinker], repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def linker(self) -> SchemaLinker:
        """The linker for the database's schema as it stands now. Reads the schema, so call it within an effect."""
        schema = self.database.schema()
        with self._lock:
            linker = self._linkers.get(schema.version)
            if linker is None:
                self._linkers.clear()
                linker = self._linkers[schema.version] = SchemaLinker(schema, self.values)
            return linker


@dataclass(frozen=True)
class Run:
    """One node's run: the agent's resources, this run's settings, and where progress goes."""

    resources: Resources
    settings: Settings
    emit: Callable[[dict[str, Any]], None]


def call_tool(tool: BaseTool, **arguments: Any) -> Any:
    """Calls a tool as a model would and gives back its artifact, so that traces show it as a tool run."""
    message = tool.invoke({"type": "tool_call", "id": tool.name, "name": tool.name, "args": arguments})
    return message.artifact
