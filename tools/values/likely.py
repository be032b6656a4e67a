"""The values, among those found, that a question likely means.

Everything that could be a mention is evidence for a linker; shown to a model, a value is taken for a hint. So these
are told: whole phrases and content words, best first, a value that keys copy from table to table once. Words that name
tables and columns, function words, numbers inside other things, and parts of longer mentions are not.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from ..database import Schema
from ..derived import cache_in_first_argument
from ..words import STOP_WORDS, TokenizedQuestion, Word, question_words, stem_name, stems
from .match import WHOLE, ValueMatch, get_schema_name_stems, is_inside_larger_range

Place = tuple[str, str]

_A_MENTION = 3  # values shown for the same words: the columns that hold one and the same text, at most
_PARTS = 2  # values of which a part is mentioned are shown where the words leave so few to choose from
_PART_SHARE = 0.7  # how much of a value a part has to be, in letters, where nothing sets it off from ordinary words

_TYPO_LENGTH, _TYPO_LIKENESS = 7, 0.85
"""A word in small letters is taken for a misspelt value from this length and likeness; shorter ones are words."""

_KINDS = 12  # distinct values of a column that tells kinds apart
_CODE_LENGTH = 4
_BEFORE_NAMES = frozenset(("at", "for", "from", "in", "near", "of", "the", "to"))
_JOINS = frozenset(("and", "or"))


def select_likely_values(text: str, matches: Sequence[ValueMatch], schema: Schema) -> tuple[ValueMatch, ...]:
    """Return the values that a question likely means, in the given order.

    Args:
        text: The question.
        matches: What it may mention, best first, as `ValueIndex.find` gives it. Where the question is the beginning of
            the text in which values were found, those found further on are left out.
        schema: The tables in play; values of others are left out.
    """
    reader = _MentionClassifier(TokenizedQuestion(text), schema, matches)
    likely: list[ValueMatch] = []
    for match in matches:
        if not (schema.column(match.table, match.column) and reader.is_value_meant(match)):
            continue
        same = [other for other in likely if (other.start, other.end) == (match.start, match.end)]
        equal = [frozenset((_get_key(other), _get_key(match))) for other in same if other.value == match.value]
        if len(same) < _A_MENTION and not (equal and not list_joined_columns(schema).isdisjoint(equal)):
            likely.append(match)
    return tuple(likely)


def _is_code(value: str) -> bool:
    return len(value) <= _CODE_LENGTH and value.isupper()


def _get_key(match: ValueMatch) -> Place:
    return match.table.lower(), match.column.lower()


@cache_in_first_argument
def list_joined_columns(schema: Schema) -> frozenset[Set[Place]]:
    """Return the pairs of columns that foreign keys join."""
    pairs = (pair for key in schema.foreign_keys for pair in key.pairs)
    return frozenset(frozenset((table.lower(), column.lower()) for table, column in pair) for pair in pairs)


class _MentionClassifier:
    """A classifier that tells mentions of values in a question from coincidences."""

    def __init__(self, question: TokenizedQuestion, schema: Schema, matches: Sequence[ValueMatch]) -> None:
        self.question, self.schema, self.matches = question, schema, matches
        self._names = get_schema_name_stems(schema)
        self._things = frozenset(stem_name(table.name)[-1] for table in schema.tables)
        self._ranges = [(match.start, match.end) for match in matches if match.how in WHOLE]

    def is_value_meant(self, match: ValueMatch) -> bool:
        """Whether the question likely means the matched value."""
        words = self.question.get_words_in_range(match.start, match.end)
        small = all(word.folded in STOP_WORDS for word in words)
        if not words:
            return False  # found further on
        if self.question.is_whole_quotation(match.start, match.end):
            return True
        column_stems = set(stem_name(match.column))
        if is_inside_larger_range(self.question, match.start, match.end, self._ranges, column_stems):
            return False
        # Whether the question names the column too, by other words than these, or its table.
        context = {word.stem for word in self.question.words} - {word.stem for word in words}
        named = bool(column_stems & context)
        # "total" is asked of many things, and one word is the value of many columns.
        ordinary = match.mention.islower() and len(words) == 1 and not (named or context & {*stem_name(match.table)})
        if ordinary and (words[0].stem in question_words() or self._is_value_of_other_column(match, context)):
            return False
        before = self.question.get_words_in_range(0, match.start)[-2:]
        if match.value.replace(" ", "").isdigit():
            # It may be the value of a column that is named too; of one that counts, only right behind its name.
            behind = stem_name(match.column)[-1:] != ("id",) or any(word.stem in column_stems for word in before)
            if not (named and behind):
                return False
        if small and not self._is_in_name_position(match, column_stems - {word.stem for word in words}, before):
            return False
        is_word = match.mention.islower() and _is_code(match.value) and match.how in ("case", "inflection")
        return (named or not is_word) and self._is_distinctive_mention(match, words)

    def _is_value_of_other_column(self, match: ValueMatch, context: Set[str]) -> bool:
        """Whether the mention is also a value of another column that the question points to."""
        return any(
            context & {*stem_name(other.column), *stem_name(other.table)}
            for other in self.matches
            if (other.start, other.end) == (match.start, match.end) and other.how in WHOLE
            if self.schema.column(other.table, other.column)
        )

    def _is_distinctive_mention(self, match: ValueMatch, words: Sequence[Word]) -> bool:
        """Whether the mention is more than schema names, and similar enough to the value."""
        capital = any(map(self.question.is_quoted_or_capitalized, words))
        ordinary = all(word.stem in self._names for word in words)
        over = [other for other in self.matches if other.start < match.end and match.start < other.end]
        if match.how == "typo":
            return capital or (len(match.mention) >= _TYPO_LENGTH and match.score / 0.9 >= _TYPO_LIKENESS)
        if match.how == "part":
            # No value is mentioned as a whole there, few others in part, and enough of this one.
            length, letters = sum(len(word.stem) for word in words), sum(map(len, stems(match.value)))
            few = {other.how for other in over} == {"part"} and len(over) <= _PARTS
            return few and not ordinary and (capital or length >= _PART_SHARE * letters)
        if match.how == "abbreviation" and _is_code(match.value) and len(match.value) < len(match.mention):
            # If a column holds these very words, no code of them is needed.
            same = {other.how for other in over if (other.start, other.end) == (match.start, match.end)}
            if not same.isdisjoint(("exact", "case")):
                return False
        kind = match.how in ("exact", "case") and words[-1].stem not in self._things and self._is_category_value(match)
        return capital or not ordinary or kind

    def _is_in_name_position(self, match: ValueMatch, column_stems: Set[str], before: Sequence[Word]) -> bool:
        """Whether common words stand where a name would: after the column, or like ME in "in ME"."""
        after = self.question.get_words_in_range(match.end, len(self.question.text))[:1]
        gap = self.question.text[match.end : after[0].start] if after else "."
        ends = bool(gap.strip()) or (after[0].folded in _JOINS and not match.mention.islower())
        if ends and {word.stem for word in before} & column_stems:
            return match.how in WHOLE
        # Written like a category or a code, such as May, A or US.
        kind = match.how == "exact" and not match.mention.islower() and self._is_category_value(match)
        code = match.how == "abbreviation" and match.mention.isupper()
        if match.start in self.question.openings or not (kind or code):
            return False
        # In capitals, ME may be a word that is stressed.
        unlike_words = not match.mention.isupper() or (len(match.mention) == 1 and match.mention != "I")
        return unlike_words or (ends and bool(before) and before[-1].text in _BEFORE_NAMES)

    def _is_category_value(self, match: ValueMatch) -> bool:
        """Whether the value's column has few distinct values, like `good_or_bad_customer`."""
        column = self.schema.column(match.table, match.column)
        return column is not None and column.distinct is not None and column.distinct <= _KINDS
