"""The HTTP API, the tools of MCP, the command line and documented JSON as lines of text, one a thing to rely on."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from tableturn.agent import SQLAgent
from tableturn.agent.cli.chat.commands import BY_NAME
from tableturn.serve import ServeSettings, create_app
from tableturn.serve.mcp import make_mcp_server
from tableturn.serve.server import make_agent_opener, open_server
from tableturn.tools.sample import build_sample

from tests.docs.project import evaluation_in
from tests.docs.tables.__main__ import main
from tests.docs.tables.commands import command_line
from tests.support.command_line import laboratory
from tests.support.installed_layout import ROOT

REQUIRED = " required"
"""How a line ends of what a caller has to give."""


def openapi() -> list[str]:
    """Each operation with its parameters, the fields of its body, and those of its replies."""
    document = create_app(lambda: None).openapi()  # pyright: ignore[reportArgumentType]
    lines: list[str] = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            name = f"{method.upper()} {path}"
            lines.append(name)
            for one in operation.get("parameters", ()):
                mark = REQUIRED if one.get("required") else ""
                lines.append(f"{name} {one['in']} {one['name']}: {_kind(one['schema'], document)}{mark}")
            for schema in _contents(operation.get("requestBody", {})):
                lines += _fields(f"{name} body", schema, document, given=True)
            replies = {status: reply for status, reply in operation["responses"].items() if status.startswith("2")}
            for status, reply in replies.items():
                for schema in _contents(reply):
                    lines += _fields(f"{name} {status}", schema, document)
    return sorted(set(lines))


def mcp() -> list[str]:
    """Each tool with its arguments and the fields of its results; resources and prompts."""
    return anyio.run(_mcp)


async def _mcp() -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        database = build_sample(Path(folder) / "sample.sqlite")
        with SQLAgent(database, model="offline") as agent:
            async with (
                open_server(make_agent_opener(agent), None, ServeSettings()) as server,
                Client(make_mcp_server(server.make_default_asker)) as client,
            ):
                lines: list[str] = []
                for tool in (await client.list_tools()).tools:
                    lines.append(f"tool {tool.name}")
                    lines += _fields(f"tool {tool.name} takes", tool.input_schema, tool.input_schema, given=True)
                    if tool.output_schema:
                        lines += _fields(f"tool {tool.name} gives", tool.output_schema, tool.output_schema)
                lines += [f"resource {one.uri}" for one in (await client.list_resources()).resources]
                templates = (await client.list_resource_templates()).resource_templates
                lines += [f"resource {one.uri_template}" for one in templates]
                for prompt in (await client.list_prompts()).prompts:
                    lines.append(f"prompt {prompt.name}")
                    for one in prompt.arguments or ():
                        lines.append(f"prompt {prompt.name} takes {one.name}{REQUIRED if one.required else ''}")
    return sorted(set(lines))


def _contents(holder: Mapping[str, Any]) -> Iterator[Any]:
    for content in holder.get("content", {}).values():
        yield content.get("schema", {})


def _fields(
    name: str, schema: Any, document: Any, *, given: bool = False, within: tuple[str, ...] = ()
) -> Iterator[str]:
    """A schema's fields and theirs, each with its type, default, and whether a caller has to give it."""
    if "$ref" in schema:
        if schema["$ref"] in within:
            return
        within = (*within, schema["$ref"])
        schema = _target(schema, document)
    for several in ("anyOf", "oneOf", "allOf"):
        for part in schema.get(several, ()):
            yield from _fields(name, part, document, given=given, within=within)
    if isinstance(items := schema.get("items"), dict):
        yield from _fields(f"{name}[]", items, document, given=given, within=within)
    for field, holds in schema.get("properties", {}).items():
        default = f" = {json.dumps(holds['default'])}" if given and "default" in holds else ""
        mark = REQUIRED if given and field in schema.get("required", ()) else ""
        yield f"{name}.{field}: {_kind(holds, document)}{default}{mark}"
        yield from _fields(f"{name}.{field}", holds, document, given=given, within=within)


def _target(schema: Any, document: Any) -> Any:
    for part in schema["$ref"].removeprefix("#/").split("/"):
        document = document[part]
    return document


def _kind(schema: Any, document: Any) -> str:
    if "$ref" in schema:
        return _kind(_target(schema, document), document)
    if "enum" in schema:
        return "|".join(map(json.dumps, schema["enum"]))
    if "const" in schema:
        return json.dumps(schema["const"])
    if several := schema.get("anyOf") or schema.get("oneOf"):
        return "|".join(dict.fromkeys(_kind(part, document) for part in several))
    return str(schema.get("type", "any"))


def commands() -> list[str]:
    """Each command with its arguments and options, as the reference shows them without their help; a chat's too."""
    lines = [f"chat: {one.name} {one.takes}".rstrip() for one in BY_NAME.values()]
    command = ""
    for line in command_line().splitlines():
        if line.startswith("##"):
            command = line.strip("# `")
            lines.append(command)
        elif found := _OPTION.match(line):
            notes = found["notes"] or ""
            mark = REQUIRED if "required" in notes else ""
            lines.append(f"{command} {found['words']}{notes.replace('[required]', '').rstrip()}{mark}")
    return sorted(lines)


_OPTION = re.compile(r"^\* `(?P<words>[^`]*)`(?:: .*?(?P<notes>  \[[^\]]*\])?)?$")
"""An option or argument in the reference, with what brackets say after its help."""


def json_keys() -> list[str]:
    """Every documented key of JSON that the code gives, below the heading and the object that its table is of.

    The reference's tables are made anew from the code; of those written by hand, a key counts if a run gives it.
    """
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "json.md"
        assert main(["-o", str(page)], [ROOT / "docs" / "reference" / "json.md"]) == 0
        results = evaluation_in(Path(folder))
        text = page.read_text("utf-8")
    benchmark = json.loads(laboratory("bench", "fuzz", "--limit", "1", "--json").stdout)
    given = {
        ("An evaluation", ""): results.keys(),
        ("An evaluation", "questions"): results["questions"][0].keys(),
        ("A benchmark", ""): benchmark.keys(),
    }
    lines: list[str] = []
    heading = holder = ""
    made = False
    for line in text.splitlines():
        made = "[[[cog" in line or (made and "[[[end]]]" not in line)
        if line.startswith("#"):
            heading, holder = line.lstrip("# "), ""
        elif line.endswith(":") and line[:1].isalpha():
            holder = ",".join(re.findall(r"`(.*?)`", line)) or holder
        elif line.startswith("| `"):
            cell, kind, *_ = line.strip("| ").split(" | ")
            keys = [key for key in re.findall(r"`(.*?)`", cell) if made or key in given[heading, holder]]
            lines += [f"{heading}: {holder}{'.' if holder else ''}{key}: {kind}" for key in keys]
    return sorted(lines)
