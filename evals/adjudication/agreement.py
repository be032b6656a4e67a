"""How far a judge agrees with people, so that a weak one is seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ...prompts.judge import Word


@dataclass(frozen=True)
class Agreement:
    """A judge's verdicts beside people's on the same answers.

    Attributes:
        n: Answers that both judged.
        agreed: Those with the same verdict.
        kappa: Cohen's: agreement beyond chance, 1 for all; None where both have one and the same verdict throughout.
        wrong_found: Share of what people call wrong that the judge calls wrong; None where there is none.
        right_kept: Likewise of what people call right.
    """

    n: int
    agreed: int
    kappa: float | None
    wrong_found: float | None
    right_kept: float | None

    @property
    def told(self) -> str:
        """In one line."""
        kappa = "-" if self.kappa is None else f"{self.kappa:.2f}"
        parts = [f"{self.agreed} of {self.n} verdicts as given (kappa {kappa})"]
        for name, share in (("wrong answers found", self.wrong_found), ("right answers kept", self.right_kept)):
            parts += [] if share is None else [f"{name} {100 * share:.0f} %"]
        return ", ".join(parts)


def agreement(pairs: Sequence[tuple[Word, Word]]) -> Agreement:
    """Compares verdicts: people's first, the judge's second."""
    n = len(pairs)
    agreed = sum(given == judged for given, judged in pairs)
    given, judged = (Counter(side) for side in zip(*pairs, strict=True)) if pairs else (Counter(), Counter())
    chance = sum(given[word] * judged[word] for word in given) / n**2 if n else 1.0
    kappa = (agreed / n - chance) / (1 - chance) if chance < 1 else None
    return Agreement(n, agreed, kappa, _found(pairs, "wrong"), _found(pairs, "right"))


def _found(pairs: Sequence[tuple[Word, Word]], word: Word) -> float | None:
    judged = [said for given, said in pairs if given == word]
    return judged.count(word) / len(judged) if judged else None
