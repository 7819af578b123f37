"""`steelyard worker` and `steelyard scheduler`: the long-lived processes of a large installation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.options import whole_number
from cli.processes.http_option import add_http_option, read_served_settings
from cli.stored import require_schema
from steelyard.commands.errors import CommandError

if TYPE_CHECKING:
    import argparse


def add_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`worker` and `scheduler`."""
    text = "Reads STEELYARD_DATABASE_URL and STEELYARD_BROKER_URL; SIGTERM or Ctrl-C shuts it down gracefully."
    worker = verbs.add_parser("worker", help="score shards until stopped", description=f"Score shards. {text}")
    worker.add_argument("--concurrency", type=whole_number, metavar="N", help="processes (default: all cores)")
    add_http_option(worker)
    worker.set_defaults(run=run_worker)
    scheduler = verbs.add_parser("scheduler", help="dispatch work until stopped", description=f"Dispatch work. {text}")
    add_http_option(scheduler)
    scheduler.set_defaults(run=run_scheduler)


def run_worker(options: argparse.Namespace) -> int:
    """Run until stopped; the exit status."""
    from runtime.logs import set_up_logs
    from worker.app import run_worker

    settings = read_served_settings(options)
    require_schema(settings, create=False)
    set_up_logs(settings.log_format, settings.log_level, role="worker")
    return run_worker(settings, options.concurrency or None)


def run_scheduler(options: argparse.Namespace) -> int:
    """Dispatch work until stopped; the exit status. Raises CommandError without a broker."""
    import signal
    import threading

    from runtime.logs import set_up_logs
    from scheduler.loop import run

    settings = read_served_settings(options)
    if settings.embedded:
        raise CommandError(
            "STEELYARD_BROKER_URL is not set, and an in-memory broker reaches no other process. "
            "Set it to a Redis, e.g. redis://localhost:6379/0."
        )
    require_schema(settings, create=False)
    set_up_logs(settings.log_format, settings.log_level, role="scheduler")
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    run(settings, stop)
    return 0
