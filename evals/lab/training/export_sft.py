"""Fine-tuning data in Track-SQL's format (B.4): `evals.lab sft export`.

One JSON object a turn: the question sequence, the schema that the linker kept, the base SQL chosen from gold history
and the regularised gold SQL, each of its own and together as a chat, which is what fine-tuning libraries read. The chat
is the very prompt of the `track` preset, so that a model fine-tuned on it is asked at work what it was taught.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from ....agent.context.inputs import generate_task
from ....agent.effects import Body, Tally, run
from ....agent.model.budget import left_of
from ....agent.nodes.link import link
from ....agent.records import Turn, dump, dump_all
from ....agent.resources import Resources, Run
from ....agent.resources.opening import open_resources
from ....agent.settings import Settings, make_settings
from ....agent.state import fresh_turn, turn_of
from ....prompts.replies import Rephrasing
from ....tools.database import Schema
from ....tools.errors import DatabaseUnavailable, SettingsError, SQLParseError
from ....tools.linking import PastTurn
from ....tools.sql import regularize
from ...datasets import Dataset
from ...datasets.question import Question

PARTS: Mapping[str, Mapping[str, bool]] = {
    "sese": {"link_schema": False},
    "acid": {"all_columns": False},
    "sace": {"base_sql": False},
}
"""The parts that Track-SQL's ablations leave out (tables 2 and 3), with the settings that do so."""

PERTURBED = 0.15
"""The share of records whose schema is shuffled and padded (Track-SQL 3.1)."""

T = TypeVar("T")


def export(
    dataset: Dataset,
    out: Path,
    perturbed: float = PERTURBED,
    without: Collection[str] = (),
    annotator: str | None = None,
) -> int:
    """Writes a dataset's turns as JSONL, one object a line; the same data gives the same file.

    Args:
        dataset: Interactions with gold SQL. Those whose database is missing are left out, as are turns whose gold SQL
            cannot be parsed.
        out: The file; it appears when it is whole.
        perturbed: The share of records whose schema is shuffled and gets an item that does not belong.
        without: Parts left out, of `PARTS`, so that each row of an ablation has a model of its own; without the schema
            extractor and the context extractor it is the paper's plain fine-tuning.
        annotator: The model whose descriptions of schemas are shown, as far as there are any; it is not asked.

    Returns:
        How many turns were written.

    Raises:
        SettingsError: The file cannot be written, there is no turn, or no such part.
    """
    if unknown := [name for name in without if name not in PARTS]:
        raise SettingsError(f"Track-SQL has no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    fields = {field: value for name in without for field, value in PARTS[name].items()}
    unfinished = out.with_name(out.name + ".part")
    count = 0
    settings = make_settings(fields, preset="track")
    with ExitStack() as opened:

        @cache
        def open_place(path: Path) -> Resources | None:
            try:
                found = open_resources(
                    path, model="offline", settings=settings, examples=None, base_url=None, annotator=annotator
                )
            except DatabaseUnavailable:
                return None
            opened.callback(found.close)
            return found.resources

        try:
            with unfinished.open("w", encoding="utf-8") as file:
                for number, turns in enumerate(dataset.interactions):
                    resources = open_place(dataset.database(turns[0].database))
                    for record in records(turns, resources, number, perturbed) if resources else ():
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


def records(
    turns: Sequence[Question], resources: Resources, number: int = 0, perturbed: float = 0.0
) -> Iterator[dict[str, Any]]:
    """The turns of an interaction whose gold SQL can be parsed, as an agent would put them to its model.

    Args:
        turns: With gold SQL, which stands, regularised, for what the model said in earlier turns.
        resources: An agent's, with the settings of the `track` preset.
        number: The interaction's place in the dataset, for the records' ids.
        perturbed: See `export`.
    """
    schema = resources.database.schema()
    node = Run(resources, resources.settings, lambda _: None)
    history: list[PastTurn] = []
    for turn, asked in enumerate(turns):
        rephrasing = Rephrasing(asked.text, asked.text, self_contained=not history)
        state: Any = fresh_turn(asked.text) | {
            "turn": dump(Turn(asked.text, rephrasing=rephrasing)),
            "turns": dump_all(history),
        }
        state |= _done(link(state, node), node)
        target = _regular(asked.golds[0], schema)
        history.append(PastTurn(asked.text, asked.text, target or asked.golds[0], items=turn_of(state).items))
        if not target:
            continue
        task = _done(generate_task(state, node), node)
        key = f"{schema.name}/{number}/{turn}"
        chance = random.Random(key)  # noqa: S311 - noise, not a secret
        if chance.random() < perturbed:
            shown = disturbed(task.schema, schema, chance)
            shown = shown if resources.settings.tell_unshown else shown.alone()
            unshown = tuple(name for name in task.unshown if shown.table(name) is None)
            task = replace(task, schema=shown, unshown=unshown)
        said = task.render(resources.settings.prompt_tokens).messages
        yield {
            "id": key,
            "database": schema.name,
            "questions": [*(earlier.question for earlier in task.history), asked.text],
            "schema": task.schema_text(task.parts()),
            "base_sql": task.base.sql if task.base else "",
            "sql": target,
            "messages": [
                *({"role": message.role, "content": message.content} for message in said),
                {"role": "assistant", "content": f"```sql\n{target}\n```"},
            ],
        }


def _done(body: Body[T], node: Run) -> T:
    """What a node's body gives; none of these asks a model."""
    settings: Settings = node.settings
    return run(body, node.resources.translator(settings), Tally(left_of(settings, {})))


def _regular(sql: str, schema: Schema) -> str:
    """The query in its regular form; empty if it cannot be parsed."""
    try:
        return regularize(sql, schema)
    except SQLParseError:
        return ""


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
