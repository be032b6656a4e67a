"""A server on a port of this machine, in a thread, for browsers."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager

import uvicorn
from tableturn.agent import SQLAgent
from tableturn.serve import ServeSettings, create_app


@contextmanager
def site(agent: SQLAgent, settings: ServeSettings | None = None) -> Generator[str]:
    """The address of a server over an agent."""
    app = create_app(agent, settings=settings)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", ws="none"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        thread.join(0.02)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/"
    finally:
        server.should_exit = True
        thread.join()
