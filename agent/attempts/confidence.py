"""How sure an answer is, from 0 to 1, and why in words.

What counts holds on any database: findings, emptiness, what the query decides by itself, whether drafts, pandas code
and a second reading give the same, the model's own word, and how often it was right before. How often questions like
this one led to queries like this one on a benchmark does not count.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from ..model.record import Recorded, Standing
from ..records import Attempt, Result
from .compare import is_empty
from .evidence import Evidence

BY_CODE = 0.3
"""For an answer from pandas code whose SQL did not run: the code was never confirmed."""

SURE, FAIRLY_SURE = 0.9, 0.7
"""Confidence from which an answer is called sure, and fairly sure."""

STRENGTH = 20
"""What is assumed of a model of which little is known counts as much as so many judged answers."""

BY_HAND: Mapping[str, float] = {"unsure": -2.0, "readings differ": -0.7, "approved": 4.0, "unfinished": -0.4}
"""Weights of signals that no published draft shows, in logits."""


@dataclass(frozen=True)
class Weights:
    """What signals weigh, in logits.

    Attributes:
        prior: The share of right answers that is assumed of a model without a record.
        intercept: Beside the logit of the model's own share.
        signals: By name, as `Evidence.signals` has them.
    """

    prior: float
    intercept: float
    signals: Mapping[str, float]


@cache
def shipped() -> Weights:
    """The weights that the package carries; `evals.lab train evidence` fits them."""
    kept: dict[str, Any] = json.loads((files(__package__ or "") / "data" / "evidence.json").read_text("utf-8"))
    return Weights(kept["prior"], kept["intercept"], {**BY_HAND, **kept["signals"]})


def confidence(found: Evidence, standing: Standing | None = None, weights: Weights | None = None) -> float:
    """The probability that an answer is right, by the evidence and by how often its model was right before."""
    weights = weights or shipped()
    value = weights.intercept + logit(share_of(standing or Standing(), weights.prior))
    value += sum(weights.signals.get(name, 0.0) * signal for name, signal in found.signals().items())
    return round(1 / (1 + math.exp(-value)), 3)


def share_of(standing: Standing, prior: float) -> float:
    """How often a model is right on a database, by what is known of it there, elsewhere, and of models in general."""
    return _share(standing.here, _share(standing.elsewhere, prior))


def _share(recorded: Recorded, assumed: float) -> float:
    return (recorded.right + STRENGTH * assumed) / (recorded.n + STRENGTH)


def logit(share: float) -> float:
    """The logarithm of the odds."""
    return math.log(share / (1 - share))


def own_certainty(value: float, attempt: Attempt, result: Result, found: Evidence) -> float:
    """A translator's own confidence in the light of what came of its query, and of code that ran beside it."""
    if attempt.proofs:
        value *= 0.5
    elif attempt.findings:
        value *= 0.8
    if is_empty(result):
        value *= 0.7
    if found.unfinished:
        value *= 0.8
    if found.differing:
        return round(value * 0.7, 3)
    return round(value + (1 - value) * 0.5 if found.agreeing else value, 3)


def words(value: float) -> str:
    """How sure an answer is, for people."""
    return "sure" if value >= SURE else "fairly sure" if value >= FAIRLY_SURE else "unsure"


def reason(value: float, found: Evidence, standing: Standing | None = None) -> str:
    """Why an answer is as sure as it is: what weighs most for it and against it, in words."""
    weights = shipped().signals
    weighed = {name: weights.get(name, 0.0) * signal for name, signal in found.signals().items()}
    felt = sorted((name for name in weighed if abs(weighed[name]) > _FELT), key=lambda name: -abs(weighed[name]))
    against, speaks_for = ([_said(name, found) for name in felt if (weighed[name] > 0) is way] for way in (False, True))
    past = _past(standing)
    (against if standing and _low(standing) else speaks_for).extend(past)
    said = ["; ".join(speaks_for[:_MOST])] if speaks_for else []
    said += [f"against it: {'; '.join(against[:_MOST])}"] if against else []
    return "; ".join(said) or (
        "no check finds fault with it" if value >= SURE else "little speaks for it or against it"
    )


_MOST = 2
"""Reasons on either side that are told."""

_FELT = 0.15
"""Logits below which a signal is not worth a word."""


def _said(name: str, found: Evidence) -> str:
    others = found.agreeing + found.differing
    told = {
        "second reading agrees": "a second reading, by grammar, gives the same",
        "second reading differs": "a second reading, by grammar, gives something else",
        "drafts agree": f"{found.agreeing} of {others} other drafts give the same",
        "drafts differ": f"{found.differing} of {others} other drafts give something else",
        "readings differ": "another way to read the question gives something else",
        "proofs": "checks find fault with the query",
        "doubts": "checks have doubts about the query",
        "unheld values": "it looks for what the data does not hold",
        "empty": "nothing came out",
        "unexpected": "it reads what the question's words do not lead to",
        "joins": f"it joins {found.joins + 1} tables",
        "nested": "it is a query within a query",
        "columns": f"it gives {found.columns} columns",
        "unsure": "the model says that it is not sure",
        "approved": "a person wrote or approved the query",
        "unfinished": "the query did not converge",
    }
    return told[name]


def _past(standing: Standing | None) -> tuple[str, ...]:
    """How often the model was right before, where that is known."""
    for recorded, where in ((standing.here, "here"), (standing.elsewhere, "elsewhere")) if standing else ():
        if recorded.n >= STRENGTH:
            return (f"the model was right on {recorded.right} of {recorded.n} judged questions {where}",)
    return ()


def _low(standing: Standing) -> bool:
    return share_of(standing, shipped().prior) < SURE
