"""`python -m tableturn.evals.lab suite`: test suites."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ....tools.terminal import say, warn
from ...commands.options import DataOption, DatasetOption, JsonOption, SplitOption, WithoutOption

app = typer.Typer(
    help="Test suites: databases that distinguish right queries from nearly right ones.", no_args_is_help=True
)


@app.command("build")
def build(
    dataset: DatasetOption,
    out: Annotated[Path, typer.Option("--out", help="Folder of suites, with one folder per schema.")],
    split: SplitOption = "dev",
    data: DataOption = None,
    without: WithoutOption = None,
    as_json: JsonOption = False,
) -> None:
    """Build test suites from a dataset's gold queries; judge on them with `score --databases`."""
    from dataclasses import asdict

    from ...datasets import load_dataset, schema_name
    from ..suite import build_suite, check_folder

    questions = load_dataset(dataset, split, data).without(without or ())
    golds: dict[str, list[str]] = {}
    for question in questions.questions:
        golds.setdefault(question.database, []).extend(question.golds[:1])
    for name in golds:
        check_folder(schema_name(name), out, questions.database(name))
    reports = []
    for name, queries in golds.items():
        reports.append(build_suite(questions.database(name), queries, out, name=schema_name(name)))
        found = reports[-1]
        line = f"{name}: {found.killed} of {found.mutants} mutants told apart by {found.databases} databases"
        (warn if as_json else say)(f"{line}, {found.seconds} s")
    if as_json:
        say(json.dumps([asdict(found) for found in reports]))
