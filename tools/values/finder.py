"""From a question to the values it mentions, best first."""

from __future__ import annotations

from collections.abc import Sequence, Set

from ..words import name_stems
from .candidates import Candidate, candidates
from .indexed_columns import IndexedColumns
from .match import ValueMatch
from .question import Question, read
from .store import Store, StoredColumn

_GOOD = 0.9
"""Score from which a longer mention leaves little to those inside it."""


def find(text: str, store: Store, indexed: IndexedColumns) -> list[ValueMatch]:
    """The values that a question mentions, best first, each once.

    Args:
        text: The question.
        store: Where values are looked up.
        indexed: The columns that it holds, and the schema's names.
    """
    question = read(text)
    found = list(candidates(question, store, indexed))
    ranking = _Ranking(question, indexed.names, found)
    best: dict[int, tuple[float, Candidate]] = {}
    for candidate in found:
        rank = ranking.of(candidate, indexed.columns[candidate.value.column])
        before = best.get(candidate.value.id)
        if before is None or rank > before[0]:
            best[candidate.value.id] = (rank, candidate)
    ranked = sorted(best.values(), key=lambda pair: (-pair[0], pair[1].span.start, pair[1].value.id))
    return [_match(candidate, indexed.columns[candidate.value.column]) for _, candidate in ranked]


class _Ranking:
    """How likely a candidate is a mention and no coincidence.

    For it speak, besides the fit: quotation marks, capitals, length, a column or table that the question names too.
    Against it: its words name a table or column; it lies inside a longer mention that fits (but for the words that
    name the column: "Sonoma" in "Sonoma County" may well be a value of the column `County`).
    """

    def __init__(self, question: Question, names: Set[str], found: Sequence[Candidate]) -> None:
        self._question = question
        self._names = names
        self._stems = {word.stem for word in question.words}
        self._taken = {(c.span.first, c.span.last) for c in found if c.score >= _GOOD}

    def of(self, candidate: Candidate, column: StoredColumn) -> float:
        span, question = candidate.span, self._question
        words = question.words[span.first : span.last]
        rank = candidate.score + 0.05 * min(len(words), 4)
        if question.fills_quotes(span.start, span.end):
            rank += 0.4
        elif question.in_quotes(span.start, span.end):
            rank += 0.1
        rank += 0.2 * sum(not word.text[0].islower() and not question.begins(word.start) for word in words) / len(words)
        own = set(name_stems(column.name))
        if self._inside(span.first, span.last, own):
            rank -= 0.5
        if candidate.how != "flag" and all(word.stem in self._names for word in words):
            rank -= 0.35
        return rank + 0.15 * self._named(own) + 0.1 * self._named(set(name_stems(column.table)))

    def _inside(self, first: int, last: int, own: Set[str]) -> bool:
        """Whether a longer mention holds these words and others that are not the column's own name."""
        for start, end in self._taken:
            if start <= first and last <= end:
                others = self._question.words[start:first] + self._question.words[last:end]
                if not {word.stem for word in others} <= own:
                    return True
        return False

    def _named(self, parts: Set[str]) -> float:
        return sum(part in self._stems for part in parts) / len(parts) if parts else 0.0


def _match(candidate: Candidate, column: StoredColumn) -> ValueMatch:
    span = candidate.span
    place = (column.table, column.name, candidate.value.text)
    return ValueMatch(*place, span.text, span.start, span.end, round(candidate.score, 3), candidate.how)
