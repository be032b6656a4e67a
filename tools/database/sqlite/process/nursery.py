"""The nursery: a process that has loaded what workers need, holds no data, and forks one whenever it is sent a line."""

from __future__ import annotations

from ....nursery import serve_workers
from .worker import work


def serve(descriptor: int) -> None:
    """Fork a worker for every line that comes, until the control socket ends. Never returns."""
    # Workers make rows and bytes, no cycles: that none are looked for halves the time of a long result.
    serve_workers(descriptor, work)
