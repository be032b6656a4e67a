"""Stores on disk: other versions, other embeddings, interrupted imports, damage, and silence towards the network."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tableturn.tools.errors import ExampleStoreError
from tableturn.tools.examples import ExampleStore
from tableturn.tools.examples.chroma_backend import ChromaBackend
from tableturn.tools.examples.embedding import Vectors

from .conftest import BOATS, chroma_server

NOUNS = ["boats", "sailors", "harbours", "masts", "ropes", "cups", "races", "storms", "pilots", "islands", "tides"]
IMPORT = f"""
import sys
from tableturn.tools.examples import Example, ExampleStore
nouns = {NOUNS!r}
with ExampleStore.open(sys.argv[1]) as store:
    print("open", flush=True)
    for start in range(0, 800, 100):
        numbers = range(start, start + 100)
        asked = [f"Which {{nouns[n % 11]}} have more {{nouns[n // 11 % 11]}} than {{n}}?" for n in numbers]
        store.add(Example(text, f"SELECT name FROM t WHERE x > {{n}}", "d") for n, text in zip(numbers, asked))
        print(start, flush=True)
"""


def asked(number: int) -> str:
    return f"Which {NOUNS[number % 11]} have more {NOUNS[number // 11 % 11]} than {number}?"


class Letters:
    name = "letters"

    def __call__(self, texts: Sequence[str]) -> Vectors:
        return np.asarray([[len(text), text.count("e"), 1] for text in texts], dtype=np.float32)


def test_a_store_outlives_the_process(tmp_path: Path) -> None:
    with ExampleStore.open(tmp_path) as store:
        store.add(BOATS)
    with ExampleStore.open(tmp_path) as store:
        assert store.count() == 4
        assert store.nearest("question", BOATS[2].question, 1)[0].example.question == BOATS[2].question


def test_two_stores_in_memory_are_strangers() -> None:
    with ExampleStore.open() as one, ExampleStore.open() as two:
        one.add(BOATS)
        assert two.count() == 0
    with ExampleStore.open() as later:
        assert later.count() == 0


def test_another_embedding_is_refused_by_name(tmp_path: Path) -> None:
    with ExampleStore.open(tmp_path, Letters()) as store:
        store.add(BOATS)
    with pytest.raises(ExampleStoreError, match="built with the embedding 'letters', not 'hashed-"):
        ExampleStore.open(tmp_path)


def test_another_format_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch, ChromaBackend(tmp_path, "letters") as backend:
        patch.setattr("tableturn.tools.examples.chroma_backend.FORMAT", "0")
        backend.table("", "pairs", create=True)
    with pytest.raises(ExampleStoreError, match="has format 0, this version reads 1"):
        ExampleStore.open(tmp_path, Letters())


def test_a_file_that_is_no_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "chroma.sqlite3").write_bytes(b"no database at all" * 100)
    with pytest.raises(ExampleStoreError, match=str(tmp_path)):
        ExampleStore.open(tmp_path)


def test_a_server_that_is_not_there_is_named() -> None:
    with pytest.raises(ExampleStoreError, match=r"127\.0\.0\.1:9"):
        ExampleStore.open("http://127.0.0.1:9")


@pytest.mark.parametrize("location", ["ftp://example.org/store", "file:///store", "chroma://127.0.0.1:8000"])
def test_a_url_that_is_no_servers_is_not_made_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, location: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ExampleStoreError, match=f"{location}: name a folder, or http://"):
        ExampleStore.open(location)
    assert not list(tmp_path.iterdir())


def test_a_server_that_goes_away_is_named_by_every_call(tmp_path: Path) -> None:
    with chroma_server(tmp_path) as (url, server), ExampleStore.open(url) as used:
        used.add(BOATS)
        used.nearest("question", "How many?", 1)
        with ExampleStore.open(url) as fresh:
            server.kill()
            server.wait(10)
            for store in (used, fresh):
                calls: list[Callable[[], object]] = [
                    lambda store=store: store.add([replace(BOATS[0], question="Who?")]),
                    lambda store=store: store.nearest("question", "Who?", 1),
                    lambda store=store: store.nearest("skeleton", "Who?", 1),
                    lambda store=store: store.nearest("sql", "SELECT _", 1),
                    lambda store=store: store.remove(["x"]),
                    lambda store=store: list(store.list()),
                    lambda store=store: list(store.visible("regatta")),
                    lambda store=store: store.holds_own("regatta"),
                    lambda store=store: store.remembered("x", int),
                    store.count,
                    store.stats,
                    store.reindex,
                ]
                for call in calls:
                    with pytest.raises(ExampleStoreError, match=url):
                        call()


@pytest.mark.parametrize("delay", [0.0, 0.1])
def test_killing_an_import_leaves_a_store_that_opens_and_resumes(tmp_path: Path, delay: float) -> None:
    importing = subprocess.Popen([sys.executable, "-c", IMPORT, str(tmp_path)], stdout=subprocess.PIPE)
    assert importing.stdout is not None
    assert importing.stdout.readline() == b"open\n"
    importing.stdout.readline()
    time.sleep(delay)
    importing.send_signal(signal.SIGKILL)
    importing.wait()
    importing.stdout.close()
    with ExampleStore.open(tmp_path) as store:
        there = store.count()
        assert 100 <= there <= 800
        assert store.nearest("question", asked(7), 1)[0].example.question == asked(7)
    subprocess.run([sys.executable, "-c", IMPORT, str(tmp_path)], check=True, stdout=subprocess.DEVNULL)
    with ExampleStore.open(tmp_path) as store:
        assert store.count() == 800
        for number in {0, there - 1, min(there, 799), 799}:
            assert store.nearest("question", asked(number), 1)[0].example.question == asked(number)


def test_nothing_is_sent_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[object] = []

    def refuse(*where: object) -> None:
        tried.append(where[1:])
        raise OSError("no network here")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)
    for location in (None, tmp_path):
        with ExampleStore.open(location) as store:
            store.add(BOATS)
            assert store.nearest("question", "How many?", 3)
    assert tried == []
