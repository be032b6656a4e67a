"""Which of the values found a question likely means: what a reader of SQL would show a colleague, and no more.

Everything that could be a mention is evidence for a linker; shown to a model, a value is taken for a hint. So these
are told: whole phrases and content words, best first, a value that keys copy from table to table once. Words that name
tables and columns, function words, numbers inside other things, and parts of longer mentions are not.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from ..database import Schema
from ..derived import derived
from ..words import Word, name_stems, stems
from .finder import NO, NOT, stems_of_names
from .match import Question, ValueMatch, is_function_word

Place = tuple[str, str]

_WHOLE = frozenset(("exact", "case", "inflection"))

_A_MENTION = 3  # values shown for the same words: the columns that hold one and the same text, at most
_PARTS = 2  # values of which a part is mentioned are shown where the words leave so few to choose from
_PART_SHARE = 0.7  # how much of a value a part has to be, in letters, where nothing sets it off from ordinary words

_TYPO_LENGTH, _TYPO_LIKENESS = 7, 0.85
"""A word in small letters is taken for a misspelt value from this length and likeness; shorter ones are words."""

_KINDS = 12  # distinct values of a column that tells kinds apart
_INITIALS = 3  # so many words may have a code of their initials; names of columns have it by chance

_CODE_LENGTH = 4

_DENIED_BEFORE, _ENDING, _YEAR_LENGTH = 2, 3, 4

_NUMBER_BEFORE, _NUMBER_AFTER = re.compile(r"\d[.,:/-]\Z"), re.compile(r"[.,:/-]\d")

_BEFORE_NAMES = frozenset(("at", "for", "from", "in", "near", "of", "the", "to"))
_IS = frozenset(("are", "is", "of", "was", "were"))
_JOINS = frozenset(("and", "or"))
_GREETINGS = frozenset(("hello", "hi", "ok", "okay"))


def likely(text: str, found: Sequence[ValueMatch], schema: Schema) -> tuple[ValueMatch, ...]:
    """Return the values that a question likely means, in the order given.

    Args:
        text: The question.
        found: What it may mention, best first, as `ValueIndex.find` gives it. Where the question is the beginning of
            the text in which values were found, those found further on are left out.
        schema: The tables in play; values of others are left out.
    """
    reader, ends = _Reader(Question.of(text), schema, found), _other_ends(schema)
    shown: list[ValueMatch] = []
    for match in found:
        if not (schema.column(match.table, match.column) and reader.means(match)):
            continue
        same = [other for other in shown if (other.start, other.end) == (match.start, match.end)]
        copy = any(other.value == match.value and _place(other) in ends.get(_place(match), ()) for other in same)
        if not copy and len(same) < _A_MENTION:
            shown.append(match)
    return tuple(shown)


def certain(text: str, meant: Sequence[ValueMatch]) -> tuple[ValueMatch, ...]:
    """Return of values that a question likely means those that take no guess: of many, chance finds most others.

    A word in another form has the same beginning; a part has two words; a code is written as one; a flag is denied only
    beside its word; a misspelt name is no word in small letters; a short number is any number.
    """
    words = Question.of(text).words
    return tuple(match for match in meant if _is_certain(match, [w.folded for w in words if w.start < match.start]))


def _is_certain(match: ValueMatch, before: Sequence[str]) -> bool:
    said, value = stems(match.mention), stems(match.value)
    if match.how == "flag":
        return match.value.casefold() not in NO or not NOT.isdisjoint(before[-_DENIED_BEFORE:])
    if match.how == "part":
        return 1 < len({*said} & {*value}) >= len(value) / 2
    if match.how == "abbreviation":
        return not match.mention.islower() and not match.value.isdecimal()
    if match.how == "typo":
        return not match.mention.islower()
    if match.value.isdecimal() and len(match.value) < _YEAR_LENGTH:
        return False
    if match.how == "inflection":
        own, theirs = match.mention.casefold(), match.value.casefold()
        return own[:-_ENDING] == theirs[: len(own) - _ENDING] and abs(len(own) - len(theirs)) <= _ENDING
    return True


def _is_code(value: str) -> bool:
    return len(value) <= _CODE_LENGTH and value.isupper()


def _place(match: ValueMatch) -> Place:
    return match.table.lower(), match.column.lower()


@derived
def _other_ends(schema: Schema) -> Mapping[Place, set[Place]]:
    """Return for each column at an end of a key those at the other ends."""
    ends: dict[Place, set[Place]] = defaultdict(set)
    for key in schema.foreign_keys:
        for own, other in zip(key.columns, key.ref_columns, strict=True):
            one, two = (key.table.lower(), own.lower()), (key.ref_table.lower(), other.lower())
            ends[one].add(two)
            ends[two].add(one)
    return ends


class _Reader:
    """Tells mentions from coincidences."""

    def __init__(self, question: Question, schema: Schema, found: Sequence[ValueMatch]) -> None:
        self.question, self.schema, self.found = question, schema, found
        self._names = stems_of_names(schema)
        self._things = frozenset(name_stems(table.name)[-1] for table in schema.tables)
        self._stems = frozenset(word.stem for word in question.words)

    def means(self, match: ValueMatch) -> bool:
        """Whether the words likely mean the value."""
        words = self.question.between(match.start, match.end)
        if match.how == "flag":
            # No other value of a flag fits the question as well: yes, unless something is denied.
            rivals = (o for o in self.found if o.how == "flag" and _place(o) == _place(match))
            likeliest = all(other.score < match.score or other == match for other in rivals)
            return likeliest and not (words and all(map(self._is_small, words)))
        if not words:
            return False  # found further on
        if self.question.fills_quotes(match.start, match.end):
            return True
        if self._is_inside(match) or self._is_within_number(match):
            return False
        # Whether the question names the column too, by other words than these.
        others = self._stems - {word.stem for word in words}
        named = not others.isdisjoint(name_stems(match.column))
        # A number may be the value of a column that is named too; of one that counts, only right behind its name.
        own, before = name_stems(match.column), self._neighbours(words)[0][-2:]
        behind = own[-1:] != ("id",) or any(word.stem in own for word in before)
        if match.value.replace(" ", "").isdigit() and not (named and behind):
            return False
        capital = any(map(self.question.sets_off, words))
        if all(map(self._is_small, words)) and not self._is_a_name(match, words):
            return False
        if all(word.stem == "id" for word in words) and not (named or self._is_set_off(match)):
            return False
        if match.mention.islower() and _is_code(match.value) and match.how in ("case", "inflection") and not named:
            return False
        if match.how == "typo":
            return capital or (len(match.mention) >= _TYPO_LENGTH and match.score / 0.9 >= _TYPO_LIKENESS)
        ordinary = all(word.stem in self._names for word in words)
        if match.how == "part":
            return not ordinary and self._is_telling_part(match, words, capital)
        if match.how == "abbreviation" and _is_code(match.value) and self._is_said_whole(match):
            return False
        alias = match.how == "abbreviation" and len(words) < _INITIALS
        kind = match.how in ("exact", "case") and words[-1].stem not in self._things and self._is_a_kind(match)
        return capital or not ordinary or alias or kind

    def _is_telling_part(self, match: ValueMatch, words: Sequence[Word], capital: bool) -> bool:
        """Whether no value is mentioned as a whole there, few others in part, and enough of this one."""
        over = [other.how for other in self.found if other.start < match.end and match.start < other.end]
        if {*over} - {"part", "flag"} or over.count("part") > _PARTS:
            return False
        return capital or sum(len(word.stem) for word in words) >= _PART_SHARE * sum(map(len, stems(match.value)))

    def _is_inside(self, match: ValueMatch) -> bool:
        """Whether a longer mention of a whole value holds these words and others than the column's own name."""
        between, own = self.question.between, set(name_stems(match.column))
        return any(
            other.start <= match.start
            and match.end <= other.end
            and not {w.stem for w in between(other.start, match.start) + between(match.end, other.end)} <= own
            for other in self.found
            if other.how in _WHOLE
        )

    def _is_within_number(self, match: ValueMatch) -> bool:
        """Whether the words are digits of a longer number, date or time."""
        before, after = self.question.text[: match.start], self.question.text[match.end :]
        return bool(
            (match.mention[0].isdigit() and _NUMBER_BEFORE.search(before))
            or (match.mention[-1].isdigit() and _NUMBER_AFTER.match(after))
        )

    def _is_small(self, word: Word) -> bool:
        """Whether a word is one that questions are made of, or greets."""
        return is_function_word(word) or (word.folded in _GREETINGS and self.question.begins(word.start))

    def _is_a_name(self, match: ValueMatch, words: Sequence[Word]) -> bool:
        """Whether small words stand where a name stands: beside the column's own name, or in capitals of their own.

        Written as a name is (May) or as one letter (A), a word tells by itself; in capitals only by its place.
        """
        # If the rest of the question is in capitals, they tell nothing.
        rest = [word.text for word in self.question.words if word not in words and word.text.isalpha()]
        if sum(map(str.isupper, rest)) * 2 > len(rest):
            return False
        before, after = self._neighbours(words)
        own = set(name_stems(match.column)) - {word.stem for word in words}
        place = before[-2:] if before and before[-1].folded in _IS else before[-1:]
        if {word.stem for word in place} & own and not self._goes_on(match, after, beside=True):
            return match.how in _WHOLE
        if match.mention.islower() or self.question.begins(match.start):
            return False
        if any(word.stem in own for word in after[:1]):
            return True
        if not match.mention.isupper() or (len(match.mention) == 1 and match.mention != "I"):
            return self._is_set_off(match)
        placed = bool(before) and before[-1].text in _BEFORE_NAMES and not self._goes_on(match, after)
        described = match.how == "abbreviation" and bool(after) and after[0].text.islower()
        return self._is_set_off(match) and (placed or (described and not is_function_word(after[0])))

    def _neighbours(self, words: Sequence[Word]) -> tuple[list[Word], list[Word]]:
        """Return the question's words before these and after."""
        between, text = self.question.between, self.question.text
        return between(0, words[0].start), between(words[-1].end, len(text))

    def _goes_on(self, match: ValueMatch, after: Sequence[Word], *, beside: bool = False) -> bool:
        """Whether what comes next makes it a preposition or conjunction: IN Texas, OR 2011; OR name, beside a name."""
        if not after or self.question.text[match.end : after[0].start].strip():
            return False
        follower = after[0]
        joins = follower.folded in _JOINS and not match.mention.islower()
        return not joins and (beside or not follower.text[0].islower() or is_function_word(follower))

    def _is_set_off(self, match: ValueMatch) -> bool:
        """Whether what is usually a small word is written as a kind or a code is: May, A, US."""
        kind = match.how == "exact" and not match.mention.islower() and self._is_a_kind(match)
        return kind or (match.how == "abbreviation" and match.mention.isupper())

    def _is_said_whole(self, match: ValueMatch) -> bool:
        """Whether a column holds these very words, so that no code of them is needed."""
        return len(match.value) < len(match.mention) and any(
            o.how in ("exact", "case") and (o.start, o.end) == (match.start, match.end) for o in self.found
        )

    def _is_a_kind(self, match: ValueMatch) -> bool:
        """Whether its column tells kinds apart: a good customer, of `good_or_bad_customer`."""
        column = self.schema.column(match.table, match.column)
        return column is not None and column.distinct is not None and column.distinct <= _KINDS
