"""A question's reading in progress: its masked text, and the frame's parts so far."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import cast

from ...tools.values.match import ValueMatch
from .frame import Column, Frame, Operand, Operator, Predicate, Scalar, Value
from .mentions import NameIndex, WordRun

_MARK = re.compile(r"@([a-z])(\d+)")
_KINDS = {"C": "cx", "T": "tx", "V": "vq", "N": "n", "L": "vqn", "O": "o", "S": "s", "A": "a", "K": "cxa", "E": "cxt"}
_MACRO = re.compile(r"\{(?:([a-z]+):)?([A-Z])\}|\{([a-z_]{2,})\}")
_FLIPPED = {">": "<", ">=": "<=", "<": ">", "<=": ">="}

NOTHING = Frame()
"""The base query of a conversation before its first answer."""


@dataclass(frozen=True)
class QuestionInput:
    """A question, the index of the schema's names, and the database's values that it mentions."""

    text: str
    names: NameIndex
    values: tuple[ValueMatch, ...] = ()


@dataclass
class QuestionReading:
    """A reading in progress; patterns take words away from `text` and add to the other fields.

    Attributes:
        question: The question.
        marks: Mentions and terms, by the number in their marker: `@c3` is `marks[3]`, a column.
        text: What is still to be read, markers and words with single spaces between.
        base: The query that the conversation is about.
        frame: What the finished reading means.
        editing: Whether that is a change to the base.
        terms: Aggregates by the number of their marker.
        tables: Tables that must be joined.
        several: How many rows a superlative wants.
        counted: The table whose rows are counted in each group.
        per_subject: Whether rows are grouped by what is asked for.
        pending: An order without its key.
        combine: A condition that other rows with the same values must meet.
        fired: The patterns that took words, in order.
        dropped: Text that patterns passed over or that inner clauses left.
    """

    question: QuestionInput
    marks: list[WordRun]
    text: str
    base: Frame = NOTHING
    frame: Frame = NOTHING
    editing: bool = False
    terms: dict[int, Operand] = field(default_factory=dict[int, Operand])
    tables: list[str] = field(default_factory=list[str])
    where: list[tuple[Predicate, ...]] = field(default_factory=list[tuple[Predicate, ...]])
    group: list[Column] = field(default_factory=list[Column])
    group_tables: list[str] = field(default_factory=list[str])
    having: list[Predicate] = field(default_factory=list[Predicate])
    order: list[tuple[Operand, bool]] = field(default_factory=list[tuple[Operand, bool]])
    limit: int | None = None
    several: int = 1
    counted: str = ""
    per_subject: bool = False
    pending: str = ""
    combine: Predicate | None = None
    fired: list[str] = field(default_factory=list[str])
    dropped: list[str] = field(default_factory=list[str])

    @property
    def names(self) -> NameIndex:
        """The schema."""
        return self.question.names

    @property
    def distinct(self) -> bool:
        """Whether equal rows are shown once."""
        return "#distinct" in self.text

    def has_cue(self, cue: str) -> bool:
        """Whether a cue of the table of patterns occurs in the question."""
        return CUES[cue].search(self.question.text) is not None

    def mark(self, marker: str) -> WordRun:
        """Return the mention behind a marker."""
        return self.marks[int(marker[2:])]

    def table(self, marker: str) -> str:
        """Return the table behind `@t` or `@x`."""
        return self.mark(marker).table or ""

    def column(self, marker: str) -> Column:
        """Return the column behind `@c`, `@x` or `@v`."""
        column = self.mark(marker).column
        assert column is not None
        return column

    def term(self, marker: str) -> Operand:
        """Return the column or aggregate behind `@c`, `@x` or `@a`."""
        number = int(marker[2:])
        return self.terms.get(number) or Operand(self.marks[number].column)

    def is_entity(self, marker: str) -> bool:
        """Whether words that may name a table or a column stand for the table's rows."""
        mark = self.mark(marker)
        return marker[1] == "t" or (marker[1] == "x" and (mark.column is None or mark.hits[0].column is None))

    def list_title_terms(self, table: str) -> tuple[Operand, ...]:
        """Return the terms that name the rows of a table."""
        return tuple(Operand(column) for column in self.names.choose_title(table))

    def add_term(self, term: Operand, like: WordRun | None = None) -> str:
        """Return a new marker: `@a` for an aggregate, `@c` for a column."""
        made = replace(like, kind="a", matches=[]) if like else WordRun("a", 0, 0, "")
        if not term.aggregate:
            made.kind, made.column = "c", term.column
        self.marks.append(made)
        if term.aggregate:
            self.terms[len(self.marks) - 1] = term
        return f"@{made.kind}{len(self.marks) - 1}"

    def add(self, term: Operand, operator: Operator, value: Value) -> str:
        """Add a condition on rows or, for an aggregate, on groups; return its marker, if any."""
        if not term.aggregate:
            return self.add_alternatives(Predicate(term, operator, value))
        self.having.append(Predicate(term, operator, value))
        self.per_subject = True
        return ""

    def add_alternatives(self, *conditions: Predicate) -> str:
        """Add conditions of which one must hold; return their marker."""
        self.where.append(conditions)
        return f"@w{len(self.where) - 1}"

    def list_tables(self) -> list[str]:
        """Return the tables that the question has mentioned so far, else those of the base query."""
        found = [m.table for m in self.marks if m.kind in ("t", "x") and m.table]
        found += [m.column.table for m in self.marks if m.kind == "c" and m.column]
        return list(dict.fromkeys(found)) or list(self.base.list_tables())

    def markers(self, kinds: str, text: str | None = None) -> list[str]:
        """Return the markers of these kinds that are left in the text, in order."""
        found = _MARK.finditer(self.text if text is None else text)
        return [m.group() for m in found if m.group(1) in kinds]

    def read_clause(self, text: str, *stages: str) -> QuestionReading:
        """Read a clause by itself, with the same mentions; words left count as passed over."""
        clause = QuestionReading(self.question, self.marks, text.strip(), self.base, terms=self.terms)
        read_stages(clause, *stages)
        self.dropped.append(clause.text)
        clause.tables += map(self.table, clause.markers("t"))
        return clause


