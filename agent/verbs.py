"""What a door can do beside asking: each verb once, as a plain function.

The terminal, the chat, HTTP, MCP, LangChain, Studio and `SQLAgent` call these and adapt the form of what they give.
Answers come from here as far as they may leave; `SQLAgent.deliver` adds rows that are for the person alone. `undo` of
what was learned is `forget`, `keep` of what was proposed is `keep`; taking a turn back is the conversation's own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import cast

from sqlglot import exp

from ..tools.charts import Chart, Kind, Wish
from ..tools.charts.chart import Picture, can_render, picture
from ..tools.database import (
    Cancellation,
    ColumnSchema,
    Database,
    Limits,
    Notice,
    Schema,
    Table,
    TableSchema,
    render_schema,
)
from ..tools.errors import ExampleRefused, ExportError, KnowledgeError, SettingsError, TableturnError
from ..tools.examples import (
    VERIFIED,
    Example,
    ExampleStore,
    database_identity,
    example_id,
    example_of,
    foremost,
    gives_way,
    may_remove,
    meaning_of,
    runs_on,
)
from ..tools.export import Exported, Format, Target, export_query, export_rows, format_of, write_file
from ..tools.knowledge import Entry, Knowledge
from ..tools.knowledge.fragment import fragment_kind, read_fragment
from ..tools.outgoing import Outgoing
from ..tools.values import ValueMatch
from .answers.answer import Answer
from .answers.phrasing import explain_query, name_columns, phrase_answer
from .audit import AuditedQuery, run_audited, run_query
from .model.track_record import Record, add_record, record_file
from .records import AttemptView, Status, plain_result
from .resources import Resources
from .settings import Settings

LONGEST_NOTE = 1_500  # characters of a note: what is longer finds no room in a prompt
_LOOKED_THROUGH = 100  # nearest questions among which the very same one is: nothing is nearer than it
_VALUES = 40  # values of a column that are given

_PICTURES = (".svg", ".png", ".html")

_NAMED = 12  # tables that an error names

_WHY_NOT: dict[Status, str] = {
    "failed": "it failed",
    "unanswerable": "the question was declined",
    "needs_clarification": "it waits for your reply",
}

_CORRECTED, _EDITED = "a person corrected the query", "a person wrote the query"

_MEANS = re.compile(
    r"^(?:[\"“'`](?P<quoted>[^\"”`]{1,80})[\"”'`]|(?P<plain>.{1,80}?))"
    r"\s*(?P<how>\bmeans\b|\bis when\b|\bstands for\b|:(?=\s)|(?<![<>!=])=(?!=))\s*(?P<meaning>.+)$",
    re.S,
)
"""`active means ordered in the last 90 days`, `SPM: sales per member`, `big = orders.total > 500`."""


@dataclass(frozen=True)
class Saved:
    """An approved answer in the example store.

    Attributes:
        id: The example's identifier, as `tableturn examples list` shows it.
        example: As it is kept: a self-contained question, the SQL, the part of the schema that it uses.
        new: Whether it was not there before.
        replaced: How many earlier approved answers to the very same question gave way to it. Those of people who may
            read more stay, and are not counted.
    """

    id: str
    example: Example
    new: bool
    replaced: int = 0


@dataclass(frozen=True)
class Correction:
    """An answer that a person corrected.

    Attributes:
        answer: What the right query gives.
        saved: Where it is kept.
        proposals: What could be learned besides; nothing is until a person accepts it.
    """

    answer: Answer
    saved: Saved
    proposals: tuple[Entry, ...]


@dataclass(frozen=True)
class SchemaText:
    """A schema, and how a model reads it."""

    schema: Schema
    text: str


def approve(
    answer: Answer, resources: Resources, *, question: str = "", shared: bool = False, settings: Settings | None = None
) -> Saved:
    """Save an answer as an example of its database; once more changes nothing."""
    database, simplified = resources.database, ""
    kept = question.strip()
    if not kept:
        if not answer.self_contained:
            raise ExampleRefused(
                f"not saved: {answer.question!r} may depend on earlier turns, because it was not rephrased: "
                "give a self-contained question"
            )
        kept = answer.rephrased
        simplified = answer.simplified if answer.simplified != kept else ""
    sql = _approvable(answer, resources)
    store = resources.examples.saving()
    author = database.session.identity.name
    example = example_of(database, kept, sql, simplified=simplified, shared=shared, author=author)
    done = store.add([example], runs_on(database, (settings or resources.settings).limits))
    outdated = _other_answers(store, example, database)
    if done.added:
        _add_to_record(answer, resources)
    return Saved(example_id(example), example, done.added == 1, store.remove(outdated))


def _approvable(answer: Answer, resources: Resources) -> str:
    """Return the query of an answer that may become an example."""
    if answer.status in _WHY_NOT:
        raise ExampleRefused(f"not saved: there is no answer to approve, {_WHY_NOT[answer.status]}")
    if answer.sql is None:
        raise ExampleRefused("not saved: the answer comes from pandas code alone, and an example needs SQL")
    if answer.database != database_identity(resources.database):
        raise ExampleRefused(f"not saved: the answer is from another database, not {resources.database.name!r}")
    if not resources.may_read(answer.record.rights):
        raise ExampleRefused("not saved: the answer was given under other permissions, or to somebody else: ask again")
    if resources.outgoing.level(answer.sql) != "values":
        raise ExampleRefused(
            "not saved: its query reads columns that must not be sent to a model, and models read examples"
        )
    return answer.sql


def _add_to_record(answer: Answer, resources: Resources) -> None:
    """Count an answer that a person found right for its model.

    The agent's own settings say where, not the run's: whoever sends a run may not choose a file to be written.
    """
    file = record_file(resources.settings.record)
    if file is None:
        return
    now = datetime.now(UTC).isoformat(timespec="seconds")
    usage = answer.usage
    kept = Record(answer.model, resources.database.name, 1, None, 1, usage.llm_calls, usage.prompt_tokens, now)
    # The example is saved: a data folder that cannot be written must not make that look undone.
    with suppress(SettingsError) if not resources.settings.record else nullcontext():
        add_record(kept, file)


def _other_answers(store: ExampleStore, example: Example, database: Database) -> list[str]:
    """Return what was approved earlier for the same question with other SQL, as far as it gives way.

    Shared or not: a wrong answer that stayed in one of the two would still be shown beside the right one in the other.
    """
    return [
        hit.id
        for hit in store.seen_by(database).near("question", example.question, _LOOKED_THROUGH, example.owner)
        if hit.example.source in VERIFIED
        and hit.example.owner == example.owner
        and hit.example.question.split() == example.question.split()
        and meaning_of(hit.example) != meaning_of(example)
        and gives_way(hit.example, example, database)
    ]


def correct(answer: Answer, sql: str, resources: Resources, *, question: str = "") -> Correction:
    """Run the right query in the place of an answer's, and keep it as the answer to that question."""
    if not sql.strip():
        raise SettingsError("a correction takes the right query: give its SQL")
    from ..tools.knowledge.proposals import propose_entries

    record = replace(rerun(answer, sql, resources).record, notes=(_CORRECTED,), stopped=_CORRECTED)
    right = Answer(record, answer.thread)
    found = propose_entries(answer.sql or "", sql, question or answer.question, resources.database.schema())
    fitting = tuple(entry for entry in found if _fits(entry, resources.database))
    # Last, so that what cannot be done as asked leaves nothing behind.
    return Correction(right, approve(right, resources, question=question), fitting)


