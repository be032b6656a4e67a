"""Display of answers, rows and progress at the terminal."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.markup import escape
from rich.padding import Padding
from rich.rule import Rule
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from ...tools.database.table import Cell
from ...tools.formats import ColumnFormat, choose_column_formats, format_rows
from ...tools.labels import Labels
from ...tools.terminal import sanitize_text
from ...tools.words import format_count
from ..answers.phrasing import cut, format_answer_cost, format_rows_shown, number_choices

if TYPE_CHECKING:
    from rich.syntax import Syntax

    from ..answers.answer import Answer
    from ..answers.events import Event
    from ..answers.render import AnswerBackground

CELL_CHARACTERS = 80  # longest cell of a table; a record has it whole
_COLUMN_CELLS = 32  # width that a column may claim where not all have room
_BORDERS = 3  # what a column's borders and padding take
REPLACED = "; the file that was there is replaced"  # said of each file that is written over another


@dataclass(frozen=True)
class TerminalTable:
    """A table for the terminal; columns that do not fit are only named."""

    headings: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""  # what stands below; empty for nothing
    formats: Sequence[ColumnFormat] = ()
    hint: str = ""  # how to see all columns, where some do not fit

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        wide = not console.is_terminal
        formats = self.formats or choose_column_formats(None, self.headings, self.rows)
        rows = format_rows(self.rows, formats)
        column_count = len(self.headings) if wide else count_fitting_columns(self.headings, rows, options.max_width)
        table = Table(header_style="bold")
        for name, form in zip(self.headings[:column_count], formats, strict=False):
            table.add_column(escape(sanitize_text(name)), justify="right" if form.is_numeric else "left")
        for row in rows:
            table.add_row(*map(_render_cell, row[:column_count]))
        yield table
        if omitted := self.headings[column_count:]:
            note = Labels(formats[0].locale).say("more_columns", len(omitted))
            yield Text(sanitize_text(f"{note}: {', '.join(omitted)}"), style="dim")
            if self.hint:
                yield Text(self.hint, style="dim")
        if self.caption:
            yield Text(self.caption, style="dim")


def count_fitting_columns(headings: Sequence[str], rows: Sequence[Sequence[str | None]], width: int) -> int:
    """Return the number of columns, from the first, that fit the width; at least one.

    All of them where they have room in full, else those that have if each takes a little less than it could.
    """
    widest = [
        max(map(cell_len, (*name.split(), *(_render_cell(row[index]).plain for row in rows))), default=0)
        for index, name in enumerate(headings)
    ]
    if 1 + sum(cells + _BORDERS for cells in widest) <= width:
        return len(headings)
    free_width = width - 1
    for count, cells in enumerate(widest):
        free_width -= min(cells, _COLUMN_CELLS) + _BORDERS
        if free_width < 0:
            return max(count, 1)
    return len(headings)


def render_records(headings: Sequence[str], rows: Iterable[Sequence[str | None]], first: int = 1) -> RenderableType:
    """Return the rows one below the other, with one line per column."""
    records: list[RenderableType] = []
    for number, row in enumerate(rows, first):
        grid = Table.grid(padding=(0, 2))
        grid.add_column(style="bold", overflow="fold", max_width=_COLUMN_CELLS)
        grid.add_column(overflow="fold")
        for name, cell in zip(headings, row, strict=True):
            grid.add_row(Text(sanitize_text(name)), _render_cell(cell, None))
        records += [Rule(f"row {number:,}", align="left", style="dim"), grid]
    return Group(*records)


def _render_cell(cell: str | None, characters: int | None = CELL_CHARACTERS) -> Text:
    if cell is None:
        return Text("NULL", style="dim")
    text = sanitize_text(cell)
    return Text(text if characters is None else cut(text, characters))


ROWS_SHOWN = 20  # rows printed, unless `--limit` says otherwise; `--json` gives all that the answer holds


def show_answer(
    answer: Answer,
    console: Console | None = None,
    *,
    rows: int | None = None,
    explain: bool = False,
    facts: bool = True,
    brief: bool = False,
    with_trust: bool = True,
) -> None:
    """Print an answer: text, rows or chart, SQL and cost; if `brief`, without what `/why` shows."""
    console = console or Console()
    limit = ROWS_SHOWN if rows is None else rows
    labels, text = answer.labels, answer.text
    caption = format_rows_shown(limit, answer.row_count, answer.truncated, labels) if answer.columns else ""
    for note in answer.noted:
        # The caption says how many of the rows are shown.
        text = text.replace(f" {note.text}", "") if caption and note.kind == "cut" else text
    if text:
        console.print(Text(sanitize_text(text), style="bold" if answer.answered else "bold yellow"))
    drawing = answer.drawn if answer.answered and answer.asks_for_chart else None
    # The text alone gives the result if there are no rows, or one NULL, or, if `brief`, any single cell.
    cells = [cell for row in format_rows(answer.rows[:2], answer.formats) for cell in row]
    is_in_text = cells in ([], [None]) or (brief and len(cells) == 1 and str(cells[0]) in text)
    if not is_in_text and (drawing is None or drawing.kind != "bar"):
        caption += f"; {labels.say('more_shows')}" if caption and brief and console.is_terminal else ""
        hint = "/wide: all columns" if brief else ""
        console.print(TerminalTable(answer.headings, answer.rows[:limit], caption, answer.formats, hint))
    if drawing is not None:
        from ...tools.charts.draw import draw_chart

        console.print(draw_chart(drawing, console))
    elif answer.answered and answer.asks_for_chart:
        console.print(Text(labels.say("no_chart"), style="dim"))
    if answer.sql and not (brief and answer.answered):
        # What colours it is slow to load, and a file or a pipe takes none.
        console.print(highlight_sql(answer.sql) if console.color_system else Text(sanitize_text(answer.sql)))
    if answer.estimate is not None and answer.status == "needs_clarification":
        estimate = labels.say("expected", rows=labels.say("rows", answer.estimate.rows))
        console.print(Text(f"  {estimate}", style="dim"))
    for choice in number_choices(answer.choices):
        console.print(Text(f"  {sanitize_text(choice)}"))
    if facts:
        verdicts = (answer.certainty, answer.trust if with_trust and answer.trusted is None else "")
        # A person should see at once what was saved, or could be.
        reminders = (note.text for note in answer.noted if note.kind in ("saved", "explained"))
        for line in filter(None, (*verdicts, *reminders)):
            console.print(Text(sanitize_text(line), style="dim"))
        costs = [format_answer_cost(answer, labels)]
        if answer.status == "needs_clarification":
            costs.insert(0, labels.say("waiting"))
        if answer.answered and answer.trusted is not None:
            costs.insert(0, labels.say("trusted" if answer.trusted else "not_trusted"))
        console.print(Text(", ".join(costs), style="green" if answer.trusted else "dim"))
    if explain and answer.explanation:
        console.print(Text(sanitize_text(answer.explanation)))
    if explain and facts:
        console.print(render_answer_reasons(answer))


def render_answer_reasons(answer: Answer, why: AnswerBackground | None = None) -> RenderableType:
    """Return the basis of an answer, the queries tried and the confidence, for the terminal."""
    from ..answers.render import list_answer_reasons

    sections: list[RenderableType] = []
    for heading, lines in list_answer_reasons(answer, why):
        sections += [Text(heading, style="bold"), Padding(Text(sanitize_text("\n".join(lines))), (0, 0, 0, 2))]
    return Group(*sections)


def highlight_sql(sql: str) -> Syntax:
    """Return SQL in colours for light and dark terminals."""
    from rich.syntax import Syntax

    return Syntax(sanitize_text(sql), "sql", theme="ansi_light", word_wrap=True, background_color="default")


DOING = {
    "rephrase": "understanding the question",
    "link": "looking for examples",
    "candidate": "comparing queries",
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

_TABLES = 5  # linked tables that are named


@contextmanager
def show_progress() -> Generator[Callable[[Event], None]]:
    """Show the events of a turn on standard error, and clear them at the end.

    Terminals that cannot move the cursor show nothing: what could not be cleared away would stand beside the answer.
    """
    console = Console(stderr=True)
    if not console.is_terminal or console.is_dumb_terminal:
        yield lambda event: None
        return
    progress = _TurnProgress(console)
    with Live(console=console, transient=True, get_renderable=progress.render, redirect_stdout=False) as live:

        def show_event(event: Event) -> None:
            if progress.add_event(event):
                live.refresh()

        yield show_event


class _TurnProgress:
    """The progress of a running turn, as shown on the terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._spinner = Spinner("dots" if console.encoding.startswith("utf") else "line")
        self._doing = "reading the question"
        self._about = ""
        self._sql = ""
        self._draft = 0

    def add_event(self, event: Event) -> bool:
        """Add an event to the progress; return whether to refresh the display at once."""
        if event.kind == "linked":
            tables = event.data["tables"]
            self._about = ", ".join(tables[:_TABLES]) + (", ..." if len(tables) > _TABLES else "")
        elif event.kind == "sql_delta":
            if event.data["draft"] != self._draft:
                self._draft, self._sql = event.data["draft"], ""
            self._sql += event.data["text"]
        elif event.kind == "sql":
            self._sql = event.data["sql"]
        elif event.kind == "rows" and event.data["error"] is None and event.data["row_count"] is not None:
            self._doing = format_count(event.data["row_count"], "row", "rows")
        elif event.kind == "node" and event.name in DOING:
            self._doing = DOING[event.name]
        else:
            return False
        return True

    def render(self) -> RenderableType:
        """Return the line with the spinner, and the last lines of SQL that fit the terminal."""
        doing = f"{self._doing} ({self._about})" if self._about else self._doing
        self._spinner.update(text=Text(sanitize_text(doing), style="dim", no_wrap=True, overflow="ellipsis"))
        sql = Text(sanitize_text(self._sql))
        lines = sql.wrap(self._console, self._console.width)[-max(self._console.height - 3, 1) :]
        return Group(self._spinner, *lines) if self._sql else self._spinner
