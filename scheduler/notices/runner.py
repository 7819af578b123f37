"""When notices are written and sent: by the leading scheduler, every few seconds."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from sqlalchemy.exc import DBAPIError

from models.database.session import make_engine, writing
from runtime.service_settings import WebSettings

if TYPE_CHECKING:
    from runtime.settings import Settings

log = logging.getLogger(__name__)

PLAN_SECONDS = 15.0
"""Seconds between two looks at what has happened."""


class NoticeRunner:
    """Writes and sends notices."""

    def __init__(self, settings: Settings) -> None:
        # The scheduler is set up by the queue's settings; those of mails are the web service's.
        given = settings.model_dump(exclude_unset=True)
        self._settings = settings if isinstance(settings, WebSettings) else WebSettings(**given)
        # No connection outlives its transaction, so that forked pool processes inherit none.
        self._engine = make_engine(settings.database_url, pooled=False)
        self._courier: threading.Thread | None = None
        self._next_plan = 0.0

    def run_once(self) -> None:
        """Plan if that is due, and send in a thread of its own: mail servers may be slow.

        Raises
        ------
        DBAPIError
            If the database is unavailable.
        """
        if time.monotonic() < self._next_plan:
            return
        self._next_plan = time.monotonic() + PLAN_SECONDS
        from scheduler.notices.plan import plan_notices

        try:
            with writing(self._engine) as connection:
                plan_notices(connection, mails=self._settings.mail_url is not None)
        except DBAPIError:
            raise
        except Exception:
            # Whatever is wrong with a campaign, others must go on.
            log.exception("Notices could not be planned")
        if self._courier is None or not self._courier.is_alive():
            self._courier = threading.Thread(target=self._send, name="notices", daemon=True)
            self._courier.start()

    def stop(self, seconds: float) -> None:
        """Wait for what is being sent, for up to this many seconds."""
        if self._courier is not None:
            self._courier.join(seconds)

    def _send(self) -> None:
        from scheduler.notices.courier import send_notices

        try:
            send_notices(self._engine, self._settings)
        except DBAPIError as error:
            log.warning("Notices cannot be sent, the database is unavailable: %s", error.orig)
        except Exception:
            log.exception("Notices failed")
