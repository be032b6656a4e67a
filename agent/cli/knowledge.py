"""The commands of knowledge files: check, export, and suggestions from a log of queries."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ...tools.errors import KnowledgeError, QueryError
from ...tools.record_files import decode_text, read_file
from ...tools.terminal import print_json_line, say, warn
from ..conversation_store import read_queries
from ..options import (
    DatabaseOptions,
    EmbeddingOption,
    ExamplesOption,
    JsonOption,
    KnowledgeOption,
    SettingsOption,
    expand_options,
)

if TYPE_CHECKING:
    from ...tools.database import Database, Limits
    from ...tools.examples import Example
    from ...tools.knowledge import Knowledge

_SERVER = "server"  # in the place of a file: what the server itself keeps

app = typer.Typer(help="Knowledge files, which say what words mean here: check, export, suggest.", no_args_is_help=True)


@app.command()
@expand_options()
def check(
    options: DatabaseOptions,
    settings: SettingsOption = None,
    knowledge: KnowledgeOption = None,
    examples: ExamplesOption = None,
    embedding: EmbeddingOption = "hashed",
    as_json: JsonOption = False,
) -> None:
    """Check that every definition fits the database, and that every verified query runs.

    Exit codes: 0 all do, 1 some do not (each is named), 2 a file or the database cannot be read.
    """
    from ...tools.knowledge.fragment import run_entry_sql
    from ...tools.labels import IN_ENGLISH
    from ..settings import make_settings, read_settings_file

    limits = make_settings(read_settings_file(settings) if settings else {}).limits

    def run_one_row(sql: str) -> object:
        return database.execute(sql, replace(limits, rows=1))

    with options.open() as database:
        definitions, valid = _read_knowledge_file(knowledge, database), 0
        faults = [{"what": p.entry.key, "source": p.entry.source, "why": p.why} for p in definitions.problems]
        unchecked: list[dict[str, str]] = []
        for entry in definitions.entries:
            place = {"what": entry.key, "source": entry.source}
            try:
                if why := run_entry_sql(entry, database.schema(), run_one_row):
                    unchecked.append(place | {"why": f"its SQL could not be checked: {why}"})
                else:
                    valid += 1
            except KnowledgeError as error:
                faults.append(place | {"why": str(error)})
        results = list(_check_verified_queries(database, limits, examples, embedding))
    invalid = len(faults)
    faults += [{"what": example.question, "source": example.source, "why": why} for example, why in results if why]
    if as_json:
        print_json_line(
            {"entries": len(definitions.entries), "queries": len(results), "problems": faults, "unchecked": unchecked}
        )
    else:
        for problem in [*faults, *unchecked]:
            warn(f"{problem['source']}: {problem['what']}: {IN_ENGLISH.say_error(problem['why'])}")
        note = f", {len(unchecked)} not checked" if unchecked else ""
        say(f"definitions: {valid} valid, {invalid} invalid{note}")
        failed_count = len(faults) - invalid
        say(f"verified queries: {len(results) - failed_count} run, {failed_count} fail")
    raise typer.Exit(1 if faults else 0)


@app.command()
@expand_options()
def export(
    options: DatabaseOptions,
    knowledge: KnowledgeOption = None,
    form: Annotated[Literal["yaml", "json"], typer.Option(help="A knowledge file in YAML or in JSON.")] = "yaml",
) -> None:
    """Print all valid entries of all files as one file, for review or for programs."""
    from ...tools.knowledge.write import build_knowledge_content

    with options.open() as database:
        definitions = _read_knowledge_file(knowledge, database)
    for problem in definitions.problems:
        warn(f"left out: {problem}")
    content = build_knowledge_content(definitions.entries)
    if form == "json":
        say(json.dumps(content, ensure_ascii=False, indent=2))
    else:
        import yaml

        say(yaml.safe_dump(content, allow_unicode=True, sort_keys=False, width=120).rstrip())


@app.command()
@expand_options()
def suggest(
    options: DatabaseOptions,
    source: Annotated[
        list[str],
        typer.Option(
            "--from",
            help="A file of SQL, or of conversations that `chat --thread` saved; or `server`, for the queries that the "
            "database server records (pg_stat_statements, performance_schema); repeatable.",
        ),
    ],
    least: Annotated[int, typer.Option(min=1, help="Suggest only what occurs in at least this many queries.")] = 2,
    as_json: JsonOption = False,
) -> None:
    """Suggest joins, terms and metrics from a log of queries.

    Each is shown with queries that contain it. Nothing is saved: copy what is right into the knowledge file, under the
    words that people use.
    """
    from ...tools.knowledge.proposals import suggest_entries

    with options.open() as database:
        queries = [query for log_source in source for query in _read_logged_queries(log_source, database)]
        suggestions = suggest_entries(queries, database.schema(), least)
    for suggestion in suggestions:
        entry = suggestion.entry
        if as_json:
            fields = {"kind": entry.kind, "sql": entry.sql, "count": suggestion.count, "queries": suggestion.queries}
            print_json_line(fields)
        else:
            say(f"{entry.kind}: {entry.sql}  ({suggestion.count} queries)")
            for query in suggestion.queries:
                say(f"    {' '.join(query.split())[:160]}")
    if not as_json and not suggestions:
        say(f"no suggestions: nothing occurs in {least} or more of the {len(queries):,} queries that were read")


@app.command()
def schema() -> None:
    """Print the JSON schema of a knowledge file, for editors."""
    from ...tools.knowledge import build_knowledge_json_schema

    say(json.dumps(build_knowledge_json_schema(), indent=2))


def _read_knowledge_file(name: str | None, database: Database) -> Knowledge:
    """Read the knowledge file of a database; raise `KnowledgeError` if it is missing."""
    from ...tools.knowledge import Knowledge, knowledge_path, read_knowledge

    path = Path(name) if name else knowledge_path(database)
    if not path.is_file():
        raise KnowledgeError(f"there is no knowledge file {path}: write one, or name it with --knowledge")
    return Knowledge.of(read_knowledge(path), database)


def _check_verified_queries(
    database: Database, limits: Limits, store: str | None, embedding: str
) -> Iterator[tuple[Example, str]]:
    """Yield the examples of a database, each with the error of its query or ''."""
    from ...tools.examples import ExampleStore, database_identity, get_store_folder, has_example_store, make_embedding

    location = store or get_store_folder()
    if not has_example_store(location):
        return
    with ExampleStore.open(location, make_embedding(embedding)) as examples:
        for hit in examples.seen_by(database).visible(database_identity(database)):
            if hit.example.owner == database_identity(database):
                why = ""
                try:
                    database.execute(hit.example.sql, limits)
                except QueryError as error:
                    why = str(error)
                yield hit.example, why


def _read_logged_queries(source: str, database: Database) -> Iterator[str]:
    """Yield the queries in a file of SQL, in saved conversations, or in the server's log."""
    from ...tools.database.server.engine import UNREADABLE, ServerEngine
    from ...tools.knowledge.proposals import MOST
    from ...tools.sql.texts import check_has_queries, split_statements

    if source == _SERVER:
        if not isinstance(database.engine, ServerEngine):
            raise KnowledgeError(
                f"{database.name} has no query log, because it is not a server: give a file of SQL to --from"
            )
        queries = database.engine.read_query_log(MOST)
        if unreadable_count := queries.count(UNREADABLE):
            warn(f"this login cannot read {unreadable_count} queries of other people: GRANT pg_read_all_stats TO it")
        yield from (query for query in queries if query != UNREADABLE)
        return
    path = Path(source)
    content = read_file(path)
    if content.startswith(b"SQLite format 3"):
        yield from read_queries(path, database.location)
    else:
        check_has_queries(text := decode_text(content, path), path)
        yield from split_statements(text, database.dialect)
