"""The words that a reading left out, and its confidence, a logistic score.

The weights in `data/confidence.json` were fitted on Spider's and CoSQL's training databases; they are frozen.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import cast

from ...tools.database.table import Cell
from .mentions import Mention, find_unused_mentions
from .reading import ParseState
from .words import HARMLESS, PHRASES

_WEIGHTS = cast(
    "dict[str, float]",
    json.loads(files(__name__.rpartition(".")[0]).joinpath("data/confidence.json").read_text("utf-8")),
)

_STEEPEST = 50.0  # log-odds against a reading that are told apart
_FIND_OUT = re.compile(r"\bfind out\b")
_WHO = re.compile(r"\s*(?:who|whom)\b", re.IGNORECASE)
_EDITING = frozenset({"only", "same"})
"""Words that say no more than that the query before is edited."""
_KINDS = (
    re.compile(r"(?<!#who )(?<!@[txc]\d )(?<!\w)(?<![#@])([a-z]{3,}) @[tx]\d"),
    re.compile(r"(?<!\S)(?:of|in|from|at|by|with|for|named|called)(?: all)? ([a-z]{3,})(?= |$)"),
    re.compile(r"(?<!\S)(?:is|are|was|were|been|#who) ([a-z]{3,})(?=$| \.)"),
)
"""Words that say which rows are meant: before a table (`cancelled visits`, but not the verb in `who made visits`),
after a preposition, and in the end (`which were cancelled`)."""
_OPERATIONS = {"sum", "avg", "each", "sort", "both", "contain", "start", "end"}


def list_unread_words(state: ParseState) -> tuple[str, ...]:
    """Return the words of a question, as typed, that may matter but are not used in its query."""
    mentions = (mention.text for mention in _list_useless_mentions(state))
    words = [*_list_unused_words(state), *_list_unused_literals(state), *mentions]
    return tuple(dict.fromkeys(filter(None, (_find_typed_form(word, state.question.text) for word in words))))


def _find_typed_form(word: str, question: str) -> str:
    """Return the phrase of a question that a marker such as `each` stands for; '' if none does."""
    forms = (" ".join(form) for options in PHRASES.values() for form, marker in options if marker == f"#{word}")
    typed = (form for form in (word, *forms) if re.search(rf"(?<!\w){re.escape(form)}(?!\w)", question, re.IGNORECASE))
    return next(typed, "")


def has_important_unread_words(state: ParseState) -> bool:
    """Whether an unread word certainly matters: a value, a name, an operation or a kind of row."""
    operations = _OPERATIONS & {*_list_unused_words(state)}
    kinds = any(match[1] not in HARMLESS for kind in _KINDS for match in kind.finditer(state.text))
    unread = _list_unused_literals(state) or _list_useless_mentions(state)
    return bool(operations or kinds or unread or _omits_names(state))


def _omits_names(state: ParseState) -> bool:
    """Whether a `who` question shows only keys, or all columns of another table."""
    frame = state.frame
    if not _WHO.match(state.question.text) or not state.names.schema.foreign_keys:
        return False
    keys = {(key.table, name) for key in state.names.schema.foreign_keys for name in key.columns}
    keys |= {(table.name, name) for table in state.names.schema.tables for name in table.primary_key}
    everything = not frame.select or all(term.column is None and not term.aggregate for term in frame.select)
    if everything:
        return any(key.table in frame.list_tables() for key in state.names.schema.foreign_keys)
    columns = [(term.column.table, term.column.name) for term in frame.select if term.column and not term.aggregate]
    return len(columns) == len(frame.select) and keys.issuperset(columns)


def _list_unused_words(state: ParseState) -> list[str]:
    """Return words that no mention or pattern used, and operations missing from the query."""
    text = _FIND_OUT.sub("find", " . ".join([state.text, *state.leftovers]))
    frames = list(state.frame.list_queries())
    harmless = HARMLESS | _EDITING if state.editing else HARMLESS
    harmless = harmless | {"#both"} if len(frames) > 1 else harmless
    harmless = harmless | {"#sum"} if any(term.aggregate == "count" for term in state.frame.select) else harmless
    words = [word.lstrip("#") for word in text.split() if not word.startswith("@") and word not in harmless]
    if "#sort" in text and not any(query.order for query in frames):
        words.append("sort")
    if "each" in state.patterns and state.frame.limit is not None and not any(query.group for query in frames):
        words.append("each")
    return words


def _list_unused_literals(state: ParseState) -> list[str]:
    """Return values, numbers, comparisons and superlatives that no pattern used."""
    return [state.get_mention(marker).text for marker in state.find_markers("onvqs")]


def _list_useless_mentions(state: ParseState) -> list[Mention]:
    """Return the mentions that contribute nothing to the query."""
    return find_unused_mentions(state.marks, state.frame, state.names.schema)


def compute_parse_signals(state: ParseState, rows: tuple[tuple[Cell, ...], ...] | None) -> dict[str, float]:
    """Return the inputs of a parsed question's confidence; `rows` is None after a timeout."""
    frame = state.frame
    names = [mark for mark in state.marks if mark.kind in ("c", "x", "t") and mark.hits]
    columns = [mark for mark in names if mark.kind != "t" and mark.column]
    values = [mark for mark in state.marks if mark.kind == "v" and mark.matches]
    tables = len(frame.list_tables())
    signals: dict[str, float] = {
        "one": 1,
        "words left": min(len({word for word in _list_unused_words(state) if word.isalpha()}), 4),
        "literals left": len(_list_unused_literals(state)),
        "mentions lost": min(len(_list_useless_mentions(state)), 3),
        "weak names": min(sum(mark.hits[0].score < 0.8 for mark in names), 4),
        "weakest column": min((mark.hits[0].score for mark in columns), default=1),
        "column elsewhere": min(sum(m.column is not None and m.column.table != m.hits[0].table for m in columns), 3),
        "a title": any(mark.text.lower() in ("name", "names", "title") for mark in columns),
        "tables said": min(sum(mark.kind == "t" for mark in state.marks), 4),
        "loose value": any(mark.matches[0].score < 0.95 for mark in values),
        "value of several columns": any(len({(m.table, m.column) for m in mark.matches}) > 1 for mark in values),
        "patterns": len(state.patterns),
        "how many": state.question.text.lower().startswith("how many"),
        "nothing asked": not state.editing and not state.find_markers("cxa"),
        "joined": tables > 1,
        "tables": max(min(tables - 2, 3), 0),
        "nested": len(list(frame.list_queries())) > 1,
        "combined": frame.also is not None,
        "rows counted": any(term.column is None and term.aggregate for term in frame.select),
        "limit": bool(frame.limit),
        "conditions": len(frame.where),
        "shown": len(frame.select) > 2,
        "one shown": len(frame.select) == 1,
        "different": frame.distinct,
        "no row": rows == (),
        "a row twice": rows is not None and len({*rows}) < len(rows),
        "editing": state.editing,
    }
    return {name: float(value) for name, value in signals.items()}


def compute_confidence(signals: Mapping[str, float]) -> float:
    """Return the probability that a question with these signals was parsed correctly."""
    return 1.0 / (1.0 + math.exp(min(_STEEPEST, -sum(_WEIGHTS[name] * value for name, value in signals.items()))))
