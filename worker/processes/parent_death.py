"""Pool processes that end with their parent, and when it tells them to."""

from __future__ import annotations

import signal
import sys
from typing import Any

import celery.platforms
from celery import signals
from celery.concurrency import prefork

SET_PARENT_DEATH_SIGNAL = 1
"""`PR_SET_PDEATHSIG` of Linux."""


def ask_the_kernel_directly() -> None:
    """Let Celery's pools that are started from now on ask the kernel themselves to end with their parent.

    billiard has cffi read a declaration in C for that, with a parser that each process would have to load first: longer
    than a small shard takes.
    """
    platforms: Any = celery.platforms
    platforms._set_pdeathsig = end_with_parent


def hear_the_parent_alone() -> None:
    """Let pool processes that are started from now on finish their task when their whole group is told to end.

    systemd and shells tell all processes of a group, and billiard's would break off in the middle. The parent hears
    the same, and sees to it that they end: by a message where they are idle, by SIGKILL where they take too long.
    """
    # What each of them does first of all; until then it has the handlers of its parent, which know their own process.
    prefork.WORKER_SIGRESET = prefork.WORKER_SIGRESET - {"SIGTERM"}
    prefork.WORKER_SIGIGNORE = prefork.WORKER_SIGIGNORE | {"SIGTERM"}
    signals.worker_process_shutdown.connect(_heed_the_end, weak=False)


def _heed_the_end(**_: object) -> None:
    # One that has nothing left to do waits a second for its parent to end it so.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def end_with_parent(number: int) -> None:
    """Have this process sent a signal when its parent dies. Raises OSError where the system cannot do that."""
    if not sys.platform.startswith("linux"):
        raise OSError("Only Linux tells processes of the death of their parent.")
    import ctypes

    if ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, int(number), 0, 0, 0):
        raise OSError("The kernel refuses to tell of the death of the parent.")
