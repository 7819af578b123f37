"""Commands run as users run them, in processes of their own; or here, where what they print is all that matters."""

import contextlib
import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from cli.main import main

REPOSITORY = Path(__file__).parents[2]
SECONDS = 300


def environment(**settings: str) -> dict[str, str]:
    """This process's, without its Steelyard settings, with these; tests that run together do not fight for a port."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("STEELYARD_")}
    return {
        **kept,
        "PYTHONPATH": f"{REPOSITORY}:{REPOSITORY}/library:{REPOSITORY}/client",
        "STEELYARD_WEB_PORT": "0",
        **settings,
    }


def steelyard(*arguments: str, cwd: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run `steelyard ...` to its end."""
    return command("cli.main", *arguments, cwd=cwd, **settings)


def steelyard_here(*arguments: str, cwd: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run `steelyard ...` to its end in this process, which has imported everything already."""
    output, errors = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with (
        mock.patch.dict(os.environ, environment(**settings), clear=True),
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(errors),
    ):
        try:
            status = main(arguments)
        except SystemExit as end:
            status = int(end.code or 0)
    printed, said = (each.buffer.getvalue().decode() for each in (output, errors))
    return subprocess.CompletedProcess(arguments, status, printed, said)


def mtrics(*arguments: str, cwd: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run `mtrics ...` to its end."""
    return command("steelyard.commands.mtrics.command", *arguments, cwd=cwd, **settings)


def command(module: str, *arguments: str, cwd: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a command by the module that it is in."""
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=cwd,
        env=environment(**settings),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@contextmanager
def running(*arguments: str, cwd: Path, **settings: str) -> Iterator[subprocess.Popen[bytes]]:
    """A long-lived `steelyard ...` in a process group of its own; stopped by SIGTERM, then killed."""
    log = cwd / f"{arguments[0]}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "cli.main", *arguments],
            cwd=cwd,
            env=environment(**settings),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise AssertionError(f"{arguments[0]} did not stop on SIGTERM: {log.read_text()}") from None


def wait_for(condition, seconds: float = 60.0) -> None:
    """Until the condition holds, at most so long."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)
