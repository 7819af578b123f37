"""Redirects Celery's logs to those of its process."""

from __future__ import annotations

import logging

import celery.apps.worker
from billiard.util import get_logger
from celery import signals


def redirect_celery_logs() -> None:
    """Make Celery log as this process does; no effect before logging is set up (`runtime.logs.set_up_logs`)."""
    root = logging.getLogger()
    if not root.handlers:
        return
    # The pool's logger, which does not propagate.
    pool = get_logger()
    pool.handlers[:] = root.handlers
    pool.setLevel(logging.ERROR)
    # With a handler for this signal, Celery leaves logging alone.
    signals.setup_logging.connect(_leave, weak=False, dispatch_uid="steelyard")
    # Celery writes messages about signals directly to the terminal.
    celery.apps.worker.safe_say = _say


def _say(message: str, *_: object) -> None:
    logging.getLogger("celery.apps.worker").warning("%s", message.strip())


def _leave(**_: object) -> None:
    """Does nothing: logging is set up."""
