"""The loop of a fork server, which forks a worker for every connection."""

from __future__ import annotations

import gc
import os
import signal
import socket
from collections.abc import Callable

from .forkserver import READY
from .sandbox.boundary import die_with_parent


def run_fork_server(descriptor: int, work: Callable[[socket.socket], None]) -> None:
    """Fork a worker for each socket received, and exit when the control socket closes."""
    os.chdir("/")
    control = socket.socket(fileno=descriptor)
    die_with_parent()
    # Nobody waits for workers: the kernel takes them away as soon as they end.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.collect()
    gc.freeze()
    gc.disable()
    control.send(READY)
    while True:
        data, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not data:
            os._exit(0)
        for line in descriptors:
            if os.fork() == 0:
                control.close()
                _run_worker_process(line, work)
            os.close(line)


def _run_worker_process(descriptor: int, work: Callable[[socket.socket], None]) -> None:
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        die_with_parent()
        work(socket.socket(fileno=descriptor))
    finally:
        os._exit(1)
