"""The operations that every interface offers beside asking, each once as a plain function.

The terminal, the chat, HTTP, MCP, LangChain, Studio and `SQLAgent` call these and adapt the form of what they give.
Answers come from here as far as they may leave; `SQLAgent.deliver` adds rows that are for the person alone. Taking a
turn back is the conversation's own.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sqlglot import exp

from ..prompts.find_sql import begins_sql
from ..tools.charts import Chart, ChartRequest, Kind
from ..tools.charts.chart import Picture, can_render_charts, render_chart_image
from ..tools.charts.wish import parse_request
from ..tools.database import Cancellation, Database, Limits, Table, render_schema
from ..tools.database.schema import ColumnSchema, Schema, TableSchema
from ..tools.database.watchdog import raise_if_cancelled
from ..tools.errors import ExampleRefused, ExportError, KnowledgeError, QueryError, QueryRejected, SettingsError
from ..tools.examples import VERIFIED, Example, ExampleStore, FoundExample, choose_best_per_question, database_identity
from ..tools.examples.rights import can_remove_example, make_example, make_example_verifier, should_replace
from ..tools.examples.store import example_id, shared_id
from ..tools.export import ExportResult, Format, Target, export_query, export_rows, infer_export_format, write_file
from ..tools.knowledge import Entry, Knowledge
from ..tools.knowledge.fragment import parse_definition, run_entry_sql
from ..tools.labels import IN_ENGLISH
from ..tools.masked_database import MaskedDatabase
from ..tools.sql import read_query
from ..tools.sql.texts import begins_write_statement
from ..tools.values import ValueMatch
from ..tools.words import end_sentence
from .answers.answer import Answer
from .answers.phrasing import analyze_sql, build_display, describe_other_query, explain_query, phrase_answer, put_result
from .audit import AuditedQuery, run_and_audit_query, run_query
from .model.track_record import ModelRunRecord, append_run_record, get_record_file_path
from .records import AnswerSentence, AttemptView, Status, make_plain_result
from .resources import Resources
from .settings import Settings

if TYPE_CHECKING:
    from ..tools.database import Notice

_NEAREST_COUNT = 100  # nearest questions among which the very same one is: nothing is nearer than it
_VALUES = 40  # values of a column that are given
_SHORT_ID = 8  # characters of an id that are shown, and enough to name a lesson
_MAX_NAMES = 12  # tables that an error names
_PICTURES = (".svg", ".png", ".html")

_WHY_NOT: dict[Status, str] = {
    "failed": "it failed",
    "unanswerable": "the question was declined",
    "needs_clarification": "it waits for your reply",
}

_CORRECTED, _EDITED = "a person corrected the query", "a person wrote the query"


@dataclass(frozen=True)
class SavedAnswer:
    """An approved answer, saved as an example.

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
    saved: SavedAnswer
    proposals: tuple[Entry, ...]


@dataclass(frozen=True)
class CorrectionTurn:
    """A turn that repeats a question with a person's correction in words."""

    question: str
    notes: str  # the query that was wrong, for the model alone
    wording: str  # the `question` of `approve` for the new answer


@dataclass(frozen=True)
class Lesson:
    """A saved answer or a definition, taught by a person."""

    id: str  # what `edit_lesson` and `forget` take, besides the name
    kind: str  # `answer`, or the kind of the definition
    name: str  # the question, or the word that is defined
    meaning: str  # the query, or what the word means
    author: str
    added: str  # in ISO 8601; empty for what was written into the file by hand
    unchecked: str = ""  # why a definition's SQL was not run when it was saved

    @property
    def lines(self) -> str:
        """The lesson as a text of two lines."""
        origin = ", ".join(filter(None, (self.author, self.added[:16].replace("T", " "))))
        meaning = f"{self.meaning}{format_unchecked_note(self.unchecked)}"
        return f"{self.id[:_SHORT_ID]}  {self.kind} {self.name!r}{origin and f'  ({origin})'}\n    {meaning}"


def format_unchecked_note(reason: str) -> str:
    """Return a note that a definition's SQL was not checked; '' if it was."""
    return f"; its SQL could not be checked: {IN_ENGLISH.say_error(reason)}" if reason else ""


@dataclass(frozen=True)
class SchemaText:
    """A schema, and its text for a model."""

    schema: Schema
    text: str


