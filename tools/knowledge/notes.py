"""Definitions and rules as people write them: `WORD means MEANING`, `rule: TEXT`."""

from __future__ import annotations

import re
import unicodedata

from ..database.schema import Schema
from ..errors import KnowledgeError
from .entry import Entry
from .fragment import parse_definition
from .search import is_term_name

LONGEST_NOTE = 1_500  # characters of a note: what is longer finds no room in a prompt

_VERBS = r"(?:means|is when|stands for|heißt|heisst|bedeutet|ist|signifie|veut dire|significa)\b"
_MEANS = re.compile(
    r"^(?:[\"“'`](?P<quoted>[^\"”`]{1,80})[\"”'`]|(?P<plain>.{1,80}?))"
    rf"\s*(?P<how>\b{_VERBS}:?|:(?=\s|$)|(?<![<>!=])=(?!=))\s*(?P<meaning>.*)$",
    re.DOTALL,
)
"""`active means ordered in the last 90 days`, `SPM: sales per member`, `big = orders.total > 500`."""

_VERB_FIRST = re.compile(rf"{_VERBS}\s+")
_RULES = "rule", "regel", "regla", "regola", "règle"
_NO_WORD = "does not say which word it defines: write WORD means MEANING, or a rule as rule: TEXT"
_TOO_COMMON = "is too common to be defined: choose a word or phrase that only some questions have"


def parse_note(text: str, schema: Schema) -> Entry:
    """Return the definition or rule in a note; raise `KnowledgeError` if there is neither."""
    words = "".join(mark for mark in " ".join(text.split()) if unicodedata.category(mark) != "Cc")
    if not words:
        raise KnowledgeError("the note is empty: write it as in: active means ordered in the last 90 days")
    if len(words) > LONGEST_NOTE:
        raise KnowledgeError(f"the note has more than {LONGEST_NOTE:,} characters: split it")
    parts = _MEANS.match(words)
    if parts is None:
        raise KnowledgeError(f"not saved: {words[:80]!r} {_NO_WORD}")
    name, meaning = (parts["quoted"] or parts["plain"]).strip(), parts["meaning"].strip()
    if not meaning:
        is_rule = name.lower() in _RULES
        missing = f"write the rule after '{name}:'" if is_rule else f"say what {name} means: {name} means ..."
        raise KnowledgeError(f"not saved: {missing}")
    if parts["plain"] and name.lower() in _RULES:
        return Entry("convention", meaning, meaning)
    entry = parse_definition(name, meaning, schema, only_sql=parts["how"] == "=")
    is_definition = parts["how"].strip(":") not in ("", "ist") or bool(entry.sql)
    if not is_term_name(name, schema, addresses=is_definition):
        raise KnowledgeError(f"not saved: {name!r} {_TOO_COMMON if is_definition else _NO_WORD}")
    return entry


def strip_leading_verb(text: str) -> str:
    """Return a meaning without a leading verb, such as `means` in `means new`."""
    return text[verb.end() :] if (verb := _VERB_FIRST.match(text)) else text
