"""Past answers of trails, trials, runs and examples, and the two states that they are compared in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...tools.database import Database
from ...tools.database.server.address import without_password
from ...tools.errors import SettingsError
from ...tools.knowledge import Entry, read_knowledge
from ...tools.knowledge.suggest import statements
from ...tools.record_files import read_lines
from ..datasets import load_dataset
from ..runner.results import RESULTS_FILE, read_results
from ..runner.run import JOURNAL_FILE
from ..runner.spec import SPEC_FILE


@dataclass(frozen=True)
class Held:
    """What an answer showed when it was given: its first rows, and how many there were."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    row_count: int


@dataclass(frozen=True)
class PastAnswer:
    """One answer that somebody was given; what is unknown is empty."""

    question: str  # as asked; empty if a log holds the SQL alone
    sql: str  # its query; empty if there was none
    source: str  # where it is kept: a file's name, with the record's number, or the store's identifier
    user: str = ""  # who asked
    time: str = ""
    thread: str = ""  # in which conversation
    status: str = ""  # how it ended, in the words of `Answer.status`
    held: Held | None = None  # what it showed; None if that was not kept
    database: str = ""  # which was asked: where a trial or run found it, else as the audit trail names it
    id: str = ""  # its question's in a trial or run, by which it is found in another one