def approve(
    answer: Answer, resources: Resources, *, question: str = "", shared: bool = False, settings: Settings | None = None
) -> SavedAnswer:
    """Save an answer as an example of its database, unless it is saved already."""
    sql = _require_approvable_query(answer, resources)
    _require_wording(answer, question, "give")
    wording = question.strip() or answer.rephrased
    simplified = "" if question.strip() or answer.simplified == wording else answer.simplified
    outcome = _save_example(wording, sql, resources, settings, simplified=simplified, shared=shared)
    if outcome.new:
        _record_approved_answer(answer, resources)
    return outcome


def _require_wording(answer: Answer, question: str, what_to_do: str) -> None:
    """Raise `ExampleRefused` if there is no question that stands alone."""
    if answer.record.follow_up and not question.strip():
        raise ExampleRefused(
            f"not saved yet: {answer.question!r} follows earlier questions, and would be saved for "
            f"{answer.rephrased!r}: {what_to_do} this `question` or a better one that can be understood alone"
        )


def _save_example(
    question: str, sql: str, resources: Resources, settings: Settings | None = None, *, author: str = "", **more: Any
) -> SavedAnswer:
    """Save a correct answer as an example, and remove earlier ones that it replaces."""
    database, store = resources.database, resources.examples.open_store_for_saving()
    example = make_example(database, question, sql, author=author or database.session.identity.name, **more)
    outcome = store.add([example], make_example_verifier(database, (settings or resources.settings).limits))
    old_ids = _find_replaced_example_ids(store, example, database)
    return SavedAnswer(example_id(example), example, outcome.added == 1, store.remove(old_ids))


def _require_approvable_query(answer: Answer, resources: Resources) -> str:
    """Return the answer's query; raise `ExampleRefused` if it may not become an example."""
    if answer.status in _WHY_NOT:
        raise ExampleRefused(f"not saved: there is no answer to approve, {_WHY_NOT[answer.status]}")
    if answer.sql is None:
        raise ExampleRefused("not saved: the answer comes from pandas code alone, and an example needs SQL")
    if answer.database != database_identity(resources.database):
        raise ExampleRefused(f"not saved: the answer is from another database, not {resources.database.name!r}")
    if not resources.may_read(answer.record.rights):
        raise ExampleRefused("not saved: the answer was given under other permissions, or to somebody else: ask again")
    _check_query_may_be_sent(answer.sql, resources)
    return answer.sql


def _check_query_may_be_sent(sql: str, resources: Resources) -> None:
    """Raise `ExampleRefused` if a query reads columns that may not be sent to a model."""
    if resources.masked_database.get_egress_level(sql) != "values":
        raise ExampleRefused(
            "not saved: its query reads columns that must not be sent to a model, and models read examples"
        )


def _record_approved_answer(answer: Answer, resources: Resources) -> None:
    """Add an approved answer to the track record of its model.

    The agent's own settings say where, not the run's: whoever sends a run may not choose a file to be written.
    """
    file = get_record_file_path(resources.settings.record)
    if file is None:
        return
    now, usage = datetime.now(UTC).isoformat(timespec="seconds"), answer.usage
    run = ModelRunRecord(answer.model, resources.database.name, 1, None, 1, usage.llm_calls, usage.prompt_tokens, now)
    # The example is saved: a data folder that cannot be written must not make that look undone.
    with suppress(SettingsError) if not resources.settings.record else nullcontext():
        append_run_record(run, file)


def _find_replaced_example_ids(store: ExampleStore, example: Example, database: Database) -> list[str]:
    """Return the ids of earlier approved answers that a new example replaces.

    Shared or not: a wrong answer that stayed in one of the two would still be shown beside the right one in the other.
    """
    return [
        hit.id
        for hit in store.seen_by(database).near("question", example.question, _NEAREST_COUNT, example.owner)
        if hit.example.source in VERIFIED
        and hit.example.owner == example.owner
        and hit.example.question.split() == example.question.split()
        and shared_id(hit.example) != shared_id(example)
        and should_replace(hit.example, example, database)
    ]


