"""`steelyard up`: web service, scheduler and workers of one machine in one process."""

from __future__ import annotations

import logging
import signal
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from cli.commands import LongLivedCommand, Options, collected
from cli.processes.http_option import http_option
from cli.processes.serve import address_options, read_web_settings, tell
from cli.stored import require_schema, shown_database
from steelyard.commands.errors import CommandError
from steelyard.commands.options import option
from steelyard.commands.parsing import Value
from steelyard.commands.values import whole_number
from steelyard_client.commands.backend import database_option

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from sqlalchemy import Connection

    from runtime.health import ProcessStatus
    from runtime.settings import Settings
    from web.supervised import SupervisedWeb

log = logging.getLogger("steelyard")

LOOK_SECONDS = 1.0
"""Interval between two reads of the open work for the log."""

QUIET_SECONDS = 10.0
"""Interval between two log lines while work is open."""

NICENESS_BESIDE_PAGES = 5
"""Nice value of pool processes on a machine that also serves pages."""

AGAIN_SECONDS = 5.0
"""Delay before a restart after a failure."""


@click.command(
    "up",
    cls=LongLivedCommand,
    help="Run the web service, the scheduler and workers on one machine: serves pages and API, "
    "works on everything queued in the database and runs nightly schedules. Without any "
    "account, it prints a link to create the first administrator. Ctrl-C or SIGTERM shuts it "
    "down gracefully; after a crash, the next start resumes the work.",
    example="steelyard up --processes 4 --database sqlite:///steelyard.db",
)
@option("--processes", type=Value(whole_number), metavar="N", help="worker processes (default: all cores)")
@option("--web/--no-web", default=True, help="serve pages and API, too")
@address_options()
@http_option()
@database_option()
@collected
def up(options: Options) -> int:
    """Run until stopped; the exit status."""
    from sqlalchemy.exc import DBAPIError

    from runtime.logs import set_up_logs
    from runtime.stop_request import ANSWER_SECONDS, ended_after_signals
    from runtime.tracing import set_up_traces
    from scheduler.errors import AlreadyRunning, StorageFailed
    from web.supervised import KILL_SECONDS, SupervisedWeb, WebStartFailed

    settings = read_web_settings(options)
    if not settings.embedded:
        raise CommandError(
            "`steelyard up` brings its own broker, but STEELYARD_BROKER_URL names another. Unset it, or start "
            "`steelyard serve`, `steelyard scheduler` and `steelyard worker`."
        )
    require_schema(settings, create=True)
    set_up_logs(settings.log_format, settings.log_level, role="up")
    set_up_traces(settings.traces_url, "up")
    _leave_on_sigterm()
    if options.web:
        # Page requests and submissions before a deadline go before scoring, which takes longer anyway.
        settings = settings.model_copy(update={"niceness": max(settings.niceness, NICENESS_BESIDE_PAGES)})
    # Web service, nightly runs and pool are stopped one after the other.
    with ended_after_signals(3 * settings.stop_seconds + KILL_SECONDS + ANSWER_SECONDS):
        web = SupervisedWeb(settings, lambda address: tell(settings, address)) if options.web else None
        waiting = False
        try:
            if web is not None:
                web.start()
            while True:
                try:
                    _work(settings, options.processes or None, web)
                except AlreadyRunning:
                    if not waiting:
                        log.info("Another process works on %s; waiting until it has ended.", shown_database(settings))
                    waiting = True
                    _rest(LOOK_SECONDS, web)
                except (DBAPIError, StorageFailed) as error:
                    cause = error.orig if isinstance(error, DBAPIError) else error
                    log.error("The database cannot be used, starting again in %g s: %s", AGAIN_SECONDS, cause)
                    _rest(AGAIN_SECONDS, web)
        except (KeyboardInterrupt, SystemExit):
            log.info("Stopped. What was not finished waits for the next start.")
            return 0
        except WebStartFailed as error:
            raise CommandError(str(error)) from error
        finally:
            if web is not None:
                web.stop()


def _leave_on_sigterm() -> None:
    """Exit on SIGTERM while no workers run; with workers `Embedded` handles it."""

    def leave(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, leave)


