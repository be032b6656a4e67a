"""How sure the answer of a turn is: all that is known of it, weighed once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...tools.readings import Agreement
from ...tools.sandbox import Comparison
from ..advice import advisory
from ..model.record import Standing, record_file, standing
from ..records import Attempt, Status, Turn
from ..resources import Run
from ..state import AgentState
from .confidence import BY_CODE, confidence, own_certainty, reason
from .evidence import evidence_of
from .second import second_reading


@dataclass(frozen=True)
class Certainty:
    """How sure an answer is.

    Attributes:
        value: From 0 to 1; 0 where there is no answer.
        alone: The same without what the model's record says, which grows: bounds are set on it.
        reason: Why, in words.
        signals: What was weighed; see `Evidence.signals`.
    """

    value: float
    alone: float = 0.0
    reason: str = ""
    signals: Mapping[str, float] = field(default_factory=dict[str, float])


UNKNOWN = Certainty(0.0, 0.0, "how sure it is could not be told")


@advisory("confidence", UNKNOWN)
def certainty(
    attempts: Sequence[Attempt],
    chosen: Attempt | None,
    status: Status,
    comparison: Comparison | None,
    turn: Turn,
    state: AgentState,
    run: Run,
    rivals: Agreement,
) -> Certainty:
    """How sure the answer of a turn is; runs a second reading's query, so call it within an effect.

    Args:
        attempts: All of the turn's.
        chosen: The one that is the answer.
        status: How the turn ended.
        comparison: How the pandas code's result compares with the query's; None where no code ran.
        turn: The turn.
        state: With the turns before.
        run: Whose model's record counts.
        rivals: What other readings of the question gave.
    """
    if turn.stop and turn.stop.kind == "schema":
        return Certainty(1.0, 1.0, "it was looked up, not written")
    if status not in ("converged", "capped"):
        return Certainty(0.0)
    if chosen is None or chosen.result is None:
        return Certainty(BY_CODE, BY_CODE, "no query ran that confirms what the code gave")
    found = evidence_of(chosen, status, attempts, comparison, second_reading(chosen, turn, state, run))
    found = replace(found, readings=rivals.ran, same_readings=rivals.same)
    if chosen.confidence is not None:
        value = own_certainty(chosen.confidence, chosen, chosen.result, found)
        return Certainty(value, value, reason(value, found), found.signals())
    past = _standing(run)
    value = confidence(found, past)
    return Certainty(value, confidence(found), reason(value, found, past), found.signals())


def _standing(run: Run) -> Standing:
    """What is known of the run's model; the agent's own settings say where, not the run's."""
    path = record_file(run.resources.settings.record)
    if path is None:
        return Standing()
    return standing(run.resources.translator(run.settings).model, run.resources.database.name, path)
