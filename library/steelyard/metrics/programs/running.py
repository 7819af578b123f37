"""Runs a registered program on batches of segments; whatever it does, no wrong number comes of it.

An answer counts once the whole batch was answered in order, or as far as the program came before it crashed or was
ended. If it says anything that cannot be, an id twice or one that it was not given, no number or no JSON, nothing of
that batch counts.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

from steelyard.errors import ProgramFailed
from steelyard.metrics.learned.devices import VARIABLE
from steelyard.metrics.programs import launcher
from steelyard.metrics.programs.answers import LONGEST_LINE, Answers, Nonsense
from steelyard.text.names import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from steelyard.metrics.content_scores import Content
    from steelyard.metrics.preparation.score_store import Scored
    from steelyard.metrics.programs.registration import RegisteredProgram

MAX_FAILURES = 5
"""How often a program may crash, hang or leave segments out in one call, while it still gets on."""
TAIL_BYTES = 2000
"""Of what a program says on its standard error, for messages."""
PIECE = 1 << 16
END_SECONDS = 5.0
"""For a program that has answered everything, or closed its output, to end."""


def score_by_program(
    program: RegisteredProgram, contents: Sequence[Content], keep: Callable[[Mapping[int, Scored]], None]
) -> None:
    """Score contents in batches; what was answered before a crash is kept, and the rest asked again.

    Parameters
    ----------
    program : RegisteredProgram
    contents : list of Content
    keep : callable
        Takes the scores of each batch, by position.

    Raises
    ------
    ProgramFailed
        With what it did.
    """
    waiting, failures = list(range(len(contents))), 0
    while waiting:
        batch = waiting[: program.batch]
        scored, failure = _run_batch(program, [contents[position] for position in batch])
        by_position = {batch[place]: each for place, each in scored.items()}
        if by_position:
            keep(by_position)
            waiting = [position for position in waiting if position not in by_position]
        if failure:
            failures += 1
            if not by_position or failures >= MAX_FAILURES:
                raise ProgramFailed(f"The program {program.name} {failure}")


def _run_batch(program: RegisteredProgram, contents: Sequence[Content]) -> tuple[dict[int, Scored], str]:
    """The answers by place in the batch, and what went wrong. Raises ProgramFailed after nonsense."""
    running = _running()
    process = running.pop(program, None)
    if process is not None and process.ended:
        process.end()
        process = None
    process = process or _Process(program)
    kept = False
    try:
        scored = process.ask(contents)
        kept = program.keeps_running and not process.failure
        return scored, f"{process.failure}{process.said()}" if process.failure else ""
    except Nonsense as error:
        raise ProgramFailed(f"The program {program.name} {error}{process.said()}") from error
    finally:
        if kept:
            running[program] = process
        else:
            process.end()


@cache
def _running() -> dict[RegisteredProgram, _Process]:
    """Programs that are kept for the next batch, in this process.

    No module's own variable: `steelyard.plugins.integrity` would take its growth for a change of the house.
    """
    return {}


def end_programs() -> None:
    """End the programs that are kept for the next batch."""
    running = _running()
    while running:
        running.popitem()[1].end()


class _Process:
    """A program that runs in a process group of its own."""

    def __init__(self, program: RegisteredProgram) -> None:
        self._program = program
        self._first = 1
        """The id of the next batch's first segment: ids are never used twice, so that a late answer is noticed."""
        self._rest, self._tail = b"", b""
        self.failure = ""
        """What went wrong, as the rest of a sentence about it."""
        # Passwords of our own are none of its business.
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("STEELYARD_") or name == VARIABLE
        }
        self._popen = subprocess.Popen(  # noqa: S603 - only administrators register programs; docs/explanation/security.md
            [sys.executable, "-I", launcher.__file__, str(program.megabytes << 20), *program.command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,
            bufsize=0,
        )
        assert self._popen.stdin
        assert self._popen.stdout
        assert self._popen.stderr
        self._input, self._output, self._errors = self._popen.stdin, self._popen.stdout, self._popen.stderr
        for pipe in (self._input, self._output, self._errors):
            os.set_blocking(pipe.fileno(), False)

    @property
    def ended(self) -> bool:
        return self._popen.poll() is not None

    def ask(self, contents: Sequence[Content]) -> dict[int, Scored]:
        """The answers to a batch, as far as they came. Raises Nonsense."""
        answers = Answers(self._first, len(contents))
        self._first += len(contents)
        self._exchange(answers.question(contents, self._program), answers)
        if not self.failure and not (answers.complete and self._program.keeps_running):
            self._check_status()
        if self._rest.strip() and not self.failure:
            answers.take(self._rest)
        self._rest = b""
        if answers.complete:
            self.failure = ""
        else:
            came = f"It had answered {len(answers.scored):,} of {len(contents):,} segments."
            self.failure = f"{self.failure or 'ended'}. {came}"
        return answers.scored

    def _exchange(self, question: bytes, answers: Answers) -> None:
        """Write the question and read answers, until they end or the time does."""
        until = time.monotonic() + self._program.seconds
        left = memoryview(question)
        with selectors.DefaultSelector() as selector:
            selector.register(self._input, selectors.EVENT_WRITE)
            for pipe in (self._output, self._errors):
                selector.register(pipe, selectors.EVENT_READ)
            while self._output in {key.fileobj for key in selector.get_map().values()}:
                if answers.complete:
                    if self._program.keeps_running and not left:
                        return
                    until = min(until, time.monotonic() + END_SECONDS)
                ready = selector.select(max(0.0, until - time.monotonic()))
                if time.monotonic() >= until:
                    self.failure = f"took longer than its {self._program.seconds:g} seconds for a batch and was ended"
                    return
                for key, _ in ready:
                    if key.fileobj is self._input:
                        left = self._write(left)
                        if not left:
                            selector.unregister(self._input)
                            if not self._program.keeps_running:
                                self._input.close()
                    elif not self._read(key.fd, answers):
                        selector.unregister(key.fileobj)

    def _write(self, left: memoryview) -> memoryview:
        try:
            return left[os.write(self._input.fileno(), left[:PIECE]) :]
        except BlockingIOError:
            return left
        except BrokenPipeError:
            # It may have read what it needs; if not, answers are missing.
            return left[:0]

    def _read(self, pipe: int, answers: Answers) -> bool:
        """Read from one of its pipes; False at the end. Raises Nonsense."""
        try:
            said = os.read(pipe, PIECE)
        except BlockingIOError:
            return True
        if pipe == self._errors.fileno():
            self._tail = (self._tail + said)[-TAIL_BYTES:]
            return bool(said)
        *lines, self._rest = (self._rest + said).split(b"\n")
        for line in lines:
            answers.take(line)
        if len(self._rest) > LONGEST_LINE:
            raise Nonsense(f"wrote a line of more than {LONGEST_LINE:,} bytes.")
        return bool(said)

    def _check_status(self) -> None:
        """Note an exit status that is not 0: an end of its output is not yet one of the program."""
        try:
            status = self._popen.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.failure = "closed its output without ending"
            return
        if status < 0:
            name = signal.Signals(-status).name if -status in set(signal.Signals) else str(-status)
            self.failure = f"was ended by {name}"
        elif status == launcher.NOT_STARTED:
            self.failure = "could not be started (exit status 127)"
        elif status:
            self.failure = f"ended with exit status {status}"

    def said(self) -> str:
        """The end of what it said on its standard error, for a message."""
        with suppress(BlockingIOError, ValueError):
            self._tail = (self._tail + os.read(self._errors.fileno(), PIECE))[-TAIL_BYTES:]
        lines = self._tail.decode("utf-8", "replace").split("\n")
        last = next((printable(line).strip() for line in reversed(lines) if line.strip()), "")
        return f" It said at last: {last[:300]}" if last else ""

    def end(self) -> None:
        """End it, and all processes that it has left in its group."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._popen.pid, signal.SIGKILL)
        self._popen.wait()
        for pipe in (self._input, self._output, self._errors):
            pipe.close()
