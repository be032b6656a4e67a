"""Confidence rises with what speaks for an answer and falls with what speaks against it."""

from __future__ import annotations

from tableturn.agent.attempts.confidence import RIGHT_BY_MERIT, confidence
from tableturn.agent.records import Attempt, Result
from tableturn.tools.sandbox import Comparison


def ran(fit: float | None, **more: object) -> Attempt:
    return Attempt("SELECT 1", result=Result(("n",), ((1,),)), fit=fit, **more)  # pyright: ignore[reportArgumentType]


def sure(attempt: Attempt, votes: int = 0) -> float:
    return confidence(attempt, "converged", None, votes)


def test_it_rises_with_merit_within_its_table() -> None:
    values = [sure(ran(fit)) for fit in (-90.0, -30.0, -20.0, -10.0, -5.0, -2.0, 0.0)]
    assert values == sorted(values)
    assert (values[0], values[-1]) == (RIGHT_BY_MERIT[0][1], RIGHT_BY_MERIT[-1][1])


def test_other_drafts_and_code_count() -> None:
    draft = ran(-8.0)
    assert sure(draft, -2) < sure(draft) < sure(draft, 2)
    agrees = confidence(draft, "converged", Comparison(True))
    differs = confidence(draft, "converged", Comparison(False, reason="other rows"))
    assert differs < sure(draft) < agrees


def test_findings_and_the_cap_lower_it() -> None:
    assert sure(ran(-8.0, findings=("x",))) < sure(ran(-8.0))
    assert confidence(ran(-8.0), "capped", None) < sure(ran(-8.0))
    assert confidence(None, "failed", None) == 0.0


def test_a_translators_own_confidence_is_kept() -> None:
    assert sure(ran(-90.0, confidence=0.9)) == 0.9
