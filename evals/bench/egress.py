"""Whether anything of what may not leave does, on any route."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

from ...agent import SQLAgent
from ...tools.database import Database
from ...tools.errors import SQLParseError
from ...tools.sandbox import sandbox_available
from ...tools.sql import transpile
from .carried import PLACES, NotReachable
from .corpus import corpus
from .registry import BenchOptions
from .transcript import Transcript, WatchedModel, ask, call_tools

_MARK = 3


def run(options: BenchOptions) -> dict[str, object]:
    """Figures: `canaries`, cells that must not get out, and `leaked`, how many of them did, on all engines together.

    `engines` has the same for each engine, or why it was not tried. `--limit` is the number of turns on each.
    """
    egress = corpus("egress")
    found = {name: _engine(egress, name, options.limit) for name in PLACES}
    tried = [figures for figures in found.values() if "leaked" in figures]
    return {
        "canaries": sum(figures["canaries"] for figures in tried),
        "leaked": sum(figures["leaked"] for figures in tried),
        "engines": found,
    }


def _engine(egress: ModuleType, name: str, limit: int | None) -> dict[str, Any]:
    canaries = set(egress.canaries(_MARK))
    leaked: set[str] = set()
    try:
        for transcript in transcripts(egress, _MARK, limit) if name == "sqlite" else _carried(egress, name, limit):
            leaked |= {found for _, text in transcript.said for found in re.findall(egress.CANARY, text)} & canaries
    except NotReachable as error:
        return {"not run": str(error)}
    return {"canaries": len(canaries), "leaked": len(leaked)}


def transcripts(
    egress: ModuleType, mark: int, limit: int | None = None, folder: Path | None = None
) -> Iterator[Transcript]:
    """What leaves of every turn of the corpus over the database of that mark, and of the tools."""
    with tempfile.TemporaryDirectory() as own:
        place = folder or Path(own)
        path = egress.make(place / "shop.db", mark)
        with Database.open(path, deny=egress.DENY, egress=egress.EGRESS) as database:
            yield from _turns(egress, database, list(islice(egress.turns(), limit)))


def _carried(egress: ModuleType, name: str, limit: int | None) -> Iterator[Transcript]:
    """The same over a copy on another engine, with what can be written in its dialect, and its own statements."""
    with PLACES[name]() as place, tempfile.TemporaryDirectory() as folder:
        path = egress.make(Path(folder) / "shop.db", _MARK, carried=True)
        with Database.open(place.carry(path, "shop", egress.VIEWS), egress=egress.CARRIED) as database:
            own = egress.OWN_STATEMENTS.get(database.dialect, ())
            statements = [*own, *(_written(sql, database.dialect) for sql in egress.STATEMENTS)]
            yield from _turns(egress, database, list(islice(egress.turns(statements), limit)))


def _written(sql: str, dialect: str) -> str:
    """A statement in another dialect, or as it is where that cannot be had."""
    try:
        return transpile(sql, "sqlite", dialect)
    except SQLParseError:
        return sql


def _turns(
    egress: ModuleType, database: Database, turns: Sequence[tuple[str, str, dict[str, object]]]
) -> Iterator[Transcript]:
    model = WatchedModel()
    with SQLAgent(database, model=model) as agent, SQLAgent(database, model="offline") as offline:
        for question, sql, settings in turns:
            known = re.findall(egress.CANARY, f"{question} {sql}")
            transcript = ask(agent, model, question, sql, settings)
            tools = call_tools(agent, database, question, sql)
            yield _without(transcript, known)
            yield _without(tools, known)
        for question in egress.QUESTIONS[: len(turns)]:
            yield ask(offline, model, question, "", {})
        if not sandbox_available():
            for settings in egress.REASONED:
                yield ask(agent, model, egress.QUESTIONS[0], egress.STATEMENTS[0], settings, egress.CODE)
            yield call_tools(agent, database, egress.QUESTIONS[0], egress.STATEMENTS[0], egress.CODE)


def _without(transcript: Transcript, known: list[str]) -> Transcript:
    """The transcript without what the model, or the person, wrote itself."""
    for value in known:
        transcript.said = [(route, text.replace(value, "")) for route, text in transcript.said]
    return transcript
