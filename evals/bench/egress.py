"""Whether anything of what may not leave does, on any route."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from types import ModuleType

from ...agent import SQLAgent
from ...tools.database import Database
from ...tools.sandbox import sandbox_available
from .corpus import corpus
from .registry import BenchOptions
from .transcript import Transcript, WatchedModel, ask, call_tools

_MARK = 3


def run(options: BenchOptions) -> dict[str, object]:
    """Figures: `canaries`, cells that must not get out, and `leaked`, how many of them did."""
    egress = corpus("egress")
    canaries = set(egress.canaries(_MARK))
    leaked: set[str] = set()
    for transcript in transcripts(egress, _MARK, options.limit):
        leaked |= {found for _, text in transcript.said for found in re.findall(egress.CANARY, text)} & canaries
    return {"canaries": len(canaries), "leaked": len(leaked)}


def transcripts(
    egress: ModuleType, mark: int, limit: int | None = None, folder: Path | None = None
) -> Iterator[Transcript]:
    """What leaves of every turn of the corpus over the database of that mark, and of the tools."""
    with tempfile.TemporaryDirectory() as own:
        place = folder or Path(own)
        path = egress.make(place / "shop.db", mark)
        model = WatchedModel()
        with (
            Database.open(path, deny=egress.DENY, egress=egress.EGRESS) as database,
            SQLAgent(database, model=model) as agent,
            SQLAgent(database, model="offline") as offline,
        ):
            for question, sql, settings in islice(egress.turns(), limit):
                known = re.findall(egress.CANARY, f"{question} {sql}")
                transcript = ask(agent, model, question, sql, settings)
                tools = call_tools(agent, database, question, sql)
                yield _without(transcript, known)
                yield _without(tools, known)
            for question in egress.QUESTIONS[:limit]:
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
