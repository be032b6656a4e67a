"""Learning from a person: definitions in words, corrected queries, and what a correction suggests; nothing unasked."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...tools.database import Table
from ...tools.errors import KnowledgeError, SettingsError, TableturnError
from ...tools.examples import database_identity, foremost, may_remove, readable
from ...tools.knowledge import Entry, Knowledge
from ...tools.knowledge.fragment import fragment_kind, parse_fragment, read_fragment
from ...tools.knowledge.proposals import proposals
from ..records import AnswerRecord, AttemptView, Result, plain_result
from .phrasing import explained, headed, phrased
from .queries import Query, run_query

if TYPE_CHECKING:
    from ...tools.database import Cancellation
    from ..resources import Resources
    from ..settings import Settings

_CORRECTED, _EDITED = "a person corrected the query", "a person wrote the query"

_MEANS = re.compile(
    r"^(?:[\"“'`](?P<quoted>[^\"”`]{1,80})[\"”'`]|(?P<plain>.{1,80}?))"
    r"\s*(?P<how>\bmeans\b|\bis when\b|\bstands for\b|:(?=\s)|(?<![<>!=])=(?!=))\s*(?P<meaning>.+)$",
    re.S,
)
"""`active means ordered in the last 90 days`, `SPM: sales per member`, `big = orders.total > 500`."""

LONGEST = 1_500
"""Characters of a note: what is longer finds no room in a prompt."""


@dataclass(frozen=True)
class Corrected:
    """A query that a person put right, and that ran.

    Attributes:
        record: The answer that it gives.
        proposals: What could be remembered besides: `SQLAgent.remember` takes one.
    """

    record: AnswerRecord
    proposals: tuple[Entry, ...]


def noted(text: str, resources: Resources) -> Entry:
    """What a note means as an entry: `WORD means MEANING`, or a rule of the house.

    Raises:
        KnowledgeError: There are no words in it, too many, or what stands after `=` is no SQL of this database.
    """
    words = "".join(mark for mark in " ".join(text.split()) if unicodedata.category(mark) != "Cc")
    if not words:
        raise KnowledgeError("the note is empty: write /note active means ordered in the last 90 days")
    if len(words) > LONGEST:
        raise KnowledgeError(f"the note has more than {LONGEST:,} characters: split it")
    found = _MEANS.match(words)
    if found is None:
        return Entry("convention", words, words)
    name, meaning = (found["quoted"] or found["plain"]).strip(), found["meaning"].strip()
    schema = resources.database.schema()
    try:
        fragment = read_fragment(meaning, schema)
        kind = fragment_kind(parse_fragment(fragment.sql, schema.dialect))
        if kind is None:
            raise KnowledgeError(f"{meaning!r} is neither a condition nor an aggregate")
    except KnowledgeError as error:
        if found["how"] == "=":
            raise KnowledgeError(f"not saved: {error}; a meaning in words is written {name} means ...") from None
        return Entry("term", name, meaning)
    return Entry(kind, name, "" if kind == "metric" else meaning, fragment.sql)


def remember(entry: Entry, resources: Resources) -> Entry:
    """Writes an entry into the database's knowledge file, in the name of whoever asks.

    Raises:
        KnowledgeError: It does not fit the database, contradicts what is known, or the file cannot be written.
    """
    if resources.knowledge is None:
        raise KnowledgeError("this agent was opened without knowledge")
    known = resources.knowledge.now()
    alone = Knowledge.of(((entry,),), resources.database)
    if alone.problems:
        raise KnowledgeError(f"not saved: {alone.problems[0].why}")
    others = [each for each in known.entries if each.key.lower() != entry.key.lower()] if known else []
    together = Knowledge.of((tuple(others), (entry,)), resources.database)
    if entry.key not in {each.key for each in together.entries}:
        why = next(
            (problem.why for problem in together.problems if problem.entry.key == entry.key), "it may not be shown"
        )
        raise KnowledgeError(f"not saved: {why}")
    return resources.knowledge.add(entry)


def corrected(
    answer: AnswerRecord, sql: str, resources: Resources, settings: Settings, question: str, thread: str = ""
) -> Corrected:
    """Runs a query that a person put in the place of an answer's; nothing is kept yet.

    Raises:
        QueryError: It does not run.
        SettingsError: There is no query.
    """
    if not sql.strip():
        raise SettingsError("a correction takes the right query: give its SQL")
    record = rerun(answer, sql, resources, settings, thread=thread)
    record = replace(record, notes=(_CORRECTED,), stopped=_CORRECTED)
    found = proposals(answer.sql or "", sql, question or answer.question, resources.database.schema())
    return Corrected(record, tuple(entry for entry in found if _holds(entry, resources)))


def rerun(
    answer: AnswerRecord,
    sql: str,
    resources: Resources,
    settings: Settings,
    cancellation: Cancellation | None = None,
    thread: str = "",
) -> AnswerRecord:
    """What an answer's query gives now, or another in its place.

    Raises:
        QueryError: It does not run.
        SettingsError: There is no query to run.
    """
    own = answer.sql or ""
    sql = sql.strip() or own
    if not sql:
        raise SettingsError("that answer has no SQL to run")
    outcome = run_query(Query(sql, answer.question, thread), resources, settings.limits, cancellation)
    found = _answered(answer, sql, outcome, resources)
    if sql == own:
        return replace(found, confidence=answer.confidence, notes=answer.notes, used_knowledge=answer.used_knowledge)
    return found


def _answered(answer: AnswerRecord, sql: str, table: Table, resources: Resources) -> AnswerRecord:
    result: Result = plain_result(table)
    rows = None if result.withheld == "all" else result.row_count
    headings = headed(sql, result.columns, resources.database)
    return replace(
        answer,
        intent="answerable",
        sql=sql,
        columns=result.columns,
        rows=result.rows,
        row_count=result.row_count,
        truncated=result.truncated,
        status="converged",
        text=phrased(result, headings),
        confidence=1.0,
        confidence_reason="a person wrote the query",
        trusted=None,
        trust_reason="",
        evidence={},
        attempts=(*answer.attempts, AttemptView(sql, None, rows, "")),
        notes=(_EDITED,),
        choices=(),
        stop_kind="edited",
        stopped=_EDITED,
        database=database_identity(resources.database),
        explanation=explained(sql, resources.database),
        rights=resources.rights,
        withheld=result.withheld,
        used_knowledge=(),
        proposals=(),
        estimate=None,
        headings=tuple(heading.words for heading in headings),
    )


def _holds(entry: Entry, resources: Resources) -> bool:
    try:
        return not Knowledge.of(((entry,),), resources.database).problems
    except TableturnError:
        return False


def forget(name: str, resources: Resources) -> str:
    """Takes a definition, or an approved answer by its identifier, out again; says what went.

    Raises:
        KnowledgeError: There is neither.
    """
    wanted, database = " ".join(name.split()), resources.database
    if resources.knowledge is not None and resources.knowledge.remove(wanted):
        return f"the definition of {wanted!r}"
    store, identity = resources.examples.own(), database_identity(database)
    if store is not None:
        # Shared ones too: `visible` shows all of them.
        visible = (hit for hit in store.seen_by(database).visible(identity) if hit.example.owner == identity)
        own = [hit for hit in visible if readable(hit.example, database)]
        questions = foremost((hit.example for hit in own if hit.example.question == wanted), database)
        found = next((hit for hit in own if hit.id == wanted or hit.example in questions), None)
        if found is not None and not may_remove(found.example, database):
            raise KnowledgeError(f"{wanted!r} was approved by people who may read more: only they can remove it")
        if found is not None and store.remove([found.id]):
            return f"the answer to {found.example.question!r}"
    raise KnowledgeError(f"there is no definition, and no approved answer of this database, called {wanted!r}")
