"""What a person says about a query before it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..prompts.statement_text import starts_like_sql

APPROVED = frozenset({"approve", "approved", "yes", "y", "ok", "okay", "run", "run it", "1"})
REJECTED = frozenset({"reject", "rejected", "no", "n", "stop", "2"})

CHOICES = ("approve", "reject")
"""What is offered; a query instead of either replaces the one that was asked about."""


@dataclass(frozen=True)
class Decision:
    """Whether a query runs, and which.

    Attributes:
        action: What was decided.
        sql: What is to run; with `reject`, what was not.
        reason: Why it was rejected, in the person's words; may be empty.
    """

    action: Literal["approve", "edit", "reject"]
    sql: str
    reason: str = ""


def request(sql: str) -> dict[str, Any]:
    """What the interrupt carries."""
    return {"kind": "approve", "question": "Run this query?", "sql": sql, "choices": list(CHOICES)}


def decide(said: object, sql: str) -> Decision:
    """Reads a person's reply: words, a query, or `{"action": ..., "sql": ..., "reason": ...}`.

    Whatever is neither consent nor a query is a rejection, with the words as its reason: nothing runs by mistake.
    """
    if isinstance(said, Mapping):
        return _from_fields({str(key): str(value) for key, value in said.items()}, sql)
    words = str(said).strip()
    if words.lower().rstrip(".!") in APPROVED:
        return Decision("approve", sql)
    if starts_like_sql(words):
        return Decision("edit", words)
    return Decision("reject", sql, "" if words.lower().rstrip(".!") in REJECTED else words)


def _from_fields(fields: Mapping[str, str], sql: str) -> Decision:
    action, edited = fields.get("action", "").strip().lower(), fields.get("sql", "").strip()
    if edited and action in ("edit", "approve", ""):
        return Decision("approve" if edited == sql else "edit", edited)
    if action == "approve":
        return Decision("approve", sql)
    return Decision("reject", sql, fields.get("reason", "").strip())
