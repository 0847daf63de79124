"""OpenTelemetry traces: a span for every request, with spans of what was done meanwhile.

Spans have counts and times: no texts, no users, and of addresses the route alone. Needs the
`tracing` extra. Where spans go is said by the standard OTEL_* variables.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from types import MappingProxyType

from fastapi import FastAPI
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor
from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import Event as SpanEvent
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Status
from opentelemetry.util.types import AttributeValue

from semantic_memory.domain.events import (
    ContextPacked,
    DatabaseUsed,
    Event,
    FactsExtracted,
    MemoriesEmbedded,
    QueryEmbedded,
    Searched,
)

_UNTRACED = "healthz,readyz,metrics"
_SPANS: Mapping[type[Event], str] = MappingProxyType(
    {
        DatabaseUsed: "database",
        QueryEmbedded: "embed",
        MemoriesEmbedded: "embed",
        Searched: "search",
        ContextPacked: "pack",
        FactsExtracted: "extract",
    }
)
"""Events that are spans of their own; they end when they are reported."""
_KEPT = frozenset(
    {
        "http.flavor",
        "http.method",
        "http.request.method",
        "http.response.status_code",
        "http.route",
        "http.scheme",
        "http.status_code",
        "network.protocol.version",
        "error.type",
        "exception.type",
        "url.scheme",
    }
)
"""Attributes of text that are exported. Addresses hold users, queries and ids of memories."""


class Tracing:
    """The traces of a service, as an observer of its events."""

    def __init__(self, exporter: SpanExporter | None = None) -> None:
        """Send spans to `exporter`, by default to the collector that the environment names."""
        named = Resource.create({SERVICE_NAME: "semantic-memory"})
        self._provider = TracerProvider(resource=named.merge(OTELResourceDetector().detect()))
        stripped = _Stripped(exporter or OTLPSpanExporter())
        self._provider.add_span_processor(BatchSpanProcessor(stripped))
        self._tracer = self._provider.get_tracer("semantic_memory")

    def __call__(self, event: Event, /) -> None:
        """Make a span of an event, or add its figures to the span of the request."""
        values = ((field.name, getattr(event, field.name)) for field in fields(event))
        figures = {name: value for name, value in values if isinstance(value, int | float)}
        if (name := _SPANS.get(type(event))) is not None:
            end = time.time_ns()
            start = end - int(figures.pop("seconds", 0.0) * 1e9)
            self._tracer.start_span(name, attributes=figures, start_time=start).end(end)
            return
        span = trace.get_current_span()
        if span.is_recording():
            span.add_event(type(event).__name__, figures)

    @contextmanager
    def traced(self, app: FastAPI) -> Iterator[None]:
        """Trace the requests to `app`; what is still to be sent is sent at the end."""
        FastAPIInstrumentor.instrument_app(
            app, tracer_provider=self._provider, excluded_urls=_UNTRACED
        )
        try:
            yield
        finally:
            FastAPIInstrumentor.uninstrument_app(app)
            self._provider.shutdown()


class _Stripped(SpanExporter):
    """Exports spans without what may name a user or quote a text."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export copies."""
        return self._exporter.export([_stripped(span) for span in spans])

    def shutdown(self) -> None:
        """Shut the exporter down."""
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Flush the exporter."""
        return self._exporter.force_flush(timeout_millis)


def _stripped(span: ReadableSpan) -> ReadableSpan:
    events = [SpanEvent(one.name, _figures(one.attributes), one.timestamp) for one in span.events]
    return ReadableSpan(
        name=span.name,
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes=_figures(span.attributes),
        events=events,
        links=span.links,
        kind=span.kind,
        status=Status(span.status.status_code),  # its description quotes the error
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def _figures(attributes: Mapping[str, AttributeValue] | None) -> dict[str, AttributeValue]:
    return {
        name: value
        for name, value in (attributes or {}).items()
        if name in _KEPT or isinstance(value, int | float)
    }
