"""Queries run in processes of their own, which end with their time, with the database and with whoever asked."""

from __future__ import annotations

import math
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path

import ormsgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tableturn.tools.database import Cancellation, Database, Limits, Table
from tableturn.tools.database.fetch import Row
from tableturn.tools.database.sqlite.engine import NURSERY
from tableturn.tools.database.wire import PART, RESULT, pack_table, receive, send, unpack_table
from tableturn.tools.database.workers import WorkerPool
from tableturn.tools.errors import DatabaseUnavailable, QueryError, QueryTimeout, ResultTooLarge
from tableturn.tools.forkserver import can_limit_processes

pytestmark = pytest.mark.skipif(not can_limit_processes(), reason="this system cannot hold a process to limits")

_COUNT = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
# A row's straight run of expressions, in which SQLite does not look whether it was interrupted.
_LONG_STEP = "SELECT " + " + ".join(f"(hex(zeroblob(110000)) LIKE '%{'0' * 400}1{i}')" for i in range(40))
_CELLS = st.one_of(
    st.none(), st.integers(-(2**127), 2**128), st.floats(allow_nan=False), st.text(max_size=9), st.binary(max_size=9)
)


@given(st.integers(0, 4).flatmap(lambda n: st.lists(st.lists(_CELLS, min_size=n + 1, max_size=n + 1), max_size=9)))
def test_results_come_back_as_they_were(rows: list[list[object]]) -> None:
    width = len(rows[0]) if rows else 2
    table = Table(("a",) * width, ("mixed",) * width, tuple(map(tuple, rows)), True, 0.5)  # pyright: ignore[reportArgumentType]
    assert repr(unpack_table(pack_table(table))) == repr(table)


def test_what_took_too_much_leaves_nothing_to_the_next_query(tmp_path: Path) -> None:
    limits = Limits(seconds=20, memory_bytes=64_000_000, result_bytes=1_000_000_000, cell_bytes=100_000_000)
    bombs = (
        _COUNT + "SELECT group_concat(hex(zeroblob(20000))) OVER (ORDER BY x) FROM c LIMIT 500",
        "SELECT " + ", ".join(["hex(zeroblob(9000000))"] * 20),
    )
    with closing(sqlite3.connect(tmp_path / "plain.db")) as connection, connection:
        connection.execute("CREATE TABLE plain (a)")
    with Database.open(tmp_path / "plain.db") as database:
        for bomb in (*bombs, *bombs, *bombs):
            with pytest.raises(ResultTooLarge):
                database.execute(bomb, limits)
            assert database.execute("SELECT count(*) FROM plain", limits).rows == ((0,),)
            assert len(database.execute("SELECT strftime('" + "%d" * 20_000 + "', 'now')", limits).rows) == 1


@given(st.binary(max_size=80), st.integers(0, 200))
def test_bytes_from_elsewhere_are_refused(noise: bytes, place: int) -> None:
    good = pack_table(Table(("a", "b"), ("integer", "text"), ((1, "x"), (2, None)), False, 0.0))
    for data in (noise, good[:place], good[:place] + noise):
        try:
            table = unpack_table(data)
        except ValueError:
            continue
        assert all(len(row) == len(table.columns) for row in table.rows)


def test_one_long_step_is_ended_in_time(shop: Database) -> None:
    with pytest.raises(QueryTimeout):
        shop.execute(_LONG_STEP, Limits(seconds=0.3))
    assert shop.execute("SELECT count(*) FROM customer").rows == ((4,),)


def test_one_long_step_can_be_cancelled(shop: Database) -> None:
    handle = Cancellation()
    threading.Timer(0.2, handle.cancel).start()
    with pytest.raises(QueryTimeout, match="cancelled"):
        shop.execute(_LONG_STEP, Limits(seconds=600), handle)


class _Untrusted:
    """A nursery whose only worker sends whatever a test wants; it ends with its line."""

    def __init__(self, reply: Iterator[bytes]) -> None:
        self.process = subprocess.Popen(["sleep", "600"])  # the process that is to be killed
        self._reply = reply

    def start(self, wait: bool = True) -> None:
        del wait

    def call(self, order: bytes) -> socket.socket:
        del order
        ours, theirs = socket.socketpair()
        threading.Thread(target=self._serve, args=(theirs,), daemon=True).start()
        return ours

    def _serve(self, line: socket.socket) -> None:
        with line, suppress(OSError):
            receive(line, 1 << 20)
            send(line, RESULT, ormsgpack.packb((self.process.pid, b"")))
            receive(line, 1 << 20)
            for part in self._reply:
                line.sendall(part)
                time.sleep(0.01)


class _Nowhere:
    def start(self, columns: tuple[str, ...]) -> None: ...

    def take(self, rows: Sequence[Row]) -> None: ...


def _message(kind: int, body: bytes) -> bytes:
    return len(body).to_bytes(8) + bytes([kind]) + body


def _drips() -> Iterator[bytes]:
    """Yield a result byte by byte."""
    whole = _message(RESULT, pack_table(Table(("a",), ("text",), (("x" * 500,),), False, 0.0)))
    return (whole[place : place + 1] for place in range(len(whole)))


def _empty_parts() -> Iterator[bytes]:
    """Yield parts without rows, and the end of a result."""
    empty = pack_table(Table(("a",), ("mixed",), (), False, 0.0))
    yield from [_message(PART, empty)] * 500
    yield _message(RESULT, empty)


