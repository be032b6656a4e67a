"""How the scores of a run look at the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...tools.terminal import say, warn

if TYPE_CHECKING:
    from ..metrics import Scores, Summary, Verdict
    from ..report.figures import Section

_TOLD = 10
"""Questions whose gold fails, or is disputed, that are named one by one."""


def print_doubts(summary: Summary, verdicts: Sequence[Verdict]) -> None:
    """Says which questions are not judged, and which golds are disputed, a few one by one."""
    unjudged = [verdict for verdict in verdicts if verdict.question.id in summary.unjudged]
    notes = [f"{verdict.question.id} is not judged: {verdict.error}" for verdict in unjudged[:_TOLD]]
    if len(unjudged) > _TOLD:
        notes.append(f"{len(unjudged) - _TOLD} more are not judged")
    for verdict in [verdict for verdict in verdicts if verdict.question.disputed and verdict.ex is not None][:_TOLD]:
        outcome = "right" if verdict.ex else "wrong"
        notes.append(f"{verdict.question.id}, counted {outcome}, has a disputed gold: {verdict.question.disputed}")
    for note in notes:
        warn(f"note: {note}")


def print_summary(summary: Summary, title: str) -> None:
    """A table: by hardness, by turn where there are several, and of all."""
    from rich.console import Console
    from rich.table import Table

    from ..metrics.summary import percent

    table = Table("", "n", "EX", "EM", "valid", title=title)

    def add(name: str, scores: Scores) -> None:
        shares = map(percent, (scores.ex, scores.em, scores.valid))
        counted = str(scores.n) if scores.judged == scores.n else f"{scores.judged} of {scores.n}"
        table.add_row(name, counted, *shares)

    for level, scores in summary.by_hardness.items():
        add(level, scores)
    if len(summary.by_turn) > 1:
        for turn, scores in summary.by_turn.items():
            add(f"turn {turn}", scores)
        add("interactions", summary.interactions)
    add("all", summary.all)
    Console().print(table)


def print_outcomes(scores: Mapping[str, Any]) -> None:
    """Print what became of questions that may be declined or asked back about; nothing where there are none."""
    from ..report.figures import Section, outcome_rows

    print_sections([Section("Declining and asking back", ("",), outcome_rows([{"outcomes": scores}]))])


def print_sections(sections: Sequence[Section]) -> None:
    """Print sections of a page of one run, a line per row."""
    for section in sections:
        if section.rows:
            say(section.title)
        for row in section.rows:
            say(f"  {row.name}: {', '.join(row.cells)}")
