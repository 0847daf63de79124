"""OpenTelemetry traces: a span for every request, with what happened meanwhile as its events.

Needs the `tracing` extra. Where spans go is said by the standard OTEL_* variables.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields

from fastapi import FastAPI
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor
from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter

from semantic_memory.domain.events import Event

_UNTRACED = "healthz,readyz,metrics"


@contextmanager
def traced(app: FastAPI, exporter: SpanExporter | None = None) -> Iterator[None]:
    """Trace the requests to `app`; what is still to be sent is sent at the end."""
    named = Resource.create({SERVICE_NAME: "semantic-memory"})
    provider = TracerProvider(resource=named.merge(OTELResourceDetector().detect()))
    provider.add_span_processor(BatchSpanProcessor(exporter or OTLPSpanExporter()))
    FastAPIInstrumentor.instrument_app(app, tracer_provider=provider, excluded_urls=_UNTRACED)
    try:
        yield
    finally:
        FastAPIInstrumentor.uninstrument_app(app)
        provider.shutdown()


def note_event(event: Event) -> None:
    """Add the figures of `event` to the span of the request that made it happen."""
    span = trace.get_current_span()
    if span.is_recording():
        values = ((field.name, getattr(event, field.name)) for field in fields(event))
        figures = {name: value for name, value in values if isinstance(value, int | float)}
        span.add_event(type(event).__name__, figures)