@pytest.mark.parametrize("cancellation", [None, Cancellation()])
@pytest.mark.parametrize("reply", [_drips, _empty_parts])
def test_a_worker_that_keeps_sending_outlives_no_deadline(
    reply: Callable[[], Iterator[bytes]], cancellation: Cancellation | None
) -> None:
    nursery = _Untrusted(reply())
    workers = WorkerPool(nursery, b"")  # pyright: ignore[reportArgumentType] - as far as it is called
    with pytest.raises(QueryTimeout, match="longer than"):
        workers.execute("SELECT 1", Limits(seconds=0.2), cancellation, _Nowhere())
    assert nursery.process.wait(60) == -signal.SIGKILL


def test_temporary_files_are_limited(shop: Database) -> None:
    sql = _COUNT + "SELECT x, randomblob(1000) AS r FROM c ORDER BY r"
    with pytest.raises(ResultTooLarge, match="disk"):
        shop.execute(sql, Limits(seconds=60, disk_bytes=32_000_000))
    assert shop.execute("SELECT count(*) FROM customer").rows == ((4,),)


def test_memory_is_limited_and_the_limit_can_be_raised(shop: Database) -> None:
    sql = "SELECT length(group_concat(x)) FROM (" + _COUNT + "SELECT hex(zeroblob(400000)) AS x FROM c LIMIT 25)"
    with pytest.raises(ResultTooLarge):
        shop.execute(sql, Limits(memory_bytes=20_000_000, cell_bytes=90_000_000))
    assert shop.execute(sql, Limits(memory_bytes=500_000_000, cell_bytes=90_000_000)).rows == ((20_000_024,),)


def test_infinite_numbers_and_odd_texts(shop: Database) -> None:
    sql = "SELECT 9e999, -9e999, char(0) || 'a', CAST(x'80ff' AS TEXT), x'00ff', NULL, 9223372036854775807"
    (row,) = shop.execute(sql).rows
    assert row == (math.inf, -math.inf, "\0a", "\ufffd\ufffd", b"\x00\xff", None, 2**63 - 1)


def _workers() -> set[int]:
    """Processes that serve one of this process's databases."""
    assert NURSERY.pid
    found = subprocess.run(["ps", "-eo", "pid,ppid"], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in found.splitlines()[1:]]
    return {int(pid) for pid, parent in rows if parent == str(NURSERY.pid)}


def test_workers_end_with_their_database(shop_path: Path) -> None:
    others = _workers()
    with Database.open(shop_path) as database:
        database.execute("SELECT 1")
        own = _workers() - others
        assert own
    for _ in range(200):
        if not own & _workers():
            break
        time.sleep(0.02)
    assert not own & _workers()


def test_workers_may_do_nothing_but_read_and_compute(shop_path: Path) -> None:
    others = _workers()
    with Database.open(shop_path) as database:
        database.execute("SELECT 1")
        (pid,) = _workers() - others
        for thread in Path(f"/proc/{pid}/task").iterdir():
            status = dict(line.split(":\t", 1) for line in (thread / "status").read_text().splitlines())
            assert {int(status[name], 16) for name in ("CapPrm", "CapEff", "CapInh", "CapAmb")} == {0}
            assert status["NoNewPrivs"] == "1"
            assert status["Seccomp"] == "2"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root reads what belongs to others")
def test_root_reads_files_that_others_closed(tmp_path: Path, shop_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o700)
    path = folder / "shop.db"
    path.write_bytes(shop_path.read_bytes())
    path.chmod(0o600)
    os.chown(path, 12345, 12345)
    os.chown(folder, 12345, 12345)
    with Database.open(path) as database:
        assert database.execute("SELECT count(*) FROM customer").rows == ((4,),)


def test_a_killed_worker_costs_one_query(shop_path: Path) -> None:
    others = _workers()
    with Database.open(shop_path) as database:
        database.execute("SELECT 1")
        for pid in _workers() - others:
            os.kill(pid, signal.SIGKILL)
        with pytest.raises(QueryError):
            database.execute("SELECT 1")
        assert database.execute("SELECT 1").rows == ((1,),)


def test_no_descriptor_is_left_open(shop_path: Path) -> None:
    def held() -> int:
        return len(os.listdir("/proc/self/fd"))

    with Database.open(shop_path) as database:
        database.execute("SELECT 1")
    before = held()
    for _ in range(3):
        with Database.open(shop_path) as database:
            database.execute("SELECT 1")
            with pytest.raises(QueryTimeout):
                database.execute(_LONG_STEP, Limits(seconds=0.05))
    assert held() <= before


def test_in_a_forked_process(shop_path: Path) -> None:
    program = (
        "import os, sys\nfrom tableturn.tools.database import Database\n"
        "database = Database.open(sys.argv[1])\ndatabase.execute('SELECT 1')\n"
        "pid = os.fork()\n"
        "if pid == 0:\n    os._exit(database.execute('SELECT 5').rows[0][0])\n"
        "code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])\n"
        "sys.exit(code + database.execute('SELECT 2').rows[0][0])\n"
    )
    ended = subprocess.run([sys.executable, "-c", program, str(shop_path)], capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (7, b"")


def test_closed_while_a_query_runs(shop_path: Path) -> None:
    database = Database.open(shop_path)
    errors: list[Exception] = []

    def ask() -> None:
        try:
            database.execute(_COUNT + "SELECT count(*) FROM c", Limits(seconds=0.5))
        except QueryError as error:
            errors.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(0.1)
    database.close()
    thread.join()
    assert [type(error) for error in errors] == [QueryTimeout]
    with pytest.raises(DatabaseUnavailable):
        database.execute("SELECT 1")
