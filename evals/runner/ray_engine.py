"""Answering on a Ray cluster: workers answer; journal, cache and judging stay here.

Every node needs tableturn, the databases at the same paths, and the same environment (keys, base URLs).
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Generator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from langchain_core.caches import RETURN_VAL_TYPE, BaseCache, InMemoryCache

from ...tools.errors import SettingsError
from ..datasets import Dataset, GoldTurn
from .agents import CACHE_FILE, ReplyCache
from .record import Answerer, RunSpec, TurnRecord
from .run import make_answerer

# Read when Ray is imported: it asks no usage server and warns of no accelerator that nobody uses.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
# A node of a cluster of our own that doesn't answer for ten seconds is busy, not dead.
os.environ.setdefault("RAY_health_check_timeout_ms", "120000")
try:
    ray: Any = import_module("ray")
    RayError: type[Exception] = import_module("ray.exceptions").RayError
    OnNode: Any = import_module("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy
except ImportError as error:
    raise SettingsError("--engine ray needs Ray: pip install 'tableturn[ray]'") from error


@contextmanager
def start_ray(spec: RunSpec, dataset: Dataset, out: Path, jobs: int, annotations: Path | None) -> Generator[Answerer]:
    """Yield an answerer on a Ray cluster: at RAY_ADDRESS, already joined, or on this machine.

    There are no more workers than `jobs`, nor than processors; the folder `annotations` is on each node.
    """
    # What is wrong with the run is told here: Ray would wrap a worker's error.
    make_answerer(spec, dataset, InMemoryCache()).close()
    is_own_cluster = not ray.is_initialized()
    try:
        if is_own_cluster:
            # Not one that something else on this machine happens to have: RAY_ADDRESS names one to join.
            ray.init("local", include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise SettingsError(f"no Ray cluster: {' '.join(str(error).split())[:300]}") from error
    try:
        node = OnNode(ray.get_runtime_context().get_node_id(), soft=False)
        replies = ray.remote(ReplyCache).options(num_cpus=0, scheduling_strategy=node)
        cache = replies.remote((out / CACHE_FILE).absolute())
        worker = ray.remote(_AnswerWorker).options(scheduling_strategy="SPREAD")
        count = max(1, min(jobs, int(ray.cluster_resources().get("CPU", 1))))
        answering = _WorkerPool([worker.remote(spec, dataset, cache, annotations) for _ in range(count)])
        try:
            yield answering
        finally:
            answering.close()
            ray.kill(cache)
    finally:
        if is_own_cluster:
            ray.shutdown()


class _WorkerPool:
    """A pool that gives each interaction to the least busy worker."""

    def __init__(self, workers: Sequence[Any]) -> None:
        self._workers = workers
        self._busy = [0] * len(workers)

    async def answer(self, turns: Sequence[GoldTurn], records: Mapping[str, TurnRecord]) -> AsyncIterator[TurnRecord]:
        """Yield the records of one interaction from the least busy worker."""
        number = self._busy.index(min(self._busy))
        self._busy[number] += 1
        try:
            async for reference in self._workers[number].answer.remote(turns, records):
                yield await reference
        except RayError as error:
            reason = str(error).strip().splitlines()[-1:] or [type(error).__name__]
            raise SettingsError(
                f"a Ray worker was lost ({reason[0][:300]}): start the run again with the same folder to go on"
            ) from error
        finally:
            self._busy[number] -= 1

    def close(self) -> None:
        """Stop all workers."""
        for worker in self._workers:
            ray.kill(worker)


class _AnswerWorker:
    """A process that answers any number of interactions at once."""

    def __init__(self, spec: RunSpec, dataset: Dataset, cache: Any, annotations: Path | None) -> None:
        self._answering = make_answerer(spec, dataset, _RemoteReplyCache(cache), annotations)

    async def answer(self, turns: Sequence[GoldTurn], records: Mapping[str, TurnRecord]) -> AsyncIterator[TurnRecord]:
        async for record in self._answering.answer(turns, records):
            yield record


class _RemoteReplyCache(BaseCache):
    """A client of the run's reply cache, which stays in the process that started the run."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor

    def lookup(self, prompt: str, llm_string: str) -> RETURN_VAL_TYPE | None:
        return ray.get(self._actor.lookup.remote(prompt, llm_string))

    def update(self, prompt: str, llm_string: str, return_val: RETURN_VAL_TYPE) -> None:
        ray.get(self._actor.update.remote(prompt, llm_string, return_val))

    def clear(self, **kwargs: Any) -> None:
        ray.get(self._actor.clear.remote())
