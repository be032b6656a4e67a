"""What a person says about a query before it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from ...prompts.sql_reply import starts_like_sql
from ...tools.database import Estimate
from ..advice import advise
from .phrasing import shown

SAVE = "approve and save"
"""What is offered besides where answers can be saved as examples."""

SAVED = frozenset({SAVE, "approved and saved", "save"})
APPROVED = frozenset({"approve", "approved", "yes", "y", "ok", "okay", "run", "run it", "1"})
REJECTED = frozenset({"reject", "rejected", "no", "n", "stop", "2"})

CHOICES = ("approve", "reject")
"""What is offered; a query instead of either replaces the one that was asked about."""


@dataclass(frozen=True)
class Decision:
    """Whether a query runs, and which."""

    action: Literal["approve", "edit", "reject"]
    sql: str  # what is to run; with `reject`, what was not
    reason: str = ""  # why it was rejected, in the person's words; may be empty
    save: bool = False  # whether the answer is to be saved as an example, if it comes from this query


def request(sql: str, can_save: bool, explanation: str = "", estimate: Estimate | None = None) -> dict[str, Any]:
    """What the interrupt carries."""
    choices = [*CHOICES, SAVE] if can_save else list(CHOICES)
    return {
        "kind": "approve",
        "question": "Run this query?",
        "sql": sql,
        "choices": choices,
        "explanation": explanation,
        "estimate": advise("phrasing", lambda: shown(estimate), None),
    }


def decide(reply: object, sql: str, can_save: bool) -> Decision:
    """Reads a person's reply: words, a query, or `{"action": ..., "sql": ..., "save": ..., "reason": ...}`.

    Whatever is neither consent nor a query is a rejection, with the words as its reason: nothing runs by mistake. So is
    the number of a choice that was not offered.
    """
    if isinstance(reply, Mapping):
        return _from_fields(cast("Mapping[object, object]", reply), sql)
    words = str(reply).strip()
    if words.lower().rstrip(".!") in APPROVED:
        return Decision("approve", sql)
    if words.lower().rstrip(".!") in SAVED or (can_save and words.rstrip(".!") == "3"):
        return Decision("approve", sql, save=True)
    if starts_like_sql(words):
        return Decision("edit", words)
    return Decision("reject", sql, "" if words.lower().rstrip(".!") in REJECTED else words)


def _from_fields(fields: Mapping[object, object], sql: str) -> Decision:
    action, edited = _text(fields, "action").lower(), _text(fields, "sql")
    save = fields.get("save") is True or _text(fields, "save").lower() == "true"
    if edited and action in ("edit", "approve", ""):
        return Decision("approve" if edited == sql else "edit", edited, save=save)
    if action == "approve":
        return Decision("approve", sql, save=save)
    return Decision("reject", sql, _text(fields, "reason"))


def _text(fields: Mapping[object, object], name: str) -> str:
    return str(fields.get(name, "")).strip()
