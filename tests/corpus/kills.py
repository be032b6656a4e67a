"""Commands killed at random moments, and two at once on one home: whether what they said was done is there after."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tableturn.agent.evidence.trust import read_trust_bounds
from tableturn.evals.lab.bench.registry import BenchOptions
from tableturn.evals.runner.run import JOURNAL_FILE, read_journal
from tableturn.tools.errors import TableturnError
from tableturn.tools.examples import ExampleStore, make_embedding
from tableturn.tools.knowledge import read_knowledge
from tableturn.tools.sample import build_sample

_KILLS = 12
_SEED = 29
_STEPS = 4
"""Questions that a chat is asked before it ends by itself, each with an approval and a note."""

_QUESTIONS = 40
_EXAMPLES = 3_000
"""More than Chroma takes before it writes an index file."""

_STORE_BYTES = 7_000_000
"""What they take in its database."""

_END_SECONDS = 300.0


@dataclass
class Outcome:
    """What became of a part's commands.

    Attributes:
        kills: Processes that were killed before their end.
        told: Things that a command said were done, or that could be read.
        kept: Those of them that are there at the end.
        lost: Those that are not.
        corrupted: Stores that could not be read, and commands that failed, after a kill.
        tracebacks: Commands that ended in one.
    """

    kills: int = 0
    told: int = 0
    kept: int = 0
    lost: int = 0
    corrupted: int = 0
    tracebacks: int = 0

    def compare(self, told: set[str], kept: set[str]) -> None:
        """Count what was told, and what of it is there."""
        self.told += len(told)
        self.kept += len(told & kept)
        self.lost += len(told - kept)


class Home:
    """A folder of everything that commands keep, and the commands that are run on it."""

    def __init__(self, folder: Path, outcome: Outcome, chance: random.Random) -> None:
        self.folder = folder
        self.outcome = outcome
        self.chance = chance
        self.database = build_sample(folder / "sample.sqlite")

    def start(self, *arguments: str, given: str = "") -> Command:
        """Start a command; `given` is typed into it."""
        return Command(self, arguments, given)

    def read(self, read: Callable[[], set[str]]) -> set[str]:
        """Return what a store holds; nothing, and counted, where it cannot be read."""
        try:
            return read()
        except (TableturnError, OSError, ValueError, sqlite3.Error):
            self.outcome.corrupted += 1
            return set()

    def examples(self) -> set[str]:
        """Return the questions of the example store."""
        if not (self.folder / "examples").exists():
            return set()
        with ExampleStore.open(self.folder / "examples", make_embedding("hashed")) as store:
            found = [each.example for each in store.list()]
            if found and not store.near("question", found[-1].question, 1, found[-1].owner):
                raise ValueError("an example that is listed cannot be found")
            return {f"example {example.question}" for example in found}

    def notes(self) -> set[str]:
        """Return the words that notes say something of."""
        files = (self.folder / "knowledge").glob("*.yaml")
        return {f"note {entry.name}" for file in files for layer in read_knowledge(file) for entry in layer}

    def answers(self) -> set[str]:
        """Return the questions of the kept conversations."""
        from langgraph.checkpoint.sqlite import SqliteSaver

        file = self.folder / "conversations.sqlite"
        if not file.exists():
            return set()
        with closing(sqlite3.connect(file, check_same_thread=False)) as connection:
            if connection.execute("PRAGMA integrity_check").fetchone() != ("ok",):
                raise ValueError(f"{file} is damaged")
            if not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
                return set()
            kept = list(SqliteSaver(connection).list(None))
        values: list[Mapping[str, Any]] = [each.checkpoint["channel_values"] for each in kept]
        return {f"answer {turn['question']}" for each in values for turn in each.get("turns", ())}

    def bounds(self) -> set[str]:
        """Return the databases that bounds are set for."""
        return {f"bound {bound.database}" for bound in read_trust_bounds(self.folder / "trust.json")}


class Command:
    """A command that runs, in a process group of its own, with all that it says in a file."""

    def __init__(self, home: Home, arguments: Sequence[str], given: str) -> None:
        own = {"TABLETURN_HOME": str(home.folder), "TABLETURN_CACHE": str(home.folder / "cache")}
        self._home = home
        self._arguments = arguments
        handle, said = tempfile.mkstemp(dir=home.folder, prefix="said-")
        self._said = Path(said)
        with os.fdopen(handle, "wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tableturn", *arguments],
                cwd=home.folder,
                env={**os.environ, **own, "OPENAI_API_KEY": "none", "PYTHONUNBUFFERED": "1"},
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        assert self._process.stdin is not None
        self._process.stdin.write(given.encode())
        self._process.stdin.close()

    def lines(self) -> list[str]:
        """Return what it has said."""
        return self._said.read_text("utf-8", "replace").splitlines(keepends=True)

    def kill(self, lines: int, seconds: float, ready: Callable[[], bool] = lambda: True) -> list[str]:
        """Kill it so long after so many lines, and after it is ready; return what it said."""
        until = time.monotonic() + _END_SECONDS
        while self._process.poll() is None and (len(self.lines()) < lines or not ready()) and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(seconds)
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._home.outcome.kills += 1
        return self._rest()

    def end(self, codes: Sequence[int] = (0,)) -> list[str]:
        """Wait for its end; return what it said. Another exit code counts as damage."""
        lines = self._rest()
        if self._process.returncode not in codes:
            self._home.outcome.corrupted += 1
            sys.stderr.write(f"{self._arguments} ended with {self._process.returncode}: {''.join(lines[-5:])}\n")
        return lines

    def _rest(self) -> list[str]:
        self._process.wait(_END_SECONDS)
        lines = self.lines()
        if any("Traceback" in line for line in lines):
            self._home.outcome.tracebacks += 1
            sys.stderr.write("".join(lines[-40:]))
        return lines


def run(options: BenchOptions) -> dict[str, object]:
    """An `Outcome` in all and for each part; `--limit` is how many kills each part has (12)."""
    kills = options.limit or _KILLS
    with ThreadPoolExecutor(2) as pool:
        parts = dict(zip(PARTS, pool.map(partial(_part, kills=kills), PARTS), strict=True))
    whole = {field: sum(getattr(part, field) for part in parts.values()) for field in asdict(Outcome())}
    return {**whole, "parts": {name: asdict(part) for name, part in parts.items()}}


def _part(name: str, kills: int) -> Outcome:
    outcome = Outcome()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        PARTS[name](Home(Path(folder), outcome, random.Random(f"{_SEED} {name}")), kills)
    return outcome


def _chat(home: Home, kills: int) -> None:
    """Questions, approvals and notes in one conversation."""
    told: set[str] = set()
    for number in range(kills + 1):
        start = home.start(*_chatting(home, "one"), given=_typed(number))
        if number == kills:
            said = start.end()
        else:
            said = start.kill(home.chance.randrange(3 * _STEPS), home.chance.uniform(0, 0.4))
        done = _told(said)
        told |= {each for each in done if not each.startswith("answer")}
        # A conversation keeps only its last turns.
        home.outcome.compare({each for each in done if each.startswith("answer")}, home.read(home.answers))
    home.outcome.compare(told, home.read(home.examples) | home.read(home.notes))


def _two_chats(home: Home, kills: int) -> None:
    """Two chats in two conversations, both approving and noting, beside an import, on a new home; none is killed."""
    for number in range(0, max(kills // 2, 1) * 2, 2):
        (home.folder / str(number)).mkdir()
        home = Home(home.folder / str(number), home.outcome, home.chance)
        source = _written(home, f"{number}.jsonl", _pairs(200, f"import {number}"))
        importing = home.start("examples", "import", str(source))
        chats = [home.start(*_chatting(home, f"t{each}"), given=_typed(each)) for each in (number, number + 1)]
        said = [line for chat in chats for line in chat.end()]
        importing.end()
        told = _told(said) | {f"example {pair['question']}" for pair in _pairs(200, f"import {number}")}
        kept = home.read(home.answers) | home.read(home.examples) | home.read(home.notes)
        home.outcome.compare(told, kept)


def _import(home: Home, kills: int) -> None:
    """An import that goes on after each kill: what could be listed stays, and in the end each is there once."""
    pairs = _pairs(_EXAMPLES, "import")
    source = _written(home, "examples.jsonl", pairs)
    store = home.folder / "examples" / "chroma.sqlite3"
    told: set[str] = set()
    for _ in range(kills):
        size = home.chance.randrange(_STORE_BYTES)
        grown = lambda size=size: store.exists() and store.stat().st_size >= size  # noqa: E731
        home.start("examples", "import", str(source)).kill(0, home.chance.uniform(0, 0.5), grown)
        kept = home.read(home.examples)
        home.outcome.compare(told, kept)
        told = kept
        if len(told) == len(pairs):
            told = set()
            with ExampleStore.open(home.folder / "examples", make_embedding("hashed")) as held:
                ids = [found.id for found in held.list()]
            home.start("examples", "remove", *ids).end()
    home.start("examples", "import", str(source)).end()
    home.outcome.compare({f"example {pair['question']}" for pair in pairs}, home.read(home.examples))


def _evals(home: Home, kills: int) -> None:
    """A run that is resumed after each kill, and two at once on one folder, of which one is refused."""
    source = _written(home, "questions.jsonl", [pair | {"database": "sample.sqlite"} for pair in _questions()])
    told: set[str] = set()
    for number in range(kills + 1):
        arguments = ("eval", "--dataset", str(source), "--model", "offline", "--out", f"run-{number // 4}", "--json")
        journal = home.folder / f"run-{number // 4}" / JOURNAL_FILE
        if number % 4 == 0:
            told = set()
        before = len(told)
        ready = _at_least(journal, before + home.chance.randrange(1, 8))
        if number == kills:
            both = [home.start(*arguments), home.start(*arguments)]
            both[0].end((0, 2))
            both[1].end((0, 2))
            told = {f"answer {pair['id']}" for pair in _questions()}
        else:
            home.start(*arguments).kill(0, home.chance.uniform(0, 0.1), ready)
        kept = home.read(
            lambda journal=journal: {
                f"answer {name}" for name, record in read_journal(journal).items() if record.was_asked
            }
        )
        home.outcome.compare(told, kept)
        told = kept


def _trust(home: Home, kills: int) -> None:
    """Bounds for one database after another, then for two at once."""
    labels = _written(home, "labels.jsonl", _questions())

    def fit(number: int) -> tuple[str, ...]:
        database = home.folder / f"copy{number}.sqlite"
        database.write_bytes(home.database.read_bytes())
        out = ("--out", f"trust-{number}", "--json")
        return ("trust", "fit", "--db", str(database), "--labels", str(labels), "--model", "offline", *out)

    told: set[str] = set()
    for number in range(kills):
        ready = _at_least(home.folder / f"trust-{number}" / JOURNAL_FILE, home.chance.randrange(_QUESTIONS))
        said = home.start(*fit(number)).kill(home.chance.randrange(2), home.chance.uniform(0, 1.5), ready)
        told |= _bounds(said)
        home.outcome.compare(told, home.read(home.bounds))
    both = [home.start(*fit(kills + number)) for number in range(2)]
    for each in both:
        told |= _bounds(each.end((0, 1)))
    home.outcome.compare(told, home.read(home.bounds))


PARTS: Mapping[str, Callable[[Home, int], None]] = {
    "chat": _chat,
    "two_at_once": _two_chats,
    "examples_import": _import,
    "eval": _evals,
    "trust_fit": _trust,
}


def _chatting(home: Home, thread: str) -> tuple[str, ...]:
    return ("chat", "--db", str(home.database), "--model", "offline", "--thread", thread, "--json")


def _typed(number: int) -> str:
    steps = (number * _STEPS + step for step in range(_STEPS))
    asked = ((step, _question(step)) for step in steps)
    return "".join(f"{text}\n/approve {text}\n/note word{step} means orders {step}\n" for step, text in asked)


def _told(lines: Sequence[str]) -> set[str]:
    """Return what a chat said was done."""
    told: set[str] = set()
    for line in lines:
        if line.startswith("{"):
            told.add(f"answer {json.loads(line)['question']}")
        elif line.startswith("saved '"):
            told.add(f"example {line.split(chr(39))[1]}")
        elif ': term "' in line:
            told.add(f"note {line.split(chr(34))[1]}")
    return told


def _bounds(lines: Sequence[str]) -> set[str]:
    return {f"bound {json.loads(line)['database']}" for line in lines if line.startswith("{")}


def _question(number: int) -> str:
    return f"How many orders have an order id over {number}?"


def _questions() -> list[dict[str, str]]:
    numbers = range(_QUESTIONS)
    sql = "SELECT count(*) FROM orders WHERE order_id > {}"
    return [{"id": str(number), "question": _question(number), "sql": sql.format(number)} for number in numbers]


def _pairs(count: int, name: str) -> list[dict[str, Any]]:
    sql = "SELECT count(*) FROM t WHERE n = {}"
    return [
        {"question": f"{name} {number}: how many?", "sql": sql.format(number), "database": "d", "shared": True}
        for number in range(count)
    ]


def _written(home: Home, name: str, records: Sequence[Mapping[str, Any]]) -> Path:
    path = home.folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def _at_least(journal: Path, lines: int) -> Callable[[], bool]:
    return lambda: journal.exists() and journal.read_bytes().count(b"\n") >= lines
