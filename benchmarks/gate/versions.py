"""With what was counted: where any of it differs, other instructions do the same work."""

from __future__ import annotations

import platform
import sqlite3
from hashlib import sha256
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np
from numpy._core._multiarray_umath import __cpu_features__

from benchmarks.harness.machine import compiler
from steelyard.kernels.loader import FOLDER

if TYPE_CHECKING:
    from benchmarks.gate.workloads import Texts


def versions(texts: Texts) -> dict[str, str]:
    """Of everything that has a part in a workload, as this process sees it: valgrind shows every processor as one.

    The texts are drawn by NumPy, which may draw others in another release.
    """
    return {
        "processor": f"{platform.machine()} {'with' if __cpu_features__.get('AVX2') else 'without'} AVX2",
        "C library": " ".join(platform.libc_ver()),
        "Python": f"{platform.python_version()}, {platform.python_compiler()}",
        "NumPy": np.__version__,
        "SQLite": sqlite3.sqlite_version,
        "SQLAlchemy": version("sqlalchemy"),
        "kernels": compiler(FOLDER / "_kernels.so"),
        "texts": sha256(b"\n\n".join(texts.texts)).hexdigest()[:12],
    }
