"""The app of the server."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.middleware.body_limit import RequestBodyLimitMiddleware
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Route
from starlette.staticfiles import StaticFiles
from tableturn import __version__

from ..agent import SQLAgent
from .api import answers, openai_chat, session_and_status, turns
from .config import ServeSettings
from .errors import ERROR_HANDLERS
from .mcp import make_mcp_route
from .request_checks import RequestCheckMiddleware
from .server import AgentOpener, ServerLifecycle, make_agent_opener
from .store import StoreError

_log = logging.getLogger(__name__)

_PATIENCE_SECONDS = 120.0
_BETWEEN_TRIES = 1.0
_HEADERS = ["authorization", "content-type", "last-event-id", "mcp-protocol-version", "mcp-session-id"]

PAGE = Path(__file__).parent / "page"  # the web page's files

PAGE_PATHS = frozenset({"/", *(f"/{file.relative_to(PAGE).as_posix()}" for file in PAGE.rglob("*") if file.is_file())})


def create_app(
    agent: SQLAgent | AgentOpener, *, store: str | None = None, settings: ServeSettings | None = None
) -> FastAPI:
    """Return the server as an app, to run by itself or to mount into another one.

    A mounted app opens its agent at the first request. Enter `app.router.lifespan_context(app)` in the outer app's
    lifespan, so that running turns end properly when the outer app stops.

    Args:
        agent: An open agent, which its caller closes, or a function that opens one.
        store: Where threads and turns are stored: the SQLAlchemy URL of an SQLite file or a PostgreSQL database. None
            stores them only while the app runs. The agent's own checkpointer stores what the next turn knows of a
            conversation.
        settings: Who may ask, from where, and how much. By default, only pages on this machine may ask.
    """
    settings = settings or ServeSettings()
    opener = make_agent_opener(agent) if isinstance(agent, SQLAgent) else agent
    lifecycle = ServerLifecycle(opener, store, settings)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        await _open_server_with_retries(lifecycle)
        try:
            yield
        finally:
            await lifecycle.close()

    app = FastAPI(
        title="tableturn",
        version=__version__,
        description="Ask a database questions, turn after turn, and get SQL and rows you can check.",
        docs_url=None,  # their pages load scripts from elsewhere
        redoc_url=None,
        servers=[{"url": "."}],  # where its description is: below a proxy's prefix, of which nobody tells it
        root_path_in_servers=False,
        lifespan=lifespan,
        exception_handlers=ERROR_HANDLERS,
        middleware=[
            Middleware(RequestCheckMiddleware, settings=settings, free=PAGE_PATHS),
            Middleware(
                CORSMiddleware,
                allow_origins=settings.origins,
                allow_methods=["GET", "POST", "PATCH", "DELETE"],
                allow_headers=_HEADERS,
                expose_headers=[turns.TURN_HEADER],
            ),
            Middleware(RequestBodyLimitMiddleware, max_body_size=settings.limits.body_bytes),
        ],
    )
    app.state.lifecycle = lifecycle
    for router in (turns.router, turns.threads, answers.router, session_and_status.router, openai_chat.router):
        app.include_router(router)
    route, manager = make_mcp_route(lifecycle)
    app.router.routes.append(route)
    lifecycle.openers.append(manager.run)
    files = StaticFiles(directory=PAGE, html=True)
    app.router.routes += [Route(path, files) for path in sorted(PAGE_PATHS)]  # any other path is an error
    return app


async def _open_server_with_retries(lifecycle: ServerLifecycle) -> None:
    """Open the server; retry for a while if conversations cannot be stored.

    A worker that fails here ends all of them: uvicorn takes it for an app that cannot start.
    """
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            await lifecycle.get_server()
            return
        except StoreError as error:
            if time.monotonic() > deadline:
                raise
            _log.warning("not started yet: %s", error)
            await asyncio.sleep(_BETWEEN_TRIES)
