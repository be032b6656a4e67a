"""The example store's commands."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from ...tools.errors import ExampleStoreError, ModelError, SettingsError
from ...tools.terminal import print_json_line, say, warn
from ..options import AccessOptions, DatabaseOptions, EmbeddingOption, JsonOption, UrlOption, expand_options

if TYPE_CHECKING:
    from ...tools.database import Database
    from ...tools.examples import AddedExamples, Example, ExampleStore, FoundExample
    from ..context.rephrase_examples import Forms

app = typer.Typer(help="Few-shot examples: add, import, list, search, remove.", no_args_is_help=True)


@dataclass(frozen=True, kw_only=True)
class StoreOptions:
    """Command-line options for an example store."""

    store: Annotated[
        str | None,
        typer.Option(
            envvar="TABLETURN_EXAMPLES",
            help="A folder, or a Chroma server's URL. Default: a folder in your data folder.",
        ),
    ] = None
    embedding: EmbeddingOption = "hashed"

    @contextmanager
    def open(self, *, make: bool = True) -> Generator[ExampleStore]:
        """Open the example store, with the built-in examples; `make` creates a missing store."""
        from ...tools.examples import get_store_folder, make_embedding, open_existing, open_seeded_store

        place = self.store or get_store_folder()
        # A mistyped place would look empty.
        store = (
            open_seeded_store(place, make_embedding(self.embedding)) if make else open_existing(place, self.embedding)
        )
        with store as examples:
            yield examples


@dataclass(frozen=True, kw_only=True)
class CompletionOptions(StoreOptions):
    """Command-line options for rewriting the questions of an example store."""

    store: Annotated[str | None, typer.Argument(help="The store: a folder, or a Chroma server's URL.")] = None
    model: Annotated[str | None, typer.Option(help="A chat model, as for ask; required.")] = None
    base_url: UrlOption = None
    calls: Annotated[int, typer.Option(min=1, help="Maximum number of requests; retries count.")] = 100_000
    jobs: Annotated[int, typer.Option(min=1, help="Dialogues or questions to process at once.")] = 4
    as_json: JsonOption = False


@app.command()
@expand_options()
def add(
    store_options: StoreOptions,
    question: Annotated[str, typer.Argument(help="A self-contained question.")],
    sql: Annotated[str, typer.Argument(help="The SQL that answers it.")],
    options: DatabaseOptions,
    simplified: Annotated[str, typer.Option(help="The question in plain common words.")] = "",
    shared: Annotated[bool, typer.Option("--shared", help="Use it for questions to other databases too.")] = False,
) -> None:
    """Add one example. Its SQL must run on the database."""
    from ...tools.examples import make_example, make_example_verifier

    with store_options.open() as examples, options.open() as database:
        example = make_example(database, question, sql, simplified=simplified, shared=shared)
        _report_additions([examples.add([example], make_example_verifier(database))])


@app.command("import")
@expand_options()
def import_(
    store_options: StoreOptions,
    options: AccessOptions,
    files: Annotated[
        list[Path],
        typer.Argument(
            help=".jsonl with one example per line, or .json in a benchmark's layout; with --db also CSV or YAML."
        ),
    ],
    databases: Annotated[
        Path | None, typer.Option(help="Folder of the databases: SQL is run, schemas are filled in.")
    ] = None,
    whole_schemas: Annotated[
        bool,
        typer.Option(
            "--whole-schemas", help="Store the whole schema of each example's database too, as CREDIT-SQL shows it."
        ),
    ] = False,
    db: Annotated[
        str | None,
        typer.Option(
            help="The database that all examples belong to. They need only question and sql, which are checked."
        ),
    ] = None,
    trust: Annotated[bool, typer.Option("--trust", help="With --db: import doubtful examples too.")] = False,
    author: Annotated[str, typer.Option(help="With --db: the author of the examples. Default: --user.")] = "",
    seeds: Annotated[bool, typer.Option("--seeds", help="Import the built-in examples too.")] = False,
) -> None:
    """Import examples from files; skip examples that are already stored.

    You can repeat an interrupted import. A record that is not an example is refused, naming its place in the file; the
    others are added. Exits with 1 if anything was refused, and with 2 if a file could not be read.

    With --db they become that database's verified queries. Each query is run. One that does not run is refused. A
    doubtful one is reported and not imported, unless --trust is given.
    """
    if db is not None:
        with store_options.open() as examples, options.open_database(db) as database:
            code = _import_queries(files, database, examples, trust, author or options.user or "")
        raise typer.Exit(code)

    from ...tools.examples import DatabaseFolder, make_example_verifier, seed_examples

    problems = _ImportProblems()
    with store_options.open() as examples:
        done = [examples.add(seed_examples())] if seeds else []
        inputs = chain.from_iterable(_read_example_file(file, problems) for file in files)
        if databases is None:
            done.append(examples.add(_select_shared_examples(inputs, problems.refuse), strict=False))
        else:
            with closing(DatabaseFolder(databases, whole_schemas=whole_schemas)) as folder:
                done.append(examples.add(folder.complete_examples(inputs), make_example_verifier(folder), strict=False))
    for refusal in (refusal for addition in done for refusal in addition.refused):
        problems.refuse(refusal.reason)
    _report_additions(done, problems.refusals, "" if databases else "; no SQL was run: that needs --databases")
    raise typer.Exit(2 if problems.unreadable else 1 if problems.refusals else 0)


def _import_queries(files: list[Path], database: Database, examples: ExampleStore, trust: bool, author: str) -> int:
    """Import questions and SQL as verified queries of a database; return the exit code."""
    from ...tools.examples.importing import read_verified_examples

    problems = _ImportProblems()
    doubts = 0
    additions: list[AddedExamples] = []
    for file in files:
        try:
            pairs = read_verified_examples(file, database, examples, author, problems.refuse)
        except SettingsError as error:
            problems.report_unreadable_file(str(error))
            continue
        doubtful = [pair for pair in pairs if pair.reason]
        for pair in doubtful:
            warn(f"{'imported' if trust else 'not imported'}: {pair.example.question!r}: {pair.reason}")
        doubts += 0 if trust else len(doubtful)
        additions.append(examples.add((pair.example for pair in pairs if trust or not pair.reason), strict=False))
        for refusal in additions[-1].refused:
            problems.refuse(refusal.reason)
    _report_additions(
        additions, problems.refusals, f", doubtful {doubts}{' (not imported; --trust imports them)' if doubts else ''}"
    )
    return 2 if problems.unreadable else 1 if problems.refusals or doubts else 0


@dataclass
class _ImportProblems:
    """A counter of import problems, which prints each problem at once."""

    refusals: int = 0
    unreadable: int = 0

    def refuse(self, reason: str) -> None:
        """Count and print an example that is refused."""
        self.refusals += 1
        warn(reason)

    def report_unreadable_file(self, reason: str) -> None:
        self.unreadable += 1
        warn(f"tableturn: {reason}")


def _read_example_file(file: Path, problems: _ImportProblems) -> Iterator[Example]:
    """Yield the examples of a file; report a file that cannot be read."""
    from ...tools.examples import read_examples

    try:
        yield from read_examples(file, problems.refuse)
    except ExampleStoreError as error:
        problems.report_unreadable_file(str(error))


def _select_shared_examples(inputs: Iterable[Example], refuse: Callable[[str], object]) -> Iterator[Example]:
    """Yield only the shared examples, without their owners; refuse all other examples."""
    for example in inputs:
        if example.shared:
            yield replace(example, owner="")
        else:
            refuse(f"refused {example.question[:80]!r}: it is not shared, so its database is needed: --databases")


@app.command()
@expand_options()
def rephrase(options: CompletionOptions) -> None:
    """Have a model rewrite imported questions as "Give me ...", turn by turn (CREDIT-SQL 3.1).

    Each result is saved: after an interruption, or after --calls is reached, the same command continues.
    """
    from ..context.rephrase_examples import rephrase_dialogue

    _rewrite_questions(options, "rephrased", rephrase_dialogue)


@app.command()
@expand_options()
def simplify(options: CompletionOptions) -> None:
    """Have a model rewrite imported questions in plain words (revision 3.1.2).

    That doubles the keys of the store. Each result is saved: after an interruption, or after --calls is reached, the
    same command continues.
    """
    from ..context.rephrase_examples import simplify_dialogue

    _rewrite_questions(options, "simplified", simplify_dialogue)


def _rewrite_questions(options: CompletionOptions, form: Literal["rephrased", "simplified"], forms: Forms) -> None:
    """Have a model rewrite the questions of a store; show progress on standard error."""
    from rich.console import Console
    from rich.progress import Progress

    from ..context.rephrase_examples import complete_example_pairs
    from ..resources.factory import make_translator_factory
    from ..settings import PRESETS, Settings

    temperature = PRESETS["revision"]["simplify_temperature"]
    settings = Settings(prompt_tokens=12_000, max_output_tokens=4_000, simplify_temperature=temperature)
    translator = make_translator_factory(options.model, options.base_url)(settings)
    if translator is None:
        raise ModelError("rephrasing and simplifying need a chat model: pass --model")
    with options.open(make=False) as examples, Progress(console=Console(stderr=True)) as display:
        bar = display.add_task(form, total=None)
        outcome = complete_example_pairs(
            examples,
            forms,
            lambda example: getattr(example, form),
            translator,
            calls=options.calls,
            jobs=options.jobs,
            report=lambda now: display.update(bar, completed=now.done, total=now.pairs),
        )
    if options.as_json:
        print_json_line(asdict(outcome))
        return
    remaining_count = outcome.pairs - outcome.done
    say(f"{outcome.done} of {outcome.pairs} pairs are {form}, after {outcome.calls} requests to the model")
    if remaining_count:
        reason = f"{outcome.failed} replies could not be used" if outcome.failed else "--calls was reached"
        say(f"{remaining_count} remain ({reason}): run the command again to continue")


@app.command("list")
@expand_options()
def list_(
    store_options: StoreOptions,
    database: Annotated[str | None, typer.Option(help="Only examples of this database.")] = None,
    source: Annotated[str | None, typer.Option(help="Only examples from this source, such as approved.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of examples to list.")] = 100,
    as_json: JsonOption = False,
) -> None:
    """List examples with their identifiers."""
    with store_options.open(make=False) as examples:
        _print_examples(islice(examples.list(database, source), limit), as_json)


@app.command()
@expand_options(without=("schemas",))
def search(
    store_options: StoreOptions,
    options: AccessOptions,
    question: Annotated[str, typer.Argument(help="A self-contained question.")],
    db: Annotated[str | None, typer.Option(help="The database that the question is for.")] = None,
    by: Annotated[str, typer.Option(help="How to choose: skeleton, question, draft, voted or random.")] = "skeleton",
    draft: Annotated[str, typer.Option(help="A first query for the question, for --by draft.")] = "",
    simplified: Annotated[str, typer.Option(help="The question in plain common words.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Show the examples that the default settings choose for a question.

    Examples approved on the database come first, and built-in ones are added if the store has few to offer. An agent
    searches with its rephrasing of the question and with the part of the schema that it keeps; this command uses the
    question as given and the whole schema.
    """
    from ...tools.examples import ExampleQuery, FoundExample, SelectorKind, database_identity, example_id, make_selector
    from ...tools.toolset import Toolset
    from ...tools.values import ValueIndex
    from ..nodes.retrieve_examples import get_selector_parameters
    from ..settings import Settings

    settings, kind = Settings(), cast("SelectorKind", by)
    numbers = get_selector_parameters(settings.model_copy(update={"examples": by}))
    with store_options.open(make=False) as examples, options.open_database(db) if db else nullcontext() as target:
        query = ExampleQuery(question, simplified, draft_sql=draft)
        if target is None:
            selection = make_selector(kind, examples, **numbers).select(query)
        else:
            index = ValueIndex.open(target)
            values, identity = tuple(index.find(question, max(settings.values, 10))), database_identity(target)
            query = replace(query, schema=target.schema(), values=values, database=identity)
            selection = Toolset(target, index, lambda: examples).find_examples.call(
                question=question, selector=kind, query=query, numbers=numbers, own=settings.own_examples
            )
        _print_examples((FoundExample(example_id(example), example) for example in selection), as_json)


