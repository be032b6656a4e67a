"""A progress bar with running scores, calls, tokens and cost."""

from __future__ import annotations

from collections import Counter
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ..metrics import Verdict
from .record import TurnRecord


class RunProgress(Progress):
    """Shows on standard error how a run is going; without a price (dollars per million tokens) not what it costs."""

    def __init__(self, total: int | None, price: tuple[float, float] | None = None, score: str = "EX") -> None:
        text = TextColumn("{task.description}")
        super().__init__(MofNCompleteColumn(), BarColumn(), text, TimeRemainingColumn(), console=Console(stderr=True))
        self._price = price
        self._score = score
        self._counts: Counter[str] = Counter()
        self.add_task("", total=total)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        # Of a run that fails, only the message stays on the terminal.
        self.live.transient = kind is not None
        super().__exit__(kind, error, traceback)

    def __call__(self, record: TurnRecord, verdict: Verdict) -> None:
        """Count one more question."""
        (prompt, completion), counts = record.tokens, self._counts
        counts.update(calls=record.calls, prompt=prompt, completion=completion, not_asked=not record.asked)
        counts.update(judged=verdict.ex is not None, right=verdict.ex is True)
        share = f"{100 * counts['right'] / counts['judged']:.1f}" if counts["judged"] else "-"
        text = f"{self._score} {share}  {counts['calls']} calls  {counts['prompt'] + counts['completion']} tokens"
        text += f"  {counts['not_asked']} not asked" if counts["not_asked"] else ""
        if self._price is not None:
            text += f"  ${(counts['prompt'] * self._price[0] + counts['completion'] * self._price[1]) / 1e6:.2f}"
        self.update(self.task_ids[0], advance=1, description=text)
