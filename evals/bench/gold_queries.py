"""Every gold query of Spider, SParC and CoSQL whose database is there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_SINGLE_TURN = ("spider/train_spider.json", "spider/train_others.json", "spider/dev.json")
_DIALOGUES = ("sparc/dev.json", "cosql/train.json", "cosql/dev.json")
# CoSQL writes some operators in two parts; the official evaluator joins them before it runs anything.
_SPLIT_OPERATOR = re.compile(r"([<>!])\s+=")


def gold_queries(data: Path) -> dict[Path, list[str]]:
    """Gold SQL by database file, in the order of the files; a query that occurs twice is there twice."""
    queries: dict[Path, list[str]] = {}
    for database, sql in _all(data):
        path = data / "spider" / "database" / database / f"{database}.sqlite"
        if path.is_file():
            queries.setdefault(path, []).append(_SPLIT_OPERATOR.sub(r"\1=", sql))
    return queries


def _all(data: Path) -> Iterator[tuple[str, str]]:
    for name in _SINGLE_TURN:
        for record in _read(data / name):
            yield record["db_id"], record["query"]
    for name in _DIALOGUES:
        for dialogue in _read(data / name):
            for turn in dialogue["interaction"]:
                yield dialogue["database_id"], turn["query"]


def _read(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text(encoding="utf-8"))