@app.command()
@expand_options()
def remove(
    store_options: StoreOptions, ids: Annotated[list[str], typer.Argument(help="Identifiers, as `list` shows them.")]
) -> None:
    """Remove examples. Exits with 1 if one does not exist."""
    with store_options.open(make=False) as examples:
        count = examples.remove(ids)
    say(f"removed {count}")
    if missing := len(set(ids)) - count:
        warn(f"tableturn: ids without an example: {missing}; `tableturn examples list` shows the ids")
        raise typer.Exit(1)


@app.command()
@expand_options()
def stats(store_options: StoreOptions, as_json: JsonOption = False) -> None:
    """Count the examples in the store."""
    with store_options.open(make=False) as examples:
        totals = examples.stats()
    if as_json:
        print_json_line(asdict(totals))
        return
    say(f"{totals.examples} examples, {totals.shared} shared, {totals.sql_skeletons} SQL skeletons")
    say(f"embedding {totals.embedding}")
    for name, number in sorted(totals.by_database.items()):
        say(f"{number:>8}  {name}")


@app.command()
@expand_options()
def reindex(store_options: StoreOptions) -> None:
    """Rebuild the indexes of the store from its examples."""
    with store_options.open(make=False) as examples:
        say(f"indexed {examples.reindex()} examples")


def _report_additions(additions: Sequence[AddedExamples], refusals: int = 0, remark: str = "") -> None:
    new_count, old_count = sum(addition.added for addition in additions), sum(part.known for part in additions)
    update_count = sum(part.updated for part in additions)
    note = f", simplified anew {update_count}" if update_count else ""
    say(f"added {new_count}, already stored {old_count}, refused {refusals}{note}{remark}")


def _print_examples(hits: Iterable[FoundExample], as_json: bool) -> None:
    from ...tools.examples import to_json

    for hit in hits:
        if as_json:
            print_json_line({"id": hit.id, **json.loads(to_json(hit.example))})
        else:
            example = hit.example
            scope = "shared" if example.shared else f"for {example.owner or example.database} alone"
            added_time = f"{example.added:%Y-%m-%d %H:%M}" if example.added else "built in"
            head = f"{hit.id}  {example.database}  {example.source}  {added_time}  {scope}"
            say(f"{head}\n  {example.question}\n  {example.sql}")
