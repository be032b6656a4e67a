"""Units of numbers in names and comments of columns: currencies, measures and per cent."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files

from .words import humanize_name, split_name_into_words

_UNIT = r"(?:US\s+)?([^\W\d_]+(?:/[^\W\d_]+)?|[€£$%])"
_IN_COMMENT = re.compile(
    rf"(?:\bin|\()\s*{_UNIT}|(?:^|[,;:]\s?)([A-Z]{{3}}|[€£$%])\.?$|^{_UNIT}(?=\s*(?:[,;(]|$|(?:per|above|below)\b))"
)
"""A unit after `in`, at the end, or by which a comment begins: `metres above sea level`, `EUR, net of VAT`."""

_ONE_OF = re.compile(r"\bper\s+[^\W\d_]+")


@cache
def load_measures_and_words() -> tuple[dict[str, str], dict[str, frozenset[str]]]:
    """Return the measures by the words for them, and the sets of other words by name."""
    data = tomllib.loads(files(__package__ or "").joinpath("data", "measures.toml").read_text(encoding="utf-8"))
    measures = {word: measure for measure, words in data["measures"].items() for word in words.split()}
    return measures, {name: frozenset(words.split()) for name, words in data["words"].items()}


def has_word_of_kind(kind: str, words: Iterable[str]) -> bool:
    """Whether one of the words is of a kind, such as `money` or `key`."""
    return not load_measures_and_words()[1][kind].isdisjoint(words)


def find_measure(word: str) -> str:
    """Return the currency, unit or `%` that a word stands for; empty if it stands for none."""
    measures = load_measures_and_words()[0]
    return measures.get(word.lower(), word if word in measures.values() else "")


@lru_cache(maxsize=10_000)
def find_unit_in_name(name: str) -> str:
    """Return the currency, unit or `%` in a column's name; empty if there is none."""
    words, measures = split_name_into_words(name), load_measures_and_words()[0]
    units = {measures[word] for word in words if word in measures}
    if len(units) != 1 or has_word_of_kind("scaled", words) or not {words[0], words[-1]} & measures.keys():
        return ""
    measure = units.pop()
    if measure == "m" and not has_word_of_kind("length", words):
        return ""
    return measure if len(words) > 1 or measure == "%" or len(measure) == 3 else ""


@lru_cache(maxsize=10_000)
def find_unit_in_comment(comment: str) -> str:
    """Return the currency, unit or `%` in a comment such as `gross, in EUR`; empty without one."""
    words, measures = set(re.findall(r"[^\W\d_]+|[€£$%=]", comment.lower())), load_measures_and_words()[0]
    units = {find_measure(word) for pair in _IN_COMMENT.findall(comment) for word in pair} - {""}
    word_units = {measures[word] for word in words if word in measures}
    return (
        units.pop()
        if len(units) == len(word_units) == 1
        and "m" not in words
        and not has_word_of_kind("scaled", words - ({"per"} if _ONE_OF.search(comment) else set()))
        and not has_word_of_kind("no_amount", words)
        else ""
    )


def drop_unit(name: str, siblings: Iterable[str] = ()) -> str:
    """Return a name in words, without its unit if no sibling differs in that alone."""
    words = _drop_unit(name)
    return humanize_name(name) if any(_drop_unit(other) == words for other in siblings if other != name) else words


def _drop_unit(name: str) -> str:
    words, unit = humanize_name(name), find_unit_in_name(name)
    name_words = [word for word in words.split() if find_measure(word) != unit]
    # A percentage may be written without its sign, as the sum of some is.
    return " ".join(name_words) if unit not in ("", "%") and name_words and " " not in name else words
