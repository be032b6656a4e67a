"""Words of texts and names: stems, stop words, numbers, months, and nearest names."""

from __future__ import annotations

import json
import re
import threading
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib.resources import files

# Stems.

_local = threading.local()  # a stemmer per thread, because one keeps its state in attributes


@lru_cache(maxsize=200_000)
def stem_english_word(word: str) -> str:
    """Return the Snowball stem of a lower-case English word, from any thread."""
    if not hasattr(_local, "stem"):
        import snowballstemmer  # loads every language it has: not before a stem is wanted

        _local.stem = snowballstemmer.stemmer("english").stemWord
    return _local.stem(word)


@lru_cache(maxsize=200_000)
def stem_word(word: str) -> str:
    """Return the stem of a folded word; numbers, codes and very long words stay unchanged."""
    if len(word) < 3 or len(word) > 24 or not word.isalpha():
        return word
    return stem_english_word(word)


def make_singular(word: str) -> str:
    """Return the singular of a lower-case noun, as in `orders` to `order`."""
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


IRREGULAR_PLURALS = {"children": "child", "feet": "foot", "men": "man", "people": "person", "women": "woman"}
"""Plurals that no stemmer brings back."""

# Words of a text.

_WORD = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"['’]s\b")


@dataclass(frozen=True)
class Word:
    """A word of a text, with its position, folded form and stem."""

    text: str  # as written
    start: int  # character offset
    end: int  # offset just past it
    folded: str  # lower case, without accents
    stem: str


@lru_cache(maxsize=1_000)  # questions of a conversation are read again at each of its turns
def words(text: str) -> tuple[Word, ...]:
    """Return the words of a text: runs of letters and digits, without a possessive `'s`."""
    plain = _POSSESSIVE.sub("  ", text)
    return tuple(
        Word(match.group(), match.start(), match.end(), folded, stem_word(folded))
        for match in _WORD.finditer(plain)
        if (folded := fold(match.group()))
    )


def stems(text: str) -> list[str]:
    """Return the stems of a text's words."""
    return [stem_word(plain) for word in _WORD.findall(_POSSESSIVE.sub("  ", text)) if (plain := fold(word))]


@lru_cache(maxsize=50_000)
def fold(word: str) -> str:
    """Return the word in lower case, without accents and signs."""
    text = word.casefold()
    if text.isascii():
        return text
    return "".join(c for c in unicodedata.normalize("NFKD", text) if c.isalnum())


def key(stems: Sequence[str]) -> str:
    """Join stems without spaces into a key, equal for "New York" and "NewYork"."""
    parts: list[str] = []
    for part in stems:
        if parts and parts[-1][-1].isdigit() and part[:1].isdigit():
            parts.append(".")
        parts.append(part)
    return "".join(parts)


# Words of a name.

_PART = re.compile(r"A+(?!a)|A?a+|0+|x+")
"""Words in a name's outline; see `_classify_char`."""

_PART_WITH_DIGITS = re.compile(r"(?:A+(?!a)|A?a+)0*|0+|x+")

_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})|_+")

SHORT_FORMS = {
    "addr": ("address",),
    "amt": ("amount",),
    "avg": ("average",),
    "cat": ("category",),
    "cd": ("code",),
    "cust": ("customer",),
    "dept": ("department",),
    "desc": ("description",),
    "dob": ("date", "birth"),
    "dt": ("date",),
    "emp": ("employee",),
    "fname": ("first", "name"),
    "lname": ("last", "name"),
    "loc": ("location",),
    "mgr": ("manager",),
    "nbr": ("number",),
    "num": ("number",),
    "org": ("organization",),
    "pct": ("percent",),
    "prof": ("professor",),
    "qty": ("quantity",),
    "stu": ("student",),
    "tel": ("telephone",),
    "tot": ("total",),
    "yr": ("year",),
}
"""Short forms that database designers use everywhere, spelled out."""


@lru_cache(maxsize=50_000)
def split_name(name: str, *, keep_digits: bool = False) -> tuple[str, ...]:
    """Split a name into folded words; with `keep_digits`, digits stay at their word's end."""
    part = _PART_WITH_DIGITS if keep_digits else _PART
    plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    return tuple(fold(plain[word.start() : word.end()]) for word in part.finditer("".join(map(_classify_char, plain))))


def _classify_char(character: str) -> str:
    """Return a character class: `A` upper, `a` lower, `x` caseless letter, `0` digit, `_` other."""
    if character.isalpha():
        return "A" if character.isupper() else "a" if character.upper() != character else "x"
    return "0" if character.isdecimal() else "_"


@lru_cache(maxsize=50_000)
def split_name_into_words(name: str) -> tuple[str, ...]:
    """Split a name into lower-case words, and expand common abbreviations."""
    return tuple(word for part in split_name(name) for word in SHORT_FORMS.get(part, (part,))) or (fold(name),)


@lru_cache(maxsize=50_000)
def stem_name(name: str) -> tuple[str, ...]:
    """Return the stems of a name's words."""
    return tuple(stem_word(word) for word in split_name_into_words(name))


