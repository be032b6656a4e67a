"""The conditions of a query, each with the words of the question that it comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from ..sql.conditions import conjuncts, literal, own_references, split
from ..sql.explain.conditions import Says
from ..sql.findings import Mention
from ..sql.scope import Resolution, Scope
from ..values.schema_words import name_stems
from ..values.text_words import words

_YEAR = re.compile(r"(1[89]|20)\d\d")
_NUMBERS: dict[str, int] = {
    word: number
    for number, word in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), 1)  # noqa: SIM905
}
_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_EXTREMES = {
    exp.Avg: ("average", "mean"),
    exp.Max: ("most", "largest", "highest", "latest"),
    exp.Min: ("least", "smallest", "lowest", "earliest"),
}


@dataclass(frozen=True)
class Filter:
    """A condition that rows, or groups, of a result fulfil.

    Attributes:
        text: In plain words: `status is 'shipped'`.
        words: The question's words that it comes from; None where there are none.
        sql: As the query has it.
        columns: The `table.column` names that it tests.
        groups: Whether groups, and not rows, must fulfil it.
        inner: Whether it stands in a sub-query.
    """

    text: str
    words: str | None
    sql: str
    columns: tuple[str, ...] = ()
    groups: bool = False
    inner: bool = False


def filters_of(resolution: Resolution, speaker: Says, question: str, mentions: Sequence[Mention]) -> tuple[Filter, ...]:
    """The conditions of a query's SELECTs, what joins them left out, each once.

    Those of sub-queries in a condition are part of its words.
    """
    asked = _Asked(question, mentions)
    found: dict[str, Filter] = {}
    for scope in resolution.scopes:
        if scope.select.find_ancestor(exp.Where, exp.Having, exp.Join) is not None:
            continue
        having = scope.select.args.get("having")
        parts = [(part, False) for part in conjuncts(scope)]
        parts += [(part, True) for part in (split(having.this) if having is not None else ())]
        for part, groups in parts:
            if not _joins(part, scope, resolution):
                told = _filter(part, groups, scope is not resolution.scopes[0], scope, resolution, speaker, asked)
                found.setdefault(told.sql, told)
    return tuple(found.values())


def _joins(part: exp.Expr, scope: Scope, resolution: Resolution) -> bool:
    """Whether a condition only says which rows of two tables belong together."""
    if not isinstance(part, exp.EQ):
        return False
    ends = [resolution.at(side.unnest()) for side in (part.left, part.right)]
    sources = {id(end.source) for end in ends if end is not None and end.source is not None and end.owner is scope}
    return len(sources) == 2


def _filter(
    part: exp.Expr, groups: bool, inner: bool, scope: Scope, resolution: Resolution, speaker: Says, asked: _Asked
) -> Filter:
    columns = [
        (reference.source.table.name, reference.source.declared(reference.column))
        for reference in own_references(part, scope, resolution)
        if reference.kind == "column" and reference.source is not None and reference.source.table is not None
    ]
    names = tuple(dict.fromkeys(f"{table}.{column}" for table, column in columns))
    return Filter(
        speaker.say(part), asked.words_for(part, columns, resolution), resolution.text(part), names, groups, inner
    )


class _Asked:
    """The question, to find what a condition comes from."""

    def __init__(self, question: str, mentions: Sequence[Mention]) -> None:
        self._question = question
        self._words = words(question)
        self._mentions = mentions

    def words_for(self, part: exp.Expr, columns: Sequence[tuple[str, str]], resolution: Resolution) -> str | None:
        """The words of a condition's values, else of its columns' names; None where the question has neither."""
        values = list(_values(part, resolution))
        found = [said for value in values if (said := self._value(value, columns))]
        if found:
            return ", ".join(dict.fromkeys(found))
        if values and any(isinstance(value, str) and value.strip("% ") for value in values):
            return None
        if (said := self._compared(part)) or (said := self._named(columns)):
            return said
        return None

    def _value(self, value: str | float, columns: Sequence[tuple[str, str]]) -> str:
        if not isinstance(value, str):
            return self._number(value)
        plain = value.strip("% ")
        if not plain:
            return ""
        for mention in self._mentions:
            if mention.value.casefold() == plain.casefold() and (mention.table, mention.column) in columns:
                return self._question[mention.start : mention.end] or mention.mention
        at = self._question.casefold().find(plain.casefold())
        if at >= 0 and _is_word(self._question, at, at + len(plain)):
            return self._question[at : at + len(plain)]
        return self._stemmed(plain) or self._time(plain)

    def _stemmed(self, text: str) -> str:
        wanted = [word.stem for word in words(text)]
        asked = [word.stem for word in self._words]
        for start in range(len(asked) - len(wanted) + 1):
            if wanted and asked[start : start + len(wanted)] == wanted:
                return self._question[self._words[start].start : self._words[start + len(wanted) - 1].end]
        return ""

    def _number(self, value: float) -> str:
        for word in self._words:
            if word.folded.replace(",", "") == f"{value:g}" or _NUMBERS.get(word.folded) == value:
                return word.text
        pattern = f"{value:,.0f}" if value.is_integer() else f"{value:g}"
        if re.search(rf"(?<![\d.,]){re.escape(pattern)}(?![\d])", self._question):
            return pattern
        return ""

    def _time(self, text: str) -> str:
        """The year, and the month where it is named, of a date."""
        year = _YEAR.match(text)
        if year is None:
            return ""
        month = re.match(r"\d{4}-(\d\d)", text)
        names = [_MONTHS[int(month[1]) - 1]] if month and 1 <= int(month[1]) <= 12 else []
        said = [word.text for word in self._words if word.folded in names or word.folded == year.group()]
        if said:
            return " ".join(said)
        nearby = (
            str(int(year.group()) + step) for step in (-1, 1)
        )  # `before 2024` is `< '2024-01-01'`, or <= the day before
        return next((word.text for near in nearby for word in self._words if word.folded == near), "")

    def _compared(self, part: exp.Expr) -> str:
        """Words for what is compared with an average, the most or the least."""
        for kind, names in _EXTREMES.items():
            if part.find(kind) is not None and part.find(exp.Select) is not None:
                return next((word.text for word in self._words if word.folded in names), "")
        return ""

    def _named(self, columns: Sequence[tuple[str, str]]) -> str:
        """The words of a column's name, as for flags and for what is missing."""
        for _, column in columns:
            wanted = set(name_stems(column)) - {"is", "has", "id", "on", "at", "date", "code"}
            said = [word.text for word in self._words if word.stem in wanted]
            if said:
                return " ".join(dict.fromkeys(said))
        return ""


def _values(part: exp.Expr, resolution: Resolution) -> Iterator[str | float]:
    """The texts and numbers of a condition, those of functions' formats aside."""
    for node in part.find_all(exp.Literal, exp.Column):
        if isinstance(node, exp.Literal) and isinstance(node.parent, exp.TimeToStr) and node.arg_key == "format":
            continue
        if isinstance(node, exp.Column):
            reference = resolution.at(node)
            if reference is None or reference.kind != "string":
                continue
        value = literal(node, resolution)
        if value is not None:
            yield value


def _is_word(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (before.isalnum() or after.isalnum())
