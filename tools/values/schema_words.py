"""What the names of tables and columns say: their words, spelled out."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files

from .text_words import fold, stem

_PART = re.compile(r"A+(?!a)|A?a+|0+|x+")
"""Words in a name's outline; see `_outline`."""

_SHORT_FORMS = {
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
def name_words(name: str) -> tuple[str, ...]:
    """A name's words in lower case: split at underscores, case changes and digits, short forms spelled out."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    parts = [fold(plain[part.start() : part.end()]) for part in _PART.finditer("".join(map(_outline, plain)))]
    return tuple(word for part in parts for word in _SHORT_FORMS.get(part, (part,))) or (fold(name),)


def _outline(character: str) -> str:
    """`A` for an upper-case letter of any script, `a` for a lower-case one, `x` for one without case, `0`, or `_`."""
    if character.isalpha():
        return "A" if character.isupper() else "a" if character.upper() != character else "x"
    return "0" if character.isdecimal() else "_"


@lru_cache(maxsize=50_000)
def name_stems(name: str) -> tuple[str, ...]:
    """The stems of a name's words."""
    return tuple(stem(word) for word in name_words(name))


@cache
def synonyms() -> Mapping[str, tuple[str, ...]]:
    """Words of identifiers, each with other words that people use for it: common English, of no training text."""
    text = (files(__package__ or "") / "data" / "synonyms.json").read_text("utf-8")
    return {word: tuple(others.split()) for word, others in json.loads(text).items()}
