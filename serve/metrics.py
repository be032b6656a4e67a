"""Counters in Prometheus's form."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from ..agent.advice import register_failure_counter

if TYPE_CHECKING:
    from ..agent import Answer
    from ..agent.records import Usage
    from ..tools.errors import TableturnError

WORKERS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable by which the counters of several workers are added up."""

_SECONDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)


_ADVICE = Counter(
    "tableturn_advice_failures", "Advisory parts that failed and were left out of a turn.", ["part"], registry=None
)
"""Of the whole process, as failures are logged."""

register_failure_counter(lambda part: _ADVICE.labels(part).inc())


class Metrics:
    """The Prometheus metrics of one worker process."""

    def __init__(self) -> None:
        registry = self._registry = CollectorRegistry()
        registry.register(_ADVICE)
        self._turns = Counter("tableturn_turns", "Turns that ended, by status.", ["status"], registry=registry)
        self._seconds = Histogram("tableturn_turn_seconds", "Seconds of turns.", buckets=_SECONDS, registry=registry)
        self._calls = Counter("tableturn_model_calls", "Requests to models.", registry=registry)
        self._tokens = Counter("tableturn_tokens", "Tokens of prompts and replies.", ["kind"], registry=registry)
        self._refusals = Counter("tableturn_refused_queries", "Queries that were refused or failed.", registry=registry)
        self._errors = Counter(
            "tableturn_errors", "Turns that failed, by the error's class.", ["kind"], registry=registry
        )

    def count_turn(self, answer: Answer | None, error: TableturnError | None, seconds: float) -> None:
        """Count a turn that ended."""
        self._seconds.observe(seconds)
        if answer is None:
            kind = type(error).__name__ if error else "Internal"
            self._turns.labels("stopped" if kind == "TurnCancelled" else "error").inc()
            self._errors.labels(kind).inc()
            return
        self._turns.labels(answer.status).inc()
        self._refusals.inc(sum(attempt.error is not None for attempt in answer.attempts))

    def count_model_usage(self, usage: Usage) -> None:
        """Count the requests and tokens of a model, even of failed turns."""
        self._calls.inc(usage.llm_calls)
        self._tokens.labels("prompt").inc(usage.prompt_tokens)
        self._tokens.labels("completion").inc(usage.completion_tokens)

    def render(self) -> bytes:
        """Return the metrics of all workers in Prometheus's text format."""
        if os.environ.get(WORKERS_FOLDER):
            registry = CollectorRegistry()
            MultiProcessCollector(registry)
            return generate_latest(registry)
        return generate_latest(self._registry)
