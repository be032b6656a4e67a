"""Answers one question after another about one database: parse, edit, build, try, score."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from ...tools.database import Database
from ...tools.database.schema import Schema
from ...tools.database.table import Cell, Limits
from ...tools.errors import NotUnderstood, QueryError, QueryFailed, QueryRejected
from ...tools.outgoing import Outgoing
from ...tools.values import ValueIndex
from ...tools.values.match import ValueMatch
from . import mentions
from .certainty import confidence, omits_content, signals, unread_words
from .dialect import from_engine, to_engine
from .followup import edited, follows
from .frames import Frame, build, read_sql, respelled
from .mentions import NameIndex, spelled_out, stem
from .mentions.lexicon import UNSPEAKABLE
from .parse import parse
from .pronouns import UnresolvedPronoun, unresolved_pronoun
from .reading import CUES, NOTHING, Asked, Reading
from .rivals import rivals, settled

_LONGEST = 1_000
"""Characters of a question: reading takes longer than its length grows."""
_REWORDED = [
    (re.compile(form, re.IGNORECASE), plain)
    for form, plain in (
        (r"\b(?:in|during|from) the (\d{3})0s\b", r"between \g<1>0 and \g<1>9"),
        (r"\b(?:on|in) or after(?= (?:the )?\d)", "since"),
        (r"\b(?:on|in) or before(?= (?:the )?\d)", "up to"),
    )
]
"""Turns of phrase that are read as others."""
_OWNS = re.compile(r"\bhow many (?P<what>\w+) (?:does|do|did) (?P<who>.+?) have\b", re.IGNORECASE)
_NON = re.compile(r"(?<![\"'\w])non-(?=\w)", re.IGNORECASE)
_TRIAL = Limits(seconds=0.05, rows=20)
_VALUES = 30
_NEGATION = re.compile(r"(?:#not|#isnot|#except)(?: \S+){0,2}")
_OTHER_WAY = 0.5
"""Confidence from which a question that cannot be read the way its words call for is read the other way."""


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
        choices: Readings that tie with this one, itself included; empty where it is the only best one.
        signals: What the confidence weighs.
    """

    frame: Frame
    sql: str
    confidence: float
    notes: tuple[str, ...]
    unread: tuple[str, ...]
    partial: bool = False
    choices: tuple[str, ...] = ()
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
        if names is None or names.schema.version != schema.version:
            names = self._names = NameIndex(schema)
        return names

    def answer(self, question: str, base_sql: str = "", clarification: tuple[str, str] | None = None) -> Answer:
        """Reads a question, as a follow-up where there is a previous query and it leans on it.

        Args:
            question: As asked.
            base_sql: The previous query; empty if there is none.
            clarification: What was asked back about this question and what the person said.

        Raises:
            NotUnderstood: It cannot be read.
        """
        if len(question) > _LONGEST:
            raise NotUnderstood(f"Without a model I read {_LONGEST:,} characters at most; these are {len(question):,}.")
        names = self.names()
        question = self._reworded(question, names)
        question = mentions.respelled(CUES["greeting"].sub("", question) or question, names, self._find)
        base_sql = from_engine(base_sql, names.schema)
        base = (read_sql(base_sql, names.schema) if base_sql else None) or NOTHING
        asked = Asked(question, names, self._find(question))
        if clarification:
            answered = settled(asked, base, *clarification)
            if isinstance(answered, Reading):
                return self._made(answered)
            asked = Asked(answered, names, self._find(answered))
        return self._answer(asked, base)

    def _reworded(self, question: str, names: NameIndex) -> str:
        """The question in plainer turns of phrase; `non-fiction` is no denial where something is called so."""
        for form, plain in _REWORDED:
            question = form.sub(plain, question)
        if not _NON.search(question) or any(word.startswith("non") for word in names.known):
            return question
        called_so = any(match.value.casefold().startswith("non") for match in self._find(question))
        return question if called_so else _NON.sub("not ", question)

    def _answer(self, asked: Asked, base: Frame) -> Answer:
        """The answer by the way of reading that the question's words call for; by the other one where that fails."""
        within = parse(asked, base)
        if base is NOTHING:
            if pronoun := unresolved_pronoun(asked.text, within):
                word = pronoun["pronoun"]
                raise UnresolvedPronoun(f"Nothing was asked before, so I cannot tell what {word!r} means.", (word,))
            return self._made(within)
        kinds = {mark.kind for mark in within.marks}
        apart = NOTHING if kinds & {"v", "n"} and not kinds & {"t", "x"} else base
        ways = [lambda: self._edit(within), lambda: self._made(parse(asked, apart))]
        first, second = ways if follows(within) else reversed(ways)
        try:
            return first()
        except NotUnderstood:
            with suppress(NotUnderstood):
                if (other := second()).confidence >= _OTHER_WAY:
                    return other
            raise

    def _edit(self, reading: Reading) -> Answer:
        base = reading.base
        reading.frame, reading.editing = edited(reading), True
        return self._made(reading, base)

    def _made(self, reading: Reading, unchanged: Frame | None = None) -> Answer:
        """The answer that a reading amounts to, tried once."""
        left_out = unread_words(reading)
        _check(reading, unchanged, left_out)
        stems = {word.stem for word in mentions.words_of(reading.asked.text)}
        sql = _written(reading.frame, reading.names.schema, stems)
        found = signals(reading, self._try(sql))
        choices = () if reading.editing else tuple(rival.phrase for rival in rivals(reading))
        sure = round(confidence(found), 3)
        partial = omits_content(reading)
        return Answer(reading.frame, sql, sure, _notes(reading, left_out), left_out, partial, choices, found)

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

    def corrected(self, answer: Answer) -> Answer:
        """The answer with texts that their columns do not hold replaced by the nearest ones that they do."""
        frame = respelled(answer.frame, self._values) if self._values else answer.frame
        if frame == answer.frame:
            return answer
        sql = _written(frame, self.names().schema)
        return replace(answer, frame=frame, sql=sql, notes=(*answer.notes, "values replaced by the nearest ones"))

    def _find(self, text: str) -> tuple[ValueMatch, ...]:
        return _of_owners(text, tuple(self._values.find(text, _VALUES)), self.names()) if self._values else ()


