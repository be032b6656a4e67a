"""The example store's commands."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ...tools.examples import Added, Example, ExampleStore, Found

app = typer.Typer(help="Few-shot examples: add, import, list, search, remove.", no_args_is_help=True)

StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        envvar="TABLETURN_EXAMPLES",
        help="A folder, or a Chroma server's URL. Default: a folder in your data folder.",
    ),
]
DbOption = Annotated[str, typer.Option("--db", help="The database: a path, or a URL such as sqlite:///shop.db.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, one object a line.")]
EmbeddingOption = Annotated[
    str, typer.Option("--embedding", envvar="TABLETURN_EMBEDDING", help="hashed, chroma, or openai:MODEL.")
]


@app.command()
def add(
    question: Annotated[str, typer.Argument(help="A self-contained question.")],
    sql: Annotated[str, typer.Argument(help="The SQL that answers it.")],
    db: DbOption,
    simplified: Annotated[str, typer.Option(help="The question in plain common words.")] = "",
    shared: Annotated[bool, typer.Option("--shared", help="Let other databases' questions see it.")] = False,
    store: StoreOption = None,
    embedding: EmbeddingOption = "hashed",
) -> None:
    """Add one example; its SQL has to run on the database."""
    from ...tools.database import Database
    from ...tools.examples import example_of, runs_on

    with _opened(store, embedding) as examples, Database.open(db) as database:
        example = example_of(database, question, sql, simplified=simplified, shared=shared)
        _report([examples.add([example], runs_on(database))])


@app.command("import")
def import_(
    files: Annotated[
        list[Path], typer.Argument(help=".jsonl with an example a line, or .json in a benchmark's layout.")
    ],
    databases: Annotated[
        Path | None, typer.Option("--databases", help="Folder of the databases: SQL is run, schemas are filled in.")
    ] = None,
    seeds: Annotated[bool, typer.Option("--seeds", help="Import the built-in examples too.")] = False,
    store: StoreOption = None,
    embedding: EmbeddingOption = "hashed",
) -> None:
    """Add the examples of files. What is there already is skipped, so an interrupted import is just run again.

    What is no example is refused with its place, and the rest is added. Exits with 1 where anything was refused.
    """
    from itertools import chain

    from ...tools.examples import DatabaseFolder, read_examples, runs_on, seed_examples

    refused: list[str] = []
    with _opened(store, embedding) as examples:
        done = [examples.add(seed_examples())] if seeds else []
        read = chain.from_iterable(read_examples(file, refused.append) for file in files)
        if databases is None:
            done.append(examples.add(_owned(read, refused.append), strict=False))
        else:
            with closing(DatabaseFolder(databases)) as folder:
                done.append(examples.add(folder.with_schemas(read), runs_on(folder), strict=False))
    refused += [refusal.reason for part in done for refusal in part.refused]
    for reason in refused:
        typer.echo(reason, err=True)
    _report(done, len(refused))
    raise typer.Exit(1 if refused else 0)


def _owned(read: Iterable[Example], refuse: Callable[[str], object]) -> Iterator[Example]:
    """Those that somebody could find: a private example without its database is seen by no question."""
    for example in read:
        if example.shared or example.owner:
            yield example
        else:
            refuse(f"refused {example.question[:80]!r}: it is not shared, so its database is needed: --databases")


@app.command("list")
def list_(
    database: Annotated[str | None, typer.Option("--database", help="Only this database's.")] = None,
    source: Annotated[str | None, typer.Option("--source", help="Only from this source, such as approved.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 100,
    as_json: JsonOption = False,
    store: StoreOption = None,
    embedding: EmbeddingOption = "hashed",
) -> None:
    """List examples with their identifiers."""
    from itertools import islice

    with _opened(store, embedding) as examples:
        _print(islice(examples.list(database, source), limit), as_json)


@app.command()
def search(
    question: Annotated[str, typer.Argument(help="A self-contained question.")],
    db: Annotated[str | None, typer.Option("--db", help="The database that it is asked of.")] = None,
    by: Annotated[str, typer.Option("--by", help="skeleton, question, draft, voted or random.")] = "skeleton",
    draft: Annotated[str, typer.Option("--draft", help="A first SQL for the question, for --by draft.")] = "",
    as_json: JsonOption = False,
    store: StoreOption = None,
    embedding: EmbeddingOption = "hashed",
) -> None:
    """Show the examples that a question would be given."""
    from typing import cast

    from ...tools.database import Database
    from ...tools.examples import ExampleQuery, Found, SelectorKind, database_identity, example_id, make_selector

    with _opened(store, embedding) as examples:
        query = ExampleQuery(question, draft_sql=draft)
        if db:
            with Database.open(db) as database:
                asked_of = database_identity(database)
                query = ExampleQuery(question, schema=database.schema(), draft_sql=draft, database=asked_of)
        chosen = make_selector(cast("SelectorKind", by), examples).select(query)
        _print((Found(example_id(example), example) for example in chosen), as_json)


@app.command()
def remove(
    ids: Annotated[list[str], typer.Argument(help="Identifiers, as `list` shows them.")],
    store: StoreOption = None,
    embedding: EmbeddingOption = "hashed",
) -> None:
    """Remove examples. Exits with 1 where one was not there."""
    with _opened(store, embedding) as examples:
        removed = examples.remove(ids)
    typer.echo(f"removed {removed}")
    raise typer.Exit(0 if removed == len(set(ids)) else 1)


@app.command()
def stats(as_json: JsonOption = False, store: StoreOption = None, embedding: EmbeddingOption = "hashed") -> None:
    """Count the examples."""
    from dataclasses import asdict

    with _opened(store, embedding) as examples:
        found = examples.stats()
    if as_json:
        typer.echo(json.dumps(asdict(found)))
        return
    typer.echo(f"{found.examples} examples, {found.shared} shared, {found.sql_skeletons} SQL skeletons")
    typer.echo(f"embedding {found.embedding}")
    for name, number in sorted(found.by_database.items()):
        typer.echo(f"{number:>8}  {name}")


@app.command()
def reindex(store: StoreOption = None, embedding: EmbeddingOption = "hashed") -> None:
    """Build the store's indexes anew from its examples."""
    with _opened(store, embedding) as examples:
        typer.echo(f"indexed {examples.reindex()} examples")


@contextmanager
def _opened(store: str | None, embedding: str) -> Generator[ExampleStore]:
    """The store; an error of ours becomes one line and exit code 2."""
    from ...tools.errors import TableturnError
    from ...tools.examples import ExampleStore, default_location, make_embedding

    try:
        with ExampleStore.open(store or default_location(), make_embedding(embedding)) as opened:
            yield opened
    except TableturnError as error:
        typer.echo(f"tableturn: {error}", err=True)
        raise typer.Exit(2) from error


def _report(done: Sequence[Added], refused: int = 0) -> None:
    added, known = sum(part.added for part in done), sum(part.known for part in done)
    updated = sum(part.updated for part in done)
    told = f", simplified anew {updated}" if updated else ""
    typer.echo(f"added {added}, there already {known}, refused {refused}{told}")


def _print(found: Iterable[Found], as_json: bool) -> None:
    from ...tools.examples import to_json
    from .render import safe

    for hit in found:
        if as_json:
            sys.stdout.write(json.dumps({"id": hit.id, **json.loads(to_json(hit.example))}, ensure_ascii=False) + "\n")
        else:
            example = hit.example
            told = f"{hit.id}  {example.database}  {example.source}\n  {example.question}\n  {example.sql}"
            typer.echo(safe(told))
