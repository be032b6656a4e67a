"""Plays the conversations of a group and writes down each turn: prompts, requests, SQL, answer."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

from langchain_core.messages import BaseMessage
from tableturn import Answer, SQLAgent

from .databases import SERVERS, database, in_dialect
from .model import GoldenScript
from .scripts import OFFLINE, VARIANTS, Group, Talk, Turn

PARTS = ("prompts", "requests", "sql", "answer")

Transcript = Mapping[str, str]
"""A turn's parts by name."""

_PATIENCE = 40
_LIMITS = {"query_seconds": 120.0, "code_seconds": 120.0, "turn_seconds": 3_600.0}
"""A busy machine changes no answer: settings for what may take long, and a factor for what has no setting."""


@dataclass(frozen=True)
class Played:
    """A turn of a group.

    Attributes:
        name: Number of the conversation and of the turn within it.
        says: What the person says.
        parts: What came of it.
    """

    name: str
    says: str
    parts: Transcript

    @property
    def hashes(self) -> list[str]:
        """Return a digest of each part, in the order of `PARTS`."""
        return [sha256(self.parts[part].encode()).hexdigest()[:10] for part in PARTS]

    @property
    def text(self) -> str:
        """Return the whole as text that people read and compare."""
        return f"# {self.says}\n" + "".join(f"\n=== {part}\n{self.parts[part]}\n" for part in PARTS)


def play(group: Group) -> list[Played]:
    """Return every turn of a group, in order."""
    with (
        TemporaryDirectory() as name,
        _own_folders(Path(name)),
        database(group.database, group.engine, Path(name)) as at,
    ):
        clean = _cleaner(Path(name), at)
        return [
            Played(turn, says, {part: clean(text) for part, text in parts.items()})
            for turn, says, parts in _turns(group, at, Path(name))
        ]


def _turns(group: Group, at: str, folder: Path) -> Generator[tuple[str, str, dict[str, str]]]:
    script, patience = GoldenScript(group.preset), _Patience()
    settings = {**_LIMITS, **VARIANTS.get(group.way, {})}
    with (
        closing(patience),
        SQLAgent(
            at,
            model="offline" if group.way == OFFLINE else script.model,
            preset=group.preset,
            settings=settings,
            examples=folder / "examples",
        ) as agent,
    ):
        for number, talk in enumerate(group.talks, 1):
            person = _Person(agent, talk, unordered=group.engine == "duckdb" and group.way == OFFLINE)
            for place, turn in enumerate(talk, 1):
                script.turn = _in_dialect(turn, group.engine)
                patience.spread()
                answer, sql, cost = person.does(script.turn)
                asked = script.take_requests()
                parts = {
                    "prompts": "\n".join(f"--- {one.task}\n{_render_messages(one.messages)}" for one in asked),
                    "requests": "\n".join([*(one.task for one in asked), cost]),
                    "sql": sql,
                    "answer": answer if group.engine not in SERVERS else _without_estimate(answer),
                }
                says = turn.says if isinstance(turn.says, str) else json.dumps(turn.says)
                yield f"{number}.{place}", f"{'' if turn.act == 'ask' else turn.act + ' '}{says}".strip(), parts


def _render_messages(messages: Sequence[BaseMessage]) -> str:
    return "\n".join(f"[{message.type}]\n{message.text}" for message in messages)


class _Person:
    """Does what the turns of a conversation say."""

    def __init__(self, agent: SQLAgent, talk: Talk, *, unordered: bool) -> None:
        self._agent = agent
        self._unordered = unordered  # whether the engine gives rows without ORDER BY in an order of the moment
        self._chat = agent.conversation("golden")
        self._chat.reset()
        self._last: Answer | None = None

    def does(self, turn: Turn) -> tuple[str, str, str]:
        """Return what came of it: the answer, its SQL, and what it cost."""
        try:
            done: Any = getattr(self, f"_{turn.act}")(turn)
        except Exception as error:  # noqa: BLE001 - whatever is raised is what the person gets
            return f"{type(error).__name__}: {error}", "", ""
        if not isinstance(done, Answer):
            return _text(done), "", ""
        whole = done.to_dict()
        usage = whole.pop("usage")
        attempts = whole["attempts"]
        queries = [whole.pop("sql"), *(attempt.pop("sql", None) for attempt in attempts)]
        whole["choices"], whole["stopped"] = done.choices, done.stopped
        if self._unordered and "ORDER BY" not in (done.sql or "").upper():
            # An engine gives such rows in any order: now this, now that.
            whole["rows"] = sorted(whole["rows"], key=repr)
        return _text(whole), "\n;\n".join(map(str, queries)), _text(usage)

    def _ask(self, turn: Turn) -> Answer:
        self._last = self._chat.ask(turn.says, settings=turn.settings or None)
        return self._last

    def _stream(self, turn: Turn) -> Answer:
        *_, last = self._chat.stream(turn.says)
        assert last.answer is not None
        self._last = last.answer
        return self._last

    def _approve(self, turn: Turn) -> object:
        assert self._last is not None
        saved = self._agent.approve(self._last, question=str(turn.says))
        return {
            "question": saved.example.question,
            "sql": saved.example.sql,
            "new": saved.new,
            "replaced": saved.replaced,
        }

    def _correct(self, turn: Turn) -> Answer:
        assert self._last is not None
        self._last = self._agent.correct(self._last, turn.sql, question=str(turn.says)).answer
        return self._last

    def _rerun(self, turn: Turn) -> Answer:
        assert self._last is not None
        return self._agent.rerun(self._last)

    def _note(self, turn: Turn) -> object:
        return self._agent.note(str(turn.says))

    def _forget(self, turn: Turn) -> object:
        return self._agent.forget(str(turn.says))


