"""The caller's side of the warm parent: started when first needed, restarted if it died, ended with this process."""

from __future__ import annotations

import atexit
import json
import os
import socket
import subprocess
import sys
import threading

from ..errors import SandboxUnavailable
from .protocol import READY, Order

_START_SECONDS = 120.0
_END_SECONDS = 5.0
_GREETING_BYTES = 4_096
# Modules are found as the caller finds them: the package may be installed or merely on its path.
_PROGRAM = (
    "import json, sys, importlib; sys.path[:] = json.loads(sys.argv[1]); "
    "importlib.import_module(sys.argv[2]).serve(int(sys.argv[3]))"
)
# Arrow and BLAS otherwise start threads, and a process with threads cannot be forked safely.
_ENVIRONMENT = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "LC_ALL": "C.UTF-8",
}


class WarmParent:
    """A process that forks workers. May be used from any number of threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # More workers than processors would only run one another into their time limits.
        self.turns = threading.BoundedSemaphore(max(2, os.cpu_count() or 1))
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """Its process number while it runs."""
        return self._process.pid if self._process and self._process.poll() is None else None

    def call(self, order: Order) -> socket.socket:
        """The line over which a worker's pipes and its ending will come.

        Raises:
            SandboxUnavailable: The parent doesn't start.
        """
        with self._lock:
            try:
                return _send(self._running(), order)
            except OSError:
                # It was killed, by a person or for memory: once is bad luck.
                self._stop()
                return _send(self._running(), order)

    def start(self) -> None:
        """Start it if it isn't running.

        Raises:
            SandboxUnavailable: It doesn't start.
        """
        with self._lock:
            self._running()

    def close(self) -> None:
        """End the parent and its workers; the next run starts another."""
        with self._lock:
            self._stop()

    def _running(self) -> socket.socket:
        if self._control is None:
            self._control = self._start()
        return self._control

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.settimeout(_START_SECONDS)
        try:
            with theirs:
                self._process = _spawn(theirs.fileno())
            greeting = ours.recv(_GREETING_BYTES)
        except (OSError, ValueError) as error:  # a NUL in the program's name is the latter
            greeting = str(error).encode()
        if greeting != READY:
            ours.close()
            self._stop()
            why = greeting.decode(errors="replace") or "it ends at once"
            raise SandboxUnavailable(f"reasoning with code is off: the sandbox's parent process does not start: {why}")
        ours.settimeout(None)
        return ours

    def _stop(self) -> None:
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            try:
                self._process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._control = self._process = None

    def forget(self) -> None:
        """In a forked copy of the caller's process: the parent is not its own, and locks may be held for ever."""
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            self._process.returncode = 0  # somebody else's child: there is nothing to wait for
        self.__init__()


PARENT = WarmParent()
atexit.register(PARENT.close)
if hasattr(os, "register_at_fork"):  # not on Windows, where this module can be imported all the same
    os.register_at_fork(after_in_child=PARENT.forget)


def _spawn(descriptor: int) -> subprocess.Popen[bytes]:
    """Start the parent with one end of the control socket, in a session of its own, with next to no environment."""
    if not sys.executable:
        raise OSError("Python does not know its own program (sys.executable is empty)")
    # Python itself looks at texts only.
    entries: list[object] = list(sys.path)
    path = json.dumps([entry for entry in entries if entry and isinstance(entry, str)])
    # Some systems need it to find Python's own libraries; no other variable is passed on.
    inherited = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    return subprocess.Popen(  # noqa: S603 - our own interpreter and program
        [sys.executable, "-I", "-X", "utf8", "-c", _PROGRAM, path, f"{__package__}.zygote", str(descriptor)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=_ENVIRONMENT | inherited,
        pass_fds=[descriptor],
        start_new_session=True,
    )


def _send(control: socket.socket, order: Order) -> socket.socket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        try:
            socket.send_fds(control, [order.pack()], [theirs.fileno()])
        except OSError:
            ours.close()
            raise
    return ours
