"""The level of confidence from which answers are wrong at most so often, with a certainty that labels bear out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

START = 0.5
"""The share of answers, the surest, at which the search starts.

Among few a single wrong one, met by chance, would end it; by simulation of models that are wrong on 1 to 10 % a half
does about as well as any other start.
"""


@dataclass(frozen=True)
class Level:
    """What labels show.

    Attributes:
        confidence: The least confidence of answers that may be trusted; None where labels show none.
        labels: All of them.
        wrong: Those that are wrong.
        trusted: Labels of that confidence or more.
        trusted_wrong: Those of them that are wrong.
        missing: The least number of further labels that could show a level, all of them right; 0 where there is one.
    """

    confidence: float | None
    labels: int
    wrong: int
    trusted: int = 0
    trusted_wrong: int = 0
    missing: int = 0


def bounded(answers: Sequence[tuple[float, bool]], alpha: float, certainty: float) -> Level:
    """The lowest level of confidence from which at most `alpha` are wrong, with that certainty.

    Learn then test (Angelopoulos, Bates, Candès, Jordan and Lei, "Learn then test: calibrating predictive algorithms to
    achieve risk control", 2021, arXiv:2110.01052): for each level the hypothesis that more than `alpha` of the answers
    from it are wrong has the exact binomial p-value, the tail that Clopper and Pearson's interval inverts. Levels are
    tested in a fixed sequence, from that of the surest half down, until one is not rejected (their section 4). Which
    levels are tested follows from how many answers there are and from ties of their confidence, never from which are
    right.

    Args:
        answers: Confidence, and whether the answer is right; of questions like those that will be asked.
        alpha: The share of wrong ones among trusted answers, at most.
        certainty: How sure that is to be.
    """
    surest = sorted(answers, key=lambda answer: -answer[0])
    risk, found = 1 - certainty, 0
    for size, wrong in _tested(surest, alpha, risk):
        if _tail(wrong, size, alpha) > risk:
            break
        found = size
    wrong = sum(not right for _, right in surest)
    if not found:
        return Level(None, len(surest), wrong, missing=_missing(surest, alpha, risk))
    trusted_wrong = sum(not right for _, right in surest[:found])
    return Level(surest[found - 1][0], len(surest), wrong, found, trusted_wrong)


def _tested(surest: Sequence[tuple[float, bool]], alpha: float, risk: float) -> Iterator[tuple[int, int]]:
    """How many answers each level that is tested has, and how many of them are wrong.

    Only sizes at which one more may be wrong than before, and all answers: in between, a wrong answer would end the
    search that the next few right ones would have let go on.
    """
    sizes = [size for size in least_sizes(alpha, risk, len(surest)) if size >= START * len(surest)]
    last = 0
    for size in (*sizes, len(surest)) if sizes else ():
        if size <= last:
            continue
        level = surest[size - 1][0]
        last = next((n for n in range(size, len(surest)) if surest[n][0] < level), len(surest))
        yield last, sum(not right for _, right in surest[:last])


def least_sizes(alpha: float, risk: float, most: int) -> list[int]:
    """The least numbers of answers that bear out the bound with no wrong one among them, with one, with two ..."""
    sizes: list[int] = []
    for size in range(1, most + 1):
        if _tail(len(sizes), size, alpha) <= risk:
            sizes.append(size)
    return sizes


def _missing(surest: Sequence[tuple[float, bool]], alpha: float, risk: float) -> int:
    """See `Level.missing`: of the surest answers, so many as would do without a wrong one."""
    enough = 1
    while _tail(0, enough, alpha) > risk:
        enough += 1
    wrong = sum(not right for _, right in surest[:enough])
    size = enough
    while _tail(wrong, size, alpha) > risk:
        size += 1
    return max(size - min(len(surest), enough), 1)


@cache
def _tail(wrong: int, size: int, alpha: float) -> float:
    """The probability of so few wrong ones among so many, if `alpha` of all are wrong."""
    from scipy.stats import binom

    return float(binom.cdf(wrong, size, alpha))