def _in_dialect(turn: Turn, engine: str) -> Turn:
    sql = {name: in_dialect(getattr(turn, name), engine) for name in ("sql", "then")}
    says = in_dialect(turn.says, engine) if isinstance(turn.says, str) else turn.says
    return replace(turn, **sql, says=says, drafts=tuple(in_dialect(draft, engine) for draft in turn.drafts))


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, default=_plain)


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    dumped = getattr(value, "model_dump", None)
    return dumped(mode="json") if dumped else str(value)


@contextmanager
def _own_folders(folder: Path) -> Generator[None]:
    """Keep caches, notes and records of a group its own, and models of the environment out of it."""
    own = {"TABLETURN_CACHE": str(folder / "cache"), "TABLETURN_HOME": str(folder / "home")}
    others = [name for name in os.environ if name.startswith(("TABLETURN_", "OPENAI_")) and "TEST" not in name]
    with mock.patch.dict(os.environ, own):
        for name in others:
            os.environ.pop(name, None)
        os.environ.update(own)
        yield


class _Patience:
    """Multiplies the package's own time limits while turns are played.

    Those are constants of modules named `...SECONDS`, and what a module holds that has `seconds`.
    """

    def __init__(self) -> None:
        self._before: dict[str, dict[str, Any]] = {}

    def spread(self) -> None:
        """Change the modules that were loaded since the last call."""
        for name, module in [*sys.modules.items()]:
            if name.startswith("tableturn.") and name not in self._before:
                before = self._before[name] = {
                    key: value for key, value in vars(module).items() if _is_limit(key, value)
                }
                for key, value in before.items():
                    setattr(module, key, _longer(value))

    def close(self) -> None:
        """Put everything back."""
        for name, before in self._before.items():
            for key, value in before.items():
                setattr(sys.modules[name], key, value)


def _is_limit(name: str, value: object) -> bool:
    if name.endswith("SECONDS"):
        return isinstance(value, int | float)
    return is_dataclass(value) and not isinstance(value, type) and "seconds" in {one.name for one in fields(value)}


def _longer(value: Any) -> Any:
    return value * _PATIENCE if isinstance(value, int | float) else replace(value, seconds=value.seconds * _PATIENCE)


_SECONDS = re.compile(r'("(?:\w*_)?(?:seconds|elapsed|milliseconds)": )[\d.e+-]+')
_MEASURED = re.compile(r"\b\d+(?:\.\d+)? (?:ms|milliseconds)\b|\b\d+\.\d+ (?:s|seconds)\b")
_ADDRESS = re.compile(r"\b(?:127\.0\.0\.1|localhost|::1):\d+\b")
_IDENTIFIER = re.compile(
    r"\b(?:[0-9a-f]{32,64}|[0-9a-f]{16}(?=\.knowledge)|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b"
)
_ESTIMATE = re.compile(r'"estimate": (?:\{[^}]*\}|null)')


def _cleaner(folder: Path, at: str) -> Callable[[str], str]:
    """Return what replaces all that differs from run to run: folders, days, seconds, addresses and identifiers."""
    today = datetime.now(UTC).date()
    days = [day for n in (-1, 0, 1, 2) if (day := today + timedelta(days=n))]
    stamps = re.compile("|".join(rf"{day}(?:[T ][\d:.]+(?:Z|[+-]\d\d:\d\d)?)?(?:, a {day:%A})?" for day in days))
    names = [(str(folder), "<folder>"), (os.path.realpath(folder), "<folder>")]
    if "://" in at:
        names += [(at, "<url>"), (at.rpartition("/")[2], "<database>")]

    def clean(text: str) -> str:
        for name, sign in names:
            text = text.replace(name, sign)
        text = stamps.sub("<today>", text)
        text = _SECONDS.sub(r"\1<seconds>", text)
        text = _MEASURED.sub("<duration>", text)
        return _IDENTIFIER.sub("<identifier>", _ADDRESS.sub("<address>", text))

    return clean


def _without_estimate(answer: str) -> str:
    """An answer without what a server's planner expects, which rests on its version and its samples."""
    return _ESTIMATE.sub('"estimate": <estimate>', answer)