def _fits(entry: Entry, database: Database) -> bool:
    try:
        return not Knowledge.of(((entry,),), database).problems
    except TableturnError:
        return False


def rerun(answer: Answer, sql: str, resources: Resources, cancellation: Cancellation | None = None) -> Answer:
    """Run an answer's query again, or another that a person wrote instead; nothing is kept."""
    own, database, record = answer.sql or "", resources.database, answer.record
    sql = sql.strip() or own
    if not sql:
        raise SettingsError("that answer has no SQL to run")
    query = AuditedQuery(sql, answer.question, answer.thread)
    result = plain_result(run_query(query, resources, resources.settings.limits, cancellation))
    headings = name_columns(sql, result.columns, database)
    rows = None if result.withheld == "all" else result.row_count
    new = replace(
        record,
        intent="answerable",
        sql=sql,
        columns=result.columns,
        rows=result.rows,
        row_count=result.row_count,
        truncated=result.truncated,
        status="converged",
        text=phrase_answer(result, headings),
        confidence=1.0,
        confidence_reason="a person wrote the query",
        trusted=None,
        trust_reason="",
        evidence={},
        attempts=(*record.attempts, AttemptView(sql, None, rows, "")),
        notes=(_EDITED,),
        choices=(),
        stop_kind="edited",
        stopped=_EDITED,
        database=database_identity(database),
        explanation=explain_query(sql, database),
        rights=resources.rights,
        withheld=result.withheld,
        used_knowledge=(),
        proposals=(),
        estimate=None,
        headings=tuple(heading.words for heading in headings),
    )
    if sql == own:
        new = replace(new, confidence=record.confidence, notes=record.notes, used_knowledge=record.used_knowledge)
    return Answer(new, answer.thread)


