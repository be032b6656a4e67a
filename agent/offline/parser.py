"""Answers one question after another about one database: parse, edit, build, try, score."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...tools.database import Database
from ...tools.database.schema import Schema
from ...tools.database.table import Cell, Limits
from ...tools.errors import NotUnderstood, QueryError, QueryFailed, QueryRejected
from ...tools.outgoing import Outgoing
from ...tools.values import ValueIndex
from ...tools.values.match import ValueMatch
from ..advice import advisory
from .certainty import confidence, omits_content, signals, unread_words
from .compose import edited, follows
from .frame import Frame
from .grammar import parse
from .names import NameIndex
from .reading import CUES, NOTHING, Asked, Reading
from .sql import read_sql, write_sql
from .words import UNSPEAKABLE, words_of

_LONGEST = 1_000
"""Characters of a question: reading takes longer than its length grows."""
_TRIAL = Limits(seconds=0.05, rows=20)
_VALUES = 30
_NEGATION = re.compile(r"(?:#not|#isnot|#except)(?: \S+){0,2}")
_PRONOUN = re.compile(
    r"\b(?:all )?(?:of )?(?P<pronoun>th(?:em|eirs?|ey)|hers?|his|him|he|she|its|th[eo]se(?! (?!are|were|have|is)\w))\b",
    re.IGNORECASE,
)


class UnresolvedPronoun(NotUnderstood):
    """A pronoun in the question refers to nothing that was asked before; `words` contains it.

    What to do: name what is meant.
    """


@dataclass(frozen=True)
class Answer:
    """A question read and turned into SQL.

    Attributes:
        frame: What it means.
        sql: The query.
        confidence: Probability that it is right.
        notes: How the words were read.
        unread: Words that played no part.
        partial: Whether some of them certainly matter.
        signals: What the confidence weighs.
    """

    frame: Frame
    sql: str
    confidence: float
    notes: tuple[str, ...]
    unread: tuple[str, ...]
    partial: bool = False
    signals: Mapping[str, float] = field(default_factory=dict[str, float])


class Engine:
    """The parser with its database. Threads may share one."""

    def __init__(self, database: Database, values: ValueIndex | None) -> None:
        self._database = database
        self._values = values
        self._names: NameIndex | None = None

    def names(self) -> NameIndex:
        """The index of the database's present schema."""
        schema, names = self._database.schema(), self._names
        if names is None or names.schema is not schema:
            names = self._names = NameIndex(schema)
        return names

    def answer(self, question: str, base_sql: str = "", said: str = "") -> Answer:
        """Reads a question, as a follow-up where there is a previous query and it leans on it.

        Args:
            question: As asked.
            base_sql: The previous query; empty if there is none.
            said: What the person said when something was asked back about this question.

        Raises:
            NotUnderstood: It cannot be read.
        """
        if len(question) > _LONGEST:
            raise NotUnderstood(f"Without a model I read {_LONGEST:,} characters at most; these are {len(question):,}.")
        names = self.names()
        question = CUES["greeting"].sub("", question) or question
        base = (_base(base_sql, names.schema) if base_sql else None) or NOTHING
        asked = Asked(question, names, self._find(question))
        if said:
            pronoun = _unresolved_pronoun(question, parse(asked)) if base is NOTHING else None
            start, end = pronoun.span() if pronoun else (len(question), len(question))
            question = f"{question[:start]}{'' if pronoun else '. '}{said.strip(' .?!')}{question[end:]}"
            asked = Asked(question, names, self._find(question))
        return self._answer(asked, base)

    def _answer(self, asked: Asked, base: Frame) -> Answer:
        """The answer by the way of reading that the question's words call for."""
        within = parse(asked, base)
        if base is NOTHING:
            if pronoun := _unresolved_pronoun(asked.text, within):
                word = pronoun["pronoun"]
                raise UnresolvedPronoun(f"Nothing was asked before, so I cannot tell what {word!r} means.", (word,))
            return self._made(within)
        kinds = {mark.kind for mark in within.marks}
        apart = NOTHING if kinds & {"v", "n"} and not kinds & {"t", "x"} else base
        if not follows(within):
            return self._made(parse(asked, apart))
        within.frame, within.editing = edited(within), True
        return self._made(within, base)

    def _made(self, reading: Reading, unchanged: Frame | None = None) -> Answer:
        """The answer that a reading amounts to, tried once."""
        left_out = unread_words(reading)
        _check(reading, unchanged, left_out)
        stems = {word.stem for word in words_of(reading.asked.text)}
        sql = write_sql(reading.frame, reading.names.schema, stems)
        found = signals(reading, self._try(sql))
        sure = round(confidence(found), 3)
        partial = omits_content(reading)
        return Answer(reading.frame, sql, sure, _notes(reading, left_out), left_out, partial, found)

    def _try(self, sql: str) -> tuple[tuple[Cell, ...], ...] | None:
        """The first rows of the query; None where it takes too long to know.

        Raises:
            NotUnderstood: It cannot run at all, so the question was misread.
        """
        try:
            tried = Outgoing(self._database).execute(sql, _TRIAL)
            return None if tried.withheld else tried.rows
        except (QueryFailed, QueryRejected) as error:
            raise NotUnderstood("What I read into this question is no query that runs. Put it another way.") from error
        except QueryError:
            return None

    def _find(self, text: str) -> tuple[ValueMatch, ...]:
        return tuple(self._values.find(text, _VALUES)) if self._values else ()


@advisory("follow-up", None)
def _base(sql: str, schema: Schema) -> Frame | None:
    """Return the frame of the query before; None where it says what a frame cannot."""
    return read_sql(sql, schema)


def _unresolved_pronoun(question: str, reading: Reading) -> re.Match[str] | None:
    """Return the pronoun of a first question that comes before all that it could stand for."""
    found = _PRONOUN.search(question)
    named = [question.lower().find(m.text.lower()) for m in reading.marks if m.kind in "tcxv" and m.text]
    return found if found and not any(-1 < at < found.start() for at in named) else None


def _check(reading: Reading, unchanged: Frame | None, words: tuple[str, ...]) -> None:
    """Raises `NotUnderstood` where a frame is no answer; `unchanged` is what it would be if no word said anything."""
    frame = reading.frame
    beyond = tuple(word for word in reading.text.split() if word in UNSPEAKABLE)
    if beyond:
        raise NotUnderstood(f"I cannot compute this without a model: {', '.join(beyond)}.", beyond)
    says_nothing = not reading.marks and not reading.pending and unchanged in (None, frame)
    if not frame.used() or says_nothing:
        tables = [table.name for table in reading.names.schema.tables]
        problem = f"I could not place: {', '.join(words)}." if words else "I found nothing to look up in this question."
        offer = f"The database has {', '.join(tables[:8])}{' and more' * (len(tables) > 8)}."
        raise NotUnderstood(f"{problem} {offer}", words)
    if _NEGATION.search(reading.text):
        raise NotUnderstood("I could not place what is denied. Put it another way.", words)
    if frame.repeats():
        raise NotUnderstood("I cannot tell what you want to know: it would only show what you said.", words)


def _notes(reading: Reading, left_out: tuple[str, ...]) -> tuple[str, ...]:
    notes = ["read offline, without a model" + ", as a change to the previous query" * reading.editing]
    notes += [meaning for mark in reading.marks if (meaning := mark.meaning())]
    notes += ["patterns: " + ", ".join(dict.fromkeys(reading.fired))] * bool(reading.fired)
    notes += ["not used: " + ", ".join(left_out)] * bool(left_out)
    return tuple(dict.fromkeys(notes))
