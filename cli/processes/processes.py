"""`steelyard worker` and `steelyard scheduler`: the long-lived processes of a large installation."""

from __future__ import annotations

import click

from cli.commands import LongLivedCommand, Options, collected
from cli.processes.http_option import http_option, read_served_settings
from cli.stored import require_schema
from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.options import option
from steelyard.commands.parsing import Value
from steelyard.commands.values import whole_number

READS = "Reads STEELYARD_DATABASE_URL and STEELYARD_BROKER_URL; SIGTERM or Ctrl-C shuts it down gracefully."


@click.command(
    "worker",
    cls=LongLivedCommand,
    help=f"Score shards until stopped. {READS}",
    example="steelyard worker --concurrency 8",
)
@option("--concurrency", type=Value(whole_number), metavar="N", help="processes (default: all cores)")
@option(
    "--queue",
    type=click.Choice(("learned",)),
    help="only score by models and registered programs; one process for each device",
)
@option("--device", metavar="DEVICE", help="with --queue learned: what models run on, cpu (default) or cuda:0")
@http_option()
@collected
def worker(options: Options) -> int:
    """Run until stopped; the exit status."""
    from runtime.logs import set_up_logs
    from runtime.tracing import set_up_traces

    settings = read_served_settings(options)
    if options.queue is None and options.device is not None:
        raise UsageError("--device is for --queue learned.")
    if options.queue is not None and options.concurrency:
        raise UsageError(
            "A learned worker is one process: start another one for another device, without --concurrency."
        )
    require_schema(settings, create=False)
    set_up_logs(settings.log_format, settings.log_level, role="worker")
    set_up_traces(settings.traces_url, "worker")
    if options.queue is not None:
        from worker.learned.running import run_learned_worker

        return run_learned_worker(settings, options.device)
    from worker.app import run_worker

    return run_worker(settings, options.concurrency or None)


@click.command(
    "scheduler",
    cls=LongLivedCommand,
    help=f"Dispatch work until stopped. {READS}",
    example="steelyard scheduler --http 9108",
)
@http_option()
@collected
def scheduler(options: Options) -> int:
    """Dispatch work until stopped; the exit status. Raises CommandError without a broker."""
    from runtime.logs import set_up_logs
    from runtime.stop_request import ANSWER_SECONDS, stopped_by_signals
    from runtime.tracing import set_up_traces
    from scheduler.loop import run

    settings = read_served_settings(options)
    if settings.embedded:
        raise CommandError(
            "STEELYARD_BROKER_URL is not set, and an in-memory broker reaches no other process. "
            "Set it to a Redis, e.g. redis://localhost:6379/0."
        )
    require_schema(settings, create=False)
    set_up_logs(settings.log_format, settings.log_level, role="scheduler")
    set_up_traces(settings.traces_url, "scheduler")
    with stopped_by_signals(settings.stop_seconds + ANSWER_SECONDS) as stop:
        run(settings, stop)
    return 0
