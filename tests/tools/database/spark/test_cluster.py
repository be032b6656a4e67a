"""What a benchmark starts ends with it."""

from __future__ import annotations

import subprocess
import sys

from tests.support.spark_cluster import guarded

_HOLDER = """
import subprocess, sys
from tests.support.spark_cluster import guarded
command = guarded("/bin/sh", "-c", "sleep 600 & echo started; wait; echo survived")
subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True).wait()
"""


def test_what_is_guarded_ends_with_a_process_that_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", _HOLDER], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "started\n"
        holder.kill()
        # The end of the pipe, which everything that was started holds.
        assert holder.stdout.read() == ""


def test_what_is_guarded_ends_with_its_command() -> None:
    with subprocess.Popen(
        guarded("echo", "x"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as ended:
        assert ended.stdout is not None
        assert ended.stdout.read() == "x\n"
        ended.wait()
