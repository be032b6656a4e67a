"""Answers one question after another about one database: parse, edit, build, try, score; with a small cache."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ...tools.database import Database
from ...tools.database.schema import Schema
from ...tools.database.table import Limits
from ...tools.errors import NotUnderstood, QueryError, QueryFailed, QueryRejected
from ...tools.frames import Condition, Frame, build, read_sql
from ...tools.mentions import NameIndex
from ...tools.mentions.lexicon import UNSPEAKABLE
from ...tools.values import ValueIndex
from ...tools.values.match import ValueMatch
from .confidence import confidence, signals
from .cut import cut
from .dangling import named, pronoun
from .followup import complements, edited, follows, unanchored
from .parse import Parse, parse
from .reading import Reading
from .rivals import Rival, ask_back, chosen, rivals
from .unread import unplaced, unread

_CACHED = 64
_TRIAL = Limits(seconds=0.05, rows=20)
_VALUES = 30
_DENIAL = re.compile(
    r"\b(?:not|no|never|without|except|excluding|exclude|none|nobody|nothing|neither|lacking)\b|\w+n['’]t\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(r"(?:#not|#isnot|#except)(?: \S+){0,2}")
_YES = re.compile(
    r"^\W*(?:yes|yeah|yep|sure|right|correct|exactly|ok(?:ay)?|please do)\b[^a-z]*(?:please|thank(?:s| you)|that)?\W*$",
    re.IGNORECASE,
)
_ASKED = re.compile(r"^.*?\b(?:do|did|would) you (?:mean|want|like)(?: to (?:know|see))?\b", re.IGNORECASE)
_GREETING = re.compile(
    r"^(?:\W*\b(?:hi|hello|hey|thanks?|thank you|ok(?:ay)?|great|good|cool|nice|perfect|wonderful|awesome|there"
    r"|very much|"
    r"so much|for that|that(?:'s| is) (?:great|good|interesting|helpful)|interesting|oh|wow|sure|yes|no|good"
    r" (?:morning|day))\b)+"
    r"\s*[,.!]+\s*",
    re.IGNORECASE,
)


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
        asks: The question that settles which is meant.
        signals: What the confidence weighs.
    """

    frame: Frame
    sql: str
    confidence: float
    notes: tuple[str, ...]
    unread: tuple[str, ...]
    follow_up: bool
    choices: tuple[str, ...] = ()
    asks: str = ""
    signals: Mapping[str, float] = field(default_factory=dict[str, float])


class Engine:
    """The parser with its database. Threads may share one."""

    def __init__(self, database: Database, values: ValueIndex | None) -> None:
        self._database = database
        self._values = values
        self._lock = threading.Lock()
        self._names: NameIndex | None = None
        self._answers: OrderedDict[tuple[str, str, str], Answer | NotUnderstood] = OrderedDict()

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
            clarification: What was asked back about this question and what the person said; remembered for it.

        Raises:
            NotUnderstood: It cannot be read.
        """
        names = self.names()
        key = (question, base_sql, names.schema.version)
        with self._lock:
            known = self._answers.get(key)
        if known is None or clarification:
            try:
                known = self._answer(question, base_sql, names, clarification)
            except NotUnderstood as error:
                known = error
            with self._lock:
                self._answers[key] = known
                while len(self._answers) > _CACHED:
                    self._answers.popitem(last=False)
        if isinstance(known, NotUnderstood):
            raise NotUnderstood(str(known), known.words)
        return known

    def _answer(self, question: str, base_sql: str, names: NameIndex, clarification: tuple[str, str] | None) -> Answer:
        question = _GREETING.sub("", question) or question
        if clarification is not None and not base_sql and pronoun(question):
            question = named(question, clarification[1])
        elif clarification is not None:
            values = self._find(question)
            options = rivals(question, parse(question, names, values), names, values)
            said = chosen(clarification[1], options)
            if said is not None:
                return self._made(said.parse, said.parse.frame, False)
            if not (options and _YES.match(clarification[1])):
                question = _clarified(question, clarification)
        base = read_sql(base_sql, names.schema) if base_sql else None
        values = self._find(question)
        parsed = parse(question, names, values, base.used() if base else ())
        shorter = cut(base, parsed) if base is not None else None
        follow_up = base is not None and (shorter is not None or follows(question, parsed, base))
        if base is not None and not follow_up and all(mark.kind not in "tx" for mark in parsed.reading.marks):
            parsed = parse(question, names, values)
        beyond = tuple(word for word in parsed.reading.text.split() if word in UNSPEAKABLE)
        if beyond:
            raise NotUnderstood(f"I cannot compute this without a model: {', '.join(beyond)}.", beyond)
        if base is None and (word := unanchored(question, parsed.reading)):
            raise NotUnderstood(f"Nothing was asked before, so I cannot tell what {word!r} means.", (word,))
        frame = parsed.frame
        if base is not None and follow_up:
            frame = shorter or edited(base, question, parsed.reading)
        if shorter is not None:
            parsed = replace(parsed, frame=frame, reading=Reading(names, [], "", fired=["cut"]))
        nothing = not parsed.reading.marks and not parsed.reading.pending and frame in (base, parsed.frame)
        if (nothing and shorter is None) or not frame.used():
            words = unplaced(parsed.reading)
            raise NotUnderstood(_nothing(words, names.schema), words)
        if _NEGATION.search(parsed.reading.text) and not (follow_up and complements(question)):
            words = tuple(_DENIAL.findall(question))
            raise NotUnderstood(f"I could not place what is denied: {', '.join(words)}. Put it another way.", words)
        tied = () if follow_up else rivals(question, parsed, names, values)
        return self._made(parsed, frame, follow_up, tied)

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
            asks=ask_back(tied) if tied else "",
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


def _clarified(question: str, clarification: tuple[str, str]) -> str:
    """The question with what was settled about it: what was asked back if the person agrees, else their answer."""
    asked, answer = clarification
    if _YES.match(answer):
        return _ASKED.sub("", asked)
    return f"{question.rstrip(' ?.!')}. {answer}"


def _nothing(words: tuple[str, ...], schema: Schema) -> str:
    tables = ", ".join(table.name for table in schema.tables[:8])
    said = f"I could not place: {', '.join(words)}." if words else "I found nothing to look up in this question."
    return f"{said} The database has {tables}{' and more' if len(schema.tables) > 8 else ''}."


def _notes(parsed: Parse, left_out: tuple[str, ...], follow_up: bool) -> tuple[str, ...]:
    notes: list[str] = ["read offline, without a model" + (", as a change to the previous query" if follow_up else "")]
    reading = parsed.reading
    for mark in reading.marks:
        if mark.kind == "v" and mark.column:
            notes.append(f'"{mark.text}" as the value {mark.literal!r} of {mark.column.table}.{mark.column.name}')
        elif mark.kind in ("c", "x") and mark.column:
            notes.append(f'"{mark.text}" as the column {mark.column.table}.{mark.column.name}')
        elif mark.kind in ("t", "x") and mark.table:
            notes.append(f'"{mark.text}" as the table {mark.table}')
    if reading.fired:
        notes.append("patterns: " + ", ".join(dict.fromkeys(reading.fired)))
    if left_out:
        notes.append("not used: " + ", ".join(left_out))
    return tuple(dict.fromkeys(notes))
