"""The store of threads and turns, in SQLite or PostgreSQL, for any number of workers.

A turn is written when it begins and again when it ends, before its answer is given. One whose worker is gone is *lost*:
its question is there and can be asked again. LangGraph's checkpointer keeps what the next turn needs to know; this
keeps what a person would miss.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import DataError, IntegrityError, SQLAlchemyError

from ..agent import Answer
from ..agent.conversation_store import StoreError
from ..agent.records import AnswerRecord, Usage
from ..agent.state import dump, load
from ..tools.database import Rights
from ..tools.errors import ExportError, TableturnError
from .tables import ENDED_SESSIONS, RUNNING, THREADS, TURNS, USAGE, WORKERS, create_tables

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Executable, Row

    from ..agent.conversation import UserInput

R = TypeVar("R")

TurnStatus = Literal["running", "answered", "failed", "stopped", "lost"]
"""`answered`: there is an answer, whatever it says. `lost`: its worker is gone; it can be asked again."""

UNREACHABLE = "conversations cannot be stored or read at the moment: try again later"
WORKER_SECONDS = 10.0  # a worker that has not been heard of for so long is gone

_BUSY_SECONDS = 10.0
_POOL_SIZE = 8  # threads that read and write; a few, as only one at a time can write
_BATCH_SIZE = 10_000  # names in one statement: databases bound how many a statement may have


class NotKept(TableturnError):
    """The text contains a character that the database of `--checkpoints` cannot store.

    What to do: leave the character U+0000 out, and ask again.
    """


class NotThere(TableturnError):
    """The thread or turn does not exist, or belongs to another person.

    What to do: use the id of a thread that `GET /threads` lists.
    """


class Busy(TableturnError):
    """The thread already has a running turn, or the server has as many as it may run.

    What to do: wait until the turn ends, or stop it with `POST /turns/{id}/stop`.
    """


@dataclass(frozen=True)
class Thread:
    """A conversation with its title and the times of its creation and last change."""

    id: str
    title: str
    created: float
    changed: float


@dataclass(frozen=True)
class StoredTurn:
    """A stored turn: a question with its status and answer."""

    id: str
    thread: str  # its conversation; empty for a question of its own
    question: str  # as asked; of a decision on a query, the query or what was decided
    notes: str  # what came with it
    status: TurnStatus  # how it stands
    begun: float  # in Unix seconds
    ended: float | None = None  # likewise; None while it runs
    answer: AnswerRecord | None = None  # as far as it may be kept; None where there is none
    error_kind: str | None = None  # the error's class, where it failed
    error: str | None = None  # its message
    feedback: dict[str, Any] | None = None  # what the person said about it
    decision: dict[str, Any] | None = None  # the fields of a decision on a query, where it is one
    approve: bool | None = None  # whether its query was to wait for approval; None in what an earlier version kept
    rights: Rights | None = None  # under which it was asked; None likewise
    wording: str | None = None  # the question that it corrects the answer to; None if it is no correction

    @property
    def stored_answer(self) -> Answer | None:
        """The stored answer as an `Answer` object; None if there is no answer."""
        return self.answer and Answer(self.answer, self.thread)

    def require_answer(self) -> Answer:
        """Return the stored answer; raise `ExportError` if there is none."""
        if (answer := self.stored_answer) is None:
            raise ExportError("this turn has no answer")
        return answer


@dataclass(frozen=True)
class WrongAnswer:
    """An answer that a person marked as wrong."""

    at: float  # in Unix seconds; of what earlier versions kept, when the turn began
    person: str
    question: str
    sql: str | None  # the query of the answer
    said: str | None  # what is wrong
    right: str | None  # the query that the person gave instead, or approved after a correction in words


@dataclass(frozen=True)
class Owner:
    """The owner of threads: a person who uses one database."""

    person: str
    database: str


@dataclass(frozen=True)
class TurnRequest:
    """The input of a turn: the question, its conversation and its options."""

    owner: Owner
    thread: str  # its conversation; empty for a question of its own
    question: UserInput  # words, or the fields of a decision on a query
    notes: str = ""  # what comes with it
    approve: bool = False  # whether a query waits for approval before it runs
    watched: bool = False  # whether somebody wants to see it happen, which costs more than the answer alone
    wording: str = ""  # the question that it corrects the answer to
    leave: bool = False  # whether a query that waits for approval is left, rather than replied to
    door: str = ""  # of a conversation that is new, and that the web page does not list: what it came by

    @property
    def decision(self) -> dict[str, Any] | None:
        """The fields of a decision on a query; None for a question."""
        return None if isinstance(self.question, str) else dict(self.question)

    @property
    def words(self) -> str:
        """The question as text; for a decision on a query, the SQL or the action."""
        if isinstance(self.question, str):
            return self.question
        return str(self.question.get("sql") or self.question.get("action") or "")

    @property
    def settings(self) -> Mapping[str, Any] | None:
        """The settings that this request overrides; None if it overrides none."""
        return {"approve": True} if self.approve else None


class TurnStore:
    """A database of threads and turns; a temporary SQLite file if no URL is given."""

    def __init__(self, url: str | None = None) -> None:
        self._folder = TemporaryDirectory(prefix="tableturn-serve-")
        self._engine = _create_store_engine(url or f"sqlite:///{self._folder.name}/store.sqlite")
        self._read_engine = self._engine.execution_options(reading=True)
        self.worker = uuid.uuid4().hex
        self._spending: defaultdict[str, Usage] = defaultdict(Usage)  # by person, not written yet
        self._lock = threading.Lock()
        self._unscrubbed = False
        self._pool = ThreadPoolExecutor(_POOL_SIZE, "tableturn-store")
        try:
            with self._open_transaction() as connection:
                create_tables(connection)
        except StoreError:
            self._release_resources()
            raise

    async def run(self, function: Callable[..., R], *arguments: Any, **keywords: Any) -> R:
        """Run a method of the store in the store's thread pool."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, partial(function, *arguments, **keywords))

    def close(self) -> None:
        """Close the store; turns that still run on this worker count as lost."""
        with suppress(StoreError):
            self._store_token_usage()
        self._execute(sa.delete(WORKERS).where(WORKERS.c.id == self.worker))
        self._release_resources()

    def _release_resources(self) -> None:
        self._pool.shutdown(wait=False)
        self._engine.dispose()
        self._folder.cleanup()

    @contextmanager
    def _open_transaction(self) -> Generator[sa.Connection]:
        """Begin a transaction."""
        with _translate_database_errors(), self._engine.begin() as connection:
            yield connection

    def _execute(self, *statements: Executable) -> int:
        """Execute statements in one transaction; return the row count of the last one."""
        with self._open_transaction() as connection:
            return [connection.execute(statement).rowcount for statement in statements][-1]

    def _update(self, table: sa.Table, owner: Owner, id_: str, *conditions: ColumnElement[bool], **values: Any) -> None:
        """Change columns of a person's thread or turn."""
        where = table.c.id == id_, _match_owner(table, owner), *conditions
        self._execute(sa.update(table).where(*where).values(**values))

    def _fetch_rows(self, query: Executable) -> Sequence[Row[Any]]:
        with _translate_database_errors(), self._read_engine.connect() as connection:
            return connection.execute(query).all()

    def record_heartbeat(self) -> None:
        """Record that this worker is alive."""
        now = time.time()
        with self._open_transaction() as connection:
            if not connection.execute(sa.update(WORKERS).where(WORKERS.c.id == self.worker).values(seen=now)).rowcount:
                connection.execute(sa.insert(WORKERS).values(id=self.worker, seen=now))
        self._store_token_usage()
        if self._unscrubbed:
            self.erase_deleted_data()

    def add_token_usage(self, usage: Usage, person: str = "") -> None:
        """Add a model's token usage; the next heartbeat stores it for all workers."""
        with self._lock:
            self._spending[person] += usage

    def _store_token_usage(self) -> None:
        with self._lock:
            spending, self._spending = self._spending, defaultdict(Usage)
        if not spending:
            return
        try:
            with self._open_transaction() as connection:
                for person, usage in spending.items():
                    key = {"day": _get_today_in_utc(), "worker": self.worker + _hash_person_name(person)}
                    counts = {"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens}
                    sums = {name: USAGE.c[name] + count for name, count in counts.items()}
                    if not connection.execute(sa.update(USAGE).filter_by(**key).values(**sums)).rowcount:
                        connection.execute(sa.delete(USAGE).where(USAGE.c.day < _get_today_in_utc()))
                        connection.execute(sa.insert(USAGE).values(**key, **counts))
        except StoreError:
            for person, usage in spending.items():
                self.add_token_usage(usage, person)
            raise

    def list_worker_turns(self, *conditions: ColumnElement[bool]) -> tuple[str, ...]:
        """Return the ids of the turns that are recorded as running on this worker."""
        return self._list_running_turns(TURNS.c.worker == self.worker, *conditions)

    def list_turns_to_stop(self) -> tuple[str, ...]:
        """Return the ids of this worker's running turns that were asked to stop."""
        return self.list_worker_turns(TURNS.c.stop == 1)

    def list_running_turns(self, owner: Owner, thread: str | None = None) -> tuple[str, ...]:
        """Return the ids of a person's running turns, or of those in one thread, on any worker."""
        return self._list_running_turns(_make_turns_condition(owner, thread))

    def count_turns_elsewhere(self, person: str | None = None) -> int:
        """Return the number of running turns on other workers, of one person or all."""
        rows = self._fetch_rows(sa.select(TURNS.c.person).where(RUNNING, TURNS.c.worker != self.worker))
        return sum(person in (None, name) for (name,) in rows)

    def _list_running_turns(self, *conditions: ColumnElement[bool]) -> tuple[str, ...]:
        return tuple(id_ for (id_,) in self._fetch_rows(sa.select(TURNS.c.id).where(RUNNING, *conditions)))

    def mark_turn_as_lost(self, id_: str) -> None:
        """Mark a running turn as lost."""
        self._execute(sa.update(TURNS).where(TURNS.c.id == id_, RUNNING).values(status="lost", ended=time.time()))

    def mark_orphaned_turns_as_lost(self) -> int:
        """Mark the running turns of dead workers as lost; return the number of turns."""
        now = time.time()
        live_workers = sa.select(WORKERS.c.id).where(WORKERS.c.seen > now - WORKER_SECONDS)
        orphans = sa.update(TURNS).where(RUNNING, TURNS.c.worker.not_in(live_workers), TURNS.c.begun < now - 1)
        dead_workers = sa.delete(WORKERS).where(WORKERS.c.seen < now - 60 * WORKER_SECONDS)
        return self._execute(dead_workers, orphans.values(status="lost", ended=now))

    def end_session(self, id_: str, until: float) -> None:
        """End a browser session on all workers."""
        now = time.time()
        with self._open_transaction() as connection:
            connection.execute(sa.delete(ENDED_SESSIONS).where(ENDED_SESSIONS.c.until < now))
            if connection.execute(sa.select(ENDED_SESSIONS.c.id).where(ENDED_SESSIONS.c.id == id_)).first() is None:
                connection.execute(sa.insert(ENDED_SESSIONS).values(id=id_, until=until))

    def is_session_ended(self, id_: str) -> bool:
        """Whether a browser session was ended before it expired."""
        return bool(self._fetch_rows(sa.select(ENDED_SESSIONS.c.id).where(ENDED_SESSIONS.c.id == id_)))

    def add_thread(self, owner: Owner, title: str = "") -> Thread:
        """Add a conversation."""
        thread = Thread(uuid.uuid4().hex, title, now := time.time(), now)
        self._execute(sa.insert(THREADS).values(**vars(owner), **vars(thread)))
        return thread

    def list_threads(
        self,
        owner: Owner,
        offset: int = 0,
        limit: int = 100,
        search: str = "",
        may_see: Callable[[Rights | None, bool], bool] = lambda rights, answered: True,
        *,
        listed: bool = True,
    ) -> list[Thread]:
        """Return a person's conversations that have turns, last used first.

        Filter by `search` in titles, and in questions and answers that the person may see; `listed` omits hidden ones.
        """
        has_turns = sa.select(TURNS.c.id).where(TURNS.c.thread == THREADS.c.id).exists()
        query = _THREAD.where(_match_owner(THREADS, owner), has_turns).order_by(THREADS.c.changed.desc())
        if search:
            answer: Any = TURNS.c.answer
            words = THREADS.c.title.icontains(search, autoescape=True)
            if self._engine.dialect.name == "postgresql":  # reads nothing of a JSON value that has a U+0000 in it
                answer = sa.cast(sa.func.replace(sa.cast(answer, sa.Text), r"\u0000", r"\ufffd"), sa.JSON)
            # An answer's own sentence, and the model's before its places are filled.
            texts = (TURNS.c.question, answer["text"].as_string(), answer["sentence", "say"].as_string())
            match = sa.or_(*(text.icontains(search, autoescape=True) for text in texts))
            turns = sa.select(TURNS.c.thread, answer["rights"], TURNS.c.rights, answer.is_not(None))
            turns = turns.where(_match_owner(TURNS, owner), match).order_by(TURNS.c.begun.desc()).limit(_BATCH_SIZE)
            rows: Any = self._fetch_rows(turns)
            ids = {
                thread
                for thread, answer_rights, turn_rights, answered in rows
                if may_see((rights := answer_rights if answered else turn_rights) and load(Rights, rights), answered)
            }
            query = query.where(words | THREADS.c.id.in_(ids))
        if listed:
            query = query.where(THREADS.c.chat.is_(None))
        return [Thread(*row) for row in self._fetch_rows(query.offset(offset).limit(limit))]

    def get_thread(self, owner: Owner, id_: str) -> Thread:
        """Return a person's conversation by id; raise `NotThere` if it does not exist."""
        for row in self._fetch_rows(_THREAD.where(THREADS.c.id == id_, _match_owner(THREADS, owner))):
            return Thread(*row)
        raise NotThere(f"there is no thread {id_[:64]!r}")

    def find_chat_thread(self, owner: Owner, digest: str) -> Thread | None:
        """Return the conversation of a chat client by a digest of the chat's messages."""
        query = _THREAD.where(THREADS.c.chat == digest, _match_owner(THREADS, owner))
        rows = self._fetch_rows(query.order_by(THREADS.c.changed.desc()).limit(1))
        return Thread(*rows[0]) if rows else None

    def store_digest(self, owner: Owner, id_: str, digest: str) -> None:
        """Store the digest of messages by which a chat client continues a conversation."""
        self._update(THREADS, owner, id_, chat=digest)

    def set_thread_title(self, owner: Owner, id_: str, title: str) -> Thread:
        """Set the title of a conversation."""
        self._update(THREADS, owner, id_, title=title)
        return self.get_thread(owner, id_)

    def begin_turn(self, request: TurnRequest, rights: Rights | None = None, id_: str | None = None) -> StoredTurn:
        """Store a new running turn; raise `Busy` if the thread already has one."""
        turn = StoredTurn(
            id_ or uuid.uuid4().hex,
            request.thread,
            request.words,
            request.notes,
            "running",
            time.time(),
            decision=request.decision,
            approve=request.approve,
            rights=rights,
            wording=request.wording or None,
        )
        with self._open_transaction() as connection:
            if request.door:
                thread = Thread(turn.thread, turn.question[:200], turn.begun, turn.begun)
                connection.execute(sa.insert(THREADS).values(**vars(request.owner), **vars(thread), chat=request.door))
            elif turn.thread:
                statement = sa.update(THREADS).where(THREADS.c.id == turn.thread, _match_owner(THREADS, request.owner))
                title = sa.case((THREADS.c.title == "", turn.question[:200]), else_=THREADS.c.title)
                if not connection.execute(statement.values(changed=turn.begun, title=title)).rowcount:
                    raise NotThere(f"there is no thread {turn.thread[:64]!r}")
            try:
                connection.execute(sa.insert(TURNS).values(self._make_turn_row(request.owner, turn)))
            except IntegrityError:
                raise Busy("this conversation is answering a question: wait for the answer, or stop it") from None
        return turn

    def end_turn(
        self, turn: StoredTurn, status: TurnStatus, answer: AnswerRecord | None = None, error: Exception | None = None
    ) -> StoredTurn:
        """Store the status and answer of an ended turn; return the ended turn."""
        kind, words = (type(error).__name__, str(error).replace("\0", "")) if error is not None else (None, None)
        values: dict[str, Any] = {"status": status, "ended": time.time(), "error_kind": kind, "error": words}
        ended_turn = replace(turn, answer=answer, **values)
        if answer is not None:
            values["answer"] = dump(answer)
        if not self._execute(sa.update(TURNS).where(TURNS.c.id == turn.id).values(**values)):
            raise NotThere("this conversation was deleted while its turn ran")
        return ended_turn

    def add_answer(self, owner: Owner, earlier: StoredTurn, answer: AnswerRecord) -> str:
        """Store an answer as a new turn in the thread of an earlier turn; return the new turn's id."""
        id_, now = uuid.uuid4().hex, time.time()
        with self._open_transaction() as connection:
            query = sa.select(TURNS.c.id).where(TURNS.c.id == earlier.id).with_for_update()
            if connection.execute(query).first() is None:
                raise NotThere("this conversation was deleted while the query ran")
            again: dict[str, Any] = {"rights": answer.rights, "wording": earlier.wording}
            turn = StoredTurn(id_, earlier.thread, answer.question, "", "answered", now, now, answer, **again)
            connection.execute(sa.insert(TURNS).values(self._make_turn_row(owner, turn)))
        return id_

    def _make_turn_row(self, owner: Owner, turn: StoredTurn) -> dict[str, Any]:
        texts = {"answer": turn.answer and dump(turn.answer), "rights": turn.rights and dump(turn.rights)}
        row = vars(turn) | texts | {"person": owner.person, "database": owner.database, "worker": self.worker}
        return {name: value for name, value in row.items() if value is not None}

    def get_turn(self, owner: Owner, id_: str) -> StoredTurn:
        """Return a person's turn by id; raise `NotThere` if it does not exist."""
        for row in self._fetch_rows(_TURN.where(TURNS.c.id == id_, _match_owner(TURNS, owner))):
            return _convert_row_to_turn(row)
        raise NotThere(f"there is no turn {id_[:64]!r}")

    def list_turns(self, owner: Owner, thread: str) -> tuple[StoredTurn, ...]:
        """Return the turns of a conversation, oldest first."""
        query = _TURN.where(TURNS.c.thread == thread, _match_owner(TURNS, owner)).order_by(TURNS.c.begun)
        return tuple(map(_convert_row_to_turn, self._fetch_rows(query)))

    def request_turn_stop(self, owner: Owner, id_: str) -> None:
        """Ask the worker that runs a turn to stop it."""
        self._update(TURNS, owner, id_, RUNNING, stop=1)

    def add_feedback(self, owner: Owner, id_: str, feedback: dict[str, Any]) -> None:
        """Store a person's feedback on a turn, with the time; replace any earlier feedback."""
        self._update(TURNS, owner, id_, feedback=feedback | {"at": time.time()})

    def list_wrong_answers(self, database: str) -> list[WrongAnswer]:
        """Return the answers that anybody marked as wrong, earliest first."""
        columns = (TURNS.c.id, TURNS.c.begun, TURNS.c.person, TURNS.c.question, TURNS.c.answer, TURNS.c.feedback)
        query = sa.select(*columns).where(TURNS.c.database == database, TURNS.c.feedback.is_not(None))
        rows: Any = self._fetch_rows(query.order_by(TURNS.c.begun))
        notes = {id_: (answer and answer["sql"], note) for id_, *_, answer, note in rows}

        def find_right_query(feedback: dict[str, Any]) -> str | None:
            """Return the right query that a person gave, or approved after a correction in words."""
            while feedback["kind"] == "correct" and not feedback.get("sql"):
                sql, feedback = notes.get(feedback.get("turn"), (None, {"kind": ""}))
                if feedback["kind"] == "approve":
                    return sql
            return feedback.get("sql")

        return [
            WrongAnswer(note.get("at", begun), asker, question, notes[id_][0], note.get("text"), find_right_query(note))
            for id_, begun, asker, question, _, note in rows
            if note["kind"] in ("down", "correct")
        ]

    def delete_threads(self, owner: Owner, thread: str | None = None) -> tuple[str, ...]:
        """Delete one or all conversations of a person; return the ids of those deleted."""
        with self._open_transaction() as connection:
            threads = sa.delete(THREADS).where(
                _match_owner(THREADS, owner), *([THREADS.c.id == thread] if thread is not None else [])
            )
            # Without its thread no turn begins: what runs now is all that there will be.
            ids = tuple(connection.execute(threads.returning(THREADS.c.id)).scalars())
            if thread is not None and not ids:
                raise NotThere(f"there is no thread {thread[:64]!r}")
            turns = _make_turns_condition(owner, thread)
            if connection.execute(sa.select(TURNS.c.id).where(turns, RUNNING)).first() is not None:
                raise Busy("a turn of this conversation is still running: try again in a moment")
            connection.execute(sa.delete(TURNS).where(turns))
        self._unscrubbed = True
        return ids

    def delete_unused_threads(self, database: str, days: float) -> tuple[str, ...]:
        """Delete conversations not used for `days` days; return the ids of those deleted."""
        cutoff = time.time() - days * 86_400
        busy_threads = sa.select(TURNS.c.thread).where(RUNNING)
        old = THREADS.c.database == database, THREADS.c.changed < cutoff, THREADS.c.id.not_in(busy_threads)
        with self._open_transaction() as connection:
            ids = tuple(connection.execute(sa.delete(THREADS).where(*old).returning(THREADS.c.id)).scalars())
            for start in range(0, len(ids), _BATCH_SIZE):
                connection.execute(sa.delete(TURNS).where(TURNS.c.thread.in_(ids[start : start + _BATCH_SIZE])))
            single_turns = sa.and_(TURNS.c.thread == "", TURNS.c.begun < cutoff, TURNS.c.database == database)
            connection.execute(sa.delete(TURNS).where(single_turns, TURNS.c.status != "running"))
        self._unscrubbed = True
        return ids

    def erase_deleted_data(self) -> None:
        """Erase deleted data from SQLite's write-ahead log; retry at a heartbeat if it is in use."""
        if self._engine.dialect.name != "sqlite":
            return
        self._unscrubbed = True
        with _translate_database_errors(), self._engine.connect() as on:
            connection: Any = on.connection.dbapi_connection
            connection.execute("PRAGMA busy_timeout = 500")
            try:
                (in_use, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                self._unscrubbed = bool(in_use)
            finally:
                connection.execute(f"PRAGMA busy_timeout = {_BUSY_SECONDS * 1000:.0f}")

    def count_tokens_today(self, person: str | None = None) -> tuple[int, int]:
        """Return today's counts (UTC) of prompt and completion tokens, of one person or all."""
        counts = USAGE.c.prompt_tokens, USAGE.c.completion_tokens
        sums = (sa.func.coalesce(sa.func.sum(count), 0) for count in counts)
        with self._lock:
            pending = sum((usage for name, usage in self._spending.items() if person in (None, name)), Usage())
        condition = USAGE.c.worker.endswith("" if person is None else _hash_person_name(person))
        row: Any = self._fetch_rows(sa.select(*sums).where(USAGE.c.day == _get_today_in_utc(), condition))[0]
        return int(row[0]) + pending.prompt_tokens, int(row[1]) + pending.completion_tokens


def _hash_person_name(person: str) -> str:
    return hashlib.sha256(person.encode()).hexdigest()[:32]


def _get_today_in_utc() -> str:
    return datetime.now(UTC).date().isoformat()


@contextmanager
def _translate_database_errors() -> Generator[None]:
    """Raise `NotKept` or `StoreError` in place of SQLAlchemy's errors."""
    try:
        yield
    except DataError:
        raise NotKept("the text contains a character that cannot be stored: leave out U+0000") from None
    except SQLAlchemyError as error:
        reason = getattr(error, "orig", None) or error
        raise StoreError(f"{UNREACHABLE}: {reason}") from None


def _create_store_engine(url: str) -> sa.Engine:
    if not url.startswith("sqlite"):
        return sa.create_engine(url, pool_pre_ping=True, pool_size=4, max_overflow=8)
    engine = sa.create_engine(url, connect_args={"timeout": _BUSY_SECONDS, "check_same_thread": False})

    @event.listens_for(engine, "connect")
    def configure_connection(connection: Any, record: Any) -> None:  # pyright: ignore[reportUnusedFunction]
        connection.isolation_level = None  # SQLAlchemy begins transactions
        connection.execute("PRAGMA journal_mode = WAL")  # readers and the one writer do not wait for one another
        connection.execute("PRAGMA secure_delete = ON")

    @event.listens_for(engine, "begin")
    def begin_transaction(connection: sa.Connection) -> None:  # pyright: ignore[reportUnusedFunction]
        # A writer waits for its turn when it begins: once it has read, it could not wait any more.
        reading = connection.get_execution_options().get("reading")
        connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")

    return engine


def _match_owner(table: sa.Table, owner: Owner) -> ColumnElement[bool]:
    return sa.and_(table.c.person == owner.person, table.c.database == owner.database)


def _make_turns_condition(owner: Owner, thread: str | None) -> ColumnElement[bool]:
    condition = _match_owner(TURNS, owner)
    return condition if thread is None else sa.and_(condition, TURNS.c.thread == thread)


_THREAD = sa.select(*(THREADS.c[field.name] for field in fields(Thread)))
_TURN = sa.select(*(TURNS.c[field.name] for field in fields(StoredTurn)))


def _convert_row_to_turn(row: Sequence[Any]) -> StoredTurn:
    turn = StoredTurn(*row)
    answer, rights = turn.answer and load(AnswerRecord, turn.answer), turn.rights and load(Rights, turn.rights)
    return replace(turn, answer=answer, rights=rights)
