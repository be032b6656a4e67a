"""The labels around an answer, in the languages of one catalogue."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from importlib.resources import files
from itertools import chain
from typing import TYPE_CHECKING

from .errors import QueryFailed, SettingsError
from .formats import ENGLISH, ColumnFormat, find_babel_locale, format_cell
from .words import FUNCTION_WORDS, fold, join_words

if TYPE_CHECKING:
    from babel import Locale

Label = str | dict[str, str]  # a label, or its plural forms

ACCEPTED: ContextVar[str] = ContextVar("accepted", default="")
"""The languages that the browser of whoever asks accepts, as in `de-AT,de;q=0.9,en;q=0.8`; empty without one."""


@contextmanager
def accept_machine_language() -> Generator[None]:
    """Take the language of the environment, as in `LANG=de_DE.UTF-8`, where there is no browser."""
    names = ("LC_ALL", "LC_MESSAGES", "LANG")
    locale = next(filter(None, map(os.environ.get, names)), "")
    token = ACCEPTED.set(re.split("[.@]", locale)[0].replace("_", "-"))
    try:
        yield
    finally:
        ACCEPTED.reset(token)


_TAG = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{2,8})*", re.IGNORECASE)


@cache
def read_catalogue() -> dict[str, dict[str, Label]]:
    """Return every label by language."""
    return tomllib.loads((files(__package__ or "") / "data" / "labels.toml").read_text("utf-8"))


@cache
def read_languages() -> dict[str, dict[str, str]]:
    """Return the words of each language by their meaning, as listed in data/languages.toml."""
    languages = tomllib.loads((files(__package__ or "") / "data" / "languages.toml").read_text("utf-8"))
    languages["en"]["common"] += f" {' '.join(sorted(FUNCTION_WORDS))}"
    return languages


@cache
def _read_reasons(language: str) -> list[tuple[re.Pattern[str], str]]:
    """Return patterns of English phrases with names in them, each with its translation."""
    every = tomllib.loads((files(__package__ or "") / "data" / "reasons.toml").read_text("utf-8"))
    names = re.compile(r"\\\{(\w+)\\\}")
    return [(re.compile(names.sub(r"(?P<\1>.+)", re.escape(en))), text) for en, text in every.get(language, {}).items()]


def _translate_phrase(phrase: str, reasons: Sequence[tuple[re.Pattern[str], str]]) -> str:
    matches = ((pattern.fullmatch(phrase), text) for pattern, text in reasons)
    return next((text.format(**match.groupdict()) for match, text in matches if match), "")


@cache
def _read_plain_errors() -> list[tuple[re.Pattern[str], str]]:
    """Return patterns of the texts of errors, each with the label that says it to people."""
    every = tomllib.loads((files(__package__ or "") / "data" / "plain_errors.toml").read_text("utf-8"))
    # A label is a sentence of its own: what stands before it, such as `No query ran: `, goes.
    return [
        (re.compile(rf"(?:^[A-Z][^:\n]*: )?(?:{text})\.?"), label) for label, texts in every.items() for text in texts
    ]


_ERRNO = re.compile(r"\[Errno \d+\] ([^:\n]+)(?:: '[^'\n]*')?")


@dataclass(frozen=True)
class Labels:
    """The labels in the language of a locale; in English if that language has no labels."""

    locale: str = ""

    def say(self, key: str, number: int = 0, /, **values: object) -> str:
        """Return a label with values filled in; `number` chooses the plural form and replaces `{n}`."""
        text = _find_label(key, self.locale)
        if isinstance(text, dict):
            text = text[_choose_plural(number, self.locale)]
        return text.format(n=self.number(number) if "{n}" in text else "", **values)

    def translate(self, reason: str) -> str:
        """Return the English text `what: why` in the locale's language, if that has words for all of it."""
        reasons = _read_reasons(_find_language(self.locale))
        for cut in [*re.finditer(": |$", reason)]:  # a name may have the mark too
            phrases = [
                _translate_phrase(part, reasons) for part in (reason[: cut.start()], reason[cut.end() :]) if part
            ]
            if all(phrases):
                return ": ".join(phrases)
        return _translate_phrase(reason, [(pattern, text) for pattern, text in reasons if ": " in text]) or reason

    def say_error(self, error: Exception | str, kind: str | None = None) -> str:
        """Return an error in plain words for people, without what its text advises a model."""
        text = told = _ERRNO.sub(r"\1", str(error))
        for pattern, label in _read_plain_errors():
            told = pattern.sub(partial(self._say_match, label), told)
        kind = kind or getattr(error, "kind", None)
        if told != text or not (kind in ("timeout", "too_large") or isinstance(error, QueryFailed)):
            return told if told != text else self.translate(text)
        if isinstance(error, QueryFailed):
            return self.say("page_database_says", why=text)
        return self.say("took_longer" if kind == "timeout" else "result_too_large")

    def say_failure(self, error: str, kind: str | None = None) -> str:
        """Return why no query for a question ran and what may help, in plain words, not the database's."""
        told = self.say_error(error, kind)
        return self.say("no_query_ran") if told == self.translate(error) else told

    def _say_match(self, label: str, match: re.Match[str]) -> str:
        values = match.groupdict()
        for name in values.keys() & {"seconds", "limit"}:
            figure = values[name].replace(",", "")
            values[name] = self.number(float(figure), len(figure.partition(".")[2]))
        return self.say(label, **values)

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


