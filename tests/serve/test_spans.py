"""What a server tells OpenTelemetry: how a turn went, and nothing of what was asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from tableturn.agent import SQLAgent

from tests.serve.conftest import serving


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """Where the spans of a provider go that is set up as `opentelemetry-instrument` does."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    monkeypatch.setattr("tableturn.serve.running_turns._tracer", trace.get_tracer("tableturn"))
    return exporter


def turns(told: InMemorySpanExporter) -> list[ReadableSpan]:
    return [span for span in told.get_finished_spans() if span.name == "tableturn.turn"]


async def test_a_turn_and_its_request_are_spans(
    shop: Path, agent_over: Callable[..., SQLAgent], told: InMemorySpanExporter
) -> None:
    async with serving(agent_over(shop)) as client:
        reply = await client.post("/ask", json={"question": "Who are the zebra customers?", "notes": "secret notes"})
    (span,) = turns(told)
    attributes = dict(span.attributes or {})
    answer = reply.json()
    assert attributes.pop("tableturn.turn.id") == reply.headers["tableturn-turn"]
    assert attributes == {
        "tableturn.status": answer["status"],
        "tableturn.calls": answer["usage"]["llm_calls"],
        "tableturn.tokens": answer["usage"]["prompt_tokens"] + answer["usage"]["completion_tokens"],
        "tableturn.rows": answer["row_count"],
    }
    (request,) = [span for span in told.get_finished_spans() if (span.attributes or {}).get("http.route") == "/ask"]
    assert request.context
    assert span.parent
    assert span.parent.trace_id == request.context.trace_id
    everything = " ".join(span.to_json() for span in told.get_finished_spans())
    assert "zebra" not in everything
    assert "secret" not in everything
    assert "SELECT" not in everything


async def test_a_failed_turn_tells_its_error(
    shop: Path, agent_over: Callable[..., SQLAgent], told: InMemorySpanExporter
) -> None:
    async with serving(agent_over(shop)) as client:
        shop.unlink()
        reply = await client.post("/ask", json={"question": "Who?"})
    (span,) = turns(told)
    assert (span.attributes or {}).get("error.type") == reply.json()["error"]["kind"] == "DatabaseUnavailable"
