"""Going through disagreements at the terminal, one key a decision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import typer
from rich.columns import Columns
from rich.console import Console, Group
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from ...prompts.judge import Word
from ...tools.errors import SettingsError
from .disagreements import Disagreement, FinishedRun
from .ruling import Ruling, append_rulings

_WORDS: Final[dict[str, Word]] = {"r": "right", "w": "wrong", "u": "unclear"}
_KEYS = "[a]ccept the proposal  [r]ight  [w]rong  [u]nclear  [s]kip  [q]uit"


def undecided(run: FinishedRun) -> list[Disagreement]:
    """Disagreements that nobody has decided, those with a proposal first."""
    found = [item for item in run.disagreements() if item.outcome.verdict is None]
    return sorted(found, key=lambda item: item.outcome.proposal is None)


def review_all(run: FinishedRun, by: str) -> int:
    """Shows each undecided disagreement and writes down what is said of it, at once.

    Args:
        run: The run.
        by: Whose verdicts these are.

    Returns:
        How many verdicts were written.
    """
    console = Console()
    items = undecided(run)
    written = 0
    for number, item in enumerate(items, 1):
        console.rule(f"{number} of {len(items)}")
        _show(item, console)
        key = _key(console, can_accept=item.outcome.proposal is not None)
        if key == "q":
            break
        rulings = decided(run, item, key, by)
        append_rulings(run.verdict_file, rulings)
        written += bool(rulings)
    return written


def decided(run: FinishedRun, item: Disagreement, key: str, by: str) -> Sequence[Ruling]:
    """The rulings that a key stands for; none for skipping."""
    if key == "a":
        # Of the gold, too, the judge's opinion is taken over: it is shown.
        proposed = (item.outcome.proposal, item.outcome.gold_proposal)
        return [ruling.taken_over(by) for ruling in proposed if ruling is not None]
    return [blank_ruling(run, item).said(_WORDS[key], by)] if key in _WORDS else ()


def blank_ruling(run: FinishedRun, item: Disagreement) -> Ruling:
    """A ruling on the answer of a disagreement that says nothing yet."""
    case = item.case
    return Ruling(
        dataset=run.dataset.name,
        id=case.question.id,
        question=case.question.text,
        sql=case.sql,
        gold=case.gold,
        verdict="unclear",
        accepted=False,
    )


def _key(console: Console, *, can_accept: bool) -> str:
    console.print(Text(_KEYS if can_accept else _KEYS.partition("  ")[2], style="bold"))
    while True:
        try:
            key = typer.getchar().lower()
        except OSError as error:
            raise SettingsError("decisions are taken at a terminal: write a page instead, with --page FILE") from error
        if key in "rwusq" or (key == "a" and can_accept):
            return key


def _show(item: Disagreement, console: Console) -> None:
    question, record = item.case.question, item.record
    console.print(Text(f"{question.id}  {question.database}", style="dim"))
    console.print(Text(question.text, style="bold"))
    answer = _side("Answer", item.case.sql, record, "")
    gold = _side("Gold", item.case.gold, record, "gold_")
    console.print(Columns([answer, gold], equal=True, expand=True))
    for side, proposal in (("", item.outcome.proposal), (" of the gold", item.outcome.gold_proposal)):
        if proposal is not None:
            kind = f" ({proposal.kind})" if proposal.kind else ""
            console.print(Text(f"{proposal.by} proposes{side}: {proposal.verdict}{kind}. {proposal.why}"))


def _side(title: str, sql: str, record: Any, prefix: str) -> Panel:
    columns, rows = record[f"{prefix}columns"], record[f"{prefix}rows"]
    count = record["row_count"] if not prefix else record["gold_row_count"]
    table = Table(*(escape(str(name)) for name in columns), show_edge=False)
    for row in rows:
        table.add_row(*(Text("NULL" if cell is None else str(cell)) for cell in row))
    told = "it does not run" if count is None else f"{count} rows"
    return Panel(Group(Text(sql), Text(""), table if columns else Text(""), Text(told, style="dim")), title=title)
