"""Odd dialogues over odd databases, and odd statements as replies, each followed up: how many end in a traceback."""

from __future__ import annotations

import asyncio
import json
import os
import random
import sqlite3
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from langgraph.checkpoint.memory import InMemorySaver
from tableturn.agent import Answer, SQLAgent
from tableturn.agent.advice import RAISING_VARIABLE
from tableturn.agent.answers.render import render_answer_html
from tableturn.agent.conversation import Conversation
from tableturn.evals.lab.bench.harness import use_cache_folder
from tableturn.evals.lab.bench.registry import BenchOptions
from tableturn.tools.database import Database
from tableturn.tools.errors import TableturnError

from tests.support.scripted import ScriptedModel
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
        use_cache_folder(Path(folder) / "cache"),
        patch.dict(os.environ, {RAISING_VARIABLE: "1"}),
        _houses(Path(folder)) as (houses, missing),
    ):
        engines = list(houses.values())
        for dialogue in _draw_dialogues(count):
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


def _talk(dialogue: _Dialogue, house: _House, seen: _Seen) -> None:
    database, tables = house.database(dialogue.database)
    model = "offline" if dialogue.offline else _odd_model(dialogue.number, tables)
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
    written = _odd_model(number, tables, f"```sql\n{sql}\n```")
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
    assert render_answer_html(answer).encode()
    conversation.why()
    return answer


def _reply(chance: random.Random, prompt: str, tables: odd.Tables) -> str:
    """What a model might say to a request: what was asked for in most, and all else that models say."""
    sql = odd.statement(chance, tables)
    if '"intent"' in prompt and chance.random() < 0.7:
        return _understanding(chance)
    fenced = f"```sql\n{sql}\n```"
    ways: list[tuple[float, Callable[[], str]]] = [
        (10, lambda: fenced),
        (2, lambda: sql),
        (1, lambda: f"Certainly! {sql}; that is all."),
        (1, lambda: f"```\n{sql}"),
        (1, lambda: fenced[: len(fenced) // 2]),
        (1, lambda: json.dumps({"sql": sql, "confidence": chance.choice([0.5, "high", None, 1e999, -3])})),
        (1, lambda: f"{fenced}\nAlternatively:\n```sql\n{odd.statement(chance, tables)}\n```"),
        (1, lambda: f"Ask back: Which of these?\n1. {chance.choice(tables)[0]}\n2. the other\n3. "),
        (1, lambda: f"Ask back: {chance.choice(odd.ODD_WORDS)}"),
        (0.5, lambda: f"Cannot answer: {chance.choice(odd.ODD_WORDS)}"),
        (0.5, lambda: "Small talk: hello"),
        (
            1,
            lambda: (
                f"Question: {chance.choice(odd.ODD_WORDS)}\nSure: {chance.choice(['9', '1e999', 'x', '-1'])}\n{fenced}"
            ),
        ),
        (1, lambda: f"```python\nresult = pd.DataFrame({{'n': [1, None]}})\n```\n{fenced}"),
        (0.5, lambda: f"```python\nresult = {chance.choice(['1e999', '1e999 - 1e999', '[]'])}\n```"),
        (0.5, lambda: _understanding(chance)),
        (0.5, lambda: chance.choice(odd.ODD_WORDS)),
        (0.3, lambda: ""),
        (0.3, lambda: "\x00" * 5 + fenced),
        (0.3, lambda: fenced.replace("SELECT", "SELECT '\ud800', ", 1)),
        (0.3, lambda: f"SELECT {'9' * 5_000}"),
        (0.3, lambda: "SELECT " + "(" * 300 + "1" + ")" * 300),
        (0.3, lambda: "SELECT 1" + " UNION SELECT 1" * 300),
        (0.3, lambda: "I'm sorry, but I can't help with that."),
        (0.3, lambda: "word " * 5_000),
        (0.2, lambda: "[" * 2_000),
        (0.2, lambda: "<sql>" + sql + "</sql>"),
    ]
    weights, makers = zip(*ways, strict=True)
    return chance.choices(makers, weights)[0]()


def _understanding(chance: random.Random) -> str:
    """The reply to a request to understand a question, whole or not."""
    words: list[Any] = [chance.choice(odd.ODD_WORDS), "Give me all of them.", "", None, 5, ["x"], {"a": 1}]
    told: dict[str, Any] = {
        "rephrased": chance.choice(words),
        "simplified": chance.choice(words),
        "intent": chance.choice(["answerable"] * 6 + ["ambiguous", "unanswerable", "small_talk", "", None, 7]),
        "reply": chance.choice(words),
        "choices": chance.choice([[], ["a", "b"], "a", None, [1, None], [""]]),
        "meaning": chance.choice(words),
        "differences": chance.choice(words),
    }
    return json.dumps({key: told[key] for key in told if chance.random() < 0.9})


def _odd_model(seed: int, tables: odd.Tables, words: str = "") -> ScriptedModel:
    """Return a model that replies by what is asked of it: one request has one reply, in whatever order requests come.

    `words` are given for each request for SQL; without them an odd reply is.
    """

    def script(prompt: str) -> str:
        if words and '"intent"' not in prompt:
            return words
        return _reply(random.Random(f"{seed}/{prompt}".encode("utf-8", "replace")), prompt, tables)

    return ScriptedModel(script=script, usage=None)


@dataclass(frozen=True)
class _Dialogue:
    """What one person says to one database.

    Attributes:
        number: Its own.
        database: A key of `odd.DATABASES`.
        preset: The agent's.
        offline: Whether the built-in translator answers, rather than `_odd_model`.
        way: How the turns are taken: `ask`, `aask` or `stream`.
        settings: Fields beside the preset's.
    """

    number: int
    database: str
    preset: str
    offline: bool
    way: str
    settings: dict[str, Any]

    def questions(self, tables: odd.Tables, turns: int = 3) -> list[str]:
        """What is said, turn after turn."""
        return odd.questions(random.Random(f"words/{self.number}"), tables, turns)


_PRESETS = ("full", "full", "full", "credit", "craft", "track", "revision")
_CHANGES: tuple[dict[str, Any], ...] = (
    {},
    {},
    {},
    {"readings": "ask"},
    {"candidates": 3},
    {"clarify": False},
    {"rephrase": "always"},
    {"effort": "high"},
    {"history_window": 0},
    {"max_attempts": 1},
)


def _draw_dialogues(count: int) -> Iterator[_Dialogue]:
    """So many dialogues: databases take turns, and every preset and way of asking has its share."""
    names = tuple(odd.DATABASES)
    for number in range(count):
        chance = random.Random(f"dialogue/{number}")
        yield _Dialogue(
            number,
            names[number % len(names)],
            chance.choice(_PRESETS),
            chance.random() < 0.35,
            chance.choice(("ask", "ask", "aask", "stream")),
            chance.choice(_CHANGES),
        )
