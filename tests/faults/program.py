"""The processes of a fault test: `python -m tests.faults.program worker|scheduler|...`; the others are below.

Settings come from the environment, as for the real commands.
"""

from __future__ import annotations

import faulthandler
import logging
import math
import os
import random
import signal
import sys
import threading
import time
from itertools import combinations
from pathlib import Path

from sqlalchemy import select

from models.database.session import make_engine, reading
from models.queue.kinds import notice_deliveries
from models.queue_status.progress import Progress
from models.results.randomizations import PairTests
from models.schema.queue import Evaluation
from models.schema.states import QueueClass
from runtime.settings import Settings
from runtime.stop_request import ANSWER_SECONDS, stopped_by_signals
from scheduler import dispatch, loop
from scheduler.embedded.processes import Embedded
from scheduler.embedded.randomize import randomize
from scheduler.leader import Leadership
from scheduler.notices import plan, runner
from steelyard.metrics import metric as base
from steelyard.metrics.learned import learned_metric
from tests.faults.patient import register_patient
from tests.faults.troubled import register
from tests.faults.troubled_store import register_store
from tests.scheduler.jobs import queue_job, run_until_done
from worker import app, context
from worker.app import run_worker
from worker.learned.running import run_learned_worker
from worker.learned.store import StoredScores
from worker.processes import celery_pool, start

PATIENCE = "STEELYARD_TEST_PATIENCE"
"""Environment variable: seconds, with commas between, between the tries to reach the database."""

VERSION, EDITION = "STEELYARD_TEST_VERSION", "STEELYARD_TEST_EDITION"
"""Environment variables: what release a process pretends to be."""

IGNORANT = "STEELYARD_TEST_IGNORANT"
"""Environment variable: a process does not know the metrics of these tests."""

SLOW = "STEELYARD_TEST_SLOW"
"""Environment variable: how many seconds a learned worker rests after what it has stored, which is little each time."""

TASKS = "STEELYARD_TEST_TASKS"
"""Environment variable: how many tasks a pool process does."""


def schedule() -> None:
    settings = Settings()
    with stopped_by_signals(settings.stop_seconds + ANSWER_SECONDS) as stop:
        loop.run(settings, stop)


def schedule_twice(log: Path) -> None:
    """Send every message twice, and say so in a file."""
    send = dispatch._send

    def send_twice(engine, app, messages, leads):  # type: ignore[no-untyped-def]
        with log.open("a") as file:
            file.writelines(f"{message.kind.message} {key}\n" for message in messages for key in message.keys)
        send(engine, app, messages, leads)
        return send(engine, app, list(reversed(messages)), leads)

    dispatch._send = send_twice
    schedule()


def schedule_in_disorder(log: Path) -> None:
    """Send all messages late, every second one also at once, the last ones first, and say so in a file."""
    send = dispatch._send

    def send_in_disorder(engine, app, messages, leads):  # type: ignore[no-untyped-def]
        backwards = list(reversed(messages))
        with log.open("a") as file:
            file.writelines(f"{message.kind.message} {key}\n" for message in backwards for key in message.keys)
        later = threading.Timer(0.2, send, (engine, app, backwards, leads))
        later.daemon = True
        later.start()
        send(engine, app, backwards[::2], leads)
        return len(messages)

    dispatch._send = send_in_disorder
    schedule()


def schedule_and_lose(seed: int) -> None:
    """Mark messages as sent, and lose one of five on the way."""
    send, draw = dispatch._send, random.Random(seed)

    def send_some(engine, app, messages, leads):  # type: ignore[no-untyped-def]
        return send(engine, app, [message for message in messages if draw.random() > 0.2], leads)

    dispatch._send = send_some
    schedule()


def notify_slowly(marker: Path) -> None:
    """Look often at what has happened, and hold leases shortly; while a file is there, rest after each notice.

    The file then says so; the notice is not committed by then.
    """
    runner.PLAN_SECONDS = 0.3
    notice_deliveries.SPARE_SECONDS = 1.0
    notify = plan.notify

    def notify_and_rest(*given, **named):  # type: ignore[no-untyped-def]
        told = notify(*given, **named)
        if marker.exists():
            marker.write_text("written")
            time.sleep(3.0)
        return told

    plan.notify = notify_and_rest
    schedule()


