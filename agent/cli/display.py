"""How answers and progress look at the terminal."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from ...tools.terminal import safe

if TYPE_CHECKING:
    from ..answers.answer import Answer
    from ..answers.events import Event

ROWS_SHOWN = 20
"""Rows printed, unless `--limit` says otherwise; `--json` gives all that the answer holds."""

CELL_CHARACTERS = 80

DOING = {
    "rephrase": "finding what it is about",
    "link": "looking for examples",
    "candidate": "comparing drafts",
    "select": "checking the result",
    "retrieve": "writing SQL",
    "generate": "running it",
    "reason": "running it",
    "execute": "checking the result",
    "critique": "deciding",
    "revise": "running it again",
    "clarify": "reading the question",
}
"""What goes on once a node has finished."""


@contextmanager
def show_progress() -> Generator[Callable[[Event], None]]:
    """A spinner on a terminal's standard error; nothing elsewhere."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda event: None
        return
    with console.status("reading the question") as status:

        def progress(event: Event) -> None:
            if event.kind == "node" and event.name in DOING:
                status.update(DOING[event.name])

        yield progress


def show_answer(
    answer: Answer,
    console: Console | None = None,
    *,
    rows: int | None = None,
    explain: bool = False,
    facts: bool = True,
) -> None:
    """The rephrasing, the SQL, the attempts, the result as a table and as the picture asked for, the answer in words.

    Args:
        answer: What is shown.
        console: Where; standard output if None.
        rows: So many of the rows; `ROWS_SHOWN` if None.
        explain: Say what the SQL means.
        facts: Say how sure it is, and what it cost.
    """
    console = console or Console()
    if answer.rephrased and answer.rephrased != answer.question:
        console.print(Text.assemble(("read as  ", "dim"), safe(answer.rephrased)))
    if answer.sql:
        console.print(Syntax(safe(answer.sql), "sql", word_wrap=True, background_color="default"))
    if len(answer.attempts) > 1 or any(attempt.error for attempt in answer.attempts):
        _show_attempts(answer, console)
    if answer.columns:
        console.print(_result(answer, ROWS_SHOWN if rows is None else rows))
    if answer.answered and answer.pictured:
        _show_chart(answer, console)
    style = "bold" if answer.answered else "bold yellow"
    console.print(Text(safe(answer.text), style=style))
    if answer.estimate is not None and answer.status == "needs_clarification":
        console.print(Text(f"  expected to read about {answer.estimate.rows:,} row(s)", style="dim"))
    for number, choice in enumerate(answer.choices, 1):
        console.print(Text(f"  {number}. {safe(choice)}"))
    if explain and answer.explanation:
        console.print(Text(safe(answer.explanation)))
    if facts:
        said = f"{answer.status}, confidence {answer.confidence:.2f}, {len(answer.attempts)} attempt(s), "
        said += f"{answer.usage.llm_calls} model call(s), {answer.usage.seconds:.2f} s, {answer.model}"
        console.print(Text(said, style="dim"))
    for used in answer.used_knowledge:
        meaning = used.text or used.sql
        console.print(Text(safe(f"by definition: {used.kind} {used.name}: {meaning}"), style="dim"))
    for note in answer.notes:
        console.print(Text(f"note: {safe(note)}", style="dim"))


def _show_attempts(answer: Answer, console: Console) -> None:
    for number, attempt in enumerate(answer.attempts, 1):
        rows = "ran" if attempt.row_count is None else f"{attempt.row_count} row(s)"
        came = f"failed: {attempt.error}" if attempt.error else rows
        console.print(Text(f"attempt {number}: {safe(came)}", style="dim"))


def _show_chart(answer: Answer, console: Console) -> None:
    from ...tools.charts.draw import drawn

    if answer.drawn is None:
        console.print(Text("No chart fits this result.", style="dim"))
    else:
        console.print(drawn(answer.drawn, console))


def _result(answer: Answer, shown: int) -> Table:
    table = Table(header_style="bold")
    for name in answer.headings:
        table.add_column(escape(safe(name)))
    for row in answer.rows[:shown]:
        table.add_row(*(Text("NULL", style="dim") if cell is None else Text(_cut(safe(str(cell)))) for cell in row))
    if answer.row_count > shown:
        table.caption = f"{shown} of {answer.row_count}{' or more' if answer.truncated else ''} rows"
    return table


def _cut(text: str) -> str:
    return text if len(text) <= CELL_CHARACTERS else text[: CELL_CHARACTERS - 1] + "…"
