"""Running code: what comes back, within which limits, and how the warm parent lives."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import warnings
import zoneinfo
from collections.abc import Generator
from pathlib import Path

import pandas as pd
import pytest
from tableturn.tools.database import Cancellation, Database
from tableturn.tools.errors import SandboxUnavailable
from tableturn.tools.sandbox import (
    SandboxLimits,
    SandboxResult,
    find_sandbox_problem,
    run_on_database,
    run_python,
    warm_up,
)
from tableturn.tools.sandbox import run as run_module
from tableturn.tools.sandbox.parent import PARENT
from tableturn.tools.sandbox.protocol import RunOrder, WorkerEnding


@pytest.fixture(autouse=True)
def _needs_the_kernel() -> None:
    if problem := find_sandbox_problem():
        pytest.skip(problem)


@pytest.fixture
def numbers() -> Generator[dict[str, pd.DataFrame]]:
    frame = pd.DataFrame({"a": [1, 2, 3], "b": ["x", None, "é"]})
    yield {"numbers": frame}
    assert frame.equals(pd.DataFrame({"a": [1, 2, 3], "b": ["x", None, "é"]}))


def rows(ran: SandboxResult) -> tuple[tuple[object, ...], ...]:
    assert ran.error is None, ran.error
    assert ran.table is not None
    return ran.table.rows


class TestAnswers:
    def test_a_frame(self, numbers: dict[str, pd.DataFrame]) -> None:
        ran = run_python("result = db_dict['numbers'][['b', 'a']]", numbers)
        assert rows(ran) == (("x", 1), (None, 2), ("é", 3))
        assert ran.table is not None
        assert ran.table.columns == ("b", "a")
        assert ran.table.types == ("text", "integer")
        assert not ran.table.truncated
        assert ran.elapsed > 0

    def test_rows_beyond_the_limit_are_cut(self) -> None:
        ran = run_python("result = range(100)", {}, SandboxLimits(rows=7))
        assert len(rows(ran)) == 7
        assert ran.table is not None
        assert ran.table.truncated

    def test_the_last_expression(self) -> None:
        assert rows(run_python("x = 2\nx + 1", {})) == ((3,),)

    def test_the_last_print(self) -> None:
        ran = run_python("print('first')\nprint(1 + 1)", {})
        assert rows(ran) == ((2,),)
        assert ran.output == "first\n2\n"

    def test_the_last_assignment(self) -> None:
        assert rows(run_python("answer = 5", {})) == ((5,),)

    def test_result_wins(self) -> None:
        assert rows(run_python("result = 1\nprint(2)", {})) == ((1,),)

    def test_no_answer(self) -> None:
        assert run_python("for _ in range(2): pass", {}).error == "the code leaves no answer: assign it to `result`"

    def test_none_is_a_null(self) -> None:
        assert rows(run_python("result = None", {})) == ((None,),)

    def test_mixed_and_binary_columns_pass_unchanged(self) -> None:
        values = [1, 2.5, "three", b"\x00\xff", None, True]
        frame = pd.DataFrame({"any": pd.Series(values, dtype=object), "n": range(6)})
        assert rows(run_python("result = db_dict['t']", {"t": frame})) == (
            (1, 0), (2.5, 1), ("three", 2), (b"\x00\xff", 3), (None, 4), (1, 5),
        )  # fmt: skip

    def test_frames_that_arrow_cannot_hold_are_refused(self) -> None:
        ran = run_python("result = 1", {"t": pd.DataFrame({"a": pd.Series([object(), 1], dtype=object)})})
        assert ran.error == "column 'a' holds a object, which cannot be passed to the sandbox"
        ran = run_python("result = 1", {"t": pd.DataFrame({"a": [2**70]})})
        assert ran.error is not None
        assert ran.error.startswith("a table cannot be passed to the sandbox")

    def test_values_that_no_database_holds(self) -> None:
        assert rows(run_python("result = [2 ** 70, float('nan'), float('inf'), 'a\\ud800']", {})) == (
            (float(2**70),), (None,), (float("inf"),), ("a?",),
        )  # fmt: skip
        assert run_python("result = 10 ** 400", {}).error == "OverflowError: int too large to convert to float"

    def test_forged_values_are_checked_too(self) -> None:
        code = 'import os\nos.write(4, b\'{"columns": ["a"], "rows": [[NaN], [%d]], "truncated": 0}\' % 2 ** 80)'
        assert rows(run_python(code + "\nos._exit(0)", {}, static_check=False)) == ((None,), (float(2**80),))

    def test_forged_replies_obey_the_limits(self) -> None:
        def forged(reply: str, limits: SandboxLimits) -> SandboxResult:
            code = f"import os\nos.write(4, ({reply}).encode())\nos._exit(0)"
            return run_python(code, {}, limits, static_check=False)

        limits = SandboxLimits(rows=3, output_chars=10)
        many = """'{"columns": ["a"], "rows": [[1], [2], [3], [4]], "truncated": false}'"""
        assert forged(many, limits).error == "the run ended with a reply that is not one"
        told = """'{"error": "%s", "output": "%s"}' % ("e" * 9_000, "o" * 9_000)"""
        ran = forged(told, limits)
        assert ran.error is not None
        assert len(ran.error) == 2_000
        assert len(ran.output) < 60
        long = """'{"columns": ["a"], "rows": [["%s"]], "truncated": false}' % ("x" * 1_000_001)"""
        assert forged(long, limits).error == "a value of the result has more than 1,000,000 characters or bytes"
        wide = """'{"columns": %s, "rows": [], "truncated": false}' % (["a"] * 2_001)"""
        assert (
            forged(wide.replace('["a"]', "[0]"), limits).error
            == "the result has more than 2,000 columns: select or aggregate more"
        )
        keyed = """'{"columns": ["a"], "rows": [[1]], "truncated": false, "index_columns": 10000}'"""
        assert forged(keyed, limits).index_columns == 1

    def test_one_frame_under_several_names_travels_once(self) -> None:
        frame = pd.DataFrame({"a": range(100_000)})
        names = [f"name {number}" for number in range(50)]
        ran = run_python("result = sum(map(len, db_dict.values()))", dict.fromkeys(names, frame))
        assert rows(ran) == ((5_000_000,),)

    def test_labelled_values(self) -> None:
        ran = run_python("result = pd.Series(['x', 'y', 'x']).value_counts().to_dict()", {})
        assert rows(ran) == (("x", 2), ("y", 1))
        assert ran.labelled
        assert ran.index_columns == 1

    @pytest.mark.skipif(not zoneinfo.available_timezones(), reason="this system has no time zones")
    def test_time_zones(self) -> None:
        code = "result = pd.Timestamp('2020-07-01 10:00', tz='UTC').tz_convert('Europe/Paris').hour"
        assert rows(run_python(code, {})) == ((12,),)
        code = "from zoneinfo import ZoneInfo\nresult = pd.date_range('2020', periods=2, tz=ZoneInfo('Asia/Tokyo'))"
        assert rows(run_python(code, {})) == (("2020-01-01",), ("2020-01-02",))

    def test_records(self) -> None:
        assert rows(run_python("result = pd.DataFrame({'a': [1]}).to_records().tolist()", {})) == ((0, 1),)


class TestOnDatabase:
    @pytest.fixture
    def database(self, tmp_path: Path) -> Generator[Database]:
        path = tmp_path / "shop.db"
        with sqlite3.connect(path) as connection:
            connection.executescript("CREATE TABLE orders (x INTEGER); INSERT INTO orders VALUES (1), (2);")
        connection.close()
        with Database.open(path) as opened:
            yield opened

    def test_runs_over_the_tables_named(self, database: Database) -> None:
        ran, loaded = run_on_database("result = db_dict['Orders'].x.sum()", database)
        assert rows(ran) == ((3,),)
        assert list(loaded.frames) == ["Orders"]

    def test_loads_nothing_for_code_that_will_not_run(self, database: Database) -> None:
        ran, loaded = run_on_database("import os\nresult = db_dict['orders']", database)
        assert ran.error is not None
        assert ran.error.startswith("not allowed: importing 'os'")
        assert not loaded.frames


class TestErrors:
    def test_name_the_line(self) -> None:
        assert run_python("x = 1\nresult = {}['k']", {}).error == "KeyError: 'k' (line 2)"

    def test_keep_what_was_printed(self) -> None:
        assert run_python("print('so far')\n1 / 0", {}).output == "so far\n"

    def test_syntax(self) -> None:
        assert run_python("result = (", {}).error == "SyntaxError: '(' was never closed (line 1)"

    def test_refused_before_running(self) -> None:
        ran = run_python("import os", {})
        assert ran.error is not None
        assert ran.error.startswith("not allowed: importing 'os'")

    def test_output_is_bounded(self) -> None:
        ran = run_python("print('x' * 500)\nresult = 1", {}, SandboxLimits(output_chars=100))
        assert ran.output == "x" * 100 + "\n[401 more characters]"

    @pytest.mark.parametrize(
        "code", ["print('x' * 400_000_000)", "text = 'x' * 300_000_000\nprint(text)", "print(*['x' * 1_000_000] * 400)"]
    )
    def test_a_huge_print_is_cut(self, code: str) -> None:
        ran = run_python(code, {}, SandboxLimits(output_chars=100))
        assert ran.output.startswith("x" * 100 + "\n[")
        assert ran.output.endswith(" more characters]")
        assert ran.error is not None
        assert "more than 5,000,000 bytes" in ran.error or "leaves no answer" in ran.error

    def test_more_bytes_than_memory_holds_twice(self) -> None:
        for code in ("result = [['x' * 1000] * 1000] * 1000", "result = {'a' * 400_000_000: 1}"):
            ran = run_python(code, {})
            assert ran.error == "the result has more than 5,000,000 bytes: select or aggregate more"

    def test_columns_are_bounded(self) -> None:
        ran = run_python("result = pd.DataFrame([range(2_001)])", {})
        assert ran.error == "the result has more than 2,000 columns: select or aggregate more"
        ran = run_python("result = pd.DataFrame([range(2_000)])", {})
        assert ran.table is not None
        assert len(ran.table.columns) == 2_000

    def test_long_code_is_not_parsed(self) -> None:
        limits = SandboxLimits(code_bytes=1_000)
        for static_check in (True, False):
            ran = run_python("é" * 501, {}, limits, static_check=static_check)
            assert ran.error == "the code has 1,002 bytes, and 1,000 may be passed: write less"
        assert "may be passed: write less" in (run_python("x = 1\n" * 500_000, {}).error or "")

    def test_too_much_input(self) -> None:
        frame = pd.DataFrame({"a": range(100_000)})
        ran = run_python("result = 1", {"t": frame}, SandboxLimits(input_bytes=1_000))
        assert ran.error is not None
        assert ran.error.endswith("bytes; the limit is 1,000: use fewer tables")

    def test_time(self) -> None:
        ran = run_python("while True: pass", {}, SandboxLimits(seconds=0.3))
        assert ran.timed_out
        assert ran.error == "the code ran past 0.3 s"

    def test_large_frames_pass_both_ways(self) -> None:
        frame = pd.DataFrame({"a": range(300_000), "b": "some text"})
        limits = SandboxLimits(rows=40_000)
        assert len(rows(run_python("result = db_dict['t']", {"t": frame}, limits))) == 40_000


class TestCancellation:
    def test_ends_a_run(self) -> None:
        cancellation, ended = Cancellation(), threading.Event()
        found: list[SandboxResult] = []

        def run() -> None:
            limits = SandboxLimits(seconds=3_600)
            found.append(run_python("while True: pass", {}, limits, cancellation=cancellation))
            ended.set()

        run_python("result = 1", {})
        children = Path(f"/proc/{PARENT.pid}/task/{PARENT.pid}/children")
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        while len(children.read_text().split()) < 2 and not ended.wait(0.05):
            pass
        cancellation.cancel()
        assert ended.wait(60)
        assert found[0].error == "the run was cancelled"
        assert not found[0].timed_out
        while len(children.read_text().split()) > 1:
            time.sleep(0.05)

    def test_ends_waiting_for_a_turn(self) -> None:
        cancellation = Cancellation()
        cancellation.cancel()
        with contextlib.ExitStack() as held:
            for _ in range(max(2, os.cpu_count() or 1)):
                PARENT.slots.acquire()
                held.callback(PARENT.slots.release)
            assert run_python("result = 1", {}, cancellation=cancellation).error == "the run was cancelled"

    def test_ends_the_loading_of_tables(self, tmp_path: Path) -> None:
        path = tmp_path / "shop.db"
        with sqlite3.connect(path) as connection:
            connection.executescript("CREATE TABLE orders (x INTEGER); INSERT INTO orders VALUES (1);")
        connection.close()
        cancellation = Cancellation()
        cancellation.cancel()
        with Database.open(path) as database:
            ran, loaded = run_on_database("result = db_dict['orders']", database, cancellation=cancellation)
        assert ran.error == "the run was cancelled"
        assert not loaded.frames


class TestWorker:
    def test_has_no_capabilities(self) -> None:
        run_python("result = 1", {})
        children = Path(f"/proc/{PARENT.pid}/task/{PARENT.pid}/children").read_text().split()
        status = Path(f"/proc/{children[-1]}/status").read_text()
        deadline = time.monotonic() + 10
        while "NoNewPrivs:\t1" not in status and time.monotonic() < deadline:
            time.sleep(0.05)
            status = Path(f"/proc/{children[-1]}/status").read_text()
        held = {line.partition(":")[0]: int(line.split()[1], 16) for line in status.splitlines() if line[:3] == "Cap"}
        # Only root has a bounding set to drop.
        kept = {"CapInh", "CapPrm", "CapEff", "CapAmb"} | ({"CapBnd"} if os.geteuid() == 0 else set())
        assert {name: held[name] for name in kept} == dict.fromkeys(kept, 0)

    def test_gives_no_strange_advice_on_memory(self) -> None:
        code = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
memory = libc.mmap
memory.restype, libc.madvise.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
page = memory(None, ctypes.c_size_t(4096), 3, 0x22, -1, ctypes.c_size_t(0))
result = [(advice, libc.madvise(page, 4096, advice), ctypes.get_errno()) for advice in (4, 12, 100)]
"""
        ran = run_python(code, {}, static_check=False)
        assert rows(ran) == ((4, 0, 0), (12, -1, 1), (100, -1, 1))

    def test_sees_no_path_of_the_host_in_its_arguments(self) -> None:
        ran = run_python("import sys\nresult = [sys.argv, sys.orig_argv]", {}, static_check=False)
        assert rows(ran) == (("",), ("",))