def _of_owners(text: str, values: tuple[ValueMatch, ...], names: NameIndex) -> tuple[ValueMatch, ...]:
    """The values, without those of what is counted where another table has them: in `how many albums does X have`."""
    found = _OWNS.search(text)
    if found is None:
        return values
    counted = {stem(found["what"].lower())}
    tables = {
        table.name for table in names.schema.tables if {stem(word) for word in spelled_out(table.name)} == counted
    }
    start, end = found.span("who")
    owners = {(v.start, v.end) for v in values if start <= v.start and v.end <= end and v.table not in tables}
    return tuple(v for v in values if v.table not in tables or (v.start, v.end) not in owners)


def _written(frame: Frame, schema: Schema, stems: Collection[str] = ()) -> str:
    """The frame as SQL of the database's engine."""
    return to_engine(build(frame, schema, stems).sql("sqlite"), schema)


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
    if _NEGATION.search(reading.text) and not (reading.editing and reading.says("others")):
        raise NotUnderstood("I could not place what is denied. Put it another way.", words)
    if frame.repeats():
        raise NotUnderstood("I cannot tell what you want to know: it would only show what you said.", words)


def _notes(reading: Reading, left_out: tuple[str, ...]) -> tuple[str, ...]:
    notes = ["read offline, without a model" + ", as a change to the previous query" * reading.editing]
    notes += [meaning for mark in reading.marks if (meaning := mark.meaning())]
    notes += ["patterns: " + ", ".join(dict.fromkeys(reading.fired))] * bool(reading.fired)
    notes += ["not used: " + ", ".join(left_out)] * bool(left_out)
    return tuple(dict.fromkeys(notes))
