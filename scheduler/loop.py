"""The scheduler as a program of its own."""

from __future__ import annotations

import logging
import threading
import time
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from models.session import make_engine
from scheduler.dispatch import dispatch
from scheduler.leader import Leadership, leadership
from scheduler.recovery import sweep
from worker.app import make_app
from worker.settings import Settings

log = logging.getLogger(__name__)


class Rounds:
    """The scheduler's rounds: hand out work each tick, look for lost work now and then."""

    def __init__(self, engine: Engine, app: Any, settings: Settings) -> None:
        self._engine = engine
        self._app = app
        self._settings = settings
        self._next_sweep = 0.0

    def go(self) -> bool:
        """One round; whether it swept."""
        dispatch(self._engine, self._app, self._settings)
        if time.monotonic() < self._next_sweep:
            return False
        sweep(self._engine, self._settings)
        self._next_sweep = time.monotonic() + self._settings.sweep_seconds
        return True


def run(settings: Settings, stop: threading.Event) -> None:
    """Hand out work until `stop` is set. Waits while another scheduler leads; outlives the database."""
    engine = make_engine(settings.database_url, relaxed=True)
    rounds = Rounds(engine, make_app(settings), settings)
    lead = leadership(settings.database_url)
    try:
        while not stop.is_set():
            try:
                if not lead.held() and not lead.acquire():
                    stop.wait(settings.sweep_seconds)
                    continue
                _lead(rounds, lead, settings, stop)
            except DBAPIError as error:
                log.warning("The database cannot be used, trying again: %s", error.orig)
                stop.wait(settings.sweep_seconds)
    finally:
        lead.release()
        engine.dispose()


def _lead(rounds: Rounds, lead: Leadership, settings: Settings, stop: threading.Event) -> None:
    while not stop.is_set():
        if rounds.go() and not lead.held():
            return
        stop.wait(settings.tick_seconds)
