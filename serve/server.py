"""One worker's server: everything that requests share, opened at the first of them or when the app starts."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import uuid
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, Concatenate, ParamSpec, TypeVar, cast

from fastapi import Depends, Request
from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint
from starlette.requests import HTTPConnection

from ..agent import Answer, SQLAgent, verbs
from ..agent.answers.paging import ResultPages
from ..tools.database import Cancellation, Identity
from ..tools.errors import ExportError, TableturnError
from ..tools.masking import mask
from .config import ServeSettings
from .metrics import Metrics
from .running_turns import RunningTurn, Turns
from .side_queries import SideQueries
from .sign_in import People, Unauthorized
from .store import Busy, NotThere, Owner, StoredTurn, StoreError, TurnRequest, TurnStore

_log = logging.getLogger(__name__)

_TIDY_SECONDS = 3600.0
_CHECK_SECONDS = 2.0
_TRIES = 5

P = ParamSpec("P")
R = TypeVar("R")

AgentOpener = Callable[[], AbstractAsyncContextManager[SQLAgent]]
"""Opens the agent within the event loop that it is to work in."""


@dataclass(frozen=True)
class Server:
    """What requests share."""

    agent: SQLAgent  # of whoever is not named
    settings: ServeSettings
    people: People
    store: TurnStore
    turns: Turns  # those that run here
    results: ResultPages  # those that are looked through
    work: SideQueries
    metrics: Metrics

    async def asker(self, request: HTTPConnection) -> Asker:
        """Return who asks."""
        identity = self.people.identify(request)
        session = None if self.people.bears_token(request) else self.people.session_of(request)
        if session is not None and await self.store.run(self.store.session_ended, session.id):
            raise Unauthorized("this session has ended: sign in again with the server's token")
        return Asker(identity, self.people.owner(identity), await self.people.agent_of(identity), self)

    def anybody(self) -> Asker:
        """Whoever started this process."""
        return Asker(self.people.nobody, self.people.owner(self.people.nobody), self.agent, self)

    async def check(self) -> None:
        """Check that conversations can be written, over the connections that turns use."""

        async def write() -> None:
            await self.store.run(self.store.beat)
            saver, thread = self.agent.graph.checkpointer, f"ready-{uuid.uuid4().hex}"
            if isinstance(saver, BaseCheckpointSaver):
                config: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
                await saver.aput(config, empty_checkpoint(), {}, {})
                await saver.adelete_thread(thread)

        # Shielded: a write that waits for a lock cannot be cancelled before its own time is over.
        writing = asyncio.shield(asyncio.create_task(write()))
        try:
            await asyncio.wait_for(writing, _CHECK_SECONDS)
        except TimeoutError:
            raise StoreError("conversations cannot be saved now: their store is locked or unreachable") from None

    async def delete(self, owner: Owner, thread: str | None = None) -> None:
        """Delete a conversation, or all that is a person's, once the turns that run in it have been ended."""
        for _ in range(_TRIES):  # another turn may begin before the store lets go
            await self.turns.end(owner, thread)
            with contextlib.suppress(Busy):
                return await self.forget(await self.store.run(self.store.delete, owner, thread))
        raise Busy("turns start faster than they can be stopped: try again in a moment")

    async def forget(self, threads: tuple[str, ...]) -> None:
        """Take conversations out of the checkpointer, once the store has let go of them."""
        for thread in threads:
            await self.agent.adelete_thread(thread)
        await self.store.run(self.store.scrub)

    async def tidy(self) -> None:
        """Delete what is older than it may be kept."""
        days = self.settings.limits.retention_days
        if days is None:
            return
        database = self.people.owner(Identity()).database
        await self.forget(await self.store.run(self.store.delete_older, database, days))