def correct(answer: Answer, sql: str, resources: Resources, *, question: str = "") -> Correction:
    """Run the correct query, and save it as the answer to the question."""
    if not sql.strip():
        raise SettingsError("a correction needs the right query: give its SQL")
    from ..tools.knowledge.proposals import propose_entries_from_correction

    try:
        record = replace(rerun(answer, sql, resources).record, notes=(_CORRECTED,), stopped=_CORRECTED)
    except QueryError:
        _check_reads_only(sql)  # said as to a correction in words
        raise
    schema = resources.database.schema()
    before, after = read_query(answer.sql or "SELECT 1", schema), read_query(sql, schema)
    entries = propose_entries_from_correction(before, after, question or answer.question) if before and after else ()
    fitting = tuple(entry for entry in entries if not Knowledge.of(((entry,),), resources.database).problems)
    right = Answer(replace(record, proposals=fitting), answer.thread)
    _require_wording(right, question, "call `correct` again with this query and")  # `approve` saves the wrong one
    # Last, so that what cannot be done as asked leaves nothing behind.
    return Correction(right, approve(right, resources, question=question), fitting)


def _check_reads_only(words: str) -> None:
    """Raise `QueryRejected` for a statement that changes something."""
    if begins_write_statement(words.strip()):
        raise QueryRejected(IN_ENGLISH.say("reads_only"))


def find_right_query(words: str, resources: Resources) -> str:
    """Return a person's correction if it is an SQL query; empty if it is in words."""
    sql = words.strip()
    if sql.lstrip("( ").startswith(("SELECT ", "WITH ")):
        return sql
    query = read_query(sql, resources.database.schema()) if begins_sql(sql) else None
    # `Select only those from Lyon` is words: a query reads a table that there is, or has signs of one.
    has_signs = begins_sql(sql) and re.search(r"\*|\w\(", sql)
    return sql if has_signs or (query and query.tables) else ""


def word_correction(answer: Answer, words: str, resources: Resources) -> CorrectionTurn:
    """Return a turn that repeats an answer's question with a person's correction in words."""
    if not words.strip():
        raise SettingsError("say what is wrong, as in: cancelled orders should not count")
    _check_reads_only(words)
    if begins_sql(words.strip()) and ";" in words.strip(" \n;"):
        raise QueryRejected("only one statement may be run at a time: send a single SELECT")
    sql = answer.sql or ""
    may_show = sql and resources.may_read(answer.rights) and resources.masked_database.get_egress_level(sql) == "values"
    complaint = f"This query was not right: {sql}. " if may_show else ""
    notes = f"{complaint}What the person says after the question corrects it."
    return CorrectionTurn(f"{end_sentence(answer.rephrased.strip())} {words.strip()}", notes, answer.rephrased)


def rerun(answer: Answer, sql: str, resources: Resources, cancellation: Cancellation | None = None) -> Answer:
    """Run an answer's query again, or another query in its place; store nothing."""
    own_sql, database, record = answer.sql or "", resources.database, answer.record
    sql = sql.strip() or own_sql
    if not sql:
        raise SettingsError("that answer has no SQL to run")
    query = AuditedQuery(sql, answer.question, answer.thread)
    result = make_plain_result(run_query(query, resources, resources.settings.limits, cancellation))
    analysis, sentence = analyze_sql(sql, database), record.sentence.say if record.sentence else ""
    looks = build_display(analysis, result, answer.labels.locale)
    rows = None if result.withheld == "all" else result.row_count
    if sql != own_sql:
        record = describe_other_query(record, analysis, looks)
    new = replace(
        put_result(record, result, looks),
        intent="answerable",
        sql=sql,
        status="converged",
        text=phrase_answer(result, looks),
        confidence=1.0,
        confidence_reason=looks.labels.say("by_person"),
        trusted=None,
        trust_reason="",
        evidence={},
        sentence=AnswerSentence(sentence) if sentence and sql == own_sql else None,
        attempts=(*record.attempts, AttemptView(sql, None, rows, "")),
        notes=(_EDITED,),
        noted=(),
        choices=(),
        stop_kind="edited",
        stopped=_EDITED,
        database=database_identity(database),
        explanation=explain_query(analysis),
        rights=resources.rights,
        used_knowledge=(),
        proposals=(),
        estimate=None,
    )
    if sql == own_sql:
        names = ("confidence", "notes", "noted", "used_knowledge")
        new = replace(new, **{name: getattr(record, name) for name in names})
    return Answer(new, answer.thread)


def note(text: str, resources: Resources, cancellation: Cancellation | None = None) -> Entry:
    """Add a definition (`WORD means MEANING`) or a rule (`rule: TEXT`) to the knowledge file."""
    from ..tools.knowledge.notes import parse_note  # few turns write one

    return save_knowledge_entry(parse_note(text, resources.database.schema()), resources, cancellation)


