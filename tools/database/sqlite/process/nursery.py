"""The nursery: a process that has loaded what workers need, holds no data, and forks one whenever it is sent a line."""

from __future__ import annotations

import gc
import os
import signal
import socket

from ....forkserver import READY
from ....sandbox.boundary import die_with_parent
from .worker import work


def serve(descriptor: int) -> None:
    """Fork a worker for every line that comes, until the control socket ends. Never returns."""
    os.chdir("/")
    control = socket.socket(fileno=descriptor)
    die_with_parent()
    # Nobody waits for workers: the kernel takes them away as soon as they end.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    # Workers make rows and bytes, no cycles: looking for some would double the time of a long result.
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
                _become_worker(line)
            os.close(line)


def _become_worker(descriptor: int) -> None:
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        die_with_parent()
        work(socket.socket(fileno=descriptor))
    finally:
        os._exit(1)
