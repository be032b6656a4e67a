"""The command that shows the schema as a model sees it, and what of the columns' contents may leave."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...tools.terminal import say, say_json
from ..options import DatabaseOptions, JsonOption, with_options

if TYPE_CHECKING:
    from ...tools.database import Database


@with_options()
def schema(
    options: DatabaseOptions,
    what_leaves: Annotated[
        bool,
        typer.Option("--what-leaves", help="Show what a provider would see of each column's contents."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show the schema as it appears in prompts, or with --what-leaves, what a provider may see of each column."""
    from ...tools.outgoing import Outgoing
    from ..verbs import schema as read_schema

    with options.open() as database:
        if what_leaves:
            found = _what_leaves(database, Outgoing(database).text)
            say_json(found) if as_json else say(_text(found))
            return
        text = read_schema(database).text
    say_json({"database": database.name, "schema": text}) if as_json else say(text)


def _what_leaves(database: Database, masked: Callable[[str], str]) -> dict[str, Any]:
    leaving = database.leaving()
    columns = [
        {
            "table": table.name,
            "name": column.name,
            "level": leaving.levels.get((table.name, column.name), "values"),
            "kind": column.kind,
            "distinct": column.distinct,
            "samples": [masked(str(sample)) for sample in column.samples],
        }
        for table in leaving.shown.tables
        for column in table.columns
    ]
    return {"database": database.name, "mask": list(leaving.egress.mask), "columns": columns}


def _text(found: dict[str, Any]) -> str:
    lines: list[str] = []
    for column in found["columns"]:
        lines.append(f"{column['table']}.{column['name']}: {_SAYS[column['level']]}")
        shown = ", ".join(column["samples"])
        if column["level"] == "values":
            lines.append(f"    such as {shown}" if shown else "    none was looked at")
    lines.append(f"masked wherever they stand: {', '.join(found['mask']) or 'nothing'}")
    lines.append("beside this: names, types, keys, row counts of tables, comments, and the questions themselves")
    return "\n".join(lines)


_SAYS = {
    "values": "values leave: samples, values that a question mentions, results",
    "statistics": "counts and its kind leave, no value",
    "none": "nothing leaves but its name and type",
}