def _rest(seconds: float, web: SupervisedWeb | None) -> None:
    """Wait for so many seconds, supervising the web service meanwhile."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if web is not None:
            web.poll()
        time.sleep(min(0.1, seconds))


def _work(settings: Settings, processes: int | None, web: SupervisedWeb | None) -> None:
    from runtime.http_server import serve_status
    from scheduler.embedded.processes import Embedded
    from scheduler.nightly.runner import NightlyRunner
    from steelyard.text.wording import number_of

    nightly_runs = NightlyRunner(settings)
    try:
        with Embedded(settings, processes) as embedded:
            pool = number_of(processes or settings.processes, "process")
            log.info("Working on %s with %s; Ctrl-C stops.", shown_database(settings), pool)
            try:
                with serve_status(
                    settings.http_host, settings.http_port, lambda: _outlook(embedded.status, web)
                ) as server:
                    # The pool's processes have been forked by now.
                    if server is not None:
                        server.start()
                    embedded.run_until(_look(), _shown(), nightly_runs, None if web is None else web.poll)
            except (KeyboardInterrupt, SystemExit):
                # Stopped first, so that no more submissions arrive.
                if web is not None:
                    web.stop()
                raise
            finally:
                nightly_runs.stop()
    finally:
        nightly_runs.stop()


def _outlook(outlook: ProcessStatus, web: SupervisedWeb | None) -> ProcessStatus:
    """The status of the whole process, with that of the web service."""
    if web is None:
        return outlook
    return replace(outlook, ready=(*outlook.ready, web.check), collectors=(*outlook.collectors, web))


@dataclass(frozen=True, slots=True)
class _Work:
    """The open work."""

    evaluations: int
    nightly_runs: int
    next_run: str
    open: int = 1
    """Never 0: `up` does not end when no work is open."""


def _look() -> Callable[[Connection], _Work]:
    """A function that reads the open work, at most every `LOOK_SECONDS`."""
    last, looked = _Work(0, 0, ""), float("-inf")

    def look(connection: Connection) -> _Work:
        nonlocal last, looked
        if time.monotonic() - looked >= LOOK_SECONDS:
            looked = time.monotonic()
            last = _read(connection)
        return last

    return look


def _read(connection: Connection) -> _Work:
    from sqlalchemy import func, select

    from models.nightly.schedules import list_schedules
    from models.schema.nightly import NightlyRun
    from models.schema.queue import Evaluation
    from models.schema.states import OPEN, OPEN_RUN_STATES
    from scheduler.errors import BadSchedule
    from scheduler.nightly.cron import Calendar

    schedules = [each for each in list_schedules(connection) if each.next_at is not None]
    first = min(schedules, key=lambda each: each.next_at or 0.0, default=None)
    following = ""
    if first is not None and first.next_at is not None:
        # A time zone may no longer exist: that is reported when the run is due.
        with suppress(BadSchedule):
            following = f"{first.name} {Calendar(first.cron, first.time_zone).clock(first.next_at)}"
    counts = select(
        select(func.count()).where(Evaluation.state.in_(OPEN)).scalar_subquery(),
        select(func.count()).where(NightlyRun.state.in_(OPEN_RUN_STATES)).scalar_subquery(),
    )
    evaluations, nightly_runs = connection.execute(counts).one()
    return _Work(evaluations, nightly_runs, following)


def _shown() -> Callable[[_Work], None]:
    """A function that logs the open work: at once when work begins or ends or the next run changes, else rarely."""
    before: _Work | None = None
    said = float("-inf")

    from steelyard.text.wording import number_of

    def show(work: _Work) -> None:
        nonlocal before, said
        idle = not (work.evaluations or work.nightly_runs)
        if before is not None and idle == (not (before.evaluations or before.nightly_runs)):
            soon = time.monotonic() - said < QUIET_SECONDS
            if soon and (not idle or work.next_run == before.next_run):
                return
        before, said = work, time.monotonic()
        following = f" Next run: {work.next_run}." if work.next_run else " No schedule."
        if idle:
            log.info("Nothing to do.%s", following)
        else:
            evaluations, nightly_runs = number_of(work.evaluations, "evaluation"), number_of(work.nightly_runs, "run")
            log.info("Open: %s, %s.%s", evaluations, nightly_runs, following)

    return show
