"""Answers one question after another about one database: parse, edit, build, try, score; with a small cache."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from ...tools.database import Database
from ...tools.database.schema import Schema
from ...tools.database.table import Limits
from ...tools.errors import NotUnderstood, QueryError, QueryFailed, QueryRejected
from ...tools.frames import Condition, Frame, build, read_sql
from ...tools.mentions import NameIndex, respelled
from ...tools.mentions.lexicon import UNSPEAKABLE
from ...tools.values import ValueIndex
from ...tools.values.match import ValueMatch
from .confidence import confidence, signals
from .cut import cut
from .dangling import Dangling, dangling
from .followup import complements, edited, follows
from .parse import NOTHING, Parse, parse
from .reading import Reading
from .rivals import Rival, chosen, rivals
from .unread import repeats, unplaced, unread

_CACHED = 64
_TRIAL = Limits(seconds=0.05, rows=20)
_VALUES = 30
_NEGATION = re.compile(r"(?:#not|#isnot|#except)(?: \S+){0,2}")
_YES = re.compile(
    r"^\W*(?:yes|yeah|yep|sure|right|correct|exactly|ok(?:ay)?|please do)\b[^a-z]*(?:please|thank(?:s| you)|that)?\W*$",
    re.IGNORECASE,
)
_ASKED = re.compile(r"^.*?\b(?:do|did|would) you (?:mean|want|like)(?: to (?:know|see))?\b", re.IGNORECASE)
_POLITE = (
    r"(?:hi|hello|hey|thanks?|thank you|thx|bye|goodbye|ok(?:ay)?|great|good|cool|nice|perfect|wonderful|awesome|sure"
    r"|yes|no|got it|i see|very|much|so|that|is|it|all|for|now|your|help|you(?:'re)?|welcome|morning|evening|have|a|day"
    r"|helpful|interesting|sounds|how are|please|well|fine|was|the|there|oh|wow)\b"
)
_GREETING = re.compile(rf"^(?:\W*\b{_POLITE})+\s*[,.!]+\s*", re.IGNORECASE)
_SMALL_TALK = re.compile(rf"^\W*(?:{_POLITE}\W*)+$", re.IGNORECASE)


@dataclass(frozen=True)
class Answer:
    """A question read and turned into SQL.

    Attributes:
        frame: What it means.
        sql: The query.
        confidence: Probability that it is right.
        notes: How the words were read.
        unread: Words that played no part.
        follow_up: Whether the previous query was edited.
        choices: Readings that tie with this one, itself included; empty where it is the only best one.
        signals: What the confidence weighs.
    """

    frame: Frame
    sql: str
    confidence: float
    notes: tuple[str, ...]
    unread: tuple[str, ...]
    follow_up: bool
    choices: tuple[str, ...] = ()
    signals: Mapping[str, float] = field(default_factory=dict[str, float])


class Engine:
    """The parser with its database. Threads may share one."""

    def __init__(self, database: Database, values: ValueIndex | None) -> None:
        self._database = database
        self._values = values
        self._lock = threading.Lock()
        self._names: NameIndex | None = None
        self._tried = lru_cache(_CACHED)(self._try_to_answer)

    def names(self) -> NameIndex:
        """The index of the database's present schema."""
        schema = self._database.schema()
        with self._lock:
            if self._names is None or self._names.schema.version != schema.version:
                self._names = NameIndex(schema)
            return self._names

    def answer(self, question: str, base_sql: str = "", clarification: tuple[str, str] | None = None) -> Answer:
        """Reads a question, as a follow-up where there is a previous query and it leans on it.

        Args:
            question: As asked.
            base_sql: The previous query; empty if there is none.
            clarification: What was asked back about this question and what the person said.

        Raises:
            NotUnderstood: It cannot be read.
        """
        found = self._tried(question, base_sql, clarification, self.names())
        if isinstance(found, Answer):
            return found
        raise type(found)(str(found), found.words)

    def _try_to_answer(
        self, question: str, base_sql: str, clarification: tuple[str, str] | None, names: NameIndex
    ) -> Answer | NotUnderstood:
        question = respelled(_GREETING.sub("", question) or question, names, self._find)
        try:
            settled = self._settled(question, base_sql, names, clarification) if clarification else question
            if isinstance(settled, Parse):
                return self._made(settled, settled.frame, False)
            return self._answer(settled, base_sql, names)
        except NotUnderstood as error:
            return error

    def _settled(self, question: str, base_sql: str, names: NameIndex, clarification: tuple[str, str]) -> Parse | str:
        """The reading that the person chose, else the question with what they said in it."""
        asked, said = clarification
        values = self._find(question)
        parsed = parse(question, names, values)
        agrees = _YES.match(said) is not None
        if not (base_sql or agrees) and (pronoun := dangling(question, parsed.reading)):
            return f"{question[: pronoun.start()]}{said.strip(' .?!')}{question[pronoun.end() :]}"
        options = rivals(question, parsed, names, values)
        picked = chosen(said, options)
        if picked is not None:
            return picked.parse
        if agrees:
            return question if options else _ASKED.sub("", asked)
        return f"{question.rstrip(' ?.!')}. {said}"

    def _answer(self, question: str, base_sql: str, names: NameIndex) -> Answer:
        base = read_sql(base_sql, names.schema) if base_sql else None
        values = self._find(question)
        parsed = parse(question, names, values, base or NOTHING)
        shorter = cut(base, parsed) if base is not None else None
        if shorter is not None:
            reading = Reading(names, [], "", fired=["cut"])
            return self._made(replace(parsed, frame=shorter, reading=reading), shorter, True)
        follow_up = base is not None and follows(question, parsed, base)
        if base is not None and not follow_up and all(mark.kind not in "tx" for mark in parsed.reading.marks):
            parsed = parse(question, names, values)
        reading = parsed.reading
        beyond = tuple(word for word in reading.text.split() if word in UNSPEAKABLE)
        if beyond:
            raise NotUnderstood(f"I cannot compute this without a model: {', '.join(beyond)}.", beyond)
        if base is None and (pronoun := dangling(question, reading)):
            word = pronoun["pronoun"]
            raise Dangling(f"Nothing was asked before, so I cannot tell what {word!r} means.", (word,))
        frame = edited(base, question, reading) if base is not None and follow_up else parsed.frame
        nothing = not reading.marks and not reading.pending and frame in (base, parsed.frame)
        if nothing or not frame.used():
            words = unplaced(reading)
            raise NotUnderstood(_nothing(words, names.schema), words)
        if _NEGATION.search(reading.text) and not (follow_up and complements(question)):
            raise NotUnderstood("I could not place what is denied. Put it another way.", unplaced(reading))
        if repeats(frame):
            raise NotUnderstood(
                "I cannot tell what you want to know: it would only show what you said.", unplaced(reading)
            )
        return self._made(parsed, frame, follow_up, () if follow_up else rivals(question, parsed, names, values))

    def _find(self, question: str) -> tuple[ValueMatch, ...]:
        return tuple(self._values.find(question, _VALUES)) if self._values else ()

    def _made(self, parsed: Parse, frame: Frame, follow_up: bool, tied: tuple[Rival, ...] = ()) -> Answer:
        """The answer that a frame amounts to, tried once."""
        sql = build(frame, self.names().schema, parsed.said).sql("sqlite")
        found = signals(parsed, frame, self._try(sql), follow_up)
        left_out = unread(parsed.reading, frame, follow_up)
        return Answer(
            frame=frame,
            sql=sql,
            confidence=round(confidence(found), 3),
            notes=_notes(parsed, left_out, follow_up),
            unread=left_out,
            follow_up=follow_up,
            choices=tuple(rival.phrase for rival in tied),
            signals=found,
        )

    def _try(self, sql: str) -> int | None:
        """Rows of the query, up to a few; None where it takes too long to know.

        Raises:
            NotUnderstood: It cannot run at all, so the question was misread.
        """
        try:
            return len(self._database.execute(sql, _TRIAL).rows)
        except (QueryFailed, QueryRejected) as error:
            raise NotUnderstood(f"What I read into this question is no query that runs ({error}).") from None
        except QueryError:
            return None

    def corrected(self, answer: Answer) -> Answer:
        """The answer with texts that their columns do not hold replaced by the nearest ones that they do."""
        where = tuple(tuple(self._corrected(condition) for condition in group) for group in answer.frame.where)
        if where == answer.frame.where:
            return answer
        frame = replace(answer.frame, where=where)
        sql = build(frame, self.names().schema).sql("sqlite")
        return replace(answer, frame=frame, sql=sql, notes=(*answer.notes, "values replaced by the nearest ones"))

    def _corrected(self, condition: Condition) -> Condition:
        column, text = condition.term.column, condition.value
        if self._values is None or column is None or not isinstance(text, str) or condition.operator not in ("=", "!="):
            return condition
        if self._values.holds(column.table, column.name, text):
            return condition
        near = self._values.nearest(column.table, column.name, text, 1)
        return replace(condition, value=near[0]) if near else condition