def note(text: str, resources: Resources) -> Entry:
    """Write what a word means here, or a rule of the house, to the knowledge file: `WORD means MEANING`."""
    words = "".join(mark for mark in " ".join(text.split()) if unicodedata.category(mark) != "Cc")
    if not words:
        raise KnowledgeError("the note is empty: write /note active means ordered in the last 90 days")
    if len(words) > LONGEST_NOTE:
        raise KnowledgeError(f"the note has more than {LONGEST_NOTE:,} characters: split it")
    parts = _MEANS.match(words)
    if parts is None:
        return keep(Entry("convention", words, words), resources)
    name, meaning = (parts["quoted"] or parts["plain"]).strip(), parts["meaning"].strip()
    schema = resources.database.schema()
    try:
        fragment = read_fragment(meaning, schema)
        kind = fragment_kind(fragment.tree)
        if kind is None:
            raise KnowledgeError(f"{meaning!r} is neither a condition nor an aggregate")
    except KnowledgeError as error:
        if parts["how"] == "=":
            raise KnowledgeError(f"not saved: {error}; a meaning in words is written {name} means ...") from None
        return keep(Entry("term", name, meaning), resources)
    return keep(Entry(kind, name, "" if kind == "metric" else meaning, fragment.sql), resources)


def keep(entry: Entry, resources: Resources) -> Entry:
    """Write an entry into the database's knowledge file, in the name of whoever asks."""
    known = resources.knowledge.now()
    alone = Knowledge.of(((entry,),), resources.database)
    if alone.problems:
        raise KnowledgeError(f"not saved: {alone.problems[0].why}")
    others = [each for each in known.entries if each.key.lower() != entry.key.lower()] if known else []
    together = Knowledge.of((tuple(others), (entry,)), resources.database)
    if entry.key not in {each.key for each in together.entries}:
        why = (problem.why for problem in together.problems if problem.entry.key == entry.key)
        raise KnowledgeError(f"not saved: {next(why, 'it may not be shown')}")
    return resources.knowledge.add(entry)


def forget(name: str, resources: Resources) -> str:
    """Remove a definition, or an approved answer by its question or identifier; return in words what went."""
    wanted, database = " ".join(name.split()), resources.database
    if resources.knowledge.remove(wanted):
        return f"the definition of {wanted!r}"
    store, identity = resources.examples.own(), database_identity(database)
    if store is not None:
        # Shared ones too: `visible` shows all of them.
        own = [hit for hit in store.seen_by(database).visible(identity) if hit.example.owner == identity]
        questions = foremost((hit.example for hit in own if hit.example.question == wanted), database)
        approved = next((hit for hit in own if hit.id == wanted or hit.example in questions), None)
        if approved is not None and not may_remove(approved.example, database):
            raise KnowledgeError(f"{wanted!r} was approved by people who may read more: only they can remove it")
        if approved is not None and store.remove([approved.id]):
            return f"the answer to {approved.example.question!r}"
    raise KnowledgeError(f"there is no definition, and no approved answer of this database, called {wanted!r}")


def explain(sql: str, resources: Resources) -> str:
    """Return what a query computes in plain words, read from the query itself; empty where it cannot be read."""
    return explain_query(sql, resources.database)


def tables(resources: Resources) -> Schema:
    """Return the tables that this person may read, with the joins that knowledge adds."""
    return resources.schemas.schema(False)


def notices(resources: Resources) -> tuple[Notice, ...]:
    """Return what was noticed in files of tables; nothing for other databases."""
    return resources.database.notices


def schema(database: Database, names: Sequence[str] | None = None) -> SchemaText:
    """Return the schema, or some tables of it, as a model sees it."""
    part = database.schema()
    if names is not None:
        if missing := [name for name in names if part.table(name) is None]:
            raise SettingsError(f"there is no table {', '.join(map(repr, missing))}")
        chosen = [table for name in names if (table := part.table(name)) is not None]
        part = part.part([(table.name, [column.name for column in table.columns]) for table in chosen])
    return SchemaText(part, Outgoing(database).text(render_schema(part)))


