"""Past answers as tests: which ones does a change of schema, rows or knowledge change?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from ..agent.records import convert_cell
from ..tools.database import Database, Table
from ..tools.deprecation import make_old_property
from ..tools.errors import QueryError, QueryTimeout, ResultTooLarge, SettingsError, SQLParseError
from ..tools.examples import database_identity, is_example_of_database, open_existing
from ..tools.knowledge import Entry, read_knowledge
from ..tools.record_files import read_lines, read_text_file
from ..tools.sql import ALL_COLUMNS, check_has_queries, find_used_schema_items, split_statements
from ..tools.words import FUNCTION_WORDS, stem_name, stem_word, stems
from .metrics.judging import GOLD_LIMITS, Unfit, compute_expected_result
from .runner.record import SHOWN_ROWS
from .runner.results import RESULTS_FILE, read_results


@dataclass(frozen=True)
class PastAnswer:
    """An earlier answer from a log, a run or an example store; unknown fields are empty."""

    question: str  # as asked; empty if a log holds the SQL alone
    sql: str  # its query; empty if there was none
    source: str  # where it is kept: a file's name, with the record's number, or the store's identifier
    user: str = ""  # who asked
    time: str = ""
    thread: str = ""  # in which conversation
    status: str = ""  # how it ended, in the words of `Answer.status`
    database: str = ""  # which was asked: where a trial or run found it, else as the audit trail names it


def read_past_answers(path: Path) -> list[PastAnswer]:
    """Read past answers from a file or a folder.

    It is an audit trail (JSON lines with `question`, `sql`, and, if known, `user`, `time`, `thread`, `status`,
    `refused`), a file of SQL statements, or the folder of a trial or of a run.
    """
    if path.is_dir():
        return list(_read_results_folder(path))
    text = read_text_file(path)
    if path.suffix == ".jsonl":
        return list(_read_audit_trail(read_lines(text, path), path))
    check_has_queries(text, path)
    queries = list(split_statements(text, "sqlite"))
    if len(queries) == 1 and not text.rstrip().endswith(";"):
        queries = text.splitlines()  # one query per line, without semicolons
    return [PastAnswer("", sql.strip(), f"{path.name}:{n}") for n, sql in enumerate(filter(str.strip, queries), 1)]


def _read_audit_trail(records: Sequence[object], path: Path) -> Iterator[PastAnswer]:
    names = ("question", "sql", "user", "time", "thread", "status", "database")
    for number, record in enumerate(records, 1):
        fields: Mapping[str, Any] = record if isinstance(record, Mapping) else {}
        texts: dict[str, Any] = {name: "" if fields.get(name) is None else str(fields[name]) for name in names}
        past = PastAnswer(**texts, source=f"{path.name}:{number}")
        if past.question or past.sql:
            # A turn in which another query was refused may have an answer all the same.
            refusals = fields.get("refused")
            if not refusals or (past.sql and isinstance(refusals, list) and past.sql not in refusals):
                yield past
        elif not fields.get("queries"):  # an assistant's own query, which failed
            raise SettingsError(f"{path}, record {number}: expected the fields question and sql, found {record!r:.80}")


def _read_results_folder(folder: Path) -> Iterator[PastAnswer]:
    """Yield the answers of a run, or of the first try of each question of a trial."""
    results = read_results(folder)
    try:
        trial: Mapping[str, Any] = results.get("trial", {})
        for record in results["questions"]:
            name, _, number = record["interaction"].rpartition("~")
            if trial and number != "1":
                continue
            source = f"{folder.name}:{name if trial else record['id']}"
            location = trial.get("database") or record["database"]
            end = trial.get("time", ""), record["interaction"], record["status"], location
            yield PastAnswer(record["question"], record["sql"], source, "", *end)
    except (KeyError, TypeError, IndexError) as error:
        raise SettingsError(f"{folder / RESULTS_FILE} is not a results file of a trial or a run: {error!r}") from error


def read_verified_queries(database: Database, location: str, embedding: str = "hashed") -> list[PastAnswer]:
    """Return the verified queries of a database from an example store, as past answers."""
    with open_existing(location, embedding) as store:
        return [
            PastAnswer(hit.example.question, hit.example.sql, f"example {hit.id[:8]}", status="converged")
            for hit in store.list()
            if is_example_of_database(hit.example, database)
        ]


def select_answers_of_database(database: Database, history: Sequence[PastAnswer]) -> list[PastAnswer]:
    """Return the past answers that come from this database.

    They are found by the database's place, else, as it may be a copy, by its name; if all are of a single database, it
    is taken for this one.
    """
    places = {past.database for past in history if past.database}
    matches = {database_identity(database), database.location} & places
    matches = matches or {name for name in places if name.partition("@")[0] == database.name}
    if not matches and len(places) > 1:
        raise SettingsError(f"the history has answers from {', '.join(sorted(places))}, but none from {database.name}")
    return [past for past in history if not past.database or past.database in (matches or places)]


@dataclass(frozen=True)
class DatabaseState:
    """A database and its knowledge file, before or after a change."""

    database: str  # a path or URL
    knowledge: tuple[Entry, ...]  # the entries of its knowledge file; none without one


def read_side(place: str, knowledge: Path | None = None) -> DatabaseState:
    """Return a database's path or URL with the entries of a knowledge file."""
    if "://" not in place and (Path(place) / RESULTS_FILE).exists():
        raise SettingsError(
            f"{place} is a trial or a run, not a database: `tableturn report` compares two of them, "
            "and --history replays its answers on two databases"
        )
    layers = read_knowledge(knowledge) if knowledge else ()
    return DatabaseState(place, tuple(entry for layer in layers for entry in layer))


