"""Whether a query can read, or tell, what is hidden: pairs of databases that differ in nothing else."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

from ...tools.database import Database, Limits
from ...tools.errors import DatabaseUnavailable, QueryError
from .corpus import corpus
from .registry import BenchOptions

_LIMITS = Limits(seconds=20.0)
# Contents of what is hidden: two that differ, and none at all.
_MARKS = (3, 4, 0)


def run(options: BenchOptions) -> dict[str, object]:
    """Figures: `tried`, `read_anything_hidden`, `distinguishable`, `harmless_refused`.

    The last is the share of Spider train's gold queries that are refused once a table is hidden that the query does not
    name. Rows are compared without their order, which is not promised to be the same.
    """
    hidden = corpus("hidden")
    tried = list(islice(hidden.statements(), options.limit))
    read: list[str] = []
    distinguished: list[str] = []
    with tempfile.TemporaryDirectory() as folder, ExitStack() as opened:
        paths = [hidden.make(Path(folder) / f"{mark}" / "shop.db", mark) for mark in _MARKS if _folder(folder, mark)]
        databases = [opened.enter_context(Database.open(path, deny=hidden.DENY)) for path in paths]
        schemas = {repr(database.schema().tables) for database in databases}
        for sql in tried:
            outcomes = [_outcome(database, sql) for database in databases]
            if any(_tells(outcome, hidden.CANARY, sql) for outcome in outcomes):
                read.append(sql)
            if len(set(outcomes)) > 1:
                distinguished.append(sql)
    golds, refused, differing = _harmless(options.folder, options.limit)
    return {
        "tried": len(tried),
        "read_anything_hidden": len(read),
        "distinguishable": len(distinguished) + (len(schemas) > 1),
        "harmless_refused": round(len(refused) / max(1, golds), 4),
        "harmless_tried": golds,
        "harmless_other_rows": differing,
        "read": read[:10],
        "distinguished": distinguished[:10],
        "refused": refused[:10],
    }


def _folder(folder: str, mark: int) -> bool:
    (Path(folder) / f"{mark}").mkdir()
    return True


def _outcome(database: Database, sql: str) -> str:
    try:
        table = database.execute(sql, _LIMITS)
    except QueryError as error:
        return f"{error.kind}: {error}"
    return repr((table.columns, table.types, sorted(table.rows, key=repr), table.truncated))


def _tells(outcome: str, canary: str, sql: str) -> bool:
    """Whether an outcome holds a hidden value that the statement does not hold itself."""
    found = set(re.findall(rf"{canary}\w*|7777\d*", outcome))
    return any(value not in sql for value in found)


def _harmless(data: Path, limit: int | None) -> tuple[int, list[str], int]:
    """How many gold queries were tried with a table hidden, which were refused, and how many gave other rows."""
    tried = differing = 0
    refused: list[str] = []
    for path, golds in _golds(data, limit):
        with ExitStack() as opened:
            try:
                whole = opened.enter_context(Database.open(path))
                tables = [table.name for table in whole.schema().tables]
            except DatabaseUnavailable:
                continue
            without: dict[str, Database] = {}
            for sql in golds:
                unrelated = [name for name in tables if name.lower() not in sql.lower()]
                before = _outcome(whole, sql)
                if not unrelated or not before.startswith("("):
                    continue
                name = unrelated[0]
                if name not in without:
                    without[name] = opened.enter_context(Database.open(path, deny=[name]))
                after = _outcome(without[name], sql)
                tried += 1
                differing += after.startswith("(") and after != before
                if not after.startswith("("):
                    refused.append(sql)
    return tried, refused, differing


def _golds(data: Path, limit: int | None) -> Iterator[tuple[Path, list[str]]]:
    queries: dict[Path, list[str]] = {}
    for record in json.loads((data / "spider" / "train_spider.json").read_text(encoding="utf-8"))[:limit]:
        path = data / "spider" / "database" / record["db_id"] / f"{record['db_id']}.sqlite"
        if path.is_file():
            queries.setdefault(path, []).append(record["query"])
    yield from queries.items()
