"""One question at the command line: its answer printed, as rows, files or a picture."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...tools.errors import DatabaseUnavailable, SettingsError, SQLParseError
from ...tools.export import BINARY, FORMATS, Format, check_export_target, check_format_installed, infer_export_format
from ...tools.labels import accept_machine_language
from ...tools.terminal import print_json_line, sanitize_text, say, warn
from .. import verbs
from ..answers.answer import Answer
from ..options import AgentOptions
from .display import REPLACED, format_export, show_answer, show_progress

if TYPE_CHECKING:
    from ..conversation import Conversation
    from ..sqlagent import SQLAgent
    from .app import OutputOptions

_FORMAT_NAMES = ("table", *FORMATS)  # what `--format` takes; `table` shows the answer


def _check_output_options(output: OutputOptions) -> Format | None:
    """Check the output options; return the row format that `--format` names, if any."""
    if output.form not in (None, *_FORMAT_NAMES):
        raise SettingsError(f"there is no format {output.form!r}: choose one of {', '.join(_FORMAT_NAMES)}")
    form = None if output.form == "table" else output.form
    if output.as_json and form:
        raise SettingsError("--json prints the whole answer, --format only its rows: choose one of them")
    if output.dry_run and (form or output.file or output.chart):
        raise SettingsError("--dry-run runs no query, so there are no rows to write: leave out the other options")
    if output.file and output.form == "table":
        raise SettingsError(f"a file cannot have the format table: choose one of {', '.join(FORMATS)} with --format")
    if output.file is None and form in BINARY and sys.stdout.isatty():
        raise SettingsError(f"{form} cannot be printed as text: name a file with --output")
    if row_format := form or (infer_export_format(output.file) if output.file else None):
        check_format_installed(row_format)
    if output.chart:
        verbs.check_chart_file(output.chart)
    return form


def print_answer(answer: Answer, agent: SQLAgent, output: OutputOptions, form: Format | None) -> bool:
    """Print an answer and write the requested files; return whether everything worked."""
    if output.as_json:
        row_limit = len(answer.rows) if output.limit is None else output.limit
        if len(answer.rows) > row_limit:
            record = replace(answer.record, rows=answer.rows[:row_limit], row_count=row_limit, truncated=True)
            print_json_line(Answer(record, answer.thread).to_dict())
        else:
            print_json_line(answer.to_dict())
    elif form is None or output.file or not answer.answered:
        show_answer(answer, rows=output.limit, explain=output.explain)
    else:
        _print_rows(answer, agent, form, output.limit)
        if output.explain:
            warn(answer.explanation)
    if not answer.answered:
        return False
    if output.file:
        is_there = output.file.exists()
        outcome = verbs.export(answer, agent.resources, output.file, form, rows=output.limit)
        warn(format_export(outcome, output.file, replaced=is_there))
    if not output.chart:
        return True
    has_chart, message = write_chart_file(answer, output.chart)
    warn(message)
    return has_chart


def print_unrun_query(answer: Answer, agent: SQLAgent, output: OutputOptions) -> bool:
    """Print an answer's query without running it; return False if there is no query."""
    if answer.sql is None or answer.status != "needs_clarification":
        print_answer(answer, agent, replace(output, limit=None), None)
        return False
    reads = _list_query_tables(answer.sql, agent)
    preview = Answer(
        replace(answer.record, text="Not run: --dry-run shows the query and what it would read.", choices=())
    )
    if output.as_json:
        print_json_line(preview.to_dict() | {"status": "dry_run", "stop_kind": None, "reads": reads})
        return True
    show_answer(preview, explain=True, facts=False)
    tables: list[str] = []
    for table in reads:
        rows = "" if table["rows"] is None else f", {table['rows']:,} rows"
        tables.append(f"{table['table']} ({', '.join(table['columns']) or 'no column by name'}{rows})")
    say("would read " + ("; ".join(tables) or "no table"))
    return True


def _list_query_tables(sql: str, agent: SQLAgent) -> list[dict[str, Any]]:
    """Return the tables and columns that a query reads, in the order of the schema."""
    from ...tools.sql import ALL_COLUMNS, find_used_schema_items

    schema = agent.resources.database.schema()
    try:
        items = find_used_schema_items(sql, schema)
    except SQLParseError:
        return []
    return [
        {
            "table": table.name,
            "columns": [
                column.name
                for column in table.columns
                if (table.name, column.name) in items.columns or (table.name, ALL_COLUMNS) in items.columns
            ],
            "rows": table.row_count,
        }
        for table in schema.tables
        if table.name in items.tables
    ]


def write_chart_file(answer: Answer, file: Path) -> tuple[bool, str]:
    """Write an answer's chart to a file; return whether a chart fits, and a message."""
    is_there = file.exists()
    if (drawing := verbs.draw(answer, file)) is None:
        return False, f"no chart fits this result: {file} is not written"
    return True, f"wrote a {drawing.kind} chart to {file}{REPLACED * is_there}"


def _print_rows(answer: Answer, agent: SQLAgent, form: Format, limit: int | None) -> None:
    """Print the rows of an answer; on a terminal, without control characters."""
    sys.stdout.flush()
    is_text = form not in BINARY and (sys.stdout.isatty() or not hasattr(sys.stdout, "buffer"))
    target = BytesIO() if is_text else sys.stdout.buffer
    verbs.export(answer, agent.resources, target, form, rows=limit)
    if isinstance(target, BytesIO):
        sys.stdout.write(sanitize_text(target.getvalue().decode()))


ANSWERED, NOT_ANSWERED = 0, 1


def ask_one_question(question: str, options: AgentOptions, output: OutputOptions, notes: str = "") -> int:
    """Ask one question and print the answer; return the exit code."""
    if not question.strip():
        raise SettingsError("the question is empty: put it in quotes after the options")
    form = _check_output_options(output)
    with accept_machine_language(), options.open_agent() as agent:
        for file in filter(None, (output.file, output.chart)):
            check_export_target(agent.resources.database, file)
        settings: dict[str, Any] = {"approve": True, "reason": "off"} if output.dry_run else {}
        if output.limit is not None and output.limit > agent.settings.rows:
            settings["rows"] = output.limit
        answer = take_turn(agent.conversation(), question, settings or None, notes)
        done = print_unrun_query(answer, agent, output) if output.dry_run else print_answer(answer, agent, output, form)
        return ANSWERED if done else NOT_ANSWERED


def write_sample_database(path: Path) -> None:
    """Write the sample database to a new file; never overwrite an existing file."""
    from ...tools.sample import build_sample

    if path.exists():
        raise SettingsError(f"{path} exists already: name a new file, or remove it first")
    try:
        build_sample(path)
    except (OSError, sqlite3.Error) as error:
        raise DatabaseUnavailable(f"cannot write the sample database to {path}: {error}") from None
    warn(f"Wrote {path}. Try: tableturn ask --db {path} 'How many stores are there?'")


def take_turn(
    conversation: Conversation, question: str, settings: Mapping[str, Any] | None = None, notes: str = ""
) -> Answer:
    """Ask a question in a conversation and show the progress; return the answer."""
    answer: Answer | None = None
    with show_progress() as progress, closing(conversation.stream(question, settings=settings, notes=notes)) as events:
        for event in events:
            progress(event)
            answer = event.answer or answer
    assert answer is not None
    return answer
