"""Starts a program with a limit on its memory, so that it ends with the process that wanted it.

A program of its own, `python launcher.py BYTES COMMAND...`, that becomes the command; it needs only the standard
library. Limits set in a fork of a process with threads might never come back from there.
"""

import ctypes
import os
import signal
import sys

NOT_STARTED = 127
SET_PARENT_DEATH_SIGNAL = 1
"""`PR_SET_PDEATHSIG` of Linux."""


def main() -> int:
    """Become the command.

    Returns
    -------
    int
        127: it could not be started.
    """
    most, command = int(sys.argv[1]), sys.argv[2:]
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, int(signal.SIGKILL), 0, 0, 0)
    if most:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    # Python ignores it, and programs would inherit that.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)  # noqa: S606 - its only use
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
    return NOT_STARTED


if __name__ == "__main__":
    sys.exit(main())
