"""Stores on disk: other versions, other embeddings, interrupted imports, damage, and silence towards the network."""

from __future__ import annotations

import hashlib
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tableturn.tools.errors import ExampleStoreError
from tableturn.tools.examples import ExampleStore, embed, mask_question
from tableturn.tools.examples.embedding import HASHED, Embedding, Vectors
from tableturn.tools.examples.tables import FORMAT, ChromaBackend, find_damaged_index
from tableturn.tools.sql import make_sql_skeleton

from .conftest import BOATS, SCHEMA, chroma_server

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


def count_letters(texts: Sequence[str]) -> Vectors:
    return np.asarray([[len(text), text.count("e"), 1] for text in texts], dtype=np.float32)


LETTERS = Embedding("letters", count_letters)


def test_a_store_outlives_the_process(tmp_path: Path) -> None:
    with ExampleStore.open(tmp_path) as store:
        store.add(BOATS)
    with ExampleStore.open(tmp_path) as store:
        assert store.count() == 4
        assert store.nearest("question", BOATS[2].question, 1)[0].example.question == BOATS[2].question


def test_a_relative_folder_stays_where_it_was_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with ExampleStore.open("examples") as here:
        here.add(BOATS[:1])
        monkeypatch.chdir(tmp_path / "there")
        with ExampleStore.open("examples") as there:
            assert there.count() == 0
            there.add(BOATS)
            assert (here.count(), there.count()) == (1, 4)
        here.add(BOATS[:2])
        assert here.count() == 2
    assert (tmp_path / "there" / "examples").is_dir()


def test_what_another_process_removes_is_found_no_more(tmp_path: Path) -> None:
    removes = "import sys; from tableturn.tools.examples import *; ExampleStore.open(sys.argv[1]).remove(sys.argv[2:])"
    with ExampleStore.open(tmp_path) as store:
        store.add(BOATS)
        found = store.nearest("question", BOATS[2].question, 4)
        subprocess.run([sys.executable, "-c", removes, str(tmp_path), found[0].id], check=True)
        left = store.nearest("question", BOATS[2].question, 4)
        assert [each.id for each in left] == [each.id for each in found[1:]]


def test_two_stores_in_memory_are_strangers() -> None:
    with ExampleStore.open() as one, ExampleStore.open() as two:
        one.add(BOATS)
        assert two.count() == 0
    with ExampleStore.open() as later:
        assert later.count() == 0


def test_another_embedding_is_refused_by_name(tmp_path: Path) -> None:
    with ExampleStore.open(tmp_path, LETTERS) as store:
        store.add(BOATS)
    with pytest.raises(ExampleStoreError, match="built with the embedding letters, not hashed-"):
        ExampleStore.open(tmp_path)


def test_another_format_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch, closing(ChromaBackend(tmp_path, "letters")) as backend:
        patch.setattr("tableturn.tools.examples.tables.FORMAT", "0")
        backend.put(("", "pairs"), {}, embed([]))
    with pytest.raises(ExampleStoreError, match="has format 0, this version reads 2"):
        ExampleStore.open(tmp_path, LETTERS)


RULED = (
    "How many boats does each sailor own?",
    "List the oldest, and the 3 youngest, of 'Ghent' in alphabetical order",
    "What is the average length of boats that never sailed before 2019 or after May 3rd?",
    "Give me the total, most, least, different, both, between, per; contain, top, more than 12.5 père o'clock",
    "Which Sailor of boat number 7 has the name Ann Smith?",
)
RULED_SQL = (
    "SELECT count(*), name FROM boat WHERE length > 12 OR name LIKE '%a%' GROUP BY 2 HAVING count(*) > 1",
    "SELECT a FROM (SELECT 1 AS a) WHERE a NOT IN (SELECT b FROM c EXCEPT SELECT 2) ORDER BY a DESC LIMIT 3",
    "SELECT t.x FROM t JOIN u AS v ON t.id = v.id WHERE v.y BETWEEN 1 AND 2 UNION SELECT DISTINCT z FROM w",
)


def test_keys_made_by_other_rules_come_with_another_version() -> None:
    """A change of `embed`, `mask_question` or `make_sql_skeleton` raises `embedding.VERSION` or `FORMAT`, then this."""
    vectors = np.round(embed(RULED) * 1_000).astype(np.int64).tolist()
    keys = [vectors, [mask_question(text, SCHEMA) for text in RULED], [make_sql_skeleton(sql) for sql in RULED_SQL]]
    digests = [hashlib.sha256(repr(part).encode()).hexdigest()[:12] for part in keys]
    assert [HASHED.name, *digests[:1]] == ["hashed-2-256", "47c68141c134"]
    assert [FORMAT, *digests[1:]] == ["2", "4cbf2c407d3d", "3e63047e3da0"]


