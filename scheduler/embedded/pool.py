"""The process pool of the embedded worker: it survives the death of any process, and shuts down on request.

Each process has a pipe of its own, so none holds a lock that others wait for. The pool has no thread: it works while
`run` is being called, and the thread that starts and runs it forks its processes.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import selectors
import signal
import sys
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess

from models.queue.kinds.registry import BY_MESSAGE
from models.schema.states import QueueClass
from runtime.tracing import flush_traces
from scheduler.errors import WorkerDidNotStart
from worker.context import WorkerContext
from worker.processes.dead_processes import release_lost
from worker.processes.parent_death import end_with_parent
from worker.processes.start import begin, resident_limit, should_be_replaced
from worker.tasks import TaskMessage

BEGUN, DONE, LEAVING = 0, 1, 2
"""Messages of a process: it is ready, its task is done, and it exits after this task."""

STILLBORN = 10
"""Limit on processes that die before they are ready, per process of the pool: beyond, all of them must be broken."""

LOOK_SECONDS = 0.05
"""Seconds between checks while waiting for the pool to end."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Process:
    """A process of the pool, as its parent sees it."""

    number: int
    process: ForkProcess
    pipe: Connection
    message: TaskMessage | None = None
    """Its current tasks."""
    task_id: str = ""
    overdue_at: float = 0.0
    begun: bool = False
    killed: str = ""
    """The reason, if we killed it."""


class Pool:
    """Processes that run the tasks of messages, the most urgent class first.

    Call `start` before other threads exist. If a process dies or exceeds `task_seconds`, only its task is affected: the
    task is released, and a new process is forked.
    """

    prefetches = False

    def __init__(self, context: WorkerContext, processes: int) -> None:
        self._context = context
        self._amount = processes
        self._waiting: dict[QueueClass, deque[TaskMessage]] = {each: deque() for each in sorted(QueueClass)}
        self._processes: dict[Connection, _Process] = {}
        self._ending = False
        self._stillborn = 0
        self._most = 0
        # Kept, since an idle pool waits many times a second; not epoll, which forked processes would share.
        self._selector = selectors.PollSelector()
        self._wake_reader = self._teller = -1
        """A pipe by which a signal handler wakes us."""

    @property
    def busy(self) -> bool:
        """Whether any process is running a task."""
        return any(each.message is not None for each in self._processes.values())

    @property
    def ends(self) -> bool:
        """Whether the pool is shutting down."""
        return self._ending

    def start(self) -> None:
        """Fork the processes."""
        self._most = resident_limit(self._context)
        self._wake_reader, self._teller = os.pipe()
        for end in (self._wake_reader, self._teller):
            os.set_blocking(end, False)
        self._selector.register(self._wake_reader, selectors.EVENT_READ)
        for number in range(self._amount):
            self._fork(number)

    def send(self, message: TaskMessage) -> None:
        """Enqueue a message. Messages of other editions are ignored: no process here can handle them."""
        if message.edition == self._context.edition and not self._ending:
            self._waiting[message.queue_class].append(message)

    def count(self, classes: Iterable[QueueClass]) -> dict[QueueClass, int]:
        """The number of messages of each of the classes that are waiting or being handled."""
        held = [each.message.queue_class for each in self._processes.values() if each.message is not None]
        return {each: len(self._waiting[each]) + held.count(each) for each in classes}

    def wake(self) -> None:
        """Make `run` return: writing to a pipe is all that a signal handler may safely do."""
        with suppress(BlockingIOError):
            os.write(self._teller, b"w")

    def run(self, seconds: float) -> None:
        """Run tasks for this long, or until `wake` is called, or a task ends and no other can begin.

        Raises
        ------
        WorkerDidNotStart
            If processes repeatedly die before they are ready.
        """
        until = time.monotonic() + seconds
        while True:
            self._assign()
            now = time.monotonic()
            if now >= until:
                return
            due = [each.overdue_at for each in self._processes.values() if each.message is not None and not each.killed]
            was_woken, received = self._receive(max(0.0, min([until, *due]) - now))
            self._end_overdue()
            if was_woken or (received and not any(self._waiting.values())):
                return

    def hand_out(self) -> None:
        """Give the messages that wait to the processes that are ready, as `run` does, but wait for nothing."""
        for each in list(self._processes.values()):
            if not each.begun and each.pipe.poll():
                self._hear(each)
        self._assign()

    def finish(self) -> None:
        """Begin no more tasks; idle processes exit."""
        self._ending = True
        for queue in self._waiting.values():
            queue.clear()
        for each in self._processes.values():
            if each.message is None:
                _notify(each, None)

    def stop(self, seconds: float, hurried: Callable[[], bool], meanwhile: Callable[[], object]) -> None:
        """Wait for all tasks and processes to end.

        Processes are killed after `seconds`, or at once when `hurried` returns True. `meanwhile` is called now and
        then.
        """
        self.finish()
        until = time.monotonic() + seconds
        try:
            while self._processes:
                if hurried() or time.monotonic() > until:
                    self._kill_all()
                meanwhile()
                self._receive(LOOK_SECONDS)
        finally:
            # Leave no process behind, whatever is raised here.
            self._kill_all()
            for each in list(self._processes.values()):
                self._reap(each)
            self._selector.close()
            os.close(self._wake_reader)
            os.close(self._teller)

    def _fork(self, number: int) -> None:
        forking = multiprocessing.get_context("fork")
        parent_end, child_end = forking.Pipe()
        others = [parent_end, *self._processes]
        process = forking.Process(
            target=_serve, args=(self._context, number, child_end, others, self._most), name=f"pool-{number}"
        )
        process.start()
        # Only the process itself keeps its end of the pipe open: a closed pipe means that it has ended.
        child_end.close()
        self._processes[parent_end] = _Process(number, process, parent_end)
        self._selector.register(parent_end, selectors.EVENT_READ)

    def _assign(self) -> None:
        for each in self._processes.values():
            if each.message is None and each.begun and not each.killed:
                queue = next((queue for queue in self._waiting.values() if queue), None)
                if queue is None:
                    return
                each.message, each.task_id = queue.popleft(), uuid.uuid4().hex
                each.overdue_at = time.monotonic() + self._context.settings.task_seconds
                _notify(each, (str(each.message.kind.message), each.message.keys, each.task_id))

    def _receive(self, seconds: float) -> tuple[bool, bool]:
        """Receive messages for up to `seconds`; whether we were woken, and whether a process sent anything."""
        ready = [key.fileobj for key, _ in self._selector.select(seconds)]
        if was_woken := self._wake_reader in ready:
            os.read(self._wake_reader, 1 << 10)
        readable = [self._processes[pipe] for pipe in ready if isinstance(pipe, Connection)]
        for each in readable:
            self._hear(each)
        return was_woken, bool(readable)

    def _hear(self, each: _Process) -> None:
        """Handle what a process has sent, or that it has ended."""
        try:
            said = each.pipe.recv()
        except (EOFError, OSError):
            self._replace(each)
            return
        if said == BEGUN:
            each.begun, self._stillborn = True, 0
        else:
            each.message = None
            if said == LEAVING:
                self._replace(each)
        if self._ending and each.pipe in self._processes:
            _notify(each, None)

    def _end_overdue(self) -> None:
        for each in self._processes.values():
            if each.message is not None and not each.killed and time.monotonic() > each.overdue_at:
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
        """Release the task of an ended process, and fork a new one."""
        status = self._reap(each)
        if each.message is not None and not (each.killed and self._ending):
            reason = None if each.killed else f"its process died ({_ended_by(status)})."
            release_lost(self._context, str(each.message.kind.message), each.task_id, each.message.keys, reason)
        if self._ending:
            return
        if not each.begun:
            self._stillborn += 1
            if self._stillborn > STILLBORN * self._amount:
                raise WorkerDidNotStart(f"The processes of the pool end before they are ready ({_ended_by(status)}).")
        self._fork(each.number)

    def _reap(self, each: _Process) -> int:
        """Remove an ended process from the pool; its exit code."""
        del self._processes[each.pipe]
        self._selector.unregister(each.pipe)
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


