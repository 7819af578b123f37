"""Traces: one id for a request and all the work that it causes, in every process, and spans of OpenTelemetry if wanted.

A trace travels as W3C's `traceparent` (https://www.w3.org/TR/trace-context/): in a variable of the context within a
process, in the rows of tasks and evaluations between processes. Its id is the request's id, and a field of each log
line (`runtime.logs`). Without a collector nothing else happens.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

from runtime.errors import MissingTracePackages

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

SpanKind = Literal["internal", "server", "client", "producer", "consumer"]

SEND_SECONDS = 2.0
"""Time limit for sending some spans, further tries included: the collector may be away when a process has to end."""

_TRACE: ContextVar[str | None] = ContextVar("trace", default=None)
_PARENT = re.compile(r"00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})")


class _Exporter:
    """Where the spans of this process go."""

    def __init__(self) -> None:
        self.url: str | None = None
        self.role = ""
        self._made: tuple[int, TracerProvider] | None = None

    def provider(self) -> TracerProvider:
        """The provider of this process: its thread does not survive a fork."""
        if self._made is None or self._made[0] != os.getpid():
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor

            resource = Resource.create({"service.name": f"steelyard-{self.role}", "process.pid": os.getpid()})
            made = TracerProvider(resource=resource)
            exporter = OTLPSpanExporter(endpoint=self.url, timeout=SEND_SECONDS)
            made.add_span_processor(BatchSpanProcessor(exporter))
            self._made = os.getpid(), made
        return self._made[1]

    def flush(self) -> None:
        """Send what this process has not sent yet."""
        if self._made is not None and self._made[0] == os.getpid():
            self._made[1].force_flush()


_EXPORTER = _Exporter()


def set_up_traces(url: str | None, role: str) -> None:
    """Send the spans of this process, and of processes forked from it, to a collector; None: to nobody.

    Raises
    ------
    MissingTracePackages
        If there is a collector, but not the packages that speak to it.
    """
    if url is not None and not all(map(find_spec, ("opentelemetry.sdk", "opentelemetry.exporter"))):
        raise MissingTracePackages
    _EXPORTER.url, _EXPORTER.role = url, role


def flush_traces() -> None:
    """Send what a process that ends without Python's own end has not sent yet."""
    _EXPORTER.flush()


def current_trace() -> str | None:
    """The trace of the work in progress, as `traceparent`."""
    return _TRACE.get()


def trace_id(trace: str | None) -> str | None:
    """The id of a trace, None without one or where the text is none."""
    found = _PARENT.fullmatch(trace or "")
    return found[1] if found else None


class Span:
    """A piece of work within a trace, which nobody records."""

    def __init__(self, trace: str) -> None:
        self.trace = trace

    def describe(self, name: str | None = None, **attributes: object) -> None:
        """Give it another name, and attributes."""


class _RecordedSpan(Span):
    def __init__(self, trace: str, recorded: Any) -> None:
        super().__init__(trace)
        self._recorded = recorded

    def describe(self, name: str | None = None, **attributes: object) -> None:
        if name is not None:
            self._recorded.update_name(name)
        self._recorded.set_attributes(_known(attributes))


@contextmanager
def span(name: str, parent: str | None = None, kind: SpanKind = "internal", **attributes: object) -> Iterator[Span]:
    """A context for a piece of work in the trace of its parent, by default of the work in progress, or in a new one.

    Of an exception its class is recorded, and not its message, which may quote a user's text.
    """
    parent = parent if trace_id(parent) else current_trace()
    if _EXPORTER.url is not None:
        with _recorded_span(name, parent, kind, attributes) as recorded:
            yield recorded
    elif parent is not None and parent == current_trace():
        yield Span(parent)
    else:
        with _within(parent or _new_trace()) as trace:
            yield Span(trace)


@contextmanager
def _within(trace: str) -> Iterator[str]:
    token = _TRACE.set(trace)
    try:
        yield trace
    finally:
        _TRACE.reset(token)


def _new_trace() -> str:
    # Whoever records spans later in this trace may: nobody has decided against it.
    return f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"


@contextmanager
def _recorded_span(name: str, parent: str | None, kind: SpanKind, attributes: dict[str, object]) -> Iterator[Span]:
    from opentelemetry import trace as api

    around = api.set_span_in_context(api.NonRecordingSpan(_span_context(parent)))
    recorded = (
        _EXPORTER.provider()
        .get_tracer("steelyard")
        .start_span(name, around, api.SpanKind[kind.upper()], attributes=_known(attributes))
    )
    context = recorded.get_span_context()
    trace = f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"
    try:
        with _within(trace):
            yield _RecordedSpan(trace, recorded)
    except BaseException as error:
        recorded.set_status(api.StatusCode.ERROR, type(error).__name__)
        raise
    finally:
        recorded.end()


def _span_context(parent: str | None) -> Any:
    from opentelemetry import trace as api

    found = _PARENT.fullmatch(parent or "")
    if found is None:
        return api.INVALID_SPAN_CONTEXT
    identity, span_id, flags = (int(part, 16) for part in found.groups())
    return api.SpanContext(identity, span_id, is_remote=True, trace_flags=api.TraceFlags(flags))


def _known(attributes: dict[str, object]) -> dict[str, Any]:
    return {f"steelyard.{key}" if "." not in key else key: each for key, each in attributes.items() if each is not None}
