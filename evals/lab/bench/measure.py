"""The form of a bench that asks about cases and counts the outcomes; each module of them has a table `MEASURES`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from .registry import BenchOptions

CaseT = TypeVar("CaseT")
OutcomeT = TypeVar("OutcomeT")

Figures = dict[str, object]


@dataclass(frozen=True)
class Measure(Generic[CaseT, OutcomeT]):
    """One row of the table of benches.

    Attributes:
        cases: Yields what is asked about; what it opens stays open until the last case has been asked.
        ask: Returns the outcome of a case.
        count: Returns the figures of all outcomes, ready for JSON.
    """

    cases: Callable[[BenchOptions], Iterable[CaseT]]
    ask: Callable[[CaseT], OutcomeT]
    count: Callable[[list[OutcomeT]], Figures]

    def run(self, options: BenchOptions) -> Figures:
        """Ask about every case and count."""
        return self.count([self.ask(case) for case in self.cases(options)])


@dataclass(frozen=True)
class Whole:
    """A row whose cases are not asked about one by one."""

    run: Callable[[BenchOptions], Figures]


def keep_case(case: CaseT) -> CaseT:
    """Return the case itself, which is its own outcome."""
    return case


def merge_figures(outcomes: list[Figures]) -> Figures:
    """Return the figures of outcomes that have different keys."""
    return {key: value for figures in outcomes for key, value in figures.items()}


def share(flags: Collection[bool]) -> float:
    """Return the share of true flags, from 0 to 1; 0 of none."""
    return divide(sum(flags), len(flags))


def divide(part: float, whole: float) -> float:
    """Return a ratio to four digits; 0 of nothing."""
    return round(part / whole, 4) if whole else 0.0
