"""Resource limits of a worker, kept by the kernel."""

from __future__ import annotations

import resource


def memory_held() -> int:
    """Bytes of address space that this process has."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def bound_worker() -> None:
    """Bound what this process may use whatever it runs: no files written, processes, locked memory or core dumps."""
    for kind in (
        resource.RLIMIT_FSIZE,
        resource.RLIMIT_CORE,
        resource.RLIMIT_NPROC,
        resource.RLIMIT_MEMLOCK,
        resource.RLIMIT_MSGQUEUE,
    ):
        resource.setrlimit(kind, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))


def bound_run(pid: int, seconds: float, memory_bytes: int) -> None:
    """Bound the CPU time and address space of a process of one's own."""
    cpu = int(seconds) + 2
    for kind, value in ((resource.RLIMIT_CPU, cpu), (resource.RLIMIT_AS, memory_bytes)):
        hard = resource.prlimit(pid, kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.prlimit(pid, kind, (value, value))
