"""Writes fine-tuning data in Track-SQL's format (B.4): `python -m tableturn.evals.export_sft cosql.jsonl`.

One JSON object a turn, in the chat form that fine-tuning libraries read: the very prompt of the `track` preset - the
questions so far, the schema that the linker kept, the base SQL chosen from gold history - and the regularised gold SQL.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..prompts.generate import GenerateTask
from ..prompts.replies import Rephrasing
from ..tools.errors import SettingsError, SQLParseError
from ..tools.linking import PastTurn, SchemaLinker, base_turn
from ..tools.sql import regularize
from .datasets import load_dataset
from .fit_linker_turns import WINDOW, Dialogue, read_dialogues

_THRESHOLD = 0.1
_BUDGET = 8_000


def records(dialogue: Dialogue) -> Iterator[dict[str, Any]]:
    """The turns of a dialogue whose gold SQL can be parsed, as chats of three messages."""
    schema = dialogue.place.names.schema
    linker = SchemaLinker(schema)
    history: list[PastTurn] = []
    for asked in dialogue.questions:
        past = tuple(history[-WINDOW:])
        linked = linker.link(asked.text, past, asked.values, threshold=_THRESHOLD)
        items = tuple((item.table, item.column, item.p) for item in linked.items)
        history.append(PastTurn(asked.text, asked.text, asked.gold, items=items))
        try:
            target = regularize(asked.gold, schema)
        except SQLParseError:
            continue
        base = base_turn(asked.text, linked.items, past)
        task = GenerateTask(
            asked.text,
            Rephrasing(asked.text, asked.text),
            linked.kept,
            past,
            replace(base, sql=regularize(base.sql, schema)) if base else None,
            style="track",
            schema_style="track",
            marked=frozenset((i.table, i.column) for i in linked.items if i.used_before and i.column),
        )
        said = [{"role": message.role, "content": message.content} for message in task.render(_BUDGET).messages]
        yield {
            "database": schema.name,
            "messages": [*said, {"role": "assistant", "content": f"```sql\n{target}\n```"}],
        }


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path, help="the JSONL file to write")
    parser.add_argument("--dataset", default="cosql", help="a benchmark's name (default: cosql)")
    parser.add_argument("--split", default="train", help="which part of it (default: train)")
    parser.add_argument("--data", type=Path, default=os.environ.get("TABLETURN_DATA"), help="benchmark data")
    parser.add_argument("--limit", type=int, help="only so many interactions")
    options = parser.parse_args()
    try:
        dataset = load_dataset(options.dataset, options.split, options.data).first(options.limit)
    except SettingsError as error:
        parser.error(str(error))
    with tempfile.TemporaryDirectory() as cache:
        dialogues = read_dialogues(dataset, Path(cache))
    unfinished = options.out.with_name(options.out.name + ".part")
    count = 0
    with unfinished.open("w", encoding="utf-8") as file:
        for dialogue in dialogues:
            for record in records(dialogue):
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
                count += 1
    os.replace(unfinished, options.out)
    print(f"{options.out}: {count} turns")


if __name__ == "__main__":
    main()
