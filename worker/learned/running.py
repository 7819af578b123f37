"""The learned worker: one process for one device, which takes the next shard that it has the model or program for."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
import uuid
from collections.abc import Sequence
from types import FrameType

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from models.database.changes import listen
from models.database.error_kinds import classify_error
from models.database.session import make_engine, writing
from models.queue.kinds.learned_shards import LEARNED_SHARD
from models.queue.learned_queue import next_learned_shard, note_missing_models, waiting_specifications
from models.queue.lease import release_worker
from models.schema.learned import LearnedShard
from runtime.logs import bind_global
from runtime.settings import Settings
from runtime.stop_request import ANSWER_SECONDS, StopRequest, end_in_time
from steelyard.errors import MetricsError
from steelyard.metrics.content_scores import ContentMetric
from steelyard.metrics.learned.devices import VARIABLE, checked_device, current_device
from steelyard.metrics.resources import Resources
from worker.computing.scoring import cached_metric
from worker.context import WorkerContext
from worker.handlers import do
from worker.processes.heartbeat import Heartbeat

log = logging.getLogger(__name__)

QUEUE = "learned"
LOOK_SECONDS = 1.0
"""Seconds between two looks for work of which no notification came."""
AGAIN_SECONDS = 0.2
"""Seconds before looking at a shard that could not be claimed once more."""


class LearnedWorker:
    """Scores learned shards on a device from `run` until `stop` is called."""

    def __init__(self, settings: Settings, device: str) -> None:
        self._settings = settings
        self._context = WorkerContext(settings, 1)
        self._resources = Resources(settings.resource_folder)
        self._stopped = StopRequest()
        self._hurried = StopRequest()
        self._ended = threading.Event()
        self._over = threading.Event()
        self._lacks: tuple[str, ...] = ()
        self._code = 0
        self._heartbeat = Heartbeat(self._context, 0, self._end, queue=QUEUE, device=device)

    def run(self) -> int:
        """Work until stopped; the exit code: 1 if the tables became those of another release."""
        bind_global(worker=self._context.worker)
        self._heartbeat.start()
        threading.Thread(target=self._end_in_time, name="stopping", daemon=True).start()
        try:
            self._work()
            return self._code
        finally:
            self._ended.set()
            self._heartbeat.stop()
            self._context.close()
            self._over.set()

    def stop(self) -> None:
        """Begin nothing more; what is running may go on for a while, at a second call no longer."""
        if self._stopped.is_set():
            self._hurried.set()
        self._context.shutting_down.set_once("this worker is shutting down")
        self._stopped.set()

    def _end(self, reason: str) -> None:
        log.critical("This worker stops. %s", reason)
        self._code = 1
        self.stop()

    def _work(self) -> None:
        last: int | None = None
        with listen(self._settings) as listener:
            while not self._stopped.is_set():
                try:
                    found = self._next()
                except DBAPIError as error:
                    if classify_error(error) is None:
                        raise
                    log.warning("The database cannot be used, trying again: %s", error.orig)
                    self._stopped.wait(LOOK_SECONDS)
                    continue
                if found is None:
                    last = None
                    listener.wait(LOOK_SECONDS, self._stopped)
                    continue
                if found == last:
                    # Another worker has it, or the next sweep will end it.
                    self._stopped.wait(AGAIN_SECONDS)
                last = found
                do(self._context, LEARNED_SHARD, found, uuid.uuid4().hex)

    def _next(self) -> int | None:
        """The next shard that this worker can score."""
        edition = self._context.edition
        waiting = self._context.read(lambda connection: waiting_specifications(connection, edition))
        if not waiting:
            return None
        lacks = tuple(each for each in waiting if not self._can_score(each))
        if lacks != self._lacks:
            self._context.write(lambda connection: note_missing_models(connection, self._context.worker, lacks))
            self._lacks = lacks
        able = [each for each in waiting if each not in lacks]
        return self._context.read(lambda connection: next_learned_shard(connection, able, edition))

    def _can_score(self, specification: str) -> bool:
        """Whether the model or program is here."""
        try:
            metric = cached_metric(specification)
            if isinstance(metric, ContentMetric):
                metric.check_here(self._resources)
        except MetricsError as error:
            log.debug("%s waits for another worker: %s", specification, error)
            return False
        return True

    def _end_in_time(self) -> None:
        """Once stopped, end what does not come to an end by itself; its shard is released, with no attempt counted."""
        self._stopped.wait()
        end_in_time(self._over, self._settings.stop_seconds + ANSWER_SECONDS, code=self._code)
        until = time.monotonic() + self._settings.stop_seconds
        while time.monotonic() < until and not self._hurried.wait(0.05):
            if self._ended.is_set():
                return
        if self._ended.is_set():
            return
        engine = make_engine(self._settings.database_url, relaxed=True, pooled=False)
        try:
            with writing(engine) as connection:
                released = release_worker(connection, LearnedShard, self._context.worker)
            log.warning("Stopped before the work was done: %d tasks released", released)
            self._heartbeat.stop()
        except SQLAlchemyError as error:
            log.warning("Running tasks could not be released: %s", getattr(error, "orig", error))
        logging.shutdown()
        # Programs end with us, and a model may not listen.
        os._exit(self._code)


def run_learned_worker(settings: Settings, device: str | None = None, signals: Sequence[int] = ()) -> int:
    """Score learned shards on a device until stopped by a signal; the exit code.

    Without a device, on that of the environment.

    Raises
    ------
    BadParameter
        If it is none.
    """
    if device is not None:
        # For models, and for programs that want to know.
        os.environ[VARIABLE] = checked_device(device)
    device = current_device()
    worker = LearnedWorker(settings, device)

    def stop(_number: int, _frame: FrameType | None) -> None:
        worker.stop()

    for number in signals or (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    log.info("Scoring learned metrics on %s", device)
    return worker.run()
