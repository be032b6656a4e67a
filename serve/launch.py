"""The start of the server: one process, or several that share a port."""

from __future__ import annotations

import asyncio
import errno
import gc
import os
import pickle
import signal
import socket
import sys
import tempfile
from base64 import b64decode, b64encode
from collections.abc import AsyncGenerator
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ..agent.options import AgentOptions
from ..tools.errors import SettingsError
from ..tools.terminal import warn
from .checkpoints import StorageLocation
from .config import ServeSettings, is_loopback_host

if TYPE_CHECKING:
    from fastapi import FastAPI

    from ..agent import SQLAgent
    from .server import AgentOpener, ServerLifecycle

_PLAN = "TABLETURN_SERVE_PLAN"
"""The environment variable that tells a worker what to serve: the plan of the process that starts it."""

_SHUTDOWN_SECONDS = 15  # after which connections are cut; turns end, and say so, before (running_turns.py)
_SWITCH_SECONDS = 0.001
"""Seconds after which a thread that keeps Python busy lets others have it: the event loop is one of them."""

_GC_THRESHOLDS = 10_000, 20, 50
"""When cycles are looked for. By default it is done so often that it took 7 of the 44 ms of a turn in `bench serve`."""

_START_SECONDS = 30
"""A worker that says nothing for so long is replaced; on a busy machine one needs many seconds before it can."""

_MULTIPROCESS = "PROMETHEUS_MULTIPROC_DIR"


@dataclass(frozen=True)
class ServerPlan:
    """The plan of a server: agent options, settings, address and number of workers."""

    options: AgentOptions
    settings: ServeSettings
    host: str
    port: int
    workers: int  # processes
    checkpoints: str | None  # where conversations are kept; None for the default


def run_http_server(plan: ServerPlan, port_option: str = "--port") -> None:
    """Run the HTTP server until SIGINT or SIGTERM; let running turns finish."""
    plan.settings.check_host(plan.host)
    location = StorageLocation.of(plan.checkpoints, plan.options.db)
    try:
        import uvicorn
        from uvicorn.supervisors import Multiprocess

        from .protocol import HeadTimeoutProtocol
    except ImportError:
        raise SettingsError("the server needs its packages: pip install 'tableturn[serve]'") from None
    warn(f"tableturn: opening {plan.options.db} (the first time takes a while)")
    location.set_up()
    with plan.options.open_agent():  # what is wrong is told here, once, and not by every worker
        pass
    with ExitStack() as stack:
        if plan.workers > 1:
            os.environ[_MULTIPROCESS] = stack.enter_context(tempfile.TemporaryDirectory(prefix="tableturn-metrics-"))
        os.environ[_PLAN] = b64encode(pickle.dumps((plan, location))).decode()
        config = uvicorn.Config(
            "tableturn.serve.launch:make_worker",
            factory=True,
            host=plan.host,
            port=plan.port,
            workers=plan.workers,
            proxy_headers=False,  # addresses in headers are whatever a client writes
            server_header=False,
            access_log=False,
            log_level="warning" if is_loopback_host(plan.host) else "info",
            timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
            timeout_keep_alive=30,
            timeout_worker_healthcheck=_START_SECONDS,
            ws="none",
            http=HeadTimeoutProtocol,
        )
        # Who asks before the workers are up waits for them.
        listener = stack.enter_context(_open_listening_socket(plan.host, plan.port, config.backlog, port_option))
        host = f"[{plan.host}]" if ":" in plan.host else plan.host
        address = f"http://{host}:{listener.getsockname()[1]}"
        warn(f"tableturn: page and API at {address}, MCP at {address}/mcp; Ctrl-C ends it")
        server = uvicorn.Server(config)
        with suppress(KeyboardInterrupt):
            if plan.workers > 1:
                Multiprocess(config, sockets=[listener]).run()
            else:
                server.run([listener])
                if not server.started:
                    sys.exit(1)


def _open_listening_socket(host: str, port: int, backlog: int, port_option: str) -> socket.socket:
    """Return a socket that listens at an address, for worker processes too."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=backlog)
    except OSError as error:
        why = {errno.EADDRINUSE: "is in use", errno.EACCES: "is not allowed for this user"}.get(error.errno or 0)
        if why is not None:
            raise SettingsError(f"port {port} {why}: choose another with {port_option}") from None
        raise SettingsError(f"cannot listen at {host}, port {port}: {os.strerror(error.errno or 0)}") from None
    listener.set_inheritable(True)
    return listener


def make_worker() -> FastAPI:
    """Return the app of a worker process, made from the plan in its environment."""
    from .app import create_app

    gc.set_threshold(*_GC_THRESHOLDS)
    sys.setswitchinterval(_SWITCH_SECONDS)
    plan, location = pickle.loads(b64decode(os.environ[_PLAN]))  # noqa: S301 - written by `run`, for its own processes
    app = create_app(_make_agent_opener(plan, location), store=location.url, settings=plan.settings)
    app.state.lifecycle.openers.append(partial(stop_turns_on_signal, app.state.lifecycle))
    return app


@asynccontextmanager
async def stop_turns_on_signal(lifecycle: ServerLifecycle) -> AsyncGenerator[None]:
    """Stop turns gracefully if this process gets a stop signal within the context.

    uvicorn tells the app only once all connections are closed, or cut; who waits for an answer is to be told before.
    """
    loop, stop_tasks = asyncio.get_running_loop(), list[asyncio.Task[None]]()

    def start_stopping_turns() -> None:
        stop_tasks.append(asyncio.create_task(lifecycle.stop_turns_gracefully()))

    def handle_signal(handler: Any, number: int, frame: Any) -> None:
        loop.call_soon_threadsafe(start_stopping_turns)
        handler(number, frame)

    for number in (signal.SIGTERM, signal.SIGINT):
        if callable(handler := signal.getsignal(number)):  # uvicorn's, which goes with it
            signal.signal(number, partial(handle_signal, handler))
    yield


def run_mcp_over_stdio(plan: ServerPlan) -> None:
    """Serve MCP over standard input and output until the input ends."""
    from .mcp import make_mcp_server
    from .server import open_server

    async def serve_stdio() -> None:
        location = StorageLocation.of(plan.checkpoints, plan.options.db)
        async with open_server(_make_agent_opener(plan, location), location.url, plan.settings) as server:
            await make_mcp_server(server.make_default_asker).run_stdio_async()

    asyncio.run(serve_stdio())


def _make_agent_opener(plan: ServerPlan, location: StorageLocation) -> AgentOpener:
    @asynccontextmanager
    async def open_agent() -> AsyncGenerator[SQLAgent]:
        async with location.open_checkpointer() as checkpointer:
            with plan.options.open_agent(checkpointer) as agent:
                yield agent

    return open_agent