ChangeKind = Literal["same", "error", "rows", "broken_before", "unsettled"]
"""The effect of a change on a past answer.

- `same`: the query gives the same rows. `rows`: it gives others.
- `error`: it no longer runs.
- `broken_before`: it did not run before either: no change.
- `unsettled`: only a model can tell, such as for a question that was declined and may be answered now.
"""

_BY_CLOCK = re.compile(r"\b(now|current_(date|time|timestamp)|random(blob)?|rand|getdate|sysdate)\b", re.IGNORECASE)
_COMMON = frozenset(map(stem_word, FUNCTION_WORDS))


@dataclass(frozen=True)
class Change:
    """The effect of a change on one past answer."""

    past: PastAnswer  # the answer
    kind: ChangeKind
    why: str = ""  # in one line; empty if nothing changes
    before: dict[str, Any] | None = None  # what it shows on the old state, first rows; None if that is unknown
    after: dict[str, Any] | None = None  # likewise on the new state; None if it has no rows there

    def as_json(self) -> dict[str, Any]:
        """Return the change as a JSON object for `--json`."""
        fields = asdict(self)
        return {**fields.pop("past"), **fields}


class AnswerReplay:
    """A replay of past answers on two states of a database and its knowledge file."""

    def __init__(
        self,
        before: Database,
        after: Database,
        knowledge_before: Sequence[Entry] = (),
        knowledge_after: Sequence[Entry] = (),
    ) -> None:
        self._old_database, self._new_database = before, after
        old, new = ({(entry.key, entry.line): entry for entry in side} for side in (knowledge_before, knowledge_after))
        self._changed_entries = [entry for key, entry in (old | new).items() if not (key in old and key in new)]
        self._schemas = before.schema(), after.schema()
        old_stems, new_stems = (
            {stem for table in schema.tables for part in (table, *table.columns) for stem in stem_name(part.name)}
            for schema in self._schemas
        )
        self._new_words = frozenset(new_stems - old_stems - _COMMON)

    def determine_change(self, past: PastAnswer) -> Change:
        """Return how a past answer changes between the two states."""
        words = tuple(stems(past.question))
        for entry in self._changed_entries:
            for phrase in map(tuple, entry.phrases):
                if any(words[start : start + len(phrase)] == phrase for start in range(len(words))):
                    return Change(past, "unsettled", f"the meaning of {entry.name!r} has changed")
        if past.sql:
            return self._determine_query_change(past)
        # A question that was declined, asked back or failed: other tables or columns may answer it now.
        if new_words := sorted(self._new_words.intersection(words)):
            return Change(past, "unsettled", f"it had no query; the new names {', '.join(new_words)} may answer it now")
        return Change(past, "same")

    def _determine_query_change(self, past: PastAnswer) -> Change:
        try:
            expected = compute_expected_result(self._old_database, past.sql)
        except (QueryTimeout, ResultTooLarge, Unfit) as error:
            return Change(past, "unsettled", f"the old rows cannot be compared: {error}")
        except QueryError as error:
            return Change(past, "broken_before", str(error))
        old = _make_displayed_result(expected.table)
        # SQLite reads a quoted name that is gone as a text: rows that mean nothing.
        if loss := self._describe_missing_items(past.sql):
            return Change(past, "error", loss, old)
        try:
            table = self._new_database.execute(past.sql, GOLD_LIMITS)
        except (QueryTimeout, ResultTooLarge) as error:
            return Change(past, "unsettled", str(error), old)
        except QueryError as error:
            return Change(past, "error", str(error), old)
        if expected.allows(table):
            return Change(past, "same", "", old, _make_displayed_result(table))
        if _BY_CLOCK.search(past.sql):
            return Change(past, "unsettled", "its rows depend on the current time or on random numbers", old)
        new = _make_displayed_result(table)
        counts = (old["row_count"], new["row_count"], "rows"), (len(old["columns"]), len(new["columns"]), "columns")
        reason = next((f"{was} {unit} before, {now} now" for was, now, unit in counts if was != now), "other values")
        return Change(past, "rows", reason, old, new)

    def _describe_missing_items(self, sql: str) -> str:
        """Return the tables and columns of a query that the new state lacks, in words, or ''."""
        old_schema, new_schema = self._schemas
        try:
            items = find_used_schema_items(sql, old_schema)
        except SQLParseError:
            return ""
        tables = {name for name in items.tables if new_schema.table(name) is None}
        columns = {
            f"{table}.{column} is gone"
            for table, column in items.columns
            if column != ALL_COLUMNS and table not in tables and new_schema.column(table, column) is None
        }
        return "; ".join([*(f"the table {name} is gone" for name in sorted(tables)), *sorted(columns)])