def list_labels(setting: str, tags: str = "") -> dict[str, Label]:
    """Return all labels by key, in the language of the setting or, if unset, of the browser.

    Args:
        setting: A locale; empty for the browser's.
        tags: The languages that a browser accepts, as in `de-AT,de;q=0.9,en;q=0.8`.
    """
    languages = read_catalogue()["rows"]
    locale = setting or next((tag for tag in _read_tags(tags) if _get_language(tag) in languages), "")
    return {key: _find_label(key, locale) for key in read_catalogue()}


def _read_tags(tags: str) -> list[str]:
    """Return the tags that a browser accepts, the preferred first."""
    return list(filter(_TAG.fullmatch, (tag.split(";")[0].strip() for tag in tags.split(",")[:20])))


def _get_language(tag: str) -> str:
    return tag.partition("-")[0].lower()


def _find_label(key: str, locale: str) -> Label:
    texts = read_catalogue()[key]
    return texts.get(_find_language(locale)) or texts["en"]


def _find_language(locale: str) -> str:
    return "en" if locale in ENGLISH else find_babel_locale(locale).language


def _choose_plural(count: int, locale: str) -> str:
    """Return the plural form for a number in the language of the locale's labels."""
    if locale in ENGLISH or find_babel_locale(locale).language not in read_catalogue()["rows"]:
        return "one" if count == 1 else "other"
    return find_babel_locale(locale).plural_form(count)


def choose_locale(question: str, setting: str = "", sentence: str = "", earlier: Iterable[str] = ()) -> str:
    """Return an answer's locale: the setting's, else that of the question's or the conversation's language.

    If these do not tell, it is the language that the browser or the machine accepts, else English.

    Args:
        question: The question in the person's own words.
        setting: A locale; empty for the question's.
        sentence: A model's sentence for the answer, which tells the language if the question is too short to.
        earlier: The conversation's earlier questions, the newest first.
    """
    texts = chain((question, f"{question} {sentence}"), earlier)
    return setting or _choose_locale(next(filter(None, map(find_language, texts)), ""), ACCEPTED.get())


@lru_cache(maxsize=256)
def _choose_locale(language: str, tags: str) -> str:
    languages = read_catalogue()["rows"]
    person = next(filter(None, map(_read_locale, _read_tags(tags))), None)
    if person is None:
        return "" if language == "en" else language  # labels fall back to English; numbers and dates do not
    if language not in languages or language == person.language:
        return str(person)
    return str(find_babel_locale(f"{language}_{_find_territory(person)}"))  # English in Germany has German numbers