class PatternMatch:
    """A place where a form of a pattern matched; named parts that are missing are empty."""

    def __init__(self, reading: QuestionReading, match: re.Match[str]) -> None:
        self.reading = reading
        self.text = match[0]
        self.before = reading.text[: match.start()]
        self.after = reading.text[match.end() :]
        self._parts = match.groupdict()

    def __getitem__(self, part: str) -> str:
        return (self._parts.get(part) or "").strip()

    def mark(self, part: str) -> WordRun:
        """Return the mention of a part."""
        return self.reading.mark(self[part])

    def column(self, part: str) -> Column | None:
        """Return the column of a part; None where the part or its column is missing."""
        return self.mark(part).column if self[part].startswith("@") else None

    def literal(self, part: str) -> Scalar:
        """Return the number or value of a part."""
        literal = self.mark(part).literal
        assert literal is not None
        return literal

    def operator(self, column: Column | None = None) -> Operator:
        """Return the comparison operator; `older than` a birth date turns it round."""
        mark = self.mark("o") if self["o"] else None
        operator: str = mark.operator if mark else {"#ormore": ">=", "#orless": "<="}.get(self["suffix"], "=")
        born = mark is not None and column is not None and "birth" in mark.hints and "birth" in column.name.lower()
        return _FLIPPED.get(operator, operator) if born else operator  # type: ignore[return-value]


Handler = Callable[[PatternMatch], str | None]
_HANDLERS: dict[str, Handler] = {}


def handles(*patterns: str) -> Callable[[Handler], Handler]:
    """Make a function the handler of some patterns.

    It puts what a match means into the reading and gives what takes the words' place; None leaves them.
    """

    def register(handler: Handler) -> Handler:
        _HANDLERS.update(dict.fromkeys(patterns, handler))
        return handler

    return register


class Pattern:
    """A named piece of grammar; words that its forms match but do not name count as passed over."""

    def __init__(self, name: str, forms: str | list[str]) -> None:
        spelled = [_expand_macros(form) for form in ([forms] if isinstance(forms, str) else forms)]
        self.name = name
        self._forms = [re.compile(rf"(?<!\S)(?:{form})(?!\S)") for form in spelled]
        self._spoken = frozenset(re.findall(r"[a-z]{2,}", " ".join(spelled)))

    def apply(self, reading: QuestionReading) -> None:
        """Pass each match to the pattern's handler and replace the matched words in the reading."""
        for form in self._forms:
            at = 0
            while match := form.search(reading.text, at):
                left = _HANDLERS[self.name](PatternMatch(reading, match))
                if left is None:
                    at = match.start() + 1
                    continue
                reading.fired.append(self.name)
                kept = {*self._spoken, *left.split()}
                passed = (word for word in match[0].split() if word not in kept)
                reading.dropped.extend(word for word in passed if word.isalpha() and len(word) > 1)
                before = reading.text[: match.start()].rstrip()
                reading.text = " ".join(f"{before} {left} {reading.text[match.end() :]}".split())
                at = len(before)


def _expand_macros(form: str) -> str:
    """Replace the macros in a form."""

    def spell(match: re.Match[str]) -> str:
        if match[3]:
            return _expand_macros(_WORDS[match[3]])
        marker = rf"@[{_KINDS[match[2]]}]\d+"
        return f"(?P<{match[1]}>{marker})" if match[1] else marker

    return _MACRO.sub(spell, re.sub(r"\n {4}", "", form))


_TABLE: dict[str, dict[str, str | list[str]]] = tomllib.loads(
    files(__name__.rpartition(".")[0]).joinpath("data/patterns.toml").read_text("utf-8")
)
_WORDS = cast("dict[str, str]", _TABLE.pop("words"))
CUES = {
    name: re.compile(_expand_macros(form), re.IGNORECASE)
    for name, form in cast("dict[str, str]", _TABLE.pop("cues")).items()
}
"""Cues that a question leans on an earlier one, and small talk."""
STAGES = {stage: [Pattern(*named) for named in table.items()] for stage, table in _TABLE.items()}
"""The table of patterns, in the order in which they are read."""


def read_stages(reading: QuestionReading, *stages: str) -> None:
    """Run the patterns of some stages in order."""
    for stage in stages:
        for one in STAGES[stage]:
            one.apply(reading)
