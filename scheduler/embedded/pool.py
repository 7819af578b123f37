"""The pool of the embedded worker: any of its processes may be killed at any moment, and it ends when it is told to.

Each process has a pipe of its own, so none holds a lock that others wait for. The pool has no thread: it is at work
while somebody calls `run`, and its processes are forked by who enters and runs it.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sys
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess

from models.queue.kinds.registry import BY_MESSAGE
from models.schema.states import QueueClass
from scheduler.errors import WorkerDidNotStart
from worker.context import WorkerContext
from worker.processes.dead_processes import release_lost
from worker.processes.parent_death import end_with_parent
from worker.processes.start import begin, is_used_up, resident_limit
from worker.tasks import Hint

BEGUN, DONE, LEAVING = 0, 1, 2
"""What a process says: that it is ready, that its task is done, and that it ends after this one."""

STILLBORN = 10
"""So many processes in place of each may die before they are ready: then something is wrong with all of them."""

LOOK_SECONDS = 0.05
"""How often who waits for the end of the pool looks up."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Process:
    """One of the pool, as its parent sees it."""

    number: int
    process: ForkProcess
    pipe: Connection
    hint: Hint | None = None
    """What it is at."""
    task_id: str = ""
    overdue_at: float = 0.0
    begun: bool = False
    killed: str = ""
    """Why, where we did it."""


class Pool:
    """Processes that do what hints tell of: of what waits, the most urgent class first.

    `start` it before other threads are. A process that dies or takes longer than `task_seconds` harms its task alone,
    which is released, and another one takes its place.
    """

    takes_ahead = False

    def __init__(self, context: WorkerContext, processes: int) -> None:
        self._context = context
        self._amount = processes
        self._waiting: dict[QueueClass, deque[Hint]] = {each: deque() for each in sorted(QueueClass)}
        self._processes: dict[Connection, _Process] = {}
        self._ending = False
        self._stillborn = 0
        self._most = 0
        self._told = self._teller = -1
        """A pipe by which a handler of signals wakes us."""

    @property
    def busy(self) -> bool:
        """Whether any of them is at a task."""
        return any(each.hint is not None for each in self._processes.values())

    @property
    def ends(self) -> bool:
        """Whether nothing is begun any more."""
        return self._ending

    def start(self) -> None:
        """Fork the processes."""
        self._most = resident_limit(self._context)
        self._told, self._teller = os.pipe()
        for end in (self._told, self._teller):
            os.set_blocking(end, False)
        for number in range(self._amount):
            self._fork(number)

    def send(self, hint: Hint) -> None:
        """Let somebody do it. What is of another edition nobody here can do; it is left."""
        if hint.edition == self._context.edition and not self._ending:
            self._waiting[hint.queue_class].append(hint)

    def count(self, classes: Iterable[QueueClass]) -> dict[QueueClass, int]:
        """How many hints of each of the classes wait or are worked on."""
        held = [each.hint.queue_class for each in self._processes.values() if each.hint is not None]
        return {each: len(self._waiting[each]) + held.count(each) for each in classes}

    def wake(self) -> None:
        """Let `run` return: all that a signal's handler may safely do is to write to a pipe."""
        with suppress(BlockingIOError):
            os.write(self._teller, b"w")

    def run(self, seconds: float) -> None:
        """Give out work for so long; at most until it is told to `wake`, or something ends and nothing else can begin.

        Raises WorkerDidNotStart where one process after the other dies before it is ready.
        """
        until = time.monotonic() + seconds
        while True:
            self._give_out()
            now = time.monotonic()
            if now >= until:
                return
            due = [each.overdue_at for each in self._processes.values() if each.hint is not None and not each.killed]
            woken, heard = self._hear(max(0.0, min([until, *due]) - now))
            self._end_overdue()
            if woken or (heard and not any(self._waiting.values())):
                return

    def finish(self) -> None:
        """Begin nothing any more; who has nothing to do ends."""
        self._ending = True
        for queue in self._waiting.values():
            queue.clear()
        for each in self._processes.values():
            if each.hint is None:
                _tell(each, None)

    def stop(self, seconds: float, hurried: Callable[[], bool], meanwhile: Callable[[], object]) -> None:
        """Wait for the end of all tasks, and of the pool.

        Who takes longer than so many seconds is killed, at once when `hurried` says so. `meanwhile` is called now and
        then.
        """
        self.finish()
        until = time.monotonic() + seconds
        try:
            while self._processes:
                if hurried() or time.monotonic() > until:
                    self._kill_all()
                meanwhile()
                self._hear(LOOK_SECONDS)
        finally:
            # Should anything be raised here, nobody is left behind.
            self._kill_all()
            for each in list(self._processes.values()):
                self._bury(each)
            os.close(self._told)
            os.close(self._teller)

    def _fork(self, number: int) -> None:
        forking = multiprocessing.get_context("fork")
        ours, theirs = forking.Pipe()
        others = [ours, *self._processes]
        process = forking.Process(
            target=_serve, args=(self._context, number, theirs, others, self._most), name=f"pool-{number}"
        )
        process.start()
        # Its end of the pipe is open in itself alone: that it is closed tells of its end.
        theirs.close()
        self._processes[ours] = _Process(number, process, ours)

    def _give_out(self) -> None:
        for each in self._processes.values():
            if each.hint is None and each.begun and not each.killed:
                queue = next((queue for queue in self._waiting.values() if queue), None)
                if queue is None:
                    return
                each.hint, each.task_id = queue.popleft(), uuid.uuid4().hex
                each.overdue_at = time.monotonic() + self._context.settings.task_seconds
                _tell(each, (str(each.hint.kind.message), each.hint.key, each.task_id))

    def _hear(self, seconds: float) -> tuple[bool, bool]:
        """What is said within so many seconds; whether we were woken, and whether a process said anything."""
        ready = wait([self._told, *self._processes], seconds)
        if woken := self._told in ready:
            os.read(self._told, 1 << 10)
        speaking = [self._processes[pipe] for pipe in ready if isinstance(pipe, Connection)]
        for each in speaking:
            try:
                said = each.pipe.recv()
            except (EOFError, OSError):
                self._replace(each)
                continue
            if said == BEGUN:
                each.begun, self._stillborn = True, 0
            else:
                each.hint = None
                if said == LEAVING:
                    self._replace(each)
            if self._ending and each.pipe in self._processes:
                _tell(each, None)
        return woken, bool(speaking)

    def _end_overdue(self) -> None:
        for each in self._processes.values():
            if each.hint is not None and not each.killed and time.monotonic() > each.overdue_at:
                seconds = self._context.settings.task_seconds
                self._kill(each, f"it took longer than {seconds:g} s")

    def _kill_all(self) -> None:
        for each in self._processes.values():
            if not each.killed:
                self._kill(each, "the pool was stopped")

    def _kill(self, each: _Process, why: str) -> None:
        each.killed = why
        with suppress(ProcessLookupError):
            os.kill(each.process.pid or 0, signal.SIGKILL)

    def _replace(self, each: _Process) -> None:
        """One has ended: release what it was at, and put another in its place."""
        status = self._bury(each)
        if each.hint is not None and not (each.killed and self._ending):
            reason = None if each.killed else f"its process died ({_ended_by(status)})."
            release_lost(self._context, str(each.hint.kind.message), each.task_id, each.hint.key, reason)
        if self._ending:
            return
        if not each.begun:
            self._stillborn += 1
            if self._stillborn > STILLBORN * self._amount:
                raise WorkerDidNotStart(f"The processes of the pool end before they are ready ({_ended_by(status)}).")
        self._fork(each.number)

    def _bury(self, each: _Process) -> int:
        """Take an ended process from the pool; its exit code."""
        del self._processes[each.pipe]
        each.pipe.close()
        each.process.join()
        status = each.process.exitcode or 0
        each.process.close()
        return status