def save_knowledge_entry(
    entry: Entry, resources: Resources, cancellation: Cancellation | None = None, *, replaces: Entry | None = None
) -> Entry:
    """Save an entry in the knowledge file of the database, if its SQL runs."""
    knowledge, database = resources.knowledge.read(), resources.database
    entry = replace(entry, rights=database.rights.key)  # whoever writes a hidden name learns nothing by it
    alone = Knowledge.of(((entry,),), database)
    if alone.problems:
        raise KnowledgeError(f"not saved: {alone.problems[0].why}")
    limits = replace(resources.settings.limits, rows=1)
    try:
        reason = run_entry_sql(
            entry, database.schema(), lambda sql: run_query(AuditedQuery(sql), resources, limits, cancellation)
        )
    except KnowledgeError as error:
        raise KnowledgeError(f"not saved: {error}") from None
    raise_if_cancelled(cancellation)
    entry = replace(entry, unchecked=reason)
    old_keys = {entry.key.lower(), (replaces or entry).key.lower()}
    other_entries = [other for other in knowledge.entries if other.key.lower() not in old_keys] if knowledge else []
    together = Knowledge.of((tuple(other_entries), (entry,)), database)
    if entry.key not in {other.key for other in together.entries}:
        problems = (problem.why for problem in together.problems if problem.entry.key == entry.key)
        raise KnowledgeError(f"not saved: {next(problems, 'it may not be shown')}")
    if replaces is not None and replaces.key.lower() != entry.key.lower():
        resources.knowledge.remove(replaces.name)
    return resources.knowledge.add(entry)


def list_lessons(resources: Resources) -> tuple[Lesson, ...]:
    """Return the saved answers, then the definitions, that this person may see."""
    lessons = [
        Lesson(hit.id, "answer", pair.question, pair.sql, pair.author, pair.added.isoformat() if pair.added else "")
        for hit in _list_approved_answers(resources)
        for pair in [hit.example]
    ]
    for id_, entry in _get_definitions_by_id(resources).items():
        meaning = entry.text or entry.sql
        lessons.append(Lesson(id_, entry.kind, entry.name, meaning, entry.author, entry.added, entry.unchecked))
    return tuple(lessons)


def _list_approved_answers(resources: Resources) -> list[FoundExample]:
    """Return the approved answers of this database that this person may see."""
    store, identity = resources.examples.open_own_store(), database_identity(resources.database)
    hits = store.seen_by(resources.database).visible(identity) if store else ()
    return [hit for hit in hits if hit.example.owner == identity]


def _get_definitions_by_id(resources: Resources) -> dict[str, Entry]:
    """Return the definitions in the database's own knowledge file, by id."""
    knowledge, path = resources.knowledge.read(), resources.knowledge.source.path(resources.database)
    entries = [entry for entry in knowledge.entries if entry.source == path.name] if knowledge and path else []
    return {_make_definition_id(entry): entry for entry in entries if entry.kind not in ("table", "column")}


def _make_definition_id(entry: Entry) -> str:
    return hashlib.sha256(entry.key.lower().encode()).hexdigest()[:16]


def _find_lesson(name_or_id: str, resources: Resources, *, only: bool = True) -> Entry | FoundExample | None:
    """Return the lesson with a name or the beginning of an id, or None; `only` refuses several."""
    answers, name = {hit.id: hit for hit in _list_approved_answers(resources)}, " ".join(name_or_id.lower().split())
    lessons = answers | _get_definitions_by_id(resources)
    by_name = [
        lesson
        for lesson in lessons.values()
        if (lesson.name if isinstance(lesson, Entry) else lesson.example.question).lower() == name
    ]
    by_id = [lesson for id_, lesson in lessons.items() if len(name) >= _SHORT_ID and id_.startswith(name)]
    matches = by_name or by_id
    if len(matches) > 1 and only:
        raise KnowledgeError(f"{len(matches)} saved answers or definitions are called {name_or_id[:40]!r}: give an id")
    return matches[0] if len(matches) == 1 else None