@dataclass(frozen=True)
class Asker:
    """Somebody who asks, with what they may use."""

    identity: Identity
    owner: Owner  # whose threads they see
    agent: SQLAgent  # theirs
    server: Server

    async def kept(
        self, method: Callable[Concatenate[TurnStore, Owner, P], R], *arguments: P.args, **more: P.kwargs
    ) -> R:
        """Read or write something of theirs in the store."""
        store = self.server.store
        return await store.run(method, store, self.owner, *arguments, **more)

    async def turn(self, id_: str) -> StoredTurn:
        """Return one of their turns, under their rights as they are now."""
        turn = await self.kept(TurnStore.turn, id_)
        if not self.may_see(turn):
            raise NotThere(f"turn {id_[:64]!r} was taken under other permissions: ask again")
        return turn

    def may_see(self, turn: StoredTurn) -> bool:
        """Whether a turn was taken under rights that are theirs now; an error tells of what it met, too."""
        rights = turn.answer.rights if turn.answer is not None else turn.rights
        return (rights is None and turn.answer is None) or self.agent.resources.may_read(rights)

    async def answer(self, turn: StoredTurn) -> Answer | None:
        """Return a turn's answer, with what is kept nowhere."""
        answer = turn.given
        if answer is None or answer.withheld:
            return answer and await self.work(lambda _: self.agent.deliver(answer))
        return await asyncio.to_thread(self.agent.deliver, answer)

    async def leaving(self, answer: Answer) -> Answer:
        """Return an answer as far as it may go on to another model, in its own sentence if all of its rows may."""
        kept = Answer(answer.kept, answer.thread)
        return kept if kept.withheld else await asyncio.to_thread(self.agent.deliver, kept)

    def masked(self, value: Any) -> Any:
        """Return JSON values for a model, with their texts masked as the policy says."""
        masks = self.agent.resources.database.session.policy.egress.mask
        if not masks:
            return value
        if isinstance(value, str):
            return mask(value, masks)
        if isinstance(value, dict):
            return {name: self.masked(each) for name, each in value.items()}
        return [self.masked(each) for each in value] if isinstance(value, list | tuple) else value

    async def begin(self, asked: TurnRequest) -> RunningTurn:
        """Start a turn of theirs; see `Turns.begin`."""
        await self.server.people.prepare(self.agent)
        return await self.server.turns.begin(self.agent, asked)

    async def begin_thread(self, door: str, asked: TurnRequest) -> RunningTurn:
        """Start a turn in a new conversation that the page does not list, deleted again if the turn is refused."""
        thread = await self.kept(TurnStore.add_thread, door=door)
        try:
            return await self.begin(replace(asked, thread=thread.id))
        except TableturnError:
            await self.server.delete(self.owner, thread.id)
            raise

    async def check_not_waiting(self, turn: StoredTurn) -> None:
        """Check that a turn's conversation does not wait for a reply, which a new question would be taken for."""
        if turn.thread and await self.agent.conversation(turn.thread).awaits_for():
            raise Busy("this conversation waits for your answer to the agent's question: answer that first")

    async def begin_correction(self, turn: StoredTurn, words: str, *, watched: bool = False) -> RunningTurn:
        """Ask a turn's question again with what a person says is wrong with its answer."""
        if (answer := turn.given) is None:
            raise ExportError("this turn has no answer to correct")
        await self.check_not_waiting(turn)
        asked = verbs.word_correction(answer, words, self.agent.resources)
        wording = turn.wording or asked.wording
        new = await self.begin(
            TurnRequest(self.owner, turn.thread, asked.question, asked.notes, watched=watched, wording=wording)
        )
        await self.kept(TurnStore.add_feedback, turn.id, {"kind": "correct", "text": words, "turn": new.id})
        return new

    async def work(self, function: Callable[[Cancellation], R]) -> R:
        """Run a query of theirs, or something else that blocks."""
        return await self.server.work.run(self.owner, function)


class ServerLifecycle:
    """Opens a server once, in a task of its own, and closes it there."""

    def __init__(self, opener: AgentOpener, store: str | None, settings: ServeSettings) -> None:
        self.beside: list[Callable[[], AbstractAsyncContextManager[None]]] = []  # what else is to run while it is open
        self._opener = opener
        self._store = store
        self._settings = settings
        self._opened: asyncio.Future[Server] | None = None
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def server(self) -> Server:
        """Return the server; opened where it is not."""
        if self._opened is None:
            self._opened = asyncio.get_running_loop().create_future()
            self._closing.clear()
            self._task = asyncio.create_task(self._live(self._opened))
        return await asyncio.shield(self._opened)

    async def wind_down(self) -> None:
        """Let turns end, and end what has not by then, so that everybody is told before their connections close."""
        if self._opened is not None and self._opened.done() and not self._opened.exception():
            server = self._opened.result()
            await server.turns.wind_down()
            server.work.cancel()

    async def close(self) -> None:
        """Let turns end, and close."""
        self._closing.set()
        if self._task is not None:
            await self._task
        self._opened = self._task = None

    async def _live(self, opened: asyncio.Future[Server]) -> None:
        try:
            async with AsyncExitStack() as stack:
                server = await stack.enter_async_context(opened_server(self._opener, self._store, self._settings))
                for beside in self.beside:
                    await stack.enter_async_context(beside())
                opened.set_result(server)
                tidying = asyncio.create_task(_tidy(server))
                await self._closing.wait()
                tidying.cancel()
        except BaseException as error:
            if opened.done():
                raise
            opened.set_exception(error)
            self._opened = None


async def _tidy(server: Server) -> None:
    while True:
        try:
            await server.tidy()
        except Exception:  # noqa: BLE001 - what is tidied an hour later is no harm
            _log.exception("old conversations could not be deleted")
        await asyncio.sleep(_TIDY_SECONDS)


@asynccontextmanager
async def opened_server(opener: AgentOpener, place: str | None, settings: ServeSettings) -> AsyncGenerator[Server]:
    """A server, without HTTP; its store, by an SQLAlchemy URL, goes with it where there is none."""
    async with AsyncExitStack() as stack:
        agent = await stack.enter_async_context(opener())
        store = await asyncio.to_thread(TurnStore, place)
        stack.push_async_callback(asyncio.to_thread, store.close)
        metrics = Metrics()
        results = ResultPages(settings.limits.result_bytes)
        stack.callback(results.close)
        work = SideQueries(settings.limits)
        stack.push_async_callback(asyncio.to_thread, work.close)
        turns = Turns(store, settings.limits, metrics)
        turns.start()
        stack.push_async_callback(turns.stop)
        people = People(agent, settings)
        stack.push_async_callback(asyncio.to_thread, people.close)
        yield Server(agent, settings, people, store, turns, results, work, metrics)


async def server_of(request: Request) -> Server:
    """Return the server that a request is for."""
    return await cast("ServerLifecycle", request.app.state.lifecycle).server()


ServerHere = Annotated[Server, Depends(server_of)]


async def asker_of(request: Request, server: ServerHere) -> Asker:
    """Return who asks; see `Server.asker`."""
    return await server.asker(request)


AskerHere = Annotated[Asker, Depends(asker_of)]


def opener_of(agent: SQLAgent) -> AgentOpener:
    """Return an opener for an agent that somebody else opened and will close."""
    return partial(contextlib.nullcontext, agent)
