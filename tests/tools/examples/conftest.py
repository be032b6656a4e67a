"""Stores to test with: every back end, one conformance suite."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tableturn.tools.examples import Example, ExampleStore

SCHEMA = (
    "boat(boat_id* number, name text, length number)\nsailor(sailor_id* number, name text, boat_id -> boat.boat_id)"
)


def example(question: str, sql: str, database: str = "regatta", shared: bool = True, simplified: str = "") -> Example:
    return Example(question, sql, database, SCHEMA, simplified, "import:test", shared)


BOATS = (
    example("How many boats are there?", "SELECT count(*) FROM boat"),
    example("Which boats are longer than 12 metres?", "SELECT name FROM boat WHERE length > 12"),
    example("What is the longest boat?", "SELECT name FROM boat ORDER BY length DESC LIMIT 1"),
    example(
        "How many sailors does each boat have?",
        "SELECT boat.name, count(*) FROM boat JOIN sailor ON sailor.boat_id = boat.boat_id GROUP BY boat.boat_id",
        simplified="For each boat, count the sailors.",
    ),
)


@pytest.fixture(scope="session")
def chroma_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Chroma server on loopback."""
    with chroma_server(tmp_path_factory.mktemp("server")) as (url, _):
        yield url


@contextmanager
def chroma_server(folder: Path) -> Generator[tuple[str, subprocess.Popen[bytes]]]:
    """A server's URL and its process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = Path(sys.executable).with_name("chroma")
    arguments = [str(command), "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    server = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_for(port, server)
        yield f"http://127.0.0.1:{port}", server
    finally:
        server.terminate()
        server.wait(10)


def _wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    for _ in range(200):
        if server.poll() is not None:
            pytest.fail(f"chroma run ended with {server.returncode}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    pytest.fail("chroma run did not listen within 20 s")


@pytest.fixture(params=["memory", "folder", "server"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ExampleStore]:
    """An empty store on each back end."""
    if request.param == "server":
        opened = ExampleStore.open(request.getfixturevalue("chroma_url"))
    else:
        opened = ExampleStore.open(None if request.param == "memory" else tmp_path / "store")
    with opened:
        opened.remove([found.id for found in opened.list()])
        yield opened