def _ended_by(status: int) -> str:
    if status >= 0:
        return f"exit status {status}"
    with suppress(ValueError):
        return f"{signal.Signals(-status).name}"
    return f"signal {-status}"


def _tell(each: _Process, what: tuple[str, int, str] | None) -> None:
    # Who has ended hears nothing; that it has, its pipe tells.
    with suppress(BrokenPipeError, ConnectionResetError):
        each.pipe.send(what)


def _serve(context: WorkerContext, number: int, pipe: Connection, others: Iterable[Connection], most: int) -> None:
    """What a process of the pool does: tasks, until it is told to end or its parent has ended."""
    # The terminal tells the whole group: the parent sees to it what that means.
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, signal.SIG_IGN)
    # Where the kernel cannot tell of it, a task ends first, and then the pipe does.
    with suppress(OSError):
        end_with_parent(signal.SIGKILL)
    for other in others:
        other.close()
    # Past a display of progress, whose lock somebody may have held when we were forked.
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    begin(context, number)
    with suppress(EOFError, ConnectionError):
        _do_tasks(context, pipe, most)
    context.close()


def perform(context: WorkerContext, message: str, key: int, task_id: str) -> None:
    """Do the task that a message tells of."""
    # Numeric code: the parent imports it when it starts the pool.
    from worker.handlers import do

    do(context, BY_MESSAGE[message], key, task_id)


def _do_tasks(context: WorkerContext, pipe: Connection, most: int) -> None:
    pipe.send(BEGUN)
    done = 0
    while (told := pipe.recv()) is not None:
        try:
            perform(context, *told)
        except Exception:
            log.exception("Task %s failed", told[2])
        done += 1
        if is_used_up(done, most):
            pipe.send(LEAVING)
            return
        pipe.send(DONE)
