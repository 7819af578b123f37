"""Pool processes that end with their parent."""

from __future__ import annotations

import sys
from typing import Any

import celery.platforms

SET_PARENT_DEATH_SIGNAL = 1
"""`PR_SET_PDEATHSIG` of Linux."""


def ask_the_kernel_directly() -> None:
    """Let Celery's pools that are started from now on ask the kernel themselves to end with their parent.

    billiard has cffi read a declaration in C for that, with a parser that each process would have to load first: longer
    than a small shard takes.
    """
    platforms: Any = celery.platforms
    platforms._set_pdeathsig = end_with_parent


def end_with_parent(signal: int) -> None:
    """Have this process sent a signal when its parent dies. Raises OSError where the system cannot do that."""
    if not sys.platform.startswith("linux"):
        raise OSError("Only Linux tells processes of the death of their parent.")
    import ctypes

    if ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, int(signal), 0, 0, 0):
        raise OSError("The kernel refuses to tell of the death of the parent.")