def _read_locale(tag: str) -> Locale | None:
    """Return the locale of a language tag such as `de-AT`; None if the tag is unknown."""
    with suppress(SettingsError):
        return find_babel_locale(tag)
    return None


def _find_territory(locale: Locale) -> str:
    from babel.core import get_global

    return locale.territory or get_global("likely_subtags").get(str(locale), "").rpartition("_")[2]


@lru_cache(maxsize=256)
def find_language(text: str) -> str:
    """Return the language of most known words in a text; empty if it is unclear."""
    words = set(re.findall(r"[^\W\d_]+", text.lower()))
    # Inside a sentence what begins with a capital is a name, except in German.
    names = {word.lower() for word in re.findall(r"(?<=[\w,;] )[^\W\d_]+", text) if word.istitle()}
    hits: dict[str, int] = {}
    for language, (vocabulary, letters, signs) in _compile_language_patterns().items():
        foreign = sum(1 for word in words if not letters.fullmatch(word))
        told = words if language == "de" else words - names
        hits[language] = sum(1 for word in told if signs.fullmatch(word) or vocabulary.fullmatch(fold(word))) - foreign
    best = [language for language, number in hits.items() if number == max(hits.values())]
    return best[0] if len(best) == 1 and hits[best[0]] > len(words) / 4 else ""


def is_listed_word(word: str, language: str) -> bool:
    """Whether a folded word is in a language's lists, so that it need not be a name."""
    return language in read_languages() and _compile_language_patterns()[language][0].fullmatch(word) is not None


def spell_out_scales(text: str, language: str) -> str:
    """Return a text with numbers such as `5 million` or `a thousand` in digits."""
    forms = [words.split("/") for words in read_languages().get(language, {}).get("scales", "").split()]
    if not forms:
        return text
    values = {word: 1000**power for power, words in enumerate(forms) for word in words}
    ones, scales = "|".join(forms[0]), "|".join(word for words in forms[1:] for word in words)

    def spell_out(match: re.Match[str]) -> str:
        word, scale = match[1].lower(), match[2].lower()
        number = float(word.replace(",", ".")) if word[0].isdigit() else 1
        return str(round(number * values[scale]))

    # Three digits behind a mark may be thousands.
    number = rf"((?<![\w.,'’])\d+(?:[.,]\d\d?)?|(?<!\w)(?:{ones}))"
    return re.sub(rf"{number}\s({scales})(?!\w)", spell_out, text, flags=re.IGNORECASE)


def join_names(names: Sequence[str], limit: int, text: str) -> str:
    """Join names into a list for a text; after the first `limit`, say how many more there are."""
    language = find_language(text)
    head, rest_count = (names, 0) if len(names) <= limit else (names[: limit - 2], len(names) - limit + 2)
    if language not in read_catalogue()["rows"]:  # `and` is not known in it
        return ", ".join([*head, f"… (+{rest_count})"] if rest_count else head)
    labels = Labels(language)
    return labels.say("page_and_more", rest_count, names=", ".join(head)) if rest_count else labels.join(head)


@cache
def _compile_language_patterns() -> dict[str, tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]]:
    """Return patterns per language: known words, words in its alphabet, words with own letters."""
    return {
        language: (
            re.compile(make_word_pattern(" ".join(words.values()))),
            re.compile(rf"[a-z{words['letters']}]+"),
            re.compile(words.get("told", "(?!)")),
        )
        for language, words in read_languages().items()
        if "letters" in words
    }


def make_word_pattern(words: str) -> str:
    """Return a regular expression for folded words separated by `/`; `*` matches any letters."""
    patterns = (r"\w*".join(re.escape(fold(piece)) for piece in word.split("*")) for word in re.split(r"[\s/]+", words))
    return "|".join(filter(None, patterns)) or "(?!)"
