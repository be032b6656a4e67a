"""What the nodes reach the world through: opened once when an agent is built, shared by all of its conversations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from langchain_core.tools import BaseTool

from ..tools.database import Database, Schema
from ..tools.linking import SchemaLinker
from ..tools.toolset import Toolset
from ..tools.values import ValueIndex
from .example_stores import AgentExamples
from .schemas import Schemas
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
        schemas: The database's schema and the linker for it.
        examples: Where few-shot examples come from and approved answers go.
    """

    database: Database
    values: ValueIndex
    tools: Toolset
    translator: Callable[[Settings], Translator]
    settings: Settings
    schemas: Schemas
    examples: AgentExamples


@dataclass(frozen=True)
class Run:
    """One node's run: the agent's resources, this run's settings, and where progress goes."""

    resources: Resources
    settings: Settings
    emit: Callable[[dict[str, Any]], None]

    def schema(self) -> Schema:
        """The schema as this run shows it; see `Schemas`."""
        return self.resources.schemas.schema(self.settings.annotate)

    def linker(self) -> SchemaLinker:
        """The linker for it."""
        return self.resources.schemas.linker(self.settings.annotate)


def call_tool(tool: BaseTool, **arguments: Any) -> Any:
    """Calls a tool as a model would and gives back its artifact, so that traces show it as a tool run."""
    message = tool.invoke({"type": "tool_call", "id": tool.name, "name": tool.name, "args": arguments})
    return message.artifact
