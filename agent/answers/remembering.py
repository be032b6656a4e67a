"""Learning from a person: definitions in words, corrected queries, and what a correction suggests; nothing unasked."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...tools.database import Table
from ...tools.errors import KnowledgeError, QueryError, TableturnError
from ...tools.examples import database_identity
from ...tools.knowledge import Entry, Knowledge
from ...tools.knowledge.fragment import read_fragment
from ...tools.knowledge.propose import proposals
from ..records import AnswerRecord, AttemptView, Result, plain_result
from .learning import Saved, save_answer
from .phrasing import explained, headed, phrased

if TYPE_CHECKING:
    from ..resources import Resources
    from ..settings import Settings

_MEANS = re.compile(
    r"^\s*[\"“'`]?(.{1,80}?)[\"”'`]?\s*(?:\bmeans\b|\bis when\b|\bstands for\b|:(?=\s)|(?<![<>!=])=(?!=))\s*(.+)$", re.S
)
"""`active means ordered in the last 90 days`, `SPM: sales per member`, `big = orders.total > 500`."""


@dataclass(frozen=True)
class Corrected:
    """A query that a person put right, run and kept.

    Attributes:
        record: The answer that it gives.
        saved: Where it is kept.
        proposals: What could be remembered besides: `SQLAgent.remember` takes one.
    """

    record: AnswerRecord
    saved: Saved
    proposals: tuple[Entry, ...]


def noted(text: str, resources: Resources) -> Entry:
    """What a note means as an entry: `WORD means MEANING`, or a rule of the house.

    Raises:
        KnowledgeError: There are no words in it.
    """
    words = " ".join(text.split())
    if not words:
        raise KnowledgeError("the note is empty: write /note active means ordered in the last 90 days")
    found = _MEANS.match(words)
    if found is None:
        return Entry("convention", words, words)
    name, meaning = found[1].strip(), found[2].strip()
    try:
        fragment = read_fragment(meaning, resources.database.schema())
    except KnowledgeError:
        return Entry("term", name, meaning)
    computes = re.match(r"\s*(?:SUM|COUNT|AVG|MIN|MAX|TOTAL)\s*\(", meaning, re.IGNORECASE)
    return Entry("metric" if computes else "term", name, "" if computes else meaning, fragment.sql)


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
        raise KnowledgeError(f"not kept: {alone.problems[0].why}")
    others = [each for each in known.entries if each.key.lower() != entry.key.lower()] if known else []
    together = Knowledge.of((tuple(others), (entry,)), resources.database)
    if entry.key not in {each.key for each in together.entries}:
        why = next(
            (problem.why for problem in together.problems if problem.entry.key == entry.key), "it may not be shown"
        )
        raise KnowledgeError(f"not kept: {why}")
    return resources.knowledge.writer().add(entry)


def corrected(answer: AnswerRecord, sql: str, resources: Resources, settings: Settings, question: str) -> Corrected:
    """Runs a query that a person put in the place of an answer's, and keeps it as that person's answer.

    Raises:
        QueryError: It does not run.
        ExampleRefused: It cannot be kept; see `save_answer`.
        SettingsError: There is no store to keep it in.
        ExampleStoreError: The store cannot be opened or written.
    """
    outcome = resources.tools.run_sql.call(sql=sql, limits=settings.limits)
    if isinstance(outcome, QueryError):
        raise outcome
    record = _answered(answer, sql, outcome, resources)
    saved = save_answer(record, resources, settings, question=question)
    found = proposals(answer.sql or "", sql, question or answer.question, resources.database.schema())
    return Corrected(record, saved, tuple(entry for entry in found if _holds(entry, resources)))


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
        attempts=(*answer.attempts, AttemptView(sql, None, rows, "")),
        notes=("a person corrected the query",),
        choices=(),
        stop_kind="edited",
        stopped="a person corrected the query",
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
    wanted = " ".join(name.split())
    if resources.knowledge is not None and resources.knowledge.writer().remove(wanted):
        return f"the definition of {wanted!r}"
    store = resources.examples.own()
    if store is not None:
        own = {hit.id: hit.example for hit in store.visible(database_identity(resources.database))}
        example = own.get(wanted) or next((e for e in own.values() if e.question == wanted), None)
        ids = [
            id_
            for id_, found in own.items()
            if found is example and found.owner == database_identity(resources.database)
        ]
        if ids and store.remove(ids):
            return f"the answer to {example.question!r}" if example else wanted
    raise KnowledgeError(f"there is no definition, and no approved answer of this database, called {wanted!r}")