def values(column: str, resources: Resources, cancellation: Cancellation | None = None) -> Table:
    """Return the values of a column, named alone or after its table, the most frequent first, with their counts."""
    table, found = _column(tables(resources), column)
    database = resources.database
    shown, many = exp.column(found.name, quoted=True), exp.Count(this=exp.Star())
    query = (
        exp.select(shown, exp.alias_(many, "rows", quoted=True))
        .from_(exp.table_(*table.path[::-1], quoted=True))
        .group_by(shown.copy())
        .order_by(exp.Ordered(this=many.copy(), desc=True), exp.Ordered(this=shown.copy()))
    )
    return database.execute(query.sql(database.dialect), Limits(rows=_VALUES), cancellation)


def _column(schema: Schema, words: str) -> tuple[TableSchema, ColumnSchema]:
    named, _, name = words.rpartition(".")
    places = [
        (table, column)
        for table in schema.tables
        if not named or table.name.lower() == unquoted(named).lower()
        if (column := table.column(unquoted(name))) is not None
    ]
    if len(places) == 1:
        return places[0]
    if not words:
        raise SettingsError("say which column: /values TABLE.COLUMN, or only the column if a single table has it")
    if not places:
        raise SettingsError(f"there is no column {words}: /tables lists the tables, /schema TABLE their columns")
    raise SettingsError(f"which {words}: {some_of([f'{table.name}.{column.name}' for table, column in places])}")


def some_of(names: list[str]) -> str:
    """Return the first of the names, for a message."""
    return ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")


def unquoted(name: str) -> str:
    """Return a name as a person may have quoted it, without the quotes."""
    return name.strip().strip('"`[]')


def mentioned_values(text: str, resources: Resources, limit: int = 10) -> tuple[ValueMatch, ...]:
    """Return the values of the database that a text mentions, in the database's own spelling."""
    return resources.tools.find_values.call(text=text, limit=limit)


def export(
    answer: Answer,
    resources: Resources,
    target: Target,
    form: Format | None = None,
    *,
    rows: int | None = None,
    settings: Settings | None = None,
    cancellation: Cancellation | None = None,
) -> Exported:
    """Write all rows of an answer to a file or a stream, by running its query again; see `SQLAgent.export`."""
    if form is None:
        if not isinstance(target, str | Path):
            raise ExportError("a stream has no file name, which would tell the format: pass `form`")
        form = format_of(target)
    if not answer.answered:
        raise ExportError("there is no answer to write")
    if answer.sql is None:
        return export_rows(answer.columns, answer.rows, target, form)
    if answer.database != database_identity(resources.database):
        raise ExportError(f"the answer is from another database, not {resources.database.name!r}")
    within = settings or resources.settings
    database = resources.narrowed(within.permissions).database
    limits = within.export_limits
    limits = limits if rows is None else replace(limits, rows=min(rows, limits.rows))
    write = partial(export_query, database, answer.sql, target, form, limits, cancellation)
    query = AuditedQuery(answer.sql, answer.question, answer.thread)
    return run_audited(query, "exported", resources, write, lambda exported: exported.rows)


def chart(answer: Answer, kind: Kind | None = None) -> Chart | None:
    """Return the chart that fits an answer, of this kind if one is named; None where none fits."""
    return answer.drawn if kind is None else answer.drawn_as(Wish(kind, ""))


def draw(answer: Answer, file: Path) -> Chart | None:
    """Draw an answer's chart into a file; None, and no file, where none fits."""
    check_picture(file)
    drawn = chart(answer)
    if drawn is not None and answer.chart is not None:
        write_file(picture(answer.chart, cast("Picture", file.suffix.lower()[1:])), file)
        return drawn
    return None


def check_picture(file: Path) -> None:
    """Check that a chart can be drawn into a file of that name."""
    if not can_render():
        raise ExportError("pictures of charts need vl-convert: pip install 'tableturn[charts]'")
    if file.suffix.lower() not in _PICTURES:
        raise ExportError(f"cannot tell the format of {file}: use a name that ends in {', '.join(_PICTURES)}")


def dollars(prompt_tokens: int, completion_tokens: int, price: tuple[float, float]) -> float:
    """Return what tokens cost at a price in dollars for a million prompt and completion tokens."""
    return (prompt_tokens * price[0] + completion_tokens * price[1]) / 1_000_000