def small_talk(text: str) -> bool:
    """Whether nothing is asked: greetings and thanks."""
    return _SMALL_TALK.match(text) is not None


def _nothing(words: tuple[str, ...], schema: Schema) -> str:
    tables = ", ".join(table.name for table in schema.tables[:8])
    said = f"I could not place: {', '.join(words)}." if words else "I found nothing to look up in this question."
    return f"{said} The database has {tables}{' and more' if len(schema.tables) > 8 else ''}."


def _notes(parsed: Parse, left_out: tuple[str, ...], follow_up: bool) -> tuple[str, ...]:
    notes: list[str] = ["read offline, without a model" + (", as a change to the previous query" if follow_up else "")]
    reading = parsed.reading
    for mark in reading.marks:
        meant = (
            f"column {mark.column.table}.{mark.column.name}"
            if mark.column and mark.kind != "t"
            else f"table {mark.table}"
        )
        if mark.kind == "v" and mark.column:
            notes.append(f'"{mark.text}" as the value {mark.literal!r} of {meant.removeprefix("column ")}')
        elif mark.kind in "ctx" and (mark.column or mark.table):
            notes.append(f'"{mark.text}" as the {meant}')
    if reading.fired:
        notes.append("patterns: " + ", ".join(dict.fromkeys(reading.fired)))
    if left_out:
        notes.append("not used: " + ", ".join(left_out))
    return tuple(dict.fromkeys(notes))
