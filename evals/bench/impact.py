"""Past answers replayed on changed databases: are those that change found, and without a model?

Truth is what plain SQLite says of the same query on both files; a declined question changes where what it asked for has
been added.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from random import Random

from ...tools.database import Database
from ...tools.sample import build_sample
from ..impact import PastAnswer, Replay
from .impact_changes import make_changes
from .impact_turns import Turn, turns
from .registry import BenchOptions

SEED = 11
TURNS = 300

_OTHERS = ("sample-dbs/chinook/Chinook_Sqlite.sqlite", "sample-dbs/northwind/northwind.sqlite")


def run(options: BenchOptions) -> dict[str, object]:
    """Every change of every database against all of that database's past turns; `limit` is how many turns in all."""
    counts: Counter[str] = Counter()
    missed: list[str] = []
    wrong: list[str] = []
    random = Random(SEED)  # noqa: S311 - changes that can be made again, not secrets
    with tempfile.TemporaryDirectory() as temporary:
        files = list(_databases(options.data, Path(temporary)))
        for file in files:
            with Database.open(file) as before:
                past = turns(before, (options.limit or TURNS) // len(files), random)
                counts["turns"] += len(past)
                old = _rows(file, past)
                for change, path in make_changes(file, before.schema(), Path(temporary), random):
                    counts["changes"] += 1
                    with Database.open(path) as after:
                        _compare(change, past, old, _rows(path, past), Replay(before, after), counts, missed, wrong)
    pairs = counts["pairs"]
    return {
        "databases": len(files),
        "changes": counts["changes"],
        "turns": counts["turns"],
        "pairs": pairs,
        "changed": counts["changed"],
        "recall": round(counts["found"] / max(1, counts["changed"]), 4),
        "precision": round(counts["found"] / max(1, counts["listed"]), 4),
        "without_model_share": round(counts["settled"] / max(1, pairs), 4),
        "missed": missed[:20],
        "wrongly_listed": wrong[:20],
    }


def _compare(
    change: str,
    past: Sequence[Turn],
    old: Sequence[object],
    new: Sequence[object],
    replay: Replay,
    counts: Counter[str],
    missed: list[str],
    wrong: list[str],
) -> None:
    for turn, before, now in zip(past, old, new, strict=True):
        truth = before != now if turn.sql else change.startswith("add_sought") and "footprint" in turn.question
        status = "converged" if turn.sql else "unanswerable"
        found = replay.settle(PastAnswer(turn.question, turn.sql, "", status=status))
        counts["pairs"] += 1
        counts["changed"] += truth
        counts["listed"] += found.changes
        counts["found"] += truth and found.changes
        counts["settled"] += found.kind != "unsettled"
        if truth and not found.changes:
            missed.append(f"{change}; {found.kind}: {turn.sql or turn.question}")
        if found.changes and not truth:
            wrong.append(f"{change}; {found.kind}, {found.why}: {turn.sql}")


def _databases(data: Path | None, folder: Path) -> Iterator[Path]:
    yield build_sample(folder / "kestrel.sqlite")
    for name in _OTHERS if data else ():
        if data and (data / name).is_file():
            yield Path(shutil.copy(data / name, folder))


def _rows(path: Path, past: Sequence[Turn]) -> list[object]:
    """What plain SQLite gives for each turn: rows in a form that can be compared, or the word for a failure."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        return [_outcome(connection, turn) for turn in past]


def _outcome(connection: sqlite3.Connection, turn: Turn) -> object:
    if not turn.sql:
        return None
    try:
        rows = [tuple(_cell(cell) for cell in row) for row in connection.execute(turn.sql)]
    except sqlite3.Error:
        return "fails"
    return rows if turn.ordered else Counter(rows)


def _cell(cell: object) -> object:
    return float(f"{cell:.9g}") if isinstance(cell, float) else cell
