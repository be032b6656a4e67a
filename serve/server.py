"""The server of one worker: what all requests share."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import logging
import uuid
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, Concatenate, ParamSpec, TypeVar, cast

from fastapi import Depends, HTTPException, Request
from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint
from starlette.requests import HTTPConnection

from ..agent import Answer, SQLAgent, verbs
from ..agent.answers.paging import PagedResultCache
from ..tools.database import Cancellation, Identity, Rights
from ..tools.labels import ACCEPTED
from ..tools.masking import mask
from .config import ServerLimits, ServeSettings
from .metrics import Metrics
from .request_checks import TooMany
from .running_turns import RunningTurn, RunningTurns
from .sign_in import SignIn, Unauthorized
from .store import Busy, NotThere, Owner, StoredTurn, StoreError, TurnRequest, TurnStore

_log = logging.getLogger(__name__)

_TIDY_SECONDS = 3600.0
_CHECK_SECONDS = 2.0
_TRIES = 5
_IDS = frozenset({"id", "turn", "thread"})  # made here: with enough digits one could be taken for a card's number
_WAITING = 32
"""Queries of one person, those that run included: a page asks for a few at once, and nobody waits for more."""

P = ParamSpec("P")
R = TypeVar("R")

AgentOpener = Callable[[], AbstractAsyncContextManager[SQLAgent]]
"""Opens the agent within the event loop that it is to work in."""


@dataclass(frozen=True)
class Server:
    """The objects that all requests share, such as store, running turns and settings."""

    agent: SQLAgent  # of whoever is not named
    settings: ServeSettings
    sign_in: SignIn
    store: TurnStore
    turns: RunningTurns  # those that run here
    results: PagedResultCache  # those that are looked through
    side_queries: SideQueryRunner
    metrics: Metrics

    async def identify_person(self, request: HTTPConnection) -> Asker:
        """Return the person who sends a request."""
        identity = self.sign_in.identify_person(request)
        session = None if self.sign_in.has_valid_token(request) else self.sign_in.read_browser_session(request)
        if session is not None and await self.store.run(self.store.is_session_ended, session.id):
            raise Unauthorized("this session has ended: sign in again with the server's token")
        return Asker(identity, self.sign_in.make_owner(identity), await self.sign_in.get_agent(identity), self)

    def make_default_asker(self) -> Asker:
        """Return the person who started this process."""
        identity = self.sign_in.default_identity
        return Asker(identity, self.sign_in.make_owner(identity), self.agent, self)

    async def check_storage(self) -> None:
        """Raise `StoreError` if conversations cannot be saved."""

        async def write_test_records() -> None:
            await self.store.run(self.store.record_heartbeat)
            saver, thread = self.agent.graph.checkpointer, f"ready-{uuid.uuid4().hex}"
            if isinstance(saver, BaseCheckpointSaver):
                config: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
                await saver.aput(config, empty_checkpoint(), {}, {})
                await saver.adelete_thread(thread)

        # Shielded: a write that waits for a lock cannot be cancelled before its own time is over.
        task = asyncio.shield(asyncio.create_task(write_test_records()))
        try:
            await asyncio.wait_for(task, _CHECK_SECONDS)
        except TimeoutError:
            raise StoreError("conversations cannot be saved now: their store is locked or unreachable") from None

    async def delete_conversations(self, owner: Owner, thread: str | None = None) -> None:
        """Delete one or all conversations of a person, after ending their running turns."""
        for _ in range(_TRIES):  # another turn may begin before the store lets go
            await self.turns.cancel_and_wait(owner, thread)
            with contextlib.suppress(Busy):
                return await self.delete_checkpoints(await self.store.run(self.store.delete_threads, owner, thread))
        raise Busy("new turns keep starting while others are stopped: try again in a moment")

    async def delete_checkpoints(self, threads: tuple[str, ...]) -> None:
        """Delete conversations from the checkpointer, after the store has deleted them."""
        for thread in threads:
            await self.agent.adelete_thread(thread)
        await self.store.run(self.store.erase_deleted_data)


@dataclass(frozen=True)
class Asker:
    """A person who sends requests, with that person's rights and agent."""

    identity: Identity
    owner: Owner  # whose threads they see
    agent: SQLAgent  # theirs
    server: Server

    async def call_store(
        self, method: Callable[Concatenate[TurnStore, Owner, P], R], *arguments: P.args, **keywords: P.kwargs
    ) -> R:
        """Call a method of the turn store for this person."""
        store = self.server.store
        return await store.run(method, store, self.owner, *arguments, **keywords)

    async def turn(self, id_: str) -> StoredTurn:
        """Return one of this person's turns, if the current rights allow it."""
        turn = await self.call_store(TurnStore.get_turn, id_)
        if not self.can_see_turn(turn):
            raise NotThere(f"your permissions have changed since turn {id_[:64]!r}: ask again")
        return turn

    def can_see_turn(self, turn: StoredTurn) -> bool:
        """Whether the person's current rights cover those under which a turn was run."""
        return self.may_see((turn.answer or turn).rights, turn.answer is not None)

    def may_see(self, rights: Rights | None, answered: bool) -> bool:
        """Whether the person may see a turn that was run under these rights."""
        return (rights is None and not answered) or self.agent.resources.may_read(rights)

    async def deliver_answer(self, turn: StoredTurn) -> Answer | None:
        """Return a turn's answer, with rows that are not stored and the model's sentence."""
        answer = turn.stored_answer
        if answer is None or answer.withheld:
            return answer and await self.run_query(lambda _: self.agent.deliver(answer))
        return await asyncio.to_thread(self.agent.deliver, answer)

    async def get_sendable_answer(self, answer: Answer) -> Answer:
        """Return an answer as it may be sent to another model, without withheld rows."""
        copy = Answer(answer.kept, answer.thread)
        return copy if copy.withheld else await asyncio.to_thread(self.agent.deliver, copy)

    def mask_json(self, value: Any) -> Any:
        """Return a JSON value for a model, with texts masked as the policy requires."""
        masks = self.agent.resources.database.session.policy.egress.mask
        if not masks:
            return value
        if isinstance(value, str):
            return mask(value, masks)
        if isinstance(value, dict):
            ids = {name for name, item in value.items() if name in _IDS and isinstance(item, str)}
            return {name: item if name in ids else self.mask_json(item) for name, item in value.items()}
        return [self.mask_json(item) for item in value] if isinstance(value, list | tuple) else value

    async def begin_turn(self, request: TurnRequest) -> RunningTurn:
        """Start a turn of this person."""
        await self.server.sign_in.prepare_indexes(self.agent)
        return await self.server.turns.begin(self.agent, request)

    async def begin_thread(self, door: str, request: TurnRequest) -> RunningTurn:
        """Start a turn in a new, unlisted conversation, which is stored with the turn."""
        return await self.begin_turn(replace(request, thread=uuid.uuid4().hex, door=door))

    async def check_no_pending_question(self, turn: StoredTurn) -> None:
        """Raise `Busy` if the turn's conversation waits for the person's reply."""
        if turn.thread and await self.agent.conversation(turn.thread).awaits_for():
            raise Busy("this conversation waits for your answer to the agent's question: answer that first")

    async def approve(self, turn: StoredTurn, question: str) -> verbs.SavedAnswer:
        """Save a turn's answer as an example, because this person found the answer right."""
        answer, wording = turn.require_answer(), question or _find_wording(turn)
        result = await self.run_query(lambda _: verbs.approve(answer, self.agent.resources, question=wording))
        await self._store_feedback(turn, kind="approve", question=wording)
        return result

    async def correct(
        self, turn: StoredTurn, words: str, question: str, sql: str = "", *, watched: bool = False
    ) -> RunningTurn | tuple[verbs.Correction, str]:
        """Save the right query as a new turn, or begin a turn that corrects the answer by `words`."""
        answer, resources, begun_id = turn.require_answer(), self.agent.resources, ""
        if not sql.strip() and (sql := await asyncio.to_thread(verbs.find_right_query, words, resources)):
            words = ""
        if sql:
            wording = question or _find_wording(turn)
            correction = await self.run_query(lambda _: verbs.correct(answer, sql, resources, question=wording))
            new_id = await self.call_store(TurnStore.add_answer, turn, correction.answer.record)
            outcome = correction, new_id
        else:
            await self.check_no_pending_question(turn)
            request = verbs.word_correction(answer, words, resources)
            wording = _find_wording(turn) or request.wording
            outcome = await self.begin_turn(
                TurnRequest(self.owner, turn.thread, request.question, request.notes, watched=watched, wording=wording)
            )
            begun_id = outcome.id
        await self._store_feedback(
            turn, kind="correct", sql=sql, question=question or _find_wording(turn), text=words, turn=begun_id
        )
        return outcome

    async def _store_feedback(self, turn: StoredTurn, /, **fields: str) -> None:
        await self.call_store(TurnStore.add_feedback, turn.id, {name: text for name, text in fields.items() if text})

    async def run_query(self, function: Callable[[Cancellation], R]) -> R:
        """Run a query of this person, or another blocking function, outside turns."""
        return await self.server.side_queries.run(self.owner, function)