def is_word_or_abbreviation(word: str, others: Iterable[str]) -> bool:
    """Whether a word equals or abbreviates one of the others, or the reverse."""
    for other in others:
        short, long = sorted((word, other), key=len)
        letters = iter(long)
        if word == other or (len(short) > 2 and long.startswith(short)):
            return True
        if 2 < len(short) >= len(long) / 2 and short[0] == long[0] and all(letter in letters for letter in short):
            return True
    return False


def humanize_name(name: str) -> str:
    """Return a name as words: `birthYear` and `birth_year` become `birth year`."""
    # A name with spaces is words as it stands.
    return name if " " in name else " ".join(_HUMP.sub(" ", name).lower().split()) or name


@cache
def load_synonyms() -> Mapping[str, tuple[str, ...]]:
    """Return the common English synonyms for words in identifiers."""
    words = json.loads(_read_data_file("values/data/synonyms.json"))
    return {word: tuple(synonyms.split()) for word, synonyms in words.items()}


def _read_data_file(path: str) -> str:
    return files(__package__ or "").joinpath(path).read_text("utf-8")


# Small words: three lists, each within the next. What a module adds to one, it names and gives the reason.


def make_word_set(text: str) -> frozenset[str]:
    """Return the words of a whitespace-separated text as a set."""
    return frozenset(text.split())


FUNCTION_WORDS = make_word_set(
    """a an and are as at be by do does each for from has have how in is it many me more most much of on or show than
    that the their there to was what when where which who whose with"""
)
"""Words that no name is made of: what remains where a schema's words are masked."""

STOP_WORDS = FUNCTION_WORDS | make_word_set(
    """about above after all alright also am any awesome been before being below between both but can could count did
    doing don down during either every few find further get give had having he hello her here hers hey hi him his i if
    into its itself just least less let list may might my near neither no nor not number off ok okay once one only other
    our out over own per please return s same she should so some such tell thank thanks them then these they this those
    three through too two under until up us very we well were whether while whom why will would you your"""
)
"""Words that questions are made of, which mention no value by themselves, though names hold some of them."""


@cache
def question_words() -> frozenset[str]:
    """Return the stems of words that are common in questions about any data."""
    return frozenset(stem_word(fold(word)) for word in _read_data_file("linking/data/question_words.txt").split())


_SHARED = make_word_set(
    """a also am an any as be but do does had has he her i in is it me more no of on or over per see so under up was we
    will"""
)
"""Words of `STOP_WORDS` that other languages have too, as the German `was` or the French `on`."""
_ENGLISH_ONLY = STOP_WORDS - _SHARED


def is_foreign_text(text: str, names: Iterable[str]) -> bool:
    """Whether a text has several unknown words, and no word that is only English.

    Rules about English words then say nothing of it. Of Spider's 8,034 questions none is taken for foreign.
    """
    tokens = words(text)
    if any(word.folded in _ENGLISH_ONLY or word.stem in question_words() for word in tokens):
        return False
    lexicon = {stem for name in names for stem in stem_name(name)}
    unknown = [word for word in tokens if not (word.folded.isdigit() or word.folded in _SHARED or word.stem in lexicon)]
    # Without spaces a question may be one word.
    return sum(1 if word.folded.isascii() else 2 for word in unknown) > 1


# Words of a question.

_MOST_WORDS = 400  # words that are read: a question has fewer, and a pasted text shall not take its time
_QUOTED = re.compile(r"\"([^\"]+)\"|“([^”]+)”|(?<!\w)'((?:[^']|'(?=\w))+)'(?!\w)|‘([^’]+)’")


class TokenizedQuestion:
    """A question split into words and quoted ranges."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = words(text)[:_MOST_WORDS]
        before = {word.start: text[: word.start].rstrip("\"'“‘( \t") for word in self.words}
        self.openings = {start for start, text in before.items() if text[-1:] in ("", *".?!:\n")}  # of sentences, lines
        self.quoted = [match.span(match.lastindex or 0) for match in _QUOTED.finditer(text)]  # between the marks

    @cached_property
    def common(self) -> Sequence[bool]:
        """Whether each word is too common to mention a value by itself."""
        return [
            word.folded in STOP_WORDS and (word.text == "I" or not self.is_quoted_or_capitalized(word))
            for word in self.words
        ]

    def is_quoted_or_capitalized(self, word: Word) -> bool:
        """Whether a word is quoted, or capitalized but not at the start of a sentence."""
        return (word.text[0].isupper() and word.start not in self.openings) or self.is_range_in_quotes(
            word.start, word.end
        )

    def is_range_in_quotes(self, start: int, end: int) -> bool:
        """Whether a range of the question lies between quotation marks."""
        return any(first <= start and end <= last for first, last in self.quoted)

    def is_whole_quotation(self, start: int, end: int) -> bool:
        """Whether a range is all the text between quotation marks, except for punctuation."""
        return any(
            first <= start and end <= last and not re.search(r"\w", self.text[first:start] + self.text[end:last])
            for first, last in self.quoted
        )

    def get_words_in_range(self, start: int, end: int) -> list[Word]:
        """Return the words in a range of the question."""
        return [word for word in self.words if start <= word.start and word.end <= end]


# Numbers and dates.

LONE_NUMBER_WORDS: Mapping[str, int] = {
    word: number
    for number, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen""".split()  # noqa: SIM905 - read as a sentence
    )
}
"""Numbers that are spelled out and that no other word goes on, as `one` goes on `twenty`."""