def edit_lesson(id_: str, text: str, resources: Resources, cancellation: Cancellation | None = None) -> str:
    """Change a saved answer's question or SQL, or a definition's meaning; return the new id.

    The author stays. A text that another lesson has is refused, as it would take the place of that one.
    """
    text = text.strip()
    if not text:
        raise SettingsError("the new text is empty: give the new question, SQL or meaning")
    lesson = _find_lesson(id_, resources)
    if lesson is None:
        raise KnowledgeError(f"no saved answer or definition is called {id_[:40]!r}")
    if isinstance(entry := lesson, Entry):
        if entry.kind in ("join", "never"):
            raise KnowledgeError(f"a {entry.kind} cannot be edited here: remove it, or edit {entry.source}")
        new = Entry("convention", text, text, about=entry.about)
        if entry.kind != "convention":
            schema = resources.database.schema()
            new = parse_definition(entry.name, text, schema, only_sql=bool(entry.sql), about=entry.about)
        target_id = _make_definition_id(new)
        if target_id != _make_definition_id(entry) and target_id in _get_definitions_by_id(resources):
            raise KnowledgeError(f"not changed: there is a {new.kind} {new.name!r} already ({target_id[:_SHORT_ID]})")
        new = replace(new, also=entry.also, author=entry.author)
        return _make_definition_id(save_knowledge_entry(new, resources, cancellation, replaces=entry))
    _check_may_remove_answer(lesson, resources.database)
    old = lesson.example
    question, sql = (old.question, text) if begins_sql(text) else (text, old.sql)
    _check_query_may_be_sent(sql, resources)
    if question.split() != old.question.split():
        for hit in _list_approved_answers(resources):
            if hit.example.question.split() == question.split():
                other = f"{hit.id[:_SHORT_ID]}: {hit.example.sql}"
                raise KnowledgeError(f"not changed: {question!r} is the question of another saved answer ({other})")
    if (new_id := _save_example(question, sql, resources, author=old.author, shared=old.shared).id) != lesson.id:
        resources.examples.open_store_for_saving().remove([lesson.id])
    return new_id


def forget(name: str, resources: Resources) -> str:
    """Remove a definition or an approved answer; return a description of the removed item."""
    words, database = " ".join(name.split()), resources.database
    lesson = _find_lesson(words, resources, only=False)
    term = lesson.name if isinstance(lesson, Entry) else words
    if resources.knowledge.remove(term):
        return f"the definition of {term!r}"
    answers = _list_approved_answers(resources)
    questions = choose_best_per_question((hit.example for hit in answers if hit.example.question == words), database)
    answer = next((hit for hit in answers if hit == lesson or hit.example in questions), None)
    if answer is not None:
        _check_may_remove_answer(answer, database)
        if resources.examples.open_store_for_saving().remove([answer.id]):
            return f"the answer to {answer.example.question!r}"
    _find_lesson(words, resources)  # it says if there are several
    raise KnowledgeError(f"no saved answer or definition is called {words[:40]!r}")


def _check_may_remove_answer(hit: FoundExample, database: Database) -> None:
    """Raise `KnowledgeError` if this person may not change an approved answer."""
    if not can_remove_example(hit.example, database):
        question = hit.example.question
        raise KnowledgeError(f"{question!r} was approved by people who may read more: only they can change it")


def explain(sql: str, resources: Resources) -> str:
    """Explain in plain words what a query computes; return '' if it cannot be parsed."""
    return explain_query(analyze_sql(sql, resources.database))


def tables(resources: Resources) -> Schema:
    """Return the tables that this person may read, with joins from the knowledge file."""
    return resources.schemas.read(False).schema


def notices(resources: Resources) -> tuple[Notice, ...]:
    """Return the notices about files of tables; empty for other databases."""
    return resources.database.notices


def schema(database: Database, names: Sequence[str] | None = None, whole: Schema | None = None) -> SchemaText:
    """Return the schema, `whole` if it has more than the database's, or some of its tables, with a text for a model."""
    part = whole or database.schema()
    if names is not None:
        if missing := [name for name in names if part.table(name) is None]:
            raise SettingsError(f"there is no table {', '.join(map(repr, missing))}")
        selection = [table for name in names if (table := part.table(name)) is not None]
        part = part.part([(table.name, [column.name for column in table.columns]) for table in selection])
    return SchemaText(part, MaskedDatabase(database).text(render_schema(part)))