def test_another_client_goes_on_after_a_store_was_re_indexed(tmp_path: Path, chroma_url: str) -> None:
    for place in (str(tmp_path), chroma_url):
        with ExampleStore.open(place) as one, ExampleStore.open(place) as other:
            one.add(BOATS)
            assert other.nearest("question", BOATS[2].question, 1)
            program = f"from tableturn.tools.examples import ExampleStore as S; print(S.open({place!r}).reindex())"
            done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
            assert int(done.stdout) >= 4
            for store in (one, other):
                assert store.nearest("question", BOATS[2].question, 1)[0].example.question == BOATS[2].question
                assert store.nearest("skeleton", mask_question(BOATS[2].question, SCHEMA), 1)
            assert other.add([replace(BOATS[0], question="How many boats now?")]).added == 1
            one.remove([hit.id for hit in one.list()])


def test_re_indexing_mends_a_damaged_index(tmp_path: Path) -> None:
    build = IMPORT.replace("range(0, 800, 100)", "range(0, 2200, 1100)").replace("start + 100", "start + 1100")
    subprocess.run([sys.executable, "-c", build, str(tmp_path)], check=True, stdout=subprocess.DEVNULL)
    folders = [path for path in tmp_path.iterdir() if path.is_dir()]
    assert folders, "the index is written to disk"
    for file in (file for folder in folders for file in folder.iterdir()):
        file.write_bytes(b"garbage" * 50)
    with ExampleStore.open(tmp_path) as store, pytest.raises(ExampleStoreError, match=r"delete the folders .* reindex"):
        store.count()
    for folder in folders:
        shutil.rmtree(folder)
    with ExampleStore.open(tmp_path) as store:
        assert store.reindex() == 2_200
        for number in (0, 999, 2_199):
            assert store.nearest("question", asked(number), 1)[0].example.question == asked(number)


def test_links_that_lead_nowhere_end_no_process(tmp_path: Path) -> None:
    build = IMPORT.replace("range(0, 800, 100)", "range(0, 2200, 1100)").replace("start + 100", "start + 1100")
    subprocess.run([sys.executable, "-c", build, str(tmp_path)], check=True, stdout=subprocess.DEVNULL)
    assert find_damaged_index(tmp_path) is None
    index = max(tmp_path.glob("*/link_lists.bin"), key=lambda path: path.stat().st_size)
    index.write_bytes(b"\xa7" * index.stat().st_size)
    with ExampleStore.open(tmp_path) as store:
        assert store.nearest("question", asked(3), 1)[0].example.question == asked(3)
    lowest = index.parent / "data_level0.bin"
    lowest.write_bytes(b"\xa7" * 64 + lowest.read_bytes()[64:])
    with ExampleStore.open(tmp_path) as store, pytest.raises(ExampleStoreError, match=r"delete the folders .* reindex"):
        store.nearest("question", asked(3), 1)


def test_a_re_indexing_by_0_2_0_that_was_broken_off_is_ended_by_the_next_opening(tmp_path: Path) -> None:
    with ExampleStore.open(tmp_path) as store:
        store.add(BOATS)
    with closing(ChromaBackend(tmp_path, HASHED.name)) as backend:
        rows = {row.id: row.fields for row in backend.scan(("", "pairs"))}
        backend.put(("", "pairs-anew"), rows, embed([str(n) for n in range(4)]))
        backend.client.delete_collection("tableturn.shared.pairs")
    with ExampleStore.open(tmp_path) as store:
        assert {hit.example.question for hit in store.list()} == {boat.question for boat in BOATS}


def test_a_file_that_is_no_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "chroma.sqlite3").write_bytes(b"no database at all" * 100)
    with pytest.raises(ExampleStoreError, match=str(tmp_path)):
        ExampleStore.open(tmp_path)


def test_a_folder_that_may_not_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ExampleStoreError, match="cannot write the example store /proc/nosuch/examples: No such"):
        ExampleStore.open("/proc/nosuch/examples")

    def is_accessible(path: Path, _: int) -> bool:
        return path != tmp_path  # as for people who are not root

    monkeypatch.setattr("os.access", is_accessible)
    with pytest.raises(ExampleStoreError, match=f"{tmp_path}: Permission denied: name another folder"):
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
                    lambda store=store: store.cached("x", len),
                    store.count,
                    store.stats,
                    store.reindex,
                ]
                for call in calls:
                    with pytest.raises(ExampleStoreError, match=url):
                        call()


@pytest.mark.parametrize("delay", [0.0, 0.05])
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
        assert 100 <= there < 800, "killed in the middle"
        assert store.nearest("question", asked(7), 1)[0].example.question == asked(7)
    subprocess.run([sys.executable, "-c", IMPORT, str(tmp_path)], check=True, stdout=subprocess.DEVNULL)
    with ExampleStore.open(tmp_path) as store:
        assert store.count() == 800
        for number in {0, there - 1, there, 799}:
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
