"""Processes that end with their parent."""

from __future__ import annotations

import ctypes
import sys

SET_PARENT_DEATH_SIGNAL = 1
"""`PR_SET_PDEATHSIG` of Linux."""


def end_with_parent(number: int) -> None:
    """Have this process sent a signal when its parent dies. Raises OSError where the system cannot do that."""
    if not sys.platform.startswith("linux"):
        raise OSError("Only Linux tells processes of the death of their parent.")
    if ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, int(number), 0, 0, 0):
        raise OSError("The kernel refuses to tell of the death of the parent.")
