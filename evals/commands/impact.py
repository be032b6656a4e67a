"""`tableturn impact`: which past answers a change would change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...agent.options import EmbeddingOption
from ...tools.terminal import say, warn
from .options import ExamplesOption, JsonOption, removed_option

if TYPE_CHECKING:
    from ..impact import Change

_ROWS = 3
"""The number of rows of each side that the terminal shows."""

_Removed = Annotated[
    str | None, removed_option("hold the trial or run again with the other model, and give both to `tableturn report`")
]
"""An option of 0.2 by which a model was asked."""


def impact(
    before: Annotated[str, typer.Option(help="The old state: a database, by its path or URL.")],
    after: Annotated[str, typer.Option(help="The new state: likewise.")],
    history: Annotated[
        list[Path] | None,
        typer.Option(help="Past answers: an audit trail, SQL, or the folder of a trial or a run; repeatable."),
    ] = None,
    examples: ExamplesOption = None,
    embedding: EmbeddingOption = "hashed",
    knowledge_before: Annotated[Path | None, typer.Option(help="The old state's knowledge file.")] = None,
    knowledge_after: Annotated[Path | None, typer.Option(help="The new state's knowledge file.")] = None,
    model: _Removed = None,
    base_url: _Removed = None,
    again: Annotated[bool, removed_option("hold the trial or run again, and give both to `tableturn report`")] = False,
    preset: _Removed = None,
    settings: _Removed = None,
    gate: Annotated[
        float | None, typer.Option(min=0, max=1, help="Exit with 1 if a smaller share of past answers stays the same.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Replay verified queries, trials, runs and the audit trail: which past answers would change?

    What only a model can settle does not count as staying for --gate.
    """
    from ...tools.database import Database
    from ...tools.errors import SettingsError
    from ..impact import impact as replayed
    from ..impact import read_examples_of, read_history, read_side

    old, new = read_side(before, knowledge_before), read_side(after, knowledge_after)
    past = [answer for path in history or () for answer in read_history(path)]
    if examples is not None:
        with Database.open(old.database) as database:
            past += read_examples_of(database, examples, embedding)
    if not past:
        raise SettingsError("there are no past answers to replay: name some with --history or --examples")
    found = replayed(old, new, past)
    shown = found.as_json()
    met = gate is None or (found.kept is not None and found.kept >= gate)
    if as_json:
        say(json.dumps({**shown, "gate": None if gate is None else {"least": gate, "met": met}}))
    else:
        for change in [*found.changed, *(change for change in found.changes if change.kind == "unsettled")]:
            _print(change)
        counts = ", ".join(f"{kind.replace('_', ' ')} {count}" for kind, count in shown["counts"].items() if count)
        say(f"{shown['answers']} past answers: {counts}")
    if not met:
        warn(f"below the gate of {100 * (gate or 0):g} % of past answers that stay as they were")
        raise typer.Exit(1)


def _print(change: Change) -> None:
    past = change.past
    about = ", ".join(part for part in (past.user, past.time, past.source) if part)
    what = "only a model can tell" if change.kind == "unsettled" else change.kind
    say(f"{past.question or past.sql} ({about})\n  {what}: {change.why}")
    for name, held, other in (("before", change.before, change.after), ("now", change.after, change.before)):
        if held is None or change.kind == "unsettled":
            continue
        # The rows that the other side lacks, else the first ones.
        there = set(other.rows) if other else set[object]()
        first = [row for row in held.rows if row not in there] or held.rows
        rows = [", ".join("NULL" if cell is None else str(cell)[:40] for cell in row) for row in first[:_ROWS]]
        more = f" ({held.row_count} rows)" if held.row_count > _ROWS else ""
        say(f"  {name + ':':<8}{' | '.join(rows) + more if held.row_count else 'no rows'}")
