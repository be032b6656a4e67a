"""Odd dialogues over odd databases, and odd statements as replies, each followed up: how many end in a traceback."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from langgraph.checkpoint.memory import InMemorySaver
from tableturn.agent import Answer, SQLAgent
from tableturn.agent.advice import RAISING_VARIABLE
from tableturn.agent.answers.html import answer_html
from tableturn.agent.conversation import Conversation
from tableturn.evals.lab.bench.harness import own_cache
from tableturn.evals.lab.bench.registry import BenchOptions
from tableturn.tools.database import Database
from tableturn.tools.errors import TableturnError

from tests.tools.database.carried import carry, explain_missing

from . import odd

_DIALOGUES = 1_000
_STATEMENTS = 600
_ENGINES = ("sqlite", "duckdb", "postgres")
_OTHER_ENGINES = 4
"""One dialogue in so many is with each of the engines beside SQLite; every database meets every engine."""

_SETTINGS: Mapping[str, Any] = {"today": "none", "query_seconds": 5.0, "turn_seconds": 60.0}


def run(options: BenchOptions) -> dict[str, object]:
    """Figures: `dialogues` of three turns, `statements` as replies with two questions after each, `tracebacks`.

    Beside them: what turns `ended` as, words that were `refused` as no question, engines that were `not_reached`, and
    each place of a traceback in `faults`. `--limit` is the number of dialogues.
    """
    count = options.limit or _DIALOGUES
    share = max(count * _STATEMENTS // _DIALOGUES, 1)
    seen = _Seen()
    with (
        tempfile.TemporaryDirectory() as folder,
        own_cache(Path(folder) / "cache"),
        patch.dict(os.environ, {RAISING_VARIABLE: "1"}),
        _houses(Path(folder)) as (houses, missing),
    ):
        engines = list(houses.values())
        for dialogue in odd.dialogues(count):
            place = dialogue.number // len(odd.DATABASES) % _OTHER_ENGINES
            _talk(dialogue, engines[place if place < len(engines) else 0], seen)
        for number in range(share):
            _follow_up(number, engines[number % len(engines)], seen)
    return {
        "dialogues": count,
        "statements": share,
        "engines": list(houses),
        "turns": seen.turns,
        "tracebacks": sum(seen.faults.values()),
        "ended": dict(seen.ended.most_common()),
        "refused": dict(seen.refused.most_common()),
        "not_reached": missing,
        "faults": dict(seen.faults.most_common()),
        "slowest_turn_seconds": round(seen.slowest, 1),
    }


class _Seen:
    """What came of the turns: an answer, a question that is none (`refused`), or a fault."""

    def __init__(self) -> None:
        self.turns = 0
        self.ended = Counter[str]()
        self.refused = Counter[str]()
        self.faults = Counter[str]()
        self.slowest = 0.0

    def take(self, turn: Callable[[], Answer], what: str) -> Answer | None:
        """Takes a turn; None where it gives no answer."""
        self.turns += 1
        started = time.monotonic()
        try:
            answer = turn()
        except Exception as error:  # noqa: BLE001 - what is counted here
            if type(error) is TableturnError:
                self.refused[str(error)] += 1
                return None
            frames = traceback.extract_tb(error.__traceback__)
            at = next((f for f in reversed(frames) if "site-packages" not in f.filename), frames[-1])
            self.faults[f"{type(error).__name__} {at.filename}:{at.lineno}: {what}"] += 1
            return None
        finally:
            self.slowest = max(self.slowest, time.monotonic() - started)
        self.ended[answer.status] += 1
        return answer


class _House:
    """An engine's databases, each made and opened when it is first needed."""

    def __init__(self, engine: str, folder: Path, stack: ExitStack) -> None:
        self._engine = engine
        self._folder = folder
        self._stack = stack
        self._open: dict[str, tuple[Database, Any]] = {}

    def database(self, name: str) -> tuple[Database, Any]:
        """Return a database, and its tables with their columns."""
        if name not in self._open:
            database = self._stack.enter_context(Database.open(self._made(name)))
            tables = [(t.name, [column.name for column in t.columns]) for t in database.schema().tables]
            self._open[name] = database, tables
        return self._open[name]

    def _made(self, name: str) -> str:
        statements, own = odd.DATABASES[name](self._engine), self._engine == "sqlite"
        path = self._folder / f"{name if own else 'empty'}.db"
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(";\n".join(["BEGIN", *statements, "COMMIT"]) if own else "")
        return carry(path, self._engine, self._folder, () if own else statements)


@contextmanager
def _houses(folder: Path) -> Generator[tuple[dict[str, _House], dict[str, str]]]:
    houses, missing = dict[str, _House](), dict[str, str]()
    with ExitStack() as stack:
        for engine in _ENGINES:
            if why := explain_missing(engine):
                missing[engine] = why
            else:
                houses[engine] = _House(engine, folder, stack)
        yield houses, missing


def _talk(dialogue: odd.Dialogue, house: _House, seen: _Seen) -> None:
    database, tables = house.database(dialogue.database)
    model = "offline" if dialogue.offline else odd.odd_model(dialogue.number, tables)
    settings = {**_SETTINGS, **dialogue.settings}
    with SQLAgent(database, model=model, preset=dialogue.preset, settings=settings) as agent:
        conversation = agent.conversation()
        for number, question in enumerate(dialogue.questions(tables)):
            what = f"dialogue {dialogue.number} turn {number}"
            seen.take(lambda said=question: _asked(conversation, said, dialogue.way), what)


def _follow_up(number: int, house: _House, seen: _Seen) -> None:
    """A statement as the model's reply, then a question after it: to the model, and to the built-in translator."""
    name = list(odd.DATABASES)[number % len(odd.DATABASES)]
    database, tables = house.database(name)
    sql = odd.numbered_statement(number, tables)
    what = f"statement {number} on {name} ({database.engine.name}): {sql}"
    kept = InMemorySaver()
    written = odd.odd_model(number, tables, f"```sql\n{sql}\n```")
    first, then, last = odd.around(number, tables)
    for model, said in ((written, first), (written, then), ("offline", last)):
        with SQLAgent(database, model=model, settings=_SETTINGS, checkpointer=kept) as agent:
            seen.take(lambda a=agent, words=said: _asked(a.conversation("one"), words, "ask"), f"{what}: {said!r}")


def _asked(conversation: Conversation, question: str, way: str) -> Answer:
    """A turn's answer, once all that a person or a program sees of it is made."""
    if way == "stream":
        answer = [event.answer for event in conversation.stream(question)][-1]
        assert answer is not None
    elif way == "aask":
        answer = asyncio.run(conversation.aask(question))
    else:
        answer = conversation.ask(question)
    json.loads(answer.to_json().encode())
    assert (answer.drawn is None) is (answer.chart is None)
    assert answer_html(answer).encode()
    conversation.why()
    return answer
