"""The commands and their options."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ...tools.terminal import print_json_line, say, warn
from ..options import AgentOptions, JsonOption, NotesOption, PriceOption, expand_options
from . import doctor, examples, schema
from . import knowledge as knowledge_commands
from .root import RootCommandGroup

ASK, LOOK, KNOW = "Ask", "Look", "Examples and knowledge"  # headings of `--help`

app = typer.Typer(
    name="tableturn",
    cls=RootCommandGroup,
    help="Ask a database questions in plain language, and get SQL and rows that you can check.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(value: bool) -> None:
    if value:
        from tableturn import __version__

        say(f"tableturn {__version__}")
        raise typer.Exit


@app.callback()
def start(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Define the options that stand before a command."""


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Command-line options for the output of an answer."""

    as_json: JsonOption = False
    form: Annotated[
        str | None,
        typer.Option("--format", help="table, or only the rows, all of them: csv, json, jsonl, md, xlsx or parquet."),
    ] = None
    file: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write all rows to this file; the query is run again. See --format."),
    ] = None
    chart: Annotated[
        Path | None, typer.Option(help="Draw a chart of the result in this file: .svg, .png or .html.")
    ] = None
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Say what the answer is based on, what the SQL computes, and what was tried."),
    ] = False
    limit: Annotated[int | None, typer.Option(min=1, max=1_000_000, help="Maximum rows to show or write.")] = None
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the SQL and what it would read, without running it.")
    ] = False


@app.command(rich_help_panel=ASK)
@expand_options()
def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="The question, in plain language.")],
    options: AgentOptions,
    output: OutputOptions,
    notes: NotesOption = "",
) -> None:
    """Answer one question.

    Exit codes: 0 answered, 1 not answered (or no chart fits), 2 bad usage.
    """
    from .output import ask_one_question

    source = context.get_parameter_source("form")
    if source is not None and source.name == "DEFAULT_MAP" and (output.as_json or output.file or output.dry_run):
        output = replace(output, form=None)  # a default gives way to what was asked for
    raise typer.Exit(ask_one_question(question, options, output, notes))


@app.command(rich_help_panel=ASK)
@expand_options()
def chat(
    options: AgentOptions,
    as_json: JsonOption = False,
    thread: Annotated[
        str | None, typer.Option(help="Save the conversation under this name, or continue a saved one.")
    ] = None,
    checkpoints: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Where to save conversations: an SQLite file or postgresql://... Default: in your data folder.",
        ),
    ] = None,
    price: PriceOption = None,
) -> None:
    """Hold a conversation: type questions, or pipe them in, one per line.

    /help lists the commands. Exit codes: 0 when the last line was answered or done, 1 when it was not,
    2 bad usage.
    """
    from .chat.loop import run_chat_loop

    raise typer.Exit(run_chat_loop(options, thread, checkpoints, price, as_json))


@app.command(rich_help_panel=LOOK)
def sample(path: Annotated[Path, typer.Argument(help="The file to write.")]) -> None:
    """Write the sample database: a made-up chain of bicycle shops, fourteen tables."""
    from .output import write_sample_database

    write_sample_database(path)


@app.command(rich_help_panel=KNOW)
@expand_options(without=("model", "base_url", "annotator", "preset", "settings", "effort", "audit"))
def lessons(
    options: AgentOptions,
    note: Annotated[str | None, typer.Option(help="Save a definition: WORD means MEANING.")] = None,
    edit: Annotated[
        tuple[str, str] | None,
        typer.Option(help="Name or id of a saved answer or definition, and its new question, SQL or meaning."),
    ] = None,
    forget: Annotated[str | None, typer.Option(help="Name or id of a saved answer or definition to remove.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List saved answers and definitions; add, change or remove one of them."""
    from .. import verbs
    from ..answers.commands import save_and_describe_entry

    with replace(options, model="offline").open_agent() as agent:
        if note is not None:
            warn(save_and_describe_entry(partial(verbs.note, note), agent.resources))
        if edit:
            verbs.edit_lesson(*edit, agent.resources)
        if forget:
            warn(f"removed {verbs.forget(forget, agent.resources)}")
        for lesson in verbs.list_lessons(agent.resources):
            print_json_line(asdict(lesson)) if as_json else say(lesson.lines)


app.command(rich_help_panel=LOOK)(schema.link)
app.command(rich_help_panel=LOOK)(schema.schema)
app.command(rich_help_panel=LOOK)(doctor.doctor)
app.command(rich_help_panel=KNOW)(schema.annotate)
app.add_typer(examples.app, name="examples", rich_help_panel=KNOW)
app.add_typer(knowledge_commands.app, name="knowledge", rich_help_panel=KNOW)
