"""The same run several times: how much of a score is chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev


@dataclass(frozen=True)
class Repeats:
    """Execution accuracy over repeated runs.

    Attributes:
        ex: Of each run.
        mean: Over the runs.
        deviation: Standard deviation between runs; None for one run.
        always: Questions that every run has right.
        never: Questions that no run has right.
        unstable: Ids of questions that some runs have right and others wrong.
    """

    ex: tuple[float, ...]
    mean: float | None
    deviation: float | None
    always: int
    never: int
    unstable: tuple[str, ...]

    @property
    def told(self) -> str:
        """In one line."""
        if self.mean is None:
            return "no question was judged"
        spread = "" if self.deviation is None else f", deviation {100 * self.deviation:.1f}"
        counts = f"always right {self.always}, never {self.never}, unstable {len(self.unstable)}"
        return f"EX {100 * self.mean:.1f} on average of {len(self.ex)} runs{spread}; {counts}"


def repeats(runs: Sequence[Mapping[str, bool]]) -> Repeats:
    """Sums up runs.

    Args:
        runs: Of each, whether a question was answered rightly, by id; without those that have no verdict.
    """
    shares = tuple(fmean(run.values()) for run in runs if run)
    common = [name for name in (runs[0] if runs else ()) if all(name in run for run in runs)]
    right = {name: sum(run[name] for run in runs) for name in common}
    return Repeats(
        ex=shares,
        mean=fmean(shares) if shares else None,
        deviation=stdev(shares) if len(shares) > 1 else None,
        always=sum(count == len(runs) for count in right.values()),
        never=sum(count == 0 for count in right.values()),
        unstable=tuple(name for name, count in right.items() if 0 < count < len(runs)),
    )
