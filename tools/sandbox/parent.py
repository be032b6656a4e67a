"""The caller's side of the warm parent."""

from __future__ import annotations

import os
import socket
import threading

from ..errors import SandboxUnavailable
from ..forkserver import ForkServer
from .protocol import Order

_START_SECONDS = 120.0
# Arrow and BLAS otherwise start threads, and a process with threads cannot be forked safely.
_ENVIRONMENT = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "LC_ALL": "C.UTF-8",
}


class WarmParent(ForkServer):
    """A process that forks workers for code. May be used from any number of threads."""

    def __init__(self) -> None:
        super().__init__(f"{__package__}.zygote", _ENVIRONMENT, _START_SECONDS)

    def run(self, order: Order) -> socket.socket:
        """The line over which a worker's pipes and its ending will come.

        Raises:
            SandboxUnavailable: The parent doesn't start.
        """
        try:
            return self.call(order.pack())
        except OSError as error:
            raise _unavailable(error) from None

    def warm_up(self) -> None:
        """Start it if it isn't running.

        Raises:
            SandboxUnavailable: It doesn't start.
        """
        try:
            self.start()
        except OSError as error:
            raise _unavailable(error) from None

    def _begin(self) -> None:
        super()._begin()
        # More workers than processors would only run one another into their time limits.
        self.turns = threading.BoundedSemaphore(max(2, os.cpu_count() or 1))


def _unavailable(error: OSError) -> SandboxUnavailable:
    return SandboxUnavailable(f"reasoning with code is off: the sandbox's parent process does not start: {error}")


PARENT = WarmParent()