def _find_wording(turn: StoredTurn) -> str:
    """Return the question that a person corrects or approved a turn's answer for; empty for its own."""
    return turn.wording or (turn.feedback or {}).get("question", "")


class SideQueryRunner:
    """A runner of queries outside turns, a few at once, in a thread pool of its own."""

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        self._pool = ThreadPoolExecutor(limits.queries_at_once, "tableturn-query")
        self._query_counts: Counter[Owner] = Counter()
        self._shares: dict[Owner, asyncio.Semaphore] = {}
        self._cancellations: set[Cancellation] = set()

    async def run(self, owner: Owner, function: Callable[[Cancellation], R]) -> R:
        """Run a blocking function in a thread, only a few at once for a named person."""
        if self._query_counts[owner] >= _WAITING or self._query_counts.total() >= self._limits.at_once:
            raise TooMany("too many queries are waiting: try again in a moment")
        self._query_counts[owner] += 1
        cancellation = Cancellation()
        # A task of its own: who gives up keeps their share until the thread has ended.
        task = asyncio.create_task(self._run_in_pool(owner, function, cancellation))
        task.add_done_callback(lambda job: job.cancelled() or job.exception())  # seen, if nobody waits any more
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if cancellation not in self._cancellations:
                task.cancel()  # it waits for its turn
            cancellation.cancel()
            raise

    async def _run_in_pool(self, owner: Owner, function: Callable[[Cancellation], R], cancellation: Cancellation) -> R:
        share = self._shares.setdefault(owner, asyncio.Semaphore(self._limits.at_once_a_person))
        try:
            async with share if owner.person else contextlib.nullcontext():
                self._cancellations.add(cancellation)
                context = contextvars.copy_context()
                loop = asyncio.get_running_loop()
                return await loop.run_in_executor(self._pool, lambda: context.run(function, cancellation))
        finally:
            self._cancellations.discard(cancellation)
            self._query_counts[owner] -= 1
            if not self._query_counts[owner]:
                del self._query_counts[owner], self._shares[owner]

    def cancel(self) -> None:
        """Cancel all running queries."""
        for cancellation in tuple(self._cancellations):
            cancellation.cancel()

    def close(self) -> None:
        """Cancel all running queries, and accept no more."""
        self.cancel()
        self._pool.shutdown(cancel_futures=True)