NUMBER_WORDS = LONE_NUMBER_WORDS | {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "hundred": 100, "thousand": 1_000, "million": 1_000_000,
}  # fmt: skip
"""Numbers as they are spelled out."""

MONTHS = tuple(
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)
"""The months, in order, in English whatever the locale."""

ISO_TIME = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d\d)(?:-(?P<day>\d\d)(?:(?P<mark>[ T])(?P<clock>\d\d:\d\d(?::\d\d"
    r"(?P<fraction>\.\d+)?)?)(?P<zone> ?(?:Z|[+-]\d\d(?::?\d\d)?))?)?)?)?(?!\d)",
    re.ASCII,
)
"""A year, a month, a day or a time as ISO 8601 writes it."""

QUARTER = re.compile(r"(\d{4})[- ]?Q([1-4])", re.IGNORECASE)
"""A quarter of a year, as in `2024-Q1`."""


def match_time(text: str, least: str = "day", *, whole: bool = True) -> re.Match[str] | None:
    """Return the match of a text, or its beginning, that is a month, a day or a time; or None."""
    match = ISO_TIME.fullmatch(text) if whole else ISO_TIME.match(text)
    return match if match and match[least] else None


# Names that were likely meant: two thresholds for two uses; where a word is certainly wrong, letters are counted.

_OFFERED = 60.0
"""Least likeness, of 100, of a name that is offered: whoever reads `did you mean` chooses, and leaves what is wrong.

Parts of names count too, so that `dept` finds `department_id`; values that are as like are looked at closely.
"""

_TAKEN = 84.0
"""Least likeness, of 100, of a name for which a word of a question is taken: nobody looks at it again.

The word may also be right and mean something else: one wrong letter must stand among seven.
"""

IN_WORD, OF_A_VALUE = (4, 9), (5, 12)
"""Letters from which what nothing knows may differ in one from what was meant, or in two.

A letter that is missing, too many or wrong counts as one, as do two that have changed places. A whole value needs more:
rows have values that differ in as little, such as Mali and Bali, and none of them is wrong.
"""


def find_nearest_names(name: str, names: Iterable[str], limit: int = 3) -> tuple[str, ...]:
    """Return the known names most similar to `name`, best first."""
    from rapidfuzz import fuzz, process, utils  # only where something is wrong

    choices = list(dict.fromkeys(names))
    target, *spread = (utils.default_process(text.replace("_", " ")) for text in (name, *choices))
    matches = process.extract(target, spread, scorer=fuzz.WRatio, limit=limit, score_cutoff=_OFFERED)
    return tuple(choices[index] for _, _, index in matches)


def format_count(count: int, singular: str, plural: str) -> str:
    """Return a number with a noun in the singular or plural."""
    return f"{count:,} {singular if count == 1 else plural}"


def format_did_you_mean(near: Sequence[str]) -> str:
    """Return a `did you mean` question with the suggested names; empty without names."""
    return f"did you mean {join_words(near, 'or')}?" if near else ""


def find_intended_word(word: str, words: Iterable[str]) -> tuple[str, float] | None:
    """Return the known word that `word` may misspell, with a similarity from 0 to 1; or None."""
    from rapidfuzz import fuzz, process

    match = process.extractOne(word, words, scorer=fuzz.ratio, score_cutoff=_TAKEN)
    return (match[0], match[1] / 100) if match else None


def compute_max_typos(word: str, *, is_value: bool = False) -> int:
    """Return the number of letters that may be wrong in a misspelt word, by length."""
    return sum(len(word) >= letters for letters in (OF_A_VALUE if is_value else IN_WORD))


def find_similar(word: str, words: Collection[str], *, is_value: bool = False) -> list[tuple[int, str]]:
    """Return the known words that `word` may misspell, with the number of wrong letters."""
    from rapidfuzz.distance import OSA

    most = compute_max_typos(word, is_value=is_value)
    distances = ((OSA.distance(word, other, score_cutoff=most), other) for other in words)
    return sorted(pair for pair in distances if pair[0] <= most)


def end_sentence(text: str) -> str:
    """Return a text that ends as a sentence does, with a full stop if it has no mark there."""
    return text if text[-1:] in ".!?…。！？।॥؟۔" else f"{text}."


def join_words(items: Sequence[str], last: str = "and") -> str:
    """Join words into a list for a sentence: `a`, `a and b` or `a, b and c`."""
    return "".join(items) if len(items) < 2 else f"{', '.join(items[:-1])} {last} {items[-1]}"
