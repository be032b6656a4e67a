"""The commands and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import annotate, evaluate, examples, link

app = typer.Typer(
    name="tableturn",
    help="Ask a database questions, turn after turn, and get SQL and rows you can check.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(examples.app, name="examples")
evaluate.register(app)
link.register(app)
annotate.register(app)

DbOption = Annotated[str, typer.Option("--db", help="The database: a path, or a URL such as sqlite:///shop.db.")]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="A model such as openai:gpt-5-mini, or offline. Default: TABLETURN_MODEL, else an OpenAI key or base URL "
        "in the environment, else the built-in offline translator.",
    ),
]
BaseUrlOption = Annotated[
    str | None, typer.Option("--base-url", help="Base URL of an OpenAI-compatible server (vLLM, Ollama, llama.cpp).")
]
PresetOption = Annotated[str | None, typer.Option("--preset", help="full, credit, craft, track or revision.")]
SettingsOption = Annotated[
    Path | None, typer.Option("--settings", help="A TOML or JSON file of settings, over the preset.")
]
ExamplesOption = Annotated[
    str | None,
    typer.Option(
        "--examples",
        envvar="TABLETURN_EXAMPLES",
        help="An example store: a folder, or a Chroma server's URL. Default: a folder in your data folder.",
    ),
]
EmbeddingOption = Annotated[
    str,
    typer.Option("--embedding", envvar="TABLETURN_EMBEDDING", help="The store's: hashed, chroma, or openai:MODEL."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object a turn.")]


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="The question, in plain language.")],
    db: DbOption,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    preset: PresetOption = None,
    settings: SettingsOption = None,
    examples: ExamplesOption = None,
    embedding: EmbeddingOption = "hashed",
    as_json: JsonOption = False,
) -> None:
    """Answer one question.

    Exit codes: 0 answered, 1 not answered, 2 bad usage.
    """
    from .session import Choices, ask_once

    raise typer.Exit(ask_once(question, Choices(db, model, base_url, preset, settings, examples, embedding, as_json)))


@app.command()
def chat(
    db: DbOption,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    preset: PresetOption = None,
    settings: SettingsOption = None,
    examples: ExamplesOption = None,
    embedding: EmbeddingOption = "hashed",
    as_json: JsonOption = False,
    thread: Annotated[
        str | None, typer.Option("--thread", help="Keep the conversation under this name, and go on with it next time.")
    ] = None,
    checkpoints: Annotated[
        Path | None,
        typer.Option("--checkpoints", help="The SQLite file that keeps conversations. Default: in your data folder."),
    ] = None,
) -> None:
    """Hold a conversation: type questions, or pipe them in, one a line. /help lists what else can be said.

    Exit codes: 0 when the last turn was answered, 1 when it (or a command after it) was not, 2 bad usage.
    """
    from .session import Choices, converse

    choices = Choices(db, model, base_url, preset, settings, examples, embedding, as_json)
    raise typer.Exit(converse(choices, thread, checkpoints))


@app.command()
def sample(path: Annotated[Path, typer.Argument(help="The file to write.")]) -> None:
    """Write the sample database: a made-up chain of bicycle shops, fourteen tables."""
    from .session import write_sample

    write_sample(path)