def values(column: str, resources: Resources, cancellation: Cancellation | None = None) -> Table:
    """Return the most frequent values of a column, with their counts."""
    table, match = _find_named_column(tables(resources), column)
    database = resources.database
    cell, row_count = exp.column(match.name, quoted=True), exp.Count(this=exp.Star())
    query = (
        exp.select(cell, exp.alias_(row_count, "rows", quoted=True))
        .from_(exp.table_(*table.path[::-1], quoted=True))
        .group_by(cell.copy())
        .order_by(exp.Ordered(this=row_count.copy(), desc=True), exp.Ordered(this=cell.copy()))
    )
    return database.execute(query.sql(database.dialect), Limits(rows=_VALUES), cancellation)


def _find_named_column(schema: Schema, words: str) -> tuple[TableSchema, ColumnSchema]:
    """Return the only column that `TABLE.COLUMN` or `COLUMN` names, with its table."""
    table_name, _, name = words.rpartition(".")
    named = [table for table in schema.tables if unquote(table_name).lower() in ("", table.name.lower())]
    matches = [(table, column) for table in named if (column := table.column(unquote(name))) is not None]
    if len(matches) == 1:
        return matches[0]
    if not words:
        raise SettingsError("say which column: /values TABLE.COLUMN, or only the column if a single table has it")
    if not matches:
        raise SettingsError(f"there is no column {words}: /tables lists the tables, /schema TABLE their columns")
    raise SettingsError(f"choose a column: {join_names([f'{table.name}.{column.name}' for table, column in matches])}")


def join_names(names: list[str]) -> str:
    """Join names with commas for an error message; shorten a long list."""
    return ", ".join(names[:_MAX_NAMES]) + (", ..." if len(names) > _MAX_NAMES else "")


def unquote(name: str) -> str:
    """Remove the quotes or brackets around a name."""
    return name.strip().strip('"`[]')


def find_values(text: str, resources: Resources, limit: int = 10) -> tuple[ValueMatch, ...]:
    """Return the database's values that a text mentions."""
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
) -> ExportResult:
    """Write all rows of an answer to a file or a stream, by running its query again."""
    if form is None:
        if not isinstance(target, str | Path):
            raise ExportError("a stream has no file extension to show the format: pass `form`")
        form = infer_export_format(target)
    if not answer.answered:
        raise ExportError("there is no answer to export")
    if answer.database != database_identity(resources.database):
        raise ExportError(f"the answer is from another database, not {resources.database.name!r}")
    looks = answer.formats, answer.headings
    if answer.sql is None:  # its code gave these rows
        return export_rows(answer.columns, answer.rows[:rows], target, form, *looks, database=resources.database)
    run_settings = settings or resources.settings
    database = resources.narrow(run_settings.permissions).database
    limits = run_settings.export_limits
    limits = limits if rows is None else replace(limits, rows=min(rows, limits.rows))
    write = partial(export_query, database, answer.sql, target, form, limits, cancellation, *looks)
    query = AuditedQuery(answer.sql, answer.question, answer.thread)
    return run_and_audit_query(query, "exported", resources, write, lambda result: result.rows)


def chart(answer: Answer, kind: Kind | None = None, measure: int | None = None) -> Chart | None:
    """Return the chart of an answer, of the given kind if any; None if no chart fits."""
    if kind is None and measure is None:
        return answer.drawn
    if measure is not None and measure >= len(answer.columns):
        raise ExportError(f"there is no column {measure}: the result has {len(answer.columns)} columns, from 0")
    wish = parse_request(answer.question) if kind is None else None
    return answer.drawn_as(replace(wish or ChartRequest(kind, ""), measure=measure))


def draw(answer: Answer, file: Path) -> Chart | None:
    """Write an answer's chart to a file; return None and write nothing if no chart fits."""
    check_chart_file(file)
    if answer.chart:
        write_file(render_chart_image(answer.chart, cast("Picture", file.suffix.lower()[1:])), file)
    return answer.drawn if answer.chart else None


def check_chart_file(file: Path) -> None:
    """Raise `ExportError` if a chart cannot be written to a file of that name."""
    if not can_render_charts():
        raise ExportError("pictures of charts need vl-convert: pip install 'tableturn[charts]'")
    if file.suffix.lower() not in _PICTURES:
        raise ExportError(f"cannot tell the format of {file}: use a name that ends in {', '.join(_PICTURES)}")


def compute_token_cost(prompt_tokens: int, completion_tokens: int, price: tuple[float, float]) -> float:
    """Return the cost of tokens in dollars; `price` is per million tokens."""
    return (prompt_tokens * price[0] + completion_tokens * price[1]) / 1_000_000