class ServerLifecycle:
    """The server, opened on first use in its own task and closed in that task."""

    def __init__(self, opener: AgentOpener, store: str | None, settings: ServeSettings) -> None:
        self.openers: list[Callable[[], AbstractAsyncContextManager[None]]] = []  # what else is to run while it is open
        self._opener = opener
        self._store = store
        self._settings = settings
        self._server_future: asyncio.Future[Server] | None = None
        self._close_event = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def get_server(self) -> Server:
        """Return the server; open it if needed."""
        if self._server_future is None:
            self._server_future = asyncio.get_running_loop().create_future()
            self._close_event.clear()
            self._task = asyncio.create_task(self._run_server_until_closed(self._server_future))
        return await asyncio.shield(self._server_future)

    async def stop_turns_gracefully(self) -> None:
        """Let turns finish, then cancel them, before their connections close."""
        if self._server_future is not None and self._server_future.done() and not self._server_future.exception():
            server = self._server_future.result()
            await server.turns.stop_turns_gracefully()
            server.side_queries.cancel()

    async def close(self) -> None:
        """Let turns finish, and close the server."""
        self._close_event.set()
        if self._task is not None:
            await self._task
        self._server_future = self._task = None

    async def _run_server_until_closed(self, future: asyncio.Future[Server]) -> None:
        try:
            async with AsyncExitStack() as stack:
                server = await stack.enter_async_context(open_server(self._opener, self._store, self._settings))
                for open_context in self.openers:
                    await stack.enter_async_context(open_context())
                future.set_result(server)
                tidy_task = asyncio.create_task(_delete_expired_periodically(server))
                await self._close_event.wait()
                tidy_task.cancel()
        except BaseException as error:
            if future.done():
                raise
            future.set_exception(error)
            self._server_future = None