def _make_displayed_result(table: Table) -> dict[str, Any]:
    """Return the first rows of a result in plain form, with the total number of rows."""
    rows = tuple(tuple(map(convert_cell, row)) for row in table.rows[:SHOWN_ROWS])
    return {"columns": table.columns, "rows": rows, "row_count": len(table.rows)}


@dataclass(frozen=True)
class Impact:
    """The effects of a database change on past answers, one `Change` per answer."""

    changes: Sequence[Change]

    def of(self, *kinds: ChangeKind) -> list[Change]:
        """Return the changes of the given kinds."""
        return [change for change in self.changes if change.kind in kinds]

    @property
    def kept_share(self) -> float | None:
        """The share of past answers that certainly stay the same; None if there are none."""
        return len(self.of("same", "broken_before")) / len(self.changes) if self.changes else None

    kept = make_old_property("kept", "kept_share", "0.3")

    def as_json(self) -> dict[str, Any]:
        """Return the counts, the changed answers and the undecided answers as a JSON object."""
        undecided, n = self.of("unsettled"), len(self.changes)
        return {
            "answers": n,
            "counts": {kind: len(self.of(kind)) for kind in get_args(ChangeKind)},
            "kept": self.kept_share,
            "without_model_share": 1 - len(undecided) / n if n else None,
            "changed": [change.as_json() for change in self.of("error", "rows")],
            "unsettled": [change.as_json() for change in undecided],
        }


def impact(before: DatabaseState, after: DatabaseState, history: Sequence[PastAnswer]) -> Impact:
    """Replay past answers on two states of a database; return the change of each answer."""
    with Database.open(before.database) as old, Database.open(after.database) as new:
        replay = AnswerReplay(old, new, before.knowledge, after.knowledge)
        return Impact([replay.determine_change(past) for past in select_answers_of_database(old, history)])
