"""Logs of long-lived processes: lines for people, or one JSON object per line for programs.

Every line has fields that identify the work: `log_context` and `bind` set them, so that log calls need not repeat them.
`trace_id` is in every line about a request or the work that it has caused (`runtime.tracing`).
Passwords in URLs are masked, and users' texts are never logged (`redact_exception`).
"""

from __future__ import annotations

import json
import logging
import os
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TextIO

from runtime.redaction import redacted
from runtime.times import utc
from runtime.tracing import current_trace, trace_id

LONGEST_LINE = 4000
"""Maximum length of a JSON line, in bytes: a pipe takes lines of this length whole, even from many processes."""

MOST_IDS = 100
"""Maximum number of ids written of a list; the length of the list is written, too."""

_WORK: ContextVar[Mapping[str, Any]] = ContextVar("work", default={})  # noqa: B039 - it is never changed, only replaced


@contextmanager
def log_context(**fields: object) -> Iterator[None]:
    """A context in which all log lines of this thread have these fields, and only these."""
    token = _WORK.set(fields)
    try:
        yield
    finally:
        _WORK.reset(token)


def bind(**fields: object) -> None:
    """Add fields to the current context."""
    _WORK.set({**_WORK.get(), **fields})


def fields(**values: object) -> dict[str, Any]:
    """Fields of a single line, for `extra`."""
    return {"fields": values}


def redact_exception() -> dict[str, Any]:
    """For `extra`: log only the type and traceback of an exception, since its message may quote a user's text."""
    return {"redact_exception": True}


class JsonLines(logging.Formatter):
    """One object per line: `time` (UTC), `level`, `logger`, `message`, `pid`, the fields, and `exception`."""

    def __init__(self, always: Mapping[str, object]) -> None:
        super().__init__()
        self.always = dict(always)

    def format(self, record: logging.LogRecord) -> str:
        """Format a line of at most LONGEST_LINE bytes."""
        line: dict[str, Any] = {
            "time": utc(record.created, "milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _cut(redacted(record.getMessage()), 1000),
            "pid": record.process,
            **self.always,
        }
        for name, value in fields_of(record).items():
            line[name] = value
            if isinstance(value, list) and len(value) > MOST_IDS:
                line[name], line[f"{name}_count"] = value[:MOST_IDS], len(value)
        said = exception_of(record)
        if said:
            line["exception"] = said
            while said and len(_dumped(line)) > LONGEST_LINE:
                # Keep the end, which is the most informative part.
                said = said[len(said) // 8 + 1 :]
                line["exception"] = f"...{said}"
        if len(_dumped(line)) > LONGEST_LINE:
            line = {name: _cut(value, 200) if isinstance(value, str) else value for name, value in line.items()}
        return _dumped(line)


class TextLines(logging.Formatter):
    """Lines for people: time, level, logger, message and fields; exceptions take several lines."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """Format a line, with the traceback if there is one."""
        record.message = record.getMessage()
        record.asctime = self.formatTime(record)
        line = redacted(self.formatMessage(record)).replace("\n", "\\n")
        shown = " ".join(f"{name}={_shown(value)}" for name, value in fields_of(record).items())
        said = exception_of(record)
        if shown:
            line = f"{line} [{shown}]"
        return f"{line}\n{said}" if said else line


class WholeLines(logging.StreamHandler[TextIO]):
    """Writes each line with a single system call, so that lines of several processes do not mix."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write the line."""
        try:
            line = (self.format(record) + "\n").encode("utf-8", "backslashreplace")
            self.stream.flush()
            os.write(self.stream.fileno(), line)
        except Exception:
            self.handleError(record)


def set_up_logs(log_format: str, level: str, **always: object) -> None:
    """Send the logs of this process, and of processes forked from it, to standard error.

    `always` are fields of every JSON line. Celery's own lines are formatted the same way (`worker.messaging.logs`):
    from level WARNING, or all of them at level DEBUG.
    """
    # Work continues even if nobody reads the logs any more.
    logging.raiseExceptions = False
    handler = WholeLines(sys.stderr)
    handler.setFormatter(JsonLines(always) if log_format == "json" else TextLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    foreign = logging.getLevelName(max(root.level, logging.WARNING)) if level != "debug" else "DEBUG"
    for name in ("celery", "kombu", "amqp", "redis", "httpx", "httpcore", "fsspec"):
        logging.getLogger(name).setLevel(foreign if name in {"celery", "kombu", "amqp"} else logging.WARNING)
    logging.captureWarnings(True)


def bind_global(**always: object) -> None:
    """Add fields to all JSON lines from now on; without effect if logs were not set up."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler.formatter, JsonLines):
            handler.formatter.always.update(always)


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    """The fields of a line: those of its context and its own."""
    found = {**_WORK.get(), "trace_id": trace_id(current_trace()), **getattr(record, "fields", {})}
    return {
        name: redacted(value) if isinstance(value, str) else list(value) if isinstance(value, tuple) else value
        for name, value in found.items()
        if value is not None
    }


def exception_of(record: logging.LogRecord) -> str:
    """The traceback of a line, if it has one; without messages if the exception is to be redacted."""
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return ""
    if not getattr(record, "redact_exception", False):
        return redacted("".join(traceback.format_exception(error)).rstrip())
    parts = []
    seen: BaseException | None = error
    while seen is not None:
        parts.append("".join(traceback.format_tb(seen.__traceback__)) + type(seen).__name__)
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    return "\n\n".join(reversed(parts))


def _dumped(line: Mapping[str, object]) -> str:
    return json.dumps(line, default=str)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _shown(value: object) -> str:
    """A field as text: consecutive ids as a range."""
    if isinstance(value, float):
        return f"{value:.3f}"
    if not isinstance(value, list):
        return str(value)
    if not all(isinstance(each, int) for each in value):
        return ",".join(map(str, value))
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in _ranges(value))


def _ranges(ids: Sequence[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for each in ids:
        if found and each == found[-1][1] + 1:
            found[-1] = found[-1][0], each
        else:
            found.append((each, each))
    return found
