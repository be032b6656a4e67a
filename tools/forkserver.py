"""The caller's side of a fork server, a process that is ready to fork workers.

Started when first needed, restarted if it died, ended with this process. Its program is a module with a function
`serve(descriptor)`, which sends `READY` once it can fork, and takes orders that come with a line to the caller.
"""

from __future__ import annotations

import atexit
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping

READY = b"ready"
"""What it says when it can fork; anything else is why it cannot."""

_END_SECONDS = 5.0
_GREETING_BYTES = 4_096
# Modules are found as the caller finds them: the package may be installed or merely on its path.
_PROGRAM = (
    "import json, sys, importlib; sys.path[:] = json.loads(sys.argv[1]); "
    "importlib.import_module(sys.argv[2]).serve(int(sys.argv[3]))"
)
# Some systems need it to find Python's own libraries.
_INHERITED = "LD_LIBRARY_PATH"


def can_limit_processes() -> bool:
    """Whether this system can enforce resource limits on a process."""
    return sys.platform == "linux" and hasattr(os, "pidfd_open") and bool(sys.executable)


class ForkServerNotStarted(OSError):
    """The fork server could not start; the message gives the reason."""


class ForkServer:
    """A fork server and its control socket, for use from any number of threads."""

    def __init__(
        self,
        module: str,
        environment: Mapping[str, str],
        start_seconds: float,
        variables: tuple[str, ...] = (),
        line: socket.SocketKind = socket.SOCK_SEQPACKET,
    ) -> None:
        """Store how to start the program: module, environment and time limit."""
        self._module, self._environment = module, environment
        self._start_seconds, self._variables, self._line = start_seconds, (_INHERITED, *variables), line
        self._reset_state()
        atexit.register(self.close)
        if hasattr(os, "register_at_fork"):  # not on Windows, where modules with one can be imported all the same
            os.register_at_fork(after_in_child=self.forget)

    @property
    def pid(self) -> int | None:
        """The process id of the server; None if the server is not running."""
        return self._process.pid if self._process and self._process.poll() is None else None

    def call(self, order: bytes) -> socket.socket:
        """Send an order to the server, and return the socket for the reply."""
        with self._lock:
            try:
                return self._send_order(order)
            except ForkServerNotStarted:
                raise
            except OSError:
                # It was killed, by a person or for memory: once is bad luck.
                self._stop_server()
                return self._send_order(order)

    def start(self, wait: bool = True) -> None:
        """Start the server if it is not running, and wait until it can fork workers."""
        with self._lock:
            (self._ensure_server_ready if wait else self._ensure_server_started)()

    def close(self) -> None:
        """Stop the server and its workers; the next call starts a new server."""
        with self._lock:
            self._stop_server()

    def forget(self) -> None:
        """Release the server in a forked child process, which does not own the server."""
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            self._process.returncode = 0  # somebody else's child: there is nothing to wait for
        self._reset_state()

    def _reset_state(self) -> None:
        """Reset the state to that of a server that is not running."""
        self._lock = threading.Lock()
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._greeted = False

    def _send_order(self, order: bytes) -> socket.socket:
        control = self._ensure_server_ready()
        own_end, server_end = socket.socketpair(socket.AF_UNIX, self._line)
        with server_end:
            try:
                socket.send_fds(control, [order], [server_end.fileno()])
            except OSError:
                own_end.close()
                raise
        return own_end

    def _ensure_server_ready(self) -> socket.socket:
        control = self._ensure_server_started()
        if not self._greeted:
            control.settimeout(self._start_seconds)
            try:
                greeting = control.recv(_GREETING_BYTES)
            except OSError as error:
                greeting = str(error).encode()
            if greeting != READY:
                self._stop_server()
                raise ForkServerNotStarted(greeting.decode(errors="replace") or "it ends at once")
            control.settimeout(None)
            self._greeted = True
        return control

    def _ensure_server_started(self) -> socket.socket:
        if self._control is None:
            own_end, server_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with server_end:
                try:
                    self._process = self._spawn_server_process(server_end.fileno())
                except (OSError, ValueError) as error:  # a NUL in the program's name is the latter
                    own_end.close()
                    raise ForkServerNotStarted(str(error)) from None
            self._control, self._greeted = own_end, False
        return self._control

    def _stop_server(self) -> None:
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            try:
                self._process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._control = self._process = None

    def _spawn_server_process(self, descriptor: int) -> subprocess.Popen[bytes]:
        """Start the server process in a new session, with one end of the control socket."""
        if not sys.executable:
            raise OSError("Python's own program is unknown (sys.executable is empty)")
        # Python itself looks at texts only.
        entries: list[object] = list(sys.path)
        path = json.dumps([entry for entry in entries if entry and isinstance(entry, str)])
        variables = {name: os.environ[name] for name in self._variables if name in os.environ}
        return subprocess.Popen(  # noqa: S603 - our own interpreter and program
            [sys.executable, "-I", "-X", "utf8", "-c", _PROGRAM, path, self._module, str(descriptor)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**self._environment, **variables},
            pass_fds=[descriptor],
            start_new_session=True,
        )
