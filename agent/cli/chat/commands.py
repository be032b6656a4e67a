"""The commands of a conversation in one table, for `/help`, completion and docs/ask.md."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeAlias

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ....tools.database import Schema
from ....tools.errors import SettingsError, TableturnError
from ....tools.formats import format_rows
from ....tools.terminal import sanitize_text, warn
from ....tools.words import find_nearest_names, format_count, format_did_you_mean
from ... import verbs
from ...answers.answer import Answer
from ...answers.commands import RUN, word_correction
from ...conversation_files import list_saved_conversations
from ..display import TerminalTable, format_export, highlight_sql, render_answer_reasons, render_records
from ..output import write_chart_file
from .chat import PAGE, AnswerPages, ChatSession, cancel_on_interrupt


def _show_answer_reasons(chat: ChatSession, args: str) -> RenderableType:
    item, _ = chat.choose(args, "explain")
    return render_answer_reasons(item.answer, item.why)


def _show_or_run_sql(chat: ChatSession, args: str) -> RenderableType:
    first, _, _ = args.partition(" ")
    if not args or first.isdecimal():
        return highlight_sql(_get_answer_sql(chat.choose(args, "show")[0].answer, "show"))
    if not chat.history and args not in ("run", "edit", "other"):
        raise SettingsError("ask a question first: /sql replaces the query of an answer")
    answer = chat.choose("", "run")[0].answer
    if args == "other":
        if answer.ledger is None or not answer.ledger.other_sql:
            if gaps := "; ".join(answer.ledger.not_counted if answer.ledger else ["no rows were counted"]):
                raise SettingsError(f"not all rows that this answer leaves out could be counted: {gaps}")
            raise SettingsError("this answer leaves out no rows that another query could add: /why shows its basis")
        args = answer.ledger.other_sql
    if args == "edit":
        args = chat.draft = _edit_sql_in_editor(chat.draft or _get_answer_sql(answer, "edit"))
    try:
        with cancel_on_interrupt() as cancellation:
            result = chat.take(verbs.rerun(answer, "" if args == "run" else args, chat.resources, cancellation))
    except (TableturnError, KeyboardInterrupt):
        if chat.draft:
            warn("your query is saved: /sql edit opens it again")
        raise
    words = Text(sanitize_text(result.text), style="bold")
    blocks = [highlight_sql(result.sql)] if result.sql and result.sql != answer.sql else []
    hints = [Text("/approve saves it as the answer to the question", style="dim")] if blocks else []
    return Group(*blocks, *([_make_page_table(chat.pages)] if chat.pages and result.rows else []), words, *hints)


def _get_answer_sql(answer: Answer, what: str) -> str:
    if answer.sql is None:
        raise SettingsError(f"that answer has no SQL to {what}")
    return answer.sql


def _edit_sql_in_editor(text: str) -> str:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise SettingsError("an editor needs a terminal: /sql SELECT ... runs another query")
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "query.sql"
        path.write_text(f"{text}\n", encoding="utf-8")
        try:
            from .prompt import restore_terminal_mode

            with restore_terminal_mode():
                subprocess.run([*shlex.split(editor), str(path)], check=True)  # noqa: S603 - the person's own editor
            sql = path.read_text(encoding="utf-8").strip()
        except subprocess.CalledProcessError as error:
            raise SettingsError(f"{editor} ended with status {error.returncode}, so the query was not run") from None
        except (OSError, ValueError) as error:
            raise SettingsError(f"cannot use the editor {editor} ({error}): name another in EDITOR") from None
    if not sql:
        raise SettingsError("the query is empty, so it was not run")
    return sql


_MAX_ROWS = 1_000  # rows that are shown at a time


def _show_next_rows(chat: ChatSession, args: str) -> RenderableType:
    pages = _get_answer_pages(chat)
    pages.load_page(pages.now.offset + len(pages.now.rows), _parse_row_count(args, "/more 50"), chat)
    return _make_page_table(pages)


def _show_row_range(chat: ChatSession, args: str) -> RenderableType:
    match = re.fullmatch(r"(\d{1,7})(?:\s*-\s*(\d{1,7}))?", args)
    first, last = (0, 0) if match is None else (1, int(match[1])) if match[2] is None else map(int, match.groups())
    if not 1 <= first <= last:
        raise SettingsError("say which rows: /rows 50 shows the first fifty, /rows 101-120 rows 101 to 120")
    if last - first >= _MAX_ROWS:
        raise SettingsError(f"that is more than {_MAX_ROWS:,} rows at a time: /export writes them all to a file")
    pages = _get_answer_pages(chat)
    pages.load_page(first - 1, last - first + 1, chat)
    return _make_page_table(pages)


def _show_records(chat: ChatSession, args: str) -> RenderableType:
    pages = _get_answer_pages(chat)
    if args:
        pages.load_page(pages.now.offset, _parse_row_count(args, "/wide 3"), chat)
    now = pages.now
    rows = format_rows(now.rows, pages.answer.formats)
    return Group(render_records(now.headings, rows, now.offset + 1), Text(now.caption, style="dim"))


def _export_answer_rows(chat: ChatSession, args: str) -> str:
    if not args:
        raise SettingsError("name the file: /export sales.csv, or .json, .jsonl, .md, .xlsx, .parquet")
    answer, path = chat.choose("", "export")[0].answer, Path(args).expanduser()
    is_there = path.exists()
    with cancel_on_interrupt() as cancellation:
        result = verbs.export(answer, chat.resources, path, cancellation=cancellation)
    return format_export(result, args, replaced=is_there)


def _show_or_write_chart(chat: ChatSession, args: str) -> RenderableType:
    answer = chat.choose("", "draw")[0].answer
    if args:
        return write_chart_file(answer, Path(args).expanduser())[1]
    if (drawing := verbs.chart(answer)) is None:
        return "no chart fits this result"
    from ....tools.charts.draw import draw_chart

    return draw_chart(drawing, Console(stderr=True))


def _make_page_table(pages: AnswerPages) -> RenderableType:
    return TerminalTable(pages.now.headings, pages.now.rows, pages.now.caption, pages.answer.formats)


def _get_answer_pages(chat: ChatSession) -> AnswerPages:
    if chat.pages is None:
        raise SettingsError("there are no rows to show: the last answer has none")
    return chat.pages


def _parse_row_count(args: str, example: str) -> int:
    if not args:
        return PAGE
    if not args.isdecimal() or not 1 <= int(args) <= _MAX_ROWS:
        raise SettingsError(f"say how many rows: a number up to {_MAX_ROWS:,}, as in {example}")
    return int(args)


def _list_tables(chat: ChatSession, args: str) -> RenderableType:
    if args and not verbs.notices(chat.resources):
        return _show_table_schema(chat, args)
    if args:
        chat.resources.database.turn_guess(args)
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(justify="right", style="dim")
    grid.add_column()
    schema = verbs.tables(chat.resources)
    for table in schema.tables:
        rows = "" if table.row_count is None else f"{table.row_count:,} rows"
        details = "; ".join(filter(None, ("" if table.kind == "table" else table.kind, table.comment)))
        grid.add_row(Text(sanitize_text(table.name)), rows, Text(sanitize_text(details)))
    lines = [f"{fact} (e.g. {fact.example})" if fact.example else str(fact) for fact in verbs.notices(chat.resources)]
    if lines:
        lines = ["", "noticed in the files; /tables WORD undoes the guess with that last word:", *lines]
    return Group(
        grid,
        Text(f"rows as of {_format_row_count_time(schema)}", style="dim"),
        *(Text(sanitize_text(line)) for line in lines),
    )


def _show_table_schema(chat: ChatSession, args: str) -> RenderableType:
    schema = verbs.tables(chat.resources)
    table = schema.table(verbs.unquote(args)) if args else None
    if table is None:
        names = [table.name for table in schema.tables]
        hint = format_did_you_mean(find_nearest_names(args, names)) or f"the tables are {verbs.join_names(names)}"
        raise SettingsError(f"there is no table {args}: {hint}" if args else f"say which table: {hint}")
    keys = {
        name: f"{key.ref_table}.{other}"
        for key in schema.foreign_keys
        if key.table == table.name
        for name, other in zip(key.columns, key.ref_columns, strict=True)
    }
    grid = Table.grid(padding=(0, 2))
    for number in range(5 if table.columns else 0):
        grid.add_column(no_wrap=number < 2, overflow="fold", style="" if number == 0 else "dim")
    for column in table.columns:
        reference = [f"-> {keys[column.name]}"] if column.name in keys else []
        key = ", ".join([*(["key"] if column.primary_key else []), *reference])
        samples = ", ".join(str(sample)[:30] for sample in column.samples[:3])
        samples += ", ..." if samples and (column.distinct or 0) > len(column.samples[:3]) else ""
        cells = (column.name, column.type.lower() or column.kind, key, samples, column.comment)
        grid.add_row(*(Text(sanitize_text(cell)) for cell in cells))
    kind = "" if table.kind == "table" else f" ({table.kind})"
    time = _format_row_count_time(schema)
    size = "" if table.row_count is None else f", {format_count(table.row_count, 'row', 'rows')} as of {time}"
    heading = f"{table.name}{kind}{size}{': ' if table.comment else ''}{table.comment}"
    return Group(Text(sanitize_text(heading), style="bold"), grid)


def _format_row_count_time(schema: Schema) -> str:
    """Return the time when the rows of a schema were counted, as text."""
    return f"{datetime.fromtimestamp(schema.counted_at):%Y-%m-%d %H:%M}"


def _show_values(chat: ChatSession, args: str) -> RenderableType:
    with cancel_on_interrupt() as cancellation:
        table = verbs.values(args, chat.resources, cancellation)
    note = f"only the first {len(table.rows)}; name a value to find others" if table.truncated else ""
    return TerminalTable((table.columns[0], "rows"), table.rows, note)


@dataclass(frozen=True)
class NextQuestion:
    """A question that the chat asks next, as the result of a command."""

    question: str
    notes: str = ""
    wording: str = ""  # the question that its answer corrects the answer to


def _retry_last_question(chat: ChatSession, args: str) -> NextQuestion:
    words = chat.lost
    if not words and any(item.words for item in chat.history):
        words = chat.undo()
    if not words:
        raise SettingsError("there is no question to ask again yet")
    return NextQuestion(words)


def _correct_answer(chat: ChatSession, args: str) -> CommandResult:
    turn = word_correction(chat, args)
    if turn is None:
        return RUN["/correct"](chat, args)
    if chat.is_waiting_for_reply():
        raise SettingsError("the agent asked you something: answer that first")
    return NextQuestion(turn.question, turn.notes, turn.wording)


def _teach_cancellable(name: str) -> Callable[[ChatSession, str], CommandResult]:
    """Return a command that runs the SQL of a definition, which Ctrl-C ends."""

    def run(chat: ChatSession, args: str) -> CommandResult:
        with cancel_on_interrupt() as chat.cancellation:
            return RUN[name](chat, args)

    return run


def _undo_last_turn(chat: ChatSession, args: str) -> str:
    labels = chat.labels
    words = chat.undo()
    return labels.translate(f"undone: {words}") if words else "the last turn was undone"


def _reset_conversation(chat: ChatSession, args: str) -> str:
    chat.conversation.reset()
    chat.history.clear()
    chat.close()
    chat.lost = chat.draft = ""
    return "all turns are forgotten: the next question stands alone"


def _list_saved_conversations(chat: ChatSession, args: str) -> str:
    chats = list_saved_conversations(chat.checkpoints, chat.agent.resources.database.location)
    if not chats:
        how = "this chat will be saved after its first turn" if chat.kept else "use tableturn chat --thread NAME"
        return f"there is no saved conversation with this database yet: {how}"
    lines = [f"  {thread.name}  (last used {thread.last_turn:%Y-%m-%d %H:%M})" for thread in chats]
    return "\n".join(["saved conversations; continue one with tableturn chat --thread NAME:", *lines])


CommandResult: TypeAlias = str | RenderableType | NextQuestion
"""The result of a command: words or something to show, or a question to ask now."""

Completes = Literal["", "tables", "columns", "files", "commands"]
"""The kinds of words after a command that can be completed."""


@dataclass(frozen=True)
class ChatCommand:
    """A slash command of the terminal chat."""

    name: str  # with its slash
    takes: str  # what may follow it
    about: str  # what it does, in a line or two
    run: Callable[[ChatSession, str], CommandResult]  # does it, given the conversation and what follows the name
    completes: Completes = ""  # what is completed after it


def _show_help(chat: ChatSession, args: str) -> CommandResult:
    if args:
        return _make_command_table((_find_command(f"/{args.lstrip('/')}"),))
    parts: list[RenderableType] = []
    for heading, commands in COMMANDS.items():
        parts += [Text(f"{heading}:", style="bold"), _make_command_table(commands)]
    return Group(*parts, Text("Anything else is a question. N is the number of an answer; without it, the last one."))


def _make_command_table(commands: tuple[ChatCommand, ...]) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(max_width=26)
    grid.add_column()
    for command in commands:
        grid.add_row(Text(f"{command.name} {command.takes}"), Text(command.about))
    return Padding(grid, (0, 0, 0, 2))


COMMANDS: dict[str, tuple[ChatCommand, ...]] = {
    "The answer": (
        ChatCommand("/more", "[COUNT]", "show the next rows", _show_next_rows),
        ChatCommand(
            "/rows", "FROM[-TO]", "show the first rows up to a number, or the rows between two numbers", _show_row_range
        ),
        ChatCommand("/wide", "[COUNT]", "show rows as records, with the columns below each other", _show_records),
        ChatCommand(
            "/sql",
            "[edit | run | other | SELECT ...]",
            "show the query; edit it in $EDITOR and run it; run it again; run it with the rows that it leaves out; or"
            " run another query instead",
            _show_or_run_sql,
        ),
        ChatCommand("/explain", "[N]", "explain in plain words what the SQL computes", RUN["/explain"]),
        ChatCommand(
            "/why",
            "[N]",
            "show what the answer is based on, what was tried, and why it is sure or unsure",
            _show_answer_reasons,
        ),
        ChatCommand(
            "/chart",
            "[FILE]",
            "draw a chart of the result here, or in an .svg, .png or .html file",
            _show_or_write_chart,
            "files",
        ),
        ChatCommand(
            "/export",
            "FILE",
            "write all rows to a .csv, .json, .jsonl, .md, .xlsx or .parquet file",
            _export_answer_rows,
            "files",
        ),
        ChatCommand("/answers", "", "list the answers with their numbers", RUN["/answers"]),
    ),
    "The conversation": (
        ChatCommand("/retry", "", "undo the last turn and ask it again", _retry_last_question),
        ChatCommand("/undo", "", "undo the last turn", _undo_last_turn),
        ChatCommand("/reset", "", "forget all turns and start again", _reset_conversation),
        ChatCommand("/threads", "", "list the saved conversations with this database", _list_saved_conversations),
        ChatCommand(
            "/cost",
            "",
            "show what the conversation has cost: calls, tokens and, with --price, money",
            lambda chat, _: chat.cost.summary,
        ),
        ChatCommand("/help", "[COMMAND]", "list the commands, or describe one", _show_help, "commands"),
    ),
    "The database": (
        ChatCommand(
            "/tables",
            "",
            "list the tables and what was noticed in files; with the last word of a guess, undo that guess",
            _list_tables,
        ),
        ChatCommand("/schema", "TABLE", "show a table's columns, keys and values", _show_table_schema, "tables"),
        ChatCommand("/values", "COLUMN", "show the values of a column, most frequent first", _show_values, "columns"),
    ),
    "Teaching it": (
        ChatCommand(
            "/approve",
            "[N] [QUESTION]",
            "save the answer as an example for similar questions to this database; QUESTION is the question to save",
            RUN["/approve"],
        ),
        ChatCommand("/share", "[N] [QUESTION]", "save the answer as an example for other databases too", RUN["/share"]),
        ChatCommand(
            "/correct",
            "[N] WORDS | SQL",
            "say what is wrong and get a new answer, which /approve saves; or give the right query, which runs and is "
            "saved, and offers other things to remember",
            _correct_answer,
        ),
        ChatCommand(
            "/note",
            "WORD means TEXT",
            "remember what a word means here; rule: TEXT for a rule",
            _teach_cancellable("/note"),
        ),
        ChatCommand("/accept", "NUMBER", "save the suggestion with this number", _teach_cancellable("/accept")),
        ChatCommand("/lessons", "", "list the saved answers and definitions, with who and when", RUN["/lessons"]),
        ChatCommand(
            "/edit",
            "NUMBER TEXT",
            "change a saved answer's question or SQL, or a definition",
            _teach_cancellable("/edit"),
        ),
        ChatCommand(
            "/forget", "NAME", "remove a definition or a saved answer, by number, name, question or id", RUN["/forget"]
        ),
    ),
}
"""The commands under their headings. `exit`, `quit` and Ctrl-D leave."""

BY_NAME = {command.name: command for commands in COMMANDS.values() for command in commands}


def _find_command(name: str) -> ChatCommand:
    if name not in BY_NAME:
        raise SettingsError(f"there is no command {name}: /help lists them")
    return BY_NAME[name]


def run(chat: ChatSession, line: str) -> CommandResult:
    """Run the slash command in a line of input, and return the result."""
    name, _, arguments = line.partition(" ")
    command = _find_command(name)
    if arguments.strip() and not command.takes and name != "/tables":  # which takes the word of a guess
        raise SettingsError(f"{name} takes no words, so nothing was done: write {name} alone")
    return command.run(chat, arguments.strip())