class TestParent:
    def test_runs_side_by_side(self, numbers: dict[str, pd.DataFrame]) -> None:
        found: dict[int, object] = {}

        def one(number: int) -> None:
            found[number] = rows(run_python(f"result = db_dict['numbers']['a'].sum() + {number}", numbers))

        threads = [threading.Thread(target=one, args=(number,)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == {number: ((6 + number,),) for number in range(12)}

    async def test_from_async_code(self) -> None:
        ran = await asyncio.gather(*(asyncio.to_thread(run_python, f"result = {n}", {}) for n in range(4)))
        assert [rows(each) for each in ran] == [((n,),) for n in range(4)]

    def test_a_killed_parent_is_replaced(self) -> None:
        run_python("result = 1", {})
        first = PARENT.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        time.sleep(0.2)
        assert rows(run_python("result = 2", {})) == ((2,),)
        assert PARENT.pid != first

    def test_a_parent_killed_during_a_run(self) -> None:
        run_python("result = 1", {})
        pid = PARENT.pid
        assert pid is not None
        threading.Timer(0.3, os.kill, (pid, signal.SIGKILL)).start()
        ran = run_python("import time\ntime.sleep(20)", {})
        assert ran.error == "the sandbox's parent process was ended during the run"

    @pytest.mark.parametrize("seconds", [float("inf"), float("nan"), 1e300, -1])
    def test_no_order_ends_it(self, seconds: float) -> None:
        run_python("result = 1", {})
        pid = PARENT.pid
        for order in (
            RunOrder(seconds, 10**9, "kernel"),
            RunOrder(1, 2**70, "kernel"),
            RunOrder(1, -(2**70), "kernel"),
        ):
            with PARENT.run(order) as line:
                line.settimeout(10)
                line.recv(64)
        with PARENT.run(RunOrder("soon", None, "kernel")) as line:  # pyright: ignore[reportArgumentType]
            line.settimeout(10)
            assert WorkerEnding.unpack(line.recv(64)).cause == "fork"
        assert rows(run_python("result = 2", {})) == ((2,),)
        assert PARENT.pid == pid

    def test_it_may_be_started_ahead(self) -> None:
        PARENT.close()
        warm_up()
        pid = PARENT.pid
        assert pid is not None
        run_python("result = 1", {})
        assert PARENT.pid == pid

    def test_nothing_is_left_when_it_closes(self) -> None:
        run_python("result = 1", {})
        pid = PARENT.pid
        assert pid is not None
        PARENT.close()
        assert PARENT.pid is None
        assert not Path(f"/proc/{pid}").exists()

    def test_it_ends_with_a_caller_that_is_killed(self) -> None:
        program = (
            "from tableturn.tools.sandbox import run_python; from tableturn.tools.sandbox.parent import PARENT\n"
            "run_python('result = 1', {}); print(PARENT.pid, flush=True)\n"
            "run_python('import time; time.sleep(60)', {})"
        )
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as caller:
            assert caller.stdout is not None
            pid = int(caller.stdout.readline())
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            assert children
            caller.kill()
        deadline = time.monotonic() + 60
        while any(Path(f"/proc/{each}").exists() for each in (pid, *children)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not [each for each in (pid, *children) if Path(f"/proc/{each}").exists()]

    def test_a_forked_caller_has_its_own(self) -> None:
        run_python("result = 1", {})
        with warnings.catch_warnings():
            # Other tests may have left threads behind, which newer Pythons warn of.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            os._exit(0 if PARENT.pid is None else 1)
        assert os.waitpid(pid, 0)[1] == 0
        assert rows(run_python("result = 2", {})) == ((2,),)

    def test_it_has_one_thread_and_no_memory_both_writable_and_executable(self) -> None:
        run_python("result = 1", {})
        assert len(os.listdir(f"/proc/{PARENT.pid}/task")) == 1
        maps = Path(f"/proc/{PARENT.pid}/maps").read_text().splitlines()
        assert not [line for line in maps if line.split()[1].startswith("rwx")]
        # Memory shared among workers would carry data from run to run.
        assert not [line for line in maps if line.split()[1].startswith("rw") and line.split()[1].endswith("s")]

    def test_a_worker_that_goes_on_after_its_reply_is_ended(self) -> None:
        code = """
import os
os.write(4, b'{"error": null, "columns": ["a"], "rows": [[1]], "truncated": false}')
os.close(4)
while True:
    pass
"""
        assert rows(run_python(code, {}, static_check=False)) == ((1,),)
        deadline = time.monotonic() + 60
        waiting = Path(f"/proc/{PARENT.pid}/task/{PARENT.pid}/children")
        while len(waiting.read_text().split()) > 1 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert len(waiting.read_text().split()) == 1

    def test_many_runs_leave_nothing(self) -> None:
        def held() -> tuple[int, int, int]:
            children = Path(f"/proc/{PARENT.pid}/task/{PARENT.pid}/children").read_text().split()
            return len(children), len(os.listdir(f"/proc/{PARENT.pid}/fd")), len(os.listdir("/proc/self/fd"))

        run_python("result = 1", {})
        time.sleep(0.3)
        before = held()
        for number in range(60):
            run_python(["result = 1", "1 / 0", "import os", "result = 'x' * 10_000_000"][number % 4], {})
        deadline = time.monotonic() + 60
        while held() != before and time.monotonic() < deadline:
            time.sleep(0.05)
        assert held() == before


class TestAvailability:
    def test_says_what_is_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(run_module, "landlock_version", lambda: 0)
        problem = find_sandbox_problem()
        assert problem is not None
        assert problem.startswith("reasoning with code is off: this kernel has no Landlock")
        assert "\n" not in problem
        with pytest.raises(SandboxUnavailable, match="without_landlock"):
            run_python("result = 1", {})
        weaker = SandboxLimits(boundary="without_landlock")
        assert rows(run_python("result = 1", {}, weaker)) == ((1,),)

    @pytest.mark.parametrize("boundary", ["kernel", "without_landlock"])
    def test_files_are_closed_with_and_without_landlock(self, boundary: str) -> None:
        limits = SandboxLimits(boundary="kernel" if boundary == "kernel" else "without_landlock")
        ran = run_python("open('/etc/passwd')", {}, limits, static_check=False)
        assert ran.error is not None
        assert "Operation not permitted" in ran.error

    def test_says_why_the_parent_does_not_start(self, monkeypatch: pytest.MonkeyPatch) -> None:
        PARENT.close()
        monkeypatch.setattr(sys, "executable", "/nowhere/python")
        with pytest.raises(SandboxUnavailable, match=r"does not start: .*/nowhere/python"):
            run_python("result = 1", {})
        monkeypatch.setattr(sys, "executable", None)
        with pytest.raises(SandboxUnavailable, match="own program is unknown"):
            run_python("result = 1", {})
        monkeypatch.setattr(sys, "executable", "/bin/true")
        with pytest.raises(SandboxUnavailable, match="does not start: it ends at once"):
            run_python("result = 1", {})
        monkeypatch.undo()
        assert rows(run_python("result = 1", {})) == ((1,),)

    def test_a_path_that_is_no_text_is_left_out(self, monkeypatch: pytest.MonkeyPatch) -> None:
        PARENT.close()
        monkeypatch.setattr(sys, "path", [Path("/nowhere"), *sys.path])
        assert rows(run_python("result = 1", {})) == ((1,),)

    def test_no_boundary_only_when_asked_for(self) -> None:
        limits = SandboxLimits(boundary="none_i_trust_this_code")
        assert rows(run_python("result = open('/dev/null').read()", {}, limits, static_check=False)) == (("",),)
