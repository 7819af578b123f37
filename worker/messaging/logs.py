"""Celery's own lines go where those of its process go."""

from __future__ import annotations

import logging

import celery.apps.worker
from billiard.util import get_logger
from celery import signals


def take_over_logs() -> None:
    """Let Celery log as this process does; nothing where logs were not set up (`runtime.logs.set_up_logs`)."""
    root = logging.getLogger()
    if not root.handlers:
        return
    # The pool's, which keeps what it says from all others.
    pool = get_logger()
    pool.handlers[:] = root.handlers
    pool.setLevel(logging.ERROR)
    # Whoever listens to this signal sees to it; Celery then changes nothing.
    signals.setup_logging.connect(_leave, weak=False, dispatch_uid="steelyard")
    # What it says of signals, it writes past all logs.
    celery.apps.worker.safe_say = _say


def _say(message: str, *_: object) -> None:
    logging.getLogger("celery.apps.worker").warning("%s", message.strip())


def _leave(**_: object) -> None:
    """Nothing: the logs are set up."""
