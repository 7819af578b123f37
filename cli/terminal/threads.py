"""How many threads compute in a command."""

from __future__ import annotations

import os


def compute_in_one_thread() -> None:
    """Leave the cores to processes, which do the parallel work: idle threads of linear algebra only spin.

    Call it before anything imports NumPy, whose library starts them at once.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
