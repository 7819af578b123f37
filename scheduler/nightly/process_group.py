"""Runs a command, and ends its whole process group when the parent is gone or asks for it.

Started as a program of its own, `python process_group.py COMMAND...`, by `scheduler.nightly.commands`; it needs only
the standard library. Its standard input is a pipe: data or its end means that the command must end.
"""

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress

GRACE_SECONDS = 5.0
NOT_STARTED = 127


def main() -> int:
    """Run the command; its exit status, 128 + the signal that ended it, or 127 if it could not be started."""
    try:
        command = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, process_group=0)  # noqa: S603 - its only use
    except OSError as error:
        print(f"{sys.argv[1]}: {error.strerror}", file=sys.stderr)
        return NOT_STARTED
    threading.Thread(target=_end_with_the_pipe, args=(command,), daemon=True).start()
    status = command.wait()
    # Processes that it has left in its group.
    _kill(command, signal.SIGKILL)
    return status if status >= 0 else 128 - status


def _end_with_the_pipe(command: "subprocess.Popen[bytes]") -> None:
    os.read(0, 1)
    _kill(command, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        command.wait(GRACE_SECONDS)
    _kill(command, signal.SIGKILL)


def _kill(command: "subprocess.Popen[bytes]", number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(command.pid, number)


if __name__ == "__main__":
    sys.exit(main())
