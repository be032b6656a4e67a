"""A question's reading in progress: its masked text, and the frame's parts so far."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import cast

from ...tools.values.match import ValueMatch
from .frame import Column, Operand, Operator, Predicate, QueryFrame, Scalar, Value
from .mentions import Mention, StemIndex

_MARK = re.compile(r"@([a-z])(\d+)")
_KINDS = {"C": "cx", "T": "tx", "V": "vq", "N": "n", "L": "vqn", "O": "o", "S": "s", "A": "a", "K": "cxa", "E": "cxt"}
_MACRO = re.compile(r"\{(?:([a-z]+):)?([A-Z])\}|\{([a-z_]{2,})\}")
_REVERSED = {">": "<", ">=": "<=", "<": ">", "<=": ">="}

NOTHING = QueryFrame()
"""The base query of a conversation before its first answer."""


@dataclass(frozen=True)
class QuestionInput:
    """A question, with the schema's name index and the database values that it mentions."""

    text: str
    names: StemIndex
    values: tuple[ValueMatch, ...] = ()


@dataclass
class ParseState:
    """The state of parsing a question; patterns take words from `text` and fill other fields.

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
        count_table: The table whose rows are counted in each group.
        per_subject: Whether rows are grouped by what is asked for.
        pending: An order without its key.
        combine: A condition that other rows with the same values must meet.
        patterns: The patterns that took words, in order.
        leftovers: Text that patterns passed over or that inner clauses left.
    """

    question: QuestionInput
    marks: list[Mention]
    text: str
    base: QueryFrame = NOTHING
    frame: QueryFrame = NOTHING
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
    count_table: str = ""
    per_subject: bool = False
    pending: str = ""
    combine: Predicate | None = None
    patterns: list[str] = field(default_factory=list[str])
    leftovers: list[str] = field(default_factory=list[str])

    @property
    def names(self) -> StemIndex:
        """The index of the schema's names."""
        return self.question.names

    @property
    def distinct(self) -> bool:
        """Whether duplicate rows are removed from the result."""
        return "#distinct" in self.text

    def has_cue(self, cue: str) -> bool:
        """Whether the question matches the pattern of a cue, such as a greeting."""
        return CUES[cue].search(self.question.text) is not None

    def get_mention(self, marker: str) -> Mention:
        """Return the mention that a marker such as `@c3` stands for."""
        return self.marks[int(marker[2:])]

    def table(self, marker: str) -> str:
        """Return the table that a marker `@t` or `@x` stands for."""
        return self.get_mention(marker).table or ""

    def column(self, marker: str) -> Column:
        """Return the column that a marker `@c`, `@x` or `@v` stands for."""
        column = self.get_mention(marker).column
        assert column is not None
        return column

    def get_operand(self, marker: str) -> Operand:
        """Return the column or aggregate that a marker `@c`, `@x` or `@a` stands for."""
        number = int(marker[2:])
        return self.terms.get(number) or Operand(self.marks[number].column)

    def is_table_mention(self, marker: str) -> bool:
        """Whether a marker stands for a table's rows rather than for a column."""
        mark = self.get_mention(marker)
        return marker[1] == "t" or (marker[1] == "x" and (mark.column is None or mark.hits[0].column is None))

    def list_title_columns(self, table: str) -> tuple[Operand, ...]:
        """Return the columns that hold the name or title of a table's rows, as operands."""
        return tuple(Operand(column) for column in self.names.find_titles(table))

    def add_operand(self, term: Operand, like: Mention | None = None) -> str:
        """Add a mention of a column or an aggregate, and return the new marker."""
        mention = replace(like, kind="a", matches=[]) if like else Mention("a", 0, 0, "")
        if not term.aggregate:
            mention.kind, mention.column = "c", term.column
        self.marks.append(mention)
        if term.aggregate:
            self.terms[len(self.marks) - 1] = term
        return f"@{mention.kind}{len(self.marks) - 1}"

    def add(self, term: Operand, operator: Operator, value: Value) -> str:
        """Add a condition on rows, or on groups for an aggregate; return the marker, if any."""
        if not term.aggregate:
            return self.add_alternatives(Predicate(term, operator, value))
        self.having.append(Predicate(term, operator, value))
        self.per_subject = True
        return ""

    def add_alternatives(self, *conditions: Predicate) -> str:
        """Add conditions of which at least one must hold, and return one marker for all."""
        self.where.append(conditions)
        return f"@w{len(self.where) - 1}"

    def list_tables(self) -> list[str]:
        """Return the tables that the question mentions so far; if none, those of the base query."""
        tables = [m.table for m in self.marks if m.kind in ("t", "x") and m.table]
        tables += [m.column.table for m in self.marks if m.kind in "cv" and m.column]
        return list(dict.fromkeys(tables)) or list(self.base.list_tables())

    def find_markers(self, kinds: str, text: str | None = None) -> list[str]:
        """Return the markers of the given kinds in `text`, or in the text still to be parsed."""
        matches = _MARK.finditer(self.text if text is None else text)
        return [m.group() for m in matches if m.group(1) in kinds]

    def parse_clause(self, text: str, *stages: str) -> ParseState:
        """Parse a clause separately, with the same mentions; record unread words as dropped."""
        clause = ParseState(self.question, self.marks, text.strip(), self.base, terms=self.terms)
        apply_pattern_stages(clause, *stages)
        self.leftovers.append(clause.text)
        clause.tables += map(self.table, clause.find_markers("t"))
        return clause


