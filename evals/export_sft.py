"""Fine-tuning data in Track-SQL's format (B.4): `tableturn eval export-sft`.

One JSON object a turn: the question sequence, the schema that the linker kept, the base SQL chosen from gold history
and the regularised gold SQL, each of its own and together as a chat, which is what fine-tuning libraries read. The chat
is the very prompt of the `track` preset, so that a model fine-tuned on it is asked at work what it was taught.
"""

from __future__ import annotations

import json
import os
import random
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..prompts.generate import GenerateTask
from ..prompts.replies import Rephrasing
from ..tools.database import Schema
from ..tools.errors import SettingsError, SQLParseError
from ..tools.linking import PastTurn, SchemaLinker, base_turn
from ..tools.sql import regularize
from .datasets import Dataset
from .fit_linker_turns import WINDOW, Dialogue, read_dialogues

PERTURBED = 0.15
"""The share of records whose schema is shuffled and padded (Track-SQL 3.1)."""

_THRESHOLD = 0.1
_BUDGET = 8_000


def export(dataset: Dataset, out: Path, perturbed: float = PERTURBED) -> int:
    """Writes a dataset's turns as JSONL, one object a line; the same data gives the same file.

    Args:
        dataset: Interactions with gold SQL. Those whose database is missing are left out, as are turns whose gold SQL
            cannot be parsed.
        out: The file; it appears when it is whole.
        perturbed: The share of records whose schema is shuffled and gets an item that does not belong.

    Returns:
        How many turns were written.

    Raises:
        SettingsError: The file cannot be written, or there is no turn.
    """
    unfinished = out.with_name(out.name + ".part")
    count = 0
    with tempfile.TemporaryDirectory() as cache:
        dialogues = read_dialogues(dataset, Path(cache))
    try:
        with unfinished.open("w", encoding="utf-8") as file:
            for number, dialogue in enumerate(dialogues):
                for record in records(dialogue, number, perturbed):
                    file.write(json.dumps(record, ensure_ascii=False) + "\n")
                    count += 1
        if not count:
            raise SettingsError(f"{dataset.name} {dataset.split} has no turn whose database is there")
        os.replace(unfinished, out)
    except OSError as error:
        raise SettingsError(f"cannot write {out}: {error.strerror}") from None
    finally:
        unfinished.unlink(missing_ok=True)
    return count


def records(dialogue: Dialogue, number: int = 0, perturbed: float = 0.0) -> Iterator[dict[str, Any]]:
    """The turns of a dialogue whose gold SQL can be parsed.

    Args:
        dialogue: An interaction, with gold history.
        number: Its place in the dataset, for the records' ids.
        perturbed: See `export`.
    """
    schema = dialogue.place.names.schema
    linker = SchemaLinker(schema)
    history: list[PastTurn] = []
    for turn, asked in enumerate(dialogue.questions):
        past = tuple(history[-WINDOW:])
        linked = linker.link(asked.text, past, asked.values, threshold=_THRESHOLD)
        items = tuple((item.table, item.column, item.p) for item in linked.items)
        history.append(PastTurn(asked.text, asked.text, asked.gold, items=items))
        try:
            target = regularize(asked.gold, schema)
        except SQLParseError:
            continue
        base = base_turn(asked.text, linked.items, past)
        key = f"{schema.name}/{number}/{turn}"
        chance = random.Random(key)  # noqa: S311 - noise, not a secret
        task = GenerateTask(
            asked.text,
            Rephrasing(asked.text, asked.text),
            disturbed(linked.kept, schema, chance) if chance.random() < perturbed else linked.kept,
            past,
            replace(base, sql=regularize(base.sql, schema)) if base else None,
            style="track",
            schema_style="track",
            stars=linked.all_columns(_THRESHOLD),
            marked=frozenset((i.table, i.column) for i in linked.items if i.used_before and i.column),
        )
        said = [{"role": message.role, "content": message.content} for message in task.render(_BUDGET).messages]
        yield {
            "id": key,
            "database": schema.name,
            "questions": [*(earlier.question for earlier in past), asked.text],
            "schema": task.schema_text(task.material()),
            "base_sql": task.base.sql if task.base else "",
            "sql": target,
            "messages": [*said, {"role": "assistant", "content": f"```sql\n{target}\n```"}],
        }


def disturbed(part: Schema, schema: Schema, chance: random.Random) -> Schema:
    """A part of a schema in random order, with one column more and, where there is another, one table more."""
    columns = {table.name: [column.name for column in table.columns] for table in part.tables}
    others = [table for table in schema.tables if table.name not in columns and table.columns]
    spare = [
        (table.name, column.name)
        for table in schema.tables
        if table.name in columns
        for column in table.columns
        if column.name not in columns[table.name]
    ]
    if spare:
        table, column = chance.choice(spare)
        columns[table].append(column)
    if others:
        table = chance.choice(others)
        columns[table.name] = [column.name for column in table.columns[:3]]
    shuffled = list(columns.items())
    chance.shuffle(shuffled)
    for _, names in shuffled:
        chance.shuffle(names)
    return schema.part(shuffled)
