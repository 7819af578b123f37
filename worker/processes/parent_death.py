"""Makes processes end with their parent."""

from __future__ import annotations

import ctypes
import sys

SET_PARENT_DEATH_SIGNAL = 1
"""`PR_SET_PDEATHSIG` of Linux."""


def end_with_parent(number: int) -> None:
    """Have this process signalled when its parent dies.

    Raises
    ------
    OSError
        If the system does not support it.
    """
    if not sys.platform.startswith("linux"):
        raise OSError("Only Linux signals processes when their parent dies.")
    if ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, int(number), 0, 0, 0):
        raise OSError("The kernel refuses to signal the death of the parent.")
