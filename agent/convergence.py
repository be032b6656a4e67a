"""When the loop ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..tools.database import Schema
from ..tools.sql import same_sql
from .comparing import compare_code, differs, is_empty, same_answer
from .confidence import confidence
from .records import Attempt, CodeResult
from .settings import Settings


@dataclass(frozen=True)
class Stop:
    """How a loop ended.

    Attributes:
        kind: `gated` without a revision, `converged`, or `capped`.
        why: In words, for the answer.
    """

    kind: Literal["gated", "converged", "capped"]
    why: str


def stop_reason(
    attempts: Sequence[Attempt], code: CodeResult | None, schema: Schema, settings: Settings
) -> Stop | None:
    """Whether the turn is done after the last of `attempts`; None while it goes on.

    The SQL repeating (SQL-CRAFT algorithm 1), the result repeating (revision chain 3.2.2), the gate, or the cap. Both
    papers compare with the attempt before. One that is further back tells a circle, which would only be gone round
    until the cap: there is no more to come, but nothing converged.
    """
    tried = [attempt for attempt in attempts if attempt.source != "candidate"]
    last, earlier = tried[-1], tried[:-1]
    if last.source == "edited" and last.result is not None:
        return Stop("converged", "a person wrote the query")
    if settings.gate and _passes(last, code, settings):
        passed = "ran, gave rows, and no check finds fault with it"
        return Stop("converged", f"the revision {passed}") if earlier else Stop("gated", f"the draft {passed}")
    repeated = _repeated(last, earlier, schema, settings)
    if repeated:
        return repeated
    if len(tried) >= settings.max_attempts:
        if settings.max_attempts == 1 and last.result is not None:
            return Stop("converged", "the settings ask for one attempt")
        made = "1 attempt was" if len(tried) == 1 else f"{len(tried)} attempts were"
        return Stop("capped", f"{made} made, and the settings allow no more")
    return None


def _passes(attempt: Attempt, code: CodeResult | None, settings: Settings) -> bool:
    """The gate: it ran, gave something, static checks find no more than is allowed, and the code does not differ."""
    if attempt.result is None or is_empty(attempt.result) or attempt.faults:
        return False
    comparison = compare_code(attempt, code)
    if len(attempt.findings) > settings.gate_warnings or differs(comparison):
        return False
    return confidence(attempt, "converged", comparison) >= settings.gate_confidence


def _repeated(last: Attempt, earlier: Sequence[Attempt], schema: Schema, settings: Settings) -> Stop | None:
    """How the last attempt repeats one before it, the latest such one."""
    for back, other in enumerate(reversed(earlier), 1):
        same = _repeats(last.sql, other.sql, schema)
        if same and settings.converge != "result":
            what = "SQL"
        elif settings.converge != "sql" and (same or same_answer(last, other)):
            what = "result"
        else:
            continue
        if back == 1:
            return Stop("converged", f"the {what} of the attempt before came back")
        return Stop("capped", f"the revisions go in a circle: the {what} of {back} attempts before came back")
    return None


def _repeats(sql: str, other: str, schema: Schema) -> bool:
    """Whether two queries are one after regularisation; what cannot be parsed has to be the same text."""
    return sql.strip() == other.strip() or same_sql(sql, other, schema)