def _notify(each: _Process, what: tuple[str, tuple[int, ...], str] | None) -> None:
    # A process that has ended cannot receive it; its closed pipe reports that.
    with suppress(BrokenPipeError, ConnectionResetError):
        each.pipe.send(what)


def _serve(context: WorkerContext, number: int, pipe: Connection, others: Iterable[Connection], most: int) -> None:
    """The main function of a pool process: run tasks until it is stopped or until the parent has ended."""
    # A terminal signals the whole process group: the parent decides what that means.
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, signal.SIG_IGN)
    # Where the kernel cannot signal the parent's death, the closed pipe does, after the current task.
    with suppress(OSError):
        end_with_parent(signal.SIGKILL)
    for other in others:
        other.close()
    # Bypasses a progress display, whose lock may have been held at the fork.
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    begin(context, number)
    with suppress(EOFError, ConnectionError):
        _do_tasks(context, pipe, most)
    context.close()
    flush_traces()


def perform(context: WorkerContext, message: str, keys: tuple[int, ...], task_id: str) -> None:
    """Run the tasks of a message."""
    # Numeric code, imported here: the parent imports it when it starts the pool.
    from worker.handlers import do_several

    do_several(context, BY_MESSAGE[message], keys, task_id)


def _do_tasks(context: WorkerContext, pipe: Connection, most: int) -> None:
    pipe.send(BEGUN)
    done = 0
    while (task := pipe.recv()) is not None:
        try:
            perform(context, *task)
        except Exception:
            log.exception("Task %s failed", task[2])
        done += 1
        if should_be_replaced(done, most):
            pipe.send(LEAVING)
            return
        pipe.send(DONE)
