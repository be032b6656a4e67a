"""Attempts to get out of the sandbox, as data, and how each is tried."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tableturn.tools.sandbox import SandboxLimits, SandboxResult, run_python
from tableturn.tools.sandbox.parent import PARENT

LIMITS = SandboxLimits(seconds=0.8, memory_bytes=200_000_000, result_bytes=2_000_000)
CANARY = "canary of the thought"

_DATA = Path(__file__).parent / "data"
_THEMES = ("files", "processes", "network", "resources", "python")
_VARIABLE = "TABLETURN_BENCH_SECRET"
# Short names for the reasons that come up again and again.
_REASONS: Mapping[str, str] = {
    "refused": r"PermissionError|Operation not permitted|\[Errno 1\]",
    "no_module": r"ModuleNotFoundError|ImportError|Missing optional dependency",
}


@dataclass(frozen=True)
class Escape:
    """One attempt.

    Attributes:
        theme: The file it comes from.
        name: What it tries.
        code: How.
        reason: A pattern that the error must match, naming why it fails; empty where the run succeeds harmlessly.
        answer: The first value of the result where the run succeeds harmlessly.
        source: Where this kind of escape was published, if it was.
    """

    theme: str
    name: str
    code: str
    reason: str = ""
    answer: int | str | None = None
    source: str = ""


def load_escapes() -> list[Escape]:
    """All attempts, in the order in which they are to be tried: some leave what the next one looks for."""
    found: list[Escape] = []
    for theme in _THEMES:
        text = (_DATA / f"{theme}.toml").read_text(encoding="utf-8")
        for entry in tomllib.loads(text)["escape"]:
            reason = "|".join(_REASONS.get(part, part) for part in entry.pop("reason", "").split("|"))
            found.append(Escape(theme, reason=reason, **entry))
    return found


def escapes_not_held() -> dict[str, str]:
    """What was wrong with the boundary, by attempt; empty where it held against all of them."""
    with Surroundings.set_up() as surroundings:
        tried = {f"{escape.theme}: {escape.name}": surroundings.try_escape(escape) for escape in load_escapes()}
    return {name: problem for name, problem in tried.items() if problem}


class Surroundings:
    """What an escape would reach: a file, a folder, sockets that listen, another process, a variable, this process."""

    def __init__(self, folder: Path, victim: subprocess.Popen[bytes], sockets: Mapping[str, socket.socket]) -> None:
        self._folder = folder
        self._victim = victim
        self._sockets = sockets
        self._parent = PARENT.pid
        (folder / "secret").write_text(CANARY)

    @classmethod
    @contextlib.contextmanager
    def set_up(cls) -> Generator[Surroundings]:
        """Surroundings that last for the block; the warm parent is started with the variable set."""
        import pandas

        with contextlib.ExitStack() as stack:
            os.environ[_VARIABLE] = CANARY
            stack.callback(os.environ.pop, _VARIABLE)
            PARENT.close()
            run_python("result = 1", {"numbers": pandas.DataFrame({"a": [1, 2, 3], "text": CANARY})}, LIMITS)
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            sockets = {
                "tcp": socket.create_server(("127.0.0.1", 0)),
                "udp": socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
                "unix": socket.socket(socket.AF_UNIX),
                "abstract": socket.socket(socket.AF_UNIX),
            }
            for listener in sockets.values():
                stack.enter_context(listener)
            sockets["udp"].bind(("127.0.0.1", 0))
            sockets["unix"].bind(str(folder / "socket"))
            sockets["abstract"].bind(f"\0tableturn-{os.getpid()}")
            for name in ("unix", "abstract"):
                sockets[name].listen()
            for listener in sockets.values():
                listener.setblocking(False)
            victim = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(10_000)"])
            stack.callback(victim.wait)
            stack.callback(victim.kill)
            yield cls(folder, victim, sockets)

    def try_escape(self, escape: Escape) -> str | None:
        """What went wrong with the boundary, in one line; None if it held, for the reason stated."""
        import pandas

        ran = run_python(
            self._preamble() + escape.code, {"numbers": pandas.DataFrame({"a": [1, 2, 3]})}, LIMITS, static_check=False
        )
        return self._leak() or _mismatch(escape, ran)

    def _preamble(self) -> str:
        """Names for what there is to reach, and the C library with errors raised."""
        places = {
            "SECRET_FILE": str(self._folder / "secret"),
            "FOLDER": str(self._folder),
            "TCP_PORT": self._sockets["tcp"].getsockname()[1],
            "UDP_PORT": self._sockets["udp"].getsockname()[1],
            "UNIX_PATH": str(self._folder / "socket"),
            "ABSTRACT": f"\0tableturn-{os.getpid()}",
            "HOST_PID": os.getpid(),
            "VICTIM_PID": self._victim.pid,
        }
        lines = [f"{name} = {place!r}" for name, place in places.items()]
        return "\n".join(["import ctypes, os, sys", *lines, _CHECK])

    def _leak(self) -> str | None:
        """Traces that an escape left."""
        if sorted(os.listdir(self._folder)) != ["secret", "socket"]:
            return "the folder was changed"
        if (self._folder / "secret").read_text() != CANARY:
            return "the file was changed"
        if self._victim.poll() is not None:
            return "another process was ended"
        if PARENT.pid != self._parent:
            return "the warm parent was ended"
        for name, listener in self._sockets.items():
            with contextlib.suppress(BlockingIOError):
                _ = listener.recv(1) if name == "udp" else listener.accept()
                return f"the {name} socket was reached"
        return None


def _mismatch(escape: Escape, ran: SandboxResult) -> str | None:
    shown = f"{ran.output}{ran.table.rows if ran.table else ''}{ran.error or ''}"
    if CANARY in shown:
        return "the secret was shown"
    if len(shown) > 2 * LIMITS.output_chars:
        return "more was shown than allowed"
    if escape.reason:
        return None if ran.error and re.search(escape.reason, ran.error) else f"expected an error, got {shown[:300]!r}"
    answer = ran.table.rows[0][0] if ran.table else ran.error
    return None if answer == escape.answer else f"expected {escape.answer!r}, got {answer!r}"


_CHECK = """
libc = ctypes.CDLL(None, use_errno=True)
def check(status):
    if status == -1:
        number = ctypes.get_errno() or 1
        raise OSError(number, os.strerror(number))
    return status
"""
