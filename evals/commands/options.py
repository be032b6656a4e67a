"""Options that several commands of evaluations share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DataOption = Annotated[
    Path | None, typer.Option(envvar="TABLETURN_DATA", help="Folder of benchmark data.", show_envvar=True)
]
DatasetOption = Annotated[str, typer.Option(help="A benchmark's name, or a file of your own questions.")]
SplitOption = Annotated[str, typer.Option(help="Which part of the benchmark.")]
LimitOption = Annotated[
    int | None, typer.Option(min=1, help="The number of interactions to use, from the start. Default: all.")
]
WithoutOption = Annotated[list[str] | None, typer.Option(help="Leave out a database; repeatable.")]
ModelOption = Annotated[str | None, typer.Option(help="As for ask; or stored replies, replay:FILE,FILE.")]
EvalEmbeddingOption = Annotated[
    str,
    typer.Option(
        envvar="TABLETURN_EMBEDDING",
        help="The embedding of the store in --examples: hashed, chroma, openai:MODEL or sentence:MODEL.",
    ),
]
ExamplesOption = Annotated[str | None, typer.Option(help="An example store.")]
JobsOption = Annotated[int, typer.Option(min=1, help="Interactions to run at once.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
RecordOption = Annotated[
    Path | None,
    typer.Option(help="The record of models to add to (`tableturn models`), or off. Default: in your data folder."),
]
VerdictsOption = Annotated[
    Path | None, typer.Option(help="A verdict file. Default: verdicts.jsonl in the run's folder.")
]