class PatternMatch:
    """A match of a pattern in a question; missing named parts are empty."""

    def __init__(self, reading: ParseState, match: re.Match[str]) -> None:
        self.reading = reading
        self.text = match[0]
        self.before = reading.text[: match.start()]
        self.after = reading.text[match.end() :]
        self._parts = match.groupdict()

    def __getitem__(self, part: str) -> str:
        return (self._parts.get(part) or "").strip()

    def get_mention(self, group: str) -> Mention:
        """Return the mention in a named group of the match."""
        return self.reading.get_mention(self[group])

    def column(self, group: str) -> Column | None:
        """Return the column in a named group; None if the group or the column is missing."""
        return self.get_mention(group).column if self[group].startswith("@") else None

    def literal(self, group: str) -> Scalar:
        """Return the number or text value in a named group of the match."""
        literal = self.get_mention(group).literal
        assert literal is not None
        return literal

    def get_comparison_operator(self, column: Column | None = None) -> Operator:
        """Return the comparison operator, reversed for `older than` with a birth date."""
        mark = self.get_mention("o") if self["o"] else None
        operator: str = mark.operator if mark else {"#ormore": ">=", "#orless": "<="}.get(self["suffix"], "=")
        born = mark is not None and column is not None and "birth" in mark.hints and "birth" in column.name.lower()
        return _REVERSED.get(operator, operator) if born else operator  # type: ignore[return-value]


Handler = Callable[[PatternMatch], str | None]
_HANDLERS: dict[str, Handler] = {}


def register_handler(*patterns: str) -> Callable[[Handler], Handler]:
    """Register a function as the handler of the named patterns.

    It puts what a match means into the reading and gives what takes the words' place; None leaves them.
    """

    def register(handler: Handler) -> Handler:
        _HANDLERS.update(dict.fromkeys(patterns, handler))
        return handler

    return register


class Pattern:
    """A named grammar rule; other words within a match are recorded as dropped."""

    def __init__(self, name: str, forms: str | list[str]) -> None:
        expressions = [_expand_macros(form) for form in ([forms] if isinstance(forms, str) else forms)]
        self.name = name
        self._forms = [re.compile(rf"(?<!\S)(?:{form})(?!\S)") for form in expressions]
        self._words = frozenset(re.findall(r"[a-z]{2,}", " ".join(expressions)))

    def apply_to_question(self, state: ParseState) -> None:
        """Pass each match to the pattern's handler and replace the matched words in the question."""
        for form in self._forms:
            position = 0
            while match := form.search(state.text, position):
                replacement = _HANDLERS[self.name](PatternMatch(state, match))
                if replacement is None:
                    position = match.start() + 1
                    continue
                state.patterns.append(self.name)
                remaining_words = {*self._words, *replacement.split()}
                words = (word for word in match[0].split() if word not in remaining_words)
                state.leftovers.extend(word for word in words if word.isalpha() and len(word) > 1)
                before = state.text[: match.start()].rstrip()
                state.text = " ".join(f"{before} {replacement} {state.text[match.end() :]}".split())
                position = len(before)


def _expand_macros(form: str) -> str:

    def expand_macro(match: re.Match[str]) -> str:
        if match[3]:
            return _expand_macros(_WORDS[match[3]])
        marker = rf"@[{_KINDS[match[2]]}]\d+"
        return f"(?P<{match[1]}>{marker})" if match[1] else marker

    return _MACRO.sub(expand_macro, re.sub(r"\n {4}", "", form))


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


def apply_pattern_stages(state: ParseState, *stages: str) -> None:
    """Apply the patterns of the given stages to a question, in order."""
    for stage in stages:
        for pattern in STAGES[stage]:
            pattern.apply_to_question(state)
