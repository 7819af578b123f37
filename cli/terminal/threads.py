"""The number of compute threads of a command."""

from __future__ import annotations

import os


def compute_in_one_thread() -> None:
    """Use one thread for linear algebra: processes do the parallel work, and idle threads would only spin.

    Call it before anything imports NumPy, which starts the threads at import.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