async def _delete_expired_periodically(server: Server) -> None:
    days, database = server.settings.limits.retention_days, server.sign_in.make_owner(Identity()).database
    while days is not None:
        try:
            ids = await server.store.run(server.store.delete_unused_threads, database, days)
            await server.delete_checkpoints(ids)
        except Exception:  # noqa: BLE001 - what is tidied an hour later is no harm
            _log.exception("old conversations could not be deleted")
        await asyncio.sleep(_TIDY_SECONDS)


@asynccontextmanager
async def open_server(opener: AgentOpener, location: str | None, settings: ServeSettings) -> AsyncGenerator[Server]:
    """Open a server without HTTP; use a temporary store if `location` is None."""
    async with AsyncExitStack() as stack:
        agent = await stack.enter_async_context(opener())
        store = await asyncio.to_thread(TurnStore, location)
        stack.push_async_callback(asyncio.to_thread, store.close)
        metrics = Metrics()
        results = PagedResultCache(settings.limits.result_bytes)
        stack.callback(results.close)
        work = SideQueryRunner(settings.limits)
        stack.push_async_callback(asyncio.to_thread, work.close)
        turns = RunningTurns(store, settings.limits, metrics)
        turns.start()
        stack.push_async_callback(turns.stop)
        people = SignIn(agent, settings)
        stack.push_async_callback(asyncio.to_thread, people.close)
        yield Server(agent, settings, people, store, turns, results, work, metrics)


async def get_server(request: Request) -> Server:
    """Return the server that handles a request."""
    return await cast("ServerLifecycle", request.app.state.lifecycle).get_server()


ServerHere = Annotated[Server, Depends(get_server)]


async def get_asker(request: Request, server: ServerHere) -> Asker:
    """Return the person who sends a request, and note the languages that the browser accepts."""
    ACCEPTED.set(request.headers.get("accept-language", ""))
    asker = await server.identify_person(request)
    route = request.scope["route"]
    known = [parameter.alias for parameter in route.dependant.query_params]
    for name in request.query_params:
        if name not in known and "openai" not in route.tags:  # whose clients may send parameters of their own
            raise HTTPException(400, f"unknown parameter {name[:100]!r}: there are {', '.join(known) or 'none here'}")
    return asker


AskerHere = Annotated[Asker, Depends(get_asker)]


def make_agent_opener(agent: SQLAgent) -> AgentOpener:
    """Return an opener that returns an open agent and does not close it."""
    return partial(contextlib.nullcontext, agent)
