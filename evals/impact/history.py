"""Past answers: of the audit trail, of trials, of runs over one's own questions, and verified queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...tools.errors import SettingsError
from ..datasets.parsing import read_json, read_lines
from ..trial.draft import read_log

if TYPE_CHECKING:
    from ...tools.database import Database

RESULTS_FILE = "results.json"


@dataclass(frozen=True)
class Held:
    """What an answer showed when it was given.

    Attributes:
        rows: The first rows.
        row_count: All of them.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    row_count: int


@dataclass(frozen=True)
class PastAnswer:
    """One answer that somebody was given.

    Attributes:
        question: As asked; empty where a log holds the SQL alone.
        sql: Its query; empty where there was none.
        source: Where it is kept: a file's name, with the record's number, or the store's identifier.
        user: Who asked; empty where unknown.
        time: When.
        thread: In which conversation.
        status: How it ended, in the words of `Answer.status`; empty where unknown.
        held: What it showed; None where that was not kept.
    """

    question: str
    sql: str
    source: str
    user: str = ""
    time: str = ""
    thread: str = ""
    status: str = ""
    held: Held | None = None


def read_history(path: Path, dialect: str = "sqlite") -> list[PastAnswer]:
    """Past answers of a file or a folder.

    Args:
        path: An audit trail (JSON lines with `question`, `sql`, and, if known, `user`, `time`, `thread`, `status`,
            `refused`), a file of SQL statements, or the folder of a trial or of a run.
        dialect: Of the statements.

    Raises:
        SettingsError: It is none of these.
    """
    if path.is_dir():
        return list(_of_folder(path))
    if path.suffix == ".jsonl":
        return list(_of_trail(path))
    return [
        PastAnswer(question, sql, f"{path.name}:{n}") for n, (question, sql) in enumerate(read_log(path, dialect), 1)
    ]


def read_examples_of(database: Database, location: str, embedding: str = "hashed") -> list[PastAnswer]:
    """A database's verified queries in an example store.

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


def _of_trail(path: Path) -> Iterator[PastAnswer]:
    try:
        records = read_lines(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error
    for number, record in enumerate(records, 1):
        if not isinstance(record, Mapping) or not (record.get("question") or record.get("sql")):
            raise SettingsError(f"{path}, record {number}: expected the fields question and sql, found {record!r:.80}")
        if record.get("refused"):
            continue
        said = {name: str(value) for name, value in record.items() if value is not None}
        yield PastAnswer(
            said.get("question", ""),
            said.get("sql", ""),
            f"{path.name}:{number}",
            said.get("user", ""),
            said.get("time", ""),
            said.get("thread", ""),
            said.get("status", ""),
        )


def _of_folder(folder: Path) -> Iterator[PastAnswer]:
    path = folder / RESULTS_FILE
    try:
        found: Any = read_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"{folder} holds no finished trial or run: {error}") from error
    try:
        if "trial" in found:
            yield from _of_trial(found, folder.name)
        else:
            for question in found["questions"]:
                yield _past(question["question"], question, f"{folder.name}:{question['id']}", "", "")
    except (KeyError, TypeError, IndexError) as error:
        raise SettingsError(f"{path} is not what a trial or a run writes: {error!r}") from error


def _of_trial(found: Mapping[str, Any], name: str) -> Iterator[PastAnswer]:
    """The first try of each question."""
    for question in found["by_question"]:
        turns = question["tries"][0]["turns"]
        for place, turn in enumerate(turns, 1):
            number = f"{question['id']}.{place}" if len(turns) > 1 else question["id"]
            yield _past(turn["question"], turn, f"{name}:{number}", found["trial"]["time"], question["id"])


def _past(question: str, record: Mapping[str, Any], source: str, time: str, thread: str) -> PastAnswer:
    held = None
    if record["sql"] and record["status"] in ("converged", "capped"):
        held = Held(tuple(record["columns"]), tuple(map(tuple, record["rows"])), record["row_count"])
    return PastAnswer(question, record["sql"], source, "", time, thread, record["status"], held)