def work_without_hearing() -> int:
    """Work with a connection to the broker over which nothing comes."""
    from kombu.transport.redis import Channel

    Channel._brpop_start = lambda self, timeout=None: None
    return run_worker(Settings())


def rest(seconds: float) -> None:
    """Have learned workers store a few scores at a time, and give others the time to disturb them."""
    keep = StoredScores.keep

    def keep_and_rest(self, scorer, scored):  # type: ignore[no-untyped-def]
        kept = keep(self, scorer, scored)
        time.sleep(seconds)
        return kept

    learned_metric.TEXTS_AT_ONCE = 40
    StoredScores.keep = keep_and_rest


class Usurper(Leadership):
    """Leads, whoever else does."""

    _leads = False

    def acquire(self) -> bool:
        logging.warning("The usurper leads")
        self._leads = True
        return True

    def held(self) -> bool:
        return self._leads

    def due_in(self) -> float:
        """It renews nothing. Without a term of its own the loop would never rest."""
        return math.inf

    def in_term(self) -> bool:
        return self._leads


def usurp(log: Path) -> None:
    """Hand out work beside the one who leads, and say so in a file."""
    send = dispatch._send

    def send_and_tell(engine, app, messages, leads):  # type: ignore[no-untyped-def]
        with log.open("a") as file:
            file.writelines(f"{message.kind.message} {key}\n" for message in messages for key in message.keys)
        return send(engine, app, messages, leads)

    dispatch._send = send_and_tell
    loop.Leadership = Usurper
    schedule()


def embed(segments: int, metric: str) -> None:
    """Queue a job and work on it, as a command does."""

    def show(progress: Progress) -> None:
        print(progress.shards_done, flush=True)

    with Embedded(Settings()) as embedded:
        job = queue_job(embedded.engine, Settings(), segments=segments, metrics=[metric])
        run_until_done(embedded, job.all_evaluations, show)


def compare(protocol: int, trials: int) -> None:
    """Make the randomization tests of all evaluations of a protocol, as a command does."""
    engine = make_engine(Settings().database_url, pooled=False)
    with reading(engine) as connection:
        rows = connection.scalars(select(Evaluation.id).where(Evaluation.protocol_id == protocol))
        pairs = list(combinations([(evaluation,) for evaluation in rows], 2))
    randomize(
        Settings(),
        [PairTests(protocol, pairs, [0], 3, trials)],
        on_progress=lambda progress: print(progress.trials_done, flush=True),
    )


def pretend() -> None:
    """Be of another release, as the environment says: of another version or edition, with processes of few tasks."""
    if version := os.environ.get(VERSION):
        context.release = lambda: version
    if edition := int(os.environ.get(EDITION, 0)):
        real = base.EDITION
        for module in list(sys.modules.values()):
            if getattr(module, "EDITION", None) == real:
                module.EDITION = edition
        app.QUEUES = ",".join(queue_class.queue_of(edition) for queue_class in QueueClass)
    if tasks := int(os.environ.get(TASKS, 0)):
        celery_pool.TASKS_PER_PROCESS = start.TASKS_PER_PROCESS = tasks


def main(arguments: list[str]) -> int:
    """Be the program that the arguments name; the exit status."""
    # A shell that runs the tests in the background has them ignore it, and so all that they start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    logging.basicConfig(level=logging.WARNING)
    faulthandler.register(signal.SIGUSR1)
    if IGNORANT not in os.environ:
        register()
        register_store()
        register_patient()
    pretend()
    if PATIENCE in os.environ:
        context.RETRY_DELAYS = tuple(float(wait) for wait in os.environ[PATIENCE].split(","))
    name, *others = arguments
    if name == "worker":
        return run_worker(Settings())
    if name == "learned":
        if pause := float(os.environ.get(SLOW, 0)):
            rest(pause)
        return run_learned_worker(Settings())
    if name == "cli":
        from cli.main import main as command

        return command(others)
    if name == "deaf":
        return work_without_hearing()
    if name == "scheduler":
        schedule()
    elif name == "twice":
        schedule_twice(Path(others[0]))
    elif name == "disorder":
        schedule_in_disorder(Path(others[0]))
    elif name == "lossy":
        schedule_and_lose(int(others[0]))
    elif name == "notices":
        notify_slowly(Path(others[0]))
    elif name == "usurper":
        usurp(Path(others[0]))
    elif name == "randomize":
        compare(int(others[0]), int(others[1]))
    else:
        embed(int(others[0]), others[1])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
