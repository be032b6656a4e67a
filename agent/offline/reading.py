"""The state of reading one question: its masked text, and the parts of the frame that patterns have found."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .frame import Column, Condition, Frame, SetOperator, Term
from .mentions import Mention
from .names import NameIndex

_MARK = re.compile(r"@([a-z])(\d+)")
_MACROS = {
    "{C}": r"@[cx]\d+",
    "{T}": r"@[tx]\d+",
    "{V}": r"@[vq]\d+",
    "{N}": r"@n\d+",
    "{L}": r"@[vqn]\d+",
    "{O}": r"@o\d+",
    "{S}": r"@s\d+",
    "{A}": r"@a\d+",
    "{K}": r"@[cxa]\d+",
}


@dataclass
class Reading:
    """What has been read so far; patterns take words away from `text` and add to the rest.

    Attributes:
        names: The schema.
        marks: Mentions and terms, by the number in their marker: `@c3` is `marks[3]`, a column.
        text: What is still to be read, markers and words with single spaces between.
        context: Tables that the conversation is about.
        terms: Aggregates by the number of their marker.
        tables: Tables that must be joined.
        several: How many rows a superlative wants.
        counted: The table whose rows are counted in each group.
        per_subject: Whether rows are grouped by what is asked for.
        pending: An order without its key.
        everything: Whether all columns are asked for.
        notes: How words were read, for people.
        fired: The patterns that took words, in order.
        dropped: Text that patterns passed over or that inner clauses left.
    """

    names: NameIndex
    marks: list[Mention]
    text: str
    context: tuple[str, ...] = ()
    terms: dict[int, Term] = field(default_factory=dict[int, Term])
    tables: list[str] = field(default_factory=list[str])
    where: list[tuple[Condition, ...]] = field(default_factory=list[tuple[Condition, ...]])
    group: list[Column] = field(default_factory=list[Column])
    quiet: list[Column] = field(default_factory=list[Column])
    group_tables: list[str] = field(default_factory=list[str])
    having: list[Condition] = field(default_factory=list[Condition])
    order: list[tuple[Term, bool]] = field(default_factory=list[tuple[Term, bool]])
    limit: int | None = None
    several: int = 1
    counted: str = ""
    distinct: bool = False
    per_subject: bool = False
    pending: str = ""
    everything: bool = False
    extra: list[Term] = field(default_factory=list[Term])
    combine: tuple[SetOperator, list[Condition]] | None = None
    negated: Frame | None = None
    fired: list[str] = field(default_factory=list[str])
    dropped: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])

    def mark(self, marker: str) -> Mention:
        """The mention behind a marker."""
        return self.marks[int(marker[2:])]

    def table(self, marker: str) -> str:
        """The table behind `@t` or `@x`."""
        table = self.mark(marker).table
        assert table is not None
        return table

    def term(self, marker: str) -> Term:
        """The column or aggregate behind `@c`, `@x` or `@a`; for `@t`, its rows."""
        number = int(marker[2:])
        if number in self.terms:
            return self.terms[number]
        return Term(self.marks[number].column)

    def column(self, marker: str) -> Column:
        """The column behind `@c`, `@x` or `@v`."""
        column = self.mark(marker).column
        assert column is not None
        return column

    def add_term(self, term: Term, like: Mention) -> str:
        """A new marker `@a` for an aggregate."""
        self.marks.append(like)
        self.terms[len(self.marks) - 1] = term
        return f"@a{len(self.marks) - 1}"

    def need(self, table: str) -> None:
        """Has a table joined."""
        if table not in self.tables:
            self.tables.append(table)

    def near(self) -> list[str]:
        """The tables that the question is about so far."""
        found = [m.table for m in self.marks if m.kind in ("t", "x") and m.table]
        found += [m.column.table for m in self.marks if m.kind == "c" and m.column]
        return list(dict.fromkeys(found)) or list(self.context)

    def markers(self, kinds: str, text: str | None = None) -> list[str]:
        """The markers of some kinds that are left, in order."""
        found = _MARK.finditer(self.text if text is None else text)
        return [m.group() for m in found if m.group(1) in kinds]


Handler = Callable[[Reading, "re.Match[str]"], "str | None"]


@dataclass(frozen=True)
class Pattern:
    """A named piece of grammar: where it matches, the handler takes the words; None leaves them.

    Attributes:
        name: What notes and tests call it.
        regex: Over masked text.
        handler: Puts what it means into the reading.
        spoken: Words that the regex names; others that it matches are passed over.
    """

    name: str
    regex: re.Pattern[str]
    handler: Handler
    spoken: frozenset[str]

    def apply(self, reading: Reading) -> None:
        """Takes every occurrence."""
        at = 0
        while match := self.regex.search(reading.text, at):
            left = self.handler(reading, match)
            if left is None:
                at = match.start() + 1
                continue
            reading.fired.append(self.name)
            kept = {*self.spoken, *left.split()}
            passed = (word for word in match[0].split() if word not in kept)
            reading.dropped.extend(word for word in passed if word.isalpha() and len(word) > 1)
            before = reading.text[: match.start()].rstrip()
            reading.text = " ".join(f"{before} {left} {reading.text[match.end() :]}".split())
            at = len(before)


class Grammar:
    """An ordered table of patterns, filled by decorating handlers."""

    def __init__(self) -> None:
        self.patterns: list[Pattern] = []

    def pattern(self, name: str, regex: str) -> Callable[[Handler], Handler]:
        """Registers a handler; the macros `{C}`, `{T}`, `{V}`, ... stand for markers."""
        for macro, meaning in _MACROS.items():
            regex = regex.replace(macro, meaning)

        def register(handler: Handler) -> Handler:
            spoken = frozenset(re.findall(r"[a-z]{2,}", regex))
            self.patterns.append(Pattern(name, re.compile(rf"(?<!\S)(?:{regex})(?!\S)"), handler, spoken))
            return handler

        return register

    def apply(self, reading: Reading) -> None:
        """Runs all patterns in order."""
        for pattern in self.patterns:
            pattern.apply(reading)


def masked(items: Sequence[Mention | str]) -> tuple[str, list[Mention]]:
    """The text with markers, and the mentions that they number."""
    marks: list[Mention] = []
    words: list[str] = []
    for item in items:
        if isinstance(item, Mention):
            words.append(f"@{item.kind}{len(marks)}")
            marks.append(item)
        else:
            words.append(item)
    return " ".join(words), marks
