"""How answers look at the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from ...tools.terminal import safe
from ..answers.phrasing import counted_rows, cut_note
from .rows import Rows

if TYPE_CHECKING:
    from ..answers.answer import Answer

ROWS_SHOWN = 20
"""Rows printed, unless `--limit` says otherwise; `--json` gives all that the answer holds."""


def show_answer(
    answer: Answer,
    console: Console | None = None,
    *,
    rows: int | None = None,
    explain: bool = False,
    facts: bool = True,
    paged: bool = False,
) -> None:
    """The rephrasing, the SQL, the attempts, the result as a table and as the picture asked for, the answer in words.

    Args:
        answer: What is shown.
        console: Where; standard output if None.
        rows: So many of the rows; `ROWS_SHOWN` if None.
        explain: Say what the SQL means.
        facts: Say how sure it is, and what it cost.
        paged: Whether `/more` shows further rows.
    """
    console = console or Console()
    if answer.rephrased and answer.rephrased != answer.question:
        console.print(Text.assemble(("read as  ", "dim"), safe(answer.rephrased)))
    if answer.sql:
        console.print(shown_sql(answer.sql))
    if len(answer.attempts) > 1 or any(attempt.error for attempt in answer.attempts):
        _show_attempts(answer, console)
    shown = ROWS_SHOWN if rows is None else rows
    caption = _caption(answer, shown, paged) if answer.columns else ""
    if answer.columns:
        console.print(Rows(answer.headings, answer.rows[:shown], caption))
    if answer.answered and answer.pictured:
        _show_chart(answer, console)
    style = "bold" if answer.answered else "bold yellow"
    if text := _beside(caption, answer):
        console.print(Text(safe(text), style=style))
    if answer.estimate is not None and answer.status == "needs_clarification":
        console.print(Text(f"  expected to read about {answer.estimate.rows:,} row(s)", style="dim"))
    for number, choice in enumerate(answer.choices, 1):
        console.print(Text(f"  {number}. {safe(choice)}"))
    if explain and answer.explanation:
        console.print(Text(safe(answer.explanation)))
    if facts:
        if answer.certainty:
            console.print(Text(safe(answer.certainty), style="dim"))
        if answer.trust:
            console.print(Text(safe(answer.trust), style="green" if answer.trusted else "dim"))
        said = f"{answer.status}, {len(answer.attempts)} attempt(s), {answer.usage.llm_calls} model call(s), "
        said += f"{answer.usage.seconds:.2f} s, {answer.model}"
        console.print(Text(said, style="dim"))
    for used in answer.used_knowledge:
        meaning = used.text or used.sql
        console.print(Text(safe(f"by definition: {used.kind} {used.name}: {meaning}"), style="dim"))
    for note in answer.notes:
        if caption and note == cut_note(answer.row_count):
            continue
        console.print(Text(f"note: {safe(note)}", style="dim"))


def shown_sql(sql: str) -> Syntax:
    """SQL in the terminal's own colours, which can be read on light and on dark ones."""
    return Syntax(safe(sql), "sql", theme="ansi_light", word_wrap=True, background_color="default")


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


def _caption(answer: Answer, shown: int, paged: bool) -> str:
    if answer.row_count <= shown:
        return ""
    more = "; /more shows the next" if paged else ""
    return f"{shown:,} of {answer.row_count:,}{' or more' if answer.truncated else ''} rows{more}"


def _beside(caption: str, answer: Answer) -> str:
    """What an answer says besides how many rows there are, where the caption says that."""
    if not caption:
        return answer.text
    counted = counted_rows(answer.headings, answer.row_count, answer.truncated)
    return answer.text.removeprefix(counted).replace(f" {cut_note(answer.row_count)}", "").strip()