def read_history(path: Path, dialect: str = "sqlite") -> list[PastAnswer]:
    """Return the past answers of a file or a folder.

    Args:
        path: An audit trail (JSON lines with `question`, `sql`, and, if known, `user`, `time`, `thread`, `status`,
            `refused`), a file of SQL statements, or the folder of a trial or of a run.
        dialect: Of the statements.

    Raises:
        SettingsError: It is none of these.
    """
    if path.is_dir():
        return list(_read_folder(path))
    try:
        text = path.read_text(encoding="utf-8-sig")
        records = read_lines(text) if path.suffix == ".jsonl" else None
    except (OSError, ValueError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error
    if records is not None:
        return list(_read_trail(records, path))
    queries = list(statements(text, dialect))
    if len(queries) == 1 and not text.rstrip().endswith(";"):
        queries = text.splitlines()  # one query per line, without semicolons
    return [PastAnswer("", sql.strip(), f"{path.name}:{n}") for n, sql in enumerate(filter(str.strip, queries), 1)]


def _read_trail(records: Sequence[object], path: Path) -> Iterator[PastAnswer]:
    names = ("question", "sql", "user", "time", "thread", "status", "database")
    for number, record in enumerate(records, 1):
        fields: Mapping[str, Any] = record if isinstance(record, Mapping) else {}
        told = (str(fields[name]) if fields.get(name) is not None else "" for name in names)
        question, sql, user, time, thread, status, database = told
        if not question and not sql:
            if fields.get("queries"):
                continue  # an assistant's own query, which failed
            raise SettingsError(f"{path}, record {number}: expected the fields question and sql, found {record!r:.80}")
        # A turn in which another query was refused may have an answer all the same.
        refused = fields.get("refused")
        if not refused or (sql and isinstance(refused, list) and sql not in refused):
            yield PastAnswer(question, sql, f"{path.name}:{number}", user, time, thread, status, database=database)


def _read_folder(folder: Path) -> Iterator[PastAnswer]:
    """Yield the answers of a run, or of the first try of each of a trial's questions."""
    found = read_results(folder)
    try:
        if "trial" not in found:
            for question in found["questions"]:
                past = _past(question["question"], question, question["id"], folder.name)
                yield replace(past, thread=question["interaction"], database=question["database"])
            return
        about = found["trial"]
        for question in found["by_question"]:
            turns = question["tries"][0]["turns"]
            for place, turn in enumerate(turns, 1):
                number = f"{question['id']}.{place}" if len(turns) > 1 else question["id"]
                past = _past(turn["question"], turn, number, folder.name)
                yield replace(past, time=about["time"], thread=question["id"], database=about["database"])
    except (KeyError, TypeError, IndexError) as error:
        raise SettingsError(f"{folder / RESULTS_FILE} is not what a trial or a run writes: {error!r}") from error


def _past(question: str, record: Mapping[str, Any], number: str, name: str) -> PastAnswer:
    held = None
    if record["sql"] and record["status"] in ("converged", "capped"):
        held = Held(tuple(record["columns"]), tuple(map(tuple, record["rows"])), record["row_count"])
    return PastAnswer(question, record["sql"], f"{name}:{number}", status=record["status"], held=held, id=number)


def read_examples_of(database: Database, location: str, embedding: str = "hashed") -> list[PastAnswer]:
    """Return a database's verified queries in an example store.

    Raises:
        ExampleStoreError: The store cannot be read.
    """
    from ...tools.examples import ExampleStore, database_identity, make_embedding

    identity = database_identity(database)
    with ExampleStore.open(location, make_embedding(embedding)) as store:
        return [
            PastAnswer(found.example.question, found.example.sql, f"example {found.id[:8]}", status="converged")
            for found in store.list()
            if found.example.owner == identity or (not found.example.owner and found.example.database == database.name)
        ]


def answers_about(database: Database, history: Sequence[PastAnswer]) -> list[PastAnswer]:
    """Return the answers that a database gave: an audit trail may hold several databases' answers.

    They are told by the database's place, else, if it was copied for the comparison, by its name; a history of a
    single database is taken for this one's, whatever it was called.

    Raises:
        SettingsError: It is of several databases, none of them this one.
    """
    from ...tools.examples import database_identity

    named = {past.database for past in history if past.database}
    own = {database_identity(database), database.location} & named
    own = own or {name for name in named if name.partition("@")[0] == database.name}
    if not own and len(named) > 1:
        raise SettingsError(f"the history is of {', '.join(sorted(named))}, and none of them is {database.name}")
    return [past for past in history if not past.database or past.database in (own or named)]


@dataclass(frozen=True)
class Side:
    """A state."""

    database: str  # a path or URL; empty for a run that asked several databases
    knowledge: tuple[Entry, ...]  # the entries of its knowledge file; none without one
    answers: tuple[PastAnswer, ...] | None = None  # what was answered in it; None for a database alone

    @property
    def only(self) -> str:
        """The one database of the state.

        Raises:
            SettingsError: It is a run over several.
        """
        if not self.database:
            raise SettingsError(
                "a run over several databases is compared with another run over the same questions alone: "
                "give that one's folder, and neither --history nor --examples"
            )
        return self.database


def read_side(place: str, knowledge: Path | None = None, data: Path | None = None) -> Side:
    """Return a state by what a person names it by.

    Args:
        place: A database's path or URL, or the folder of a trial or of a run.
        knowledge: Its knowledge file.
        data: The folder of benchmark data, for a run over a benchmark.

    Raises:
        SettingsError: The folder's trial or run is not finished, or its dataset cannot be read.
        KnowledgeError: The knowledge file is missing or wrong.
        DatabaseUnavailable: A database of the run is gone.
    """
    entries = tuple(entry for layer in read_knowledge(knowledge) for entry in layer) if knowledge else ()
    folder = Path(place)
    if "://" in place or not (folder / RESULTS_FILE).exists():
        if any((folder / name).exists() for name in (SPEC_FILE, JOURNAL_FILE)):
            raise SettingsError(f"the trial or run in {place} is not finished: start it again with the same folder")
        return Side(place, entries)
    answers = tuple(read_history(folder))
    found = read_results(folder)
    if "trial" in found:
        return Side(found["trial"]["database"], entries, answers)
    dataset = load_dataset(found["run"]["dataset"], found["run"]["split"], data)
    # Results name databases without the passwords of their URLs.
    names = {without_password(question.database): question.database for question in dataset.questions}
    answers = tuple(
        replace(past, database=str(dataset.place(names.get(past.database, past.database)))) for past in answers
    )
    places = {past.database for past in answers}
    return Side(places.pop() if len(places) == 1 else "", entries, answers)
