"""The labels around an answer, in the languages of one catalogue."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from .errors import SettingsError
from .formats import ENGLISH, ColumnFormat, find_babel_locale, format_cell
from .words import fold, join_words

if TYPE_CHECKING:
    from babel import Locale

Label = str | dict[str, str]  # a label, or its plural forms

ACCEPTED: ContextVar[str] = ContextVar("accepted", default="")
"""The languages that the browser of whoever asks accepts, as in `de-AT,de;q=0.9,en;q=0.8`; empty without one."""

_TAG = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{2,8})*", re.IGNORECASE)


@cache
def read_catalogue() -> dict[str, dict[str, Label]]:
    """Return every label by language."""
    return tomllib.loads((files(__package__ or "") / "data" / "labels.toml").read_text("utf-8"))


@cache
def read_languages() -> dict[str, dict[str, str]]:
    """Return the known words of each language by what they claim; data/languages.toml says more."""
    return tomllib.loads((files(__package__ or "") / "data" / "languages.toml").read_text("utf-8"))


@dataclass(frozen=True)
class Labels:
    """The labels in the language of a locale; in English if there are none in it."""

    locale: str = ""

    def say(self, key: str, number: int = 0, /, **values: object) -> str:
        """Return a label with its values; the number chooses its plural form and is its `n`."""
        text = _find_label(key, self.locale)
        if isinstance(text, dict):
            text = text[_choose_plural(number, self.locale)]
        return text.format(n=self.number(number) if "{n}" in text else "", **values)

    @property
    def are_english(self) -> bool:
        """Whether the labels of the locale are in English."""
        return self.say("page_language") == "en"

    def join(self, items: Sequence[str]) -> str:
        """Return `a`, `a and b` or `a, b and c`."""
        return join_words(items, self.say("and"))

    def date(self, day: str) -> str:
        """Return a day such as `2024-12-31` as people write it."""
        return format_cell(day, ColumnFormat("date", locale=self.locale))

    def number(self, number: float, decimals: int = 0) -> str:
        """Return a number as people write it."""
        return format_cell(round(number, decimals), ColumnFormat("number", decimals, locale=self.locale))


IN_ENGLISH = Labels()


def list_labels(setting: str, accepted: str = "") -> dict[str, Label]:
    """Return all labels by key, plural forms apart, in the language of the setting or else of a browser.

    Args:
        setting: A locale; empty for the browser's.
        accepted: The languages that a browser accepts, as in `de-AT,de;q=0.9,en;q=0.8`.
    """
    known = read_catalogue()["rows"]
    locale = setting or next((tag for tag in _read_tags(accepted) if _get_language(tag) in known), "")
    return {key: _find_label(key, locale) for key in read_catalogue()}


def _read_tags(accepted: str) -> list[str]:
    """Return the tags that a browser accepts, the preferred first."""
    return list(filter(_TAG.fullmatch, (tag.split(";")[0].strip() for tag in accepted.split(",")[:20])))


def _get_language(tag: str) -> str:
    return tag.partition("-")[0].lower()


def _find_label(key: str, locale: str) -> Label:
    texts = read_catalogue()[key]
    language = "en" if locale in ENGLISH else find_babel_locale(locale).language
    return texts.get(language) or texts["en"]


def _choose_plural(count: int, locale: str) -> str:
    """Return the plural form that a number takes in the language that labels have for the locale."""
    if locale in ENGLISH or find_babel_locale(locale).language not in read_catalogue()["rows"]:
        return "one" if count == 1 else "other"
    return find_babel_locale(locale).plural_form(count)


def choose_locale(question: str, setting: str = "", said: str = "") -> str:
    """Return the locale of an answer: the setting's, else the question's language as the browser has it.

    Without a browser it is the question's language, else English.

    Args:
        question: The question in the person's own words.
        setting: A locale; empty for the question's.
        said: A model's sentence for the answer, which tells the language if the question is too short to.
    """
    return setting or _choose_locale(find_language(question) or find_language(f"{question} {said}"), ACCEPTED.get())


@lru_cache(maxsize=256)
def _choose_locale(told: str, accepted: str) -> str:
    known = read_catalogue()["rows"]
    person = next(filter(None, map(_read_locale, _read_tags(accepted))), None)
    if person is None:
        return "" if told == "en" else told  # labels fall back to English; numbers and dates do not
    if told not in known or told == person.language:
        return str(person)
    return str(find_babel_locale(f"{told}_{_find_territory(person)}"))  # English in Germany has German numbers


def _read_locale(tag: str) -> Locale | None:
    """Return the locale of a tag that a browser accepts, as in `de-AT`; None for an unknown one."""
    with suppress(SettingsError):
        return find_babel_locale(tag)
    return None


def _find_territory(locale: Locale) -> str:
    from babel.core import get_global

    return locale.territory or get_global("likely_subtags").get(str(locale), "").rpartition("_")[2]


@lru_cache(maxsize=256)
def find_language(text: str) -> str:
    """Return the language that most words of a text show; empty if that is not one alone, or few show one."""
    said = set(re.findall(r"[^\W\d_]+", text.lower()))
    hits: dict[str, int] = {}
    for language, (known, letters, told) in _compile_words().items():
        foreign = sum(1 for word in said if not letters.fullmatch(word))
        hits[language] = sum(1 for word in said if told.fullmatch(word) or known.fullmatch(fold(word))) - foreign
    best = [language for language, number in hits.items() if number == max(hits.values())]
    return best[0] if len(best) == 1 and hits[best[0]] > len(said) / 4 else ""


def join_names(names: Sequence[str], most: int, text: str) -> str:
    """Return names as a list within a text; of more than `most` the first ones, and how many more there are."""
    language = find_language(text)
    few, more = (names, 0) if len(names) <= most else (names[: most - 2], len(names) - most + 2)
    if language not in read_catalogue()["rows"]:  # `and` is not known in it
        return ", ".join([*few, f"… (+{more})"] if more else few)
    labels = Labels(language)
    return labels.say("page_and_more", more, names=", ".join(few)) if more else labels.join(few)


@cache
def _compile_words() -> dict[str, tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]]:
    """Return patterns of each language's words, of words in its letters, and of words whose letters tell it."""
    return {
        language: (
            re.compile(make_word_pattern(" ".join(listed.values()))),
            re.compile(rf"[a-z{listed['letters']}]+"),
            re.compile(listed.get("told", "(?!)")),
        )
        for language, listed in read_languages().items()
        if "letters" in listed
    }


def make_word_pattern(listed: str) -> str:
    """Return a regular expression of folded words; a `*` matches any letters, a `/` stands between words."""
    known = (r"\w*".join(re.escape(fold(part)) for part in word.split("*")) for word in re.split(r"[\s/]+", listed))
    return "|".join(filter(None, known)) or "(?!)"
