"""On what was measured: the machine, and the versions of what took part. Neither names of hosts nor paths."""

from __future__ import annotations

import os
import platform
import re
import sqlite3
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from steelyard.kernels.loader import FOLDER
from steelyard.metrics.metric import VERSION

PACKAGES = {"numpy": "NumPy", "scipy": "SciPy", "sqlalchemy": "SQLAlchemy", "celery": "Celery"}
PEERS = {
    "sacrebleu": "sacreBLEU", "nltk": "NLTK", "jiwer": "jiwer", "rapidfuzz": "rapidfuzz", "gensim": "gensim",
}  # fmt: skip


def machine() -> dict[str, str]:
    """What there is; the order is that of the page."""
    return {
        "CPU": f"{_cpu()}, {len(os.sched_getaffinity(0))} cores",
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.release().partition('-')[0]}, {platform.machine()}",
        "Steelyard": f"{VERSION}, kernels compiled by {compiler(FOLDER / '_kernels.so')}",
        "Python": f"{platform.python_version()}, SQLite {sqlite3.sqlite_version}, {_versions(PACKAGES)}",
        "peers": _versions(PEERS),
    }


def compiler(compiled: Path) -> str:
    """That made a shared library, as it says itself."""
    with suppress(OSError):
        said = compiled.read_bytes()
        # What the system's compiler made of the C library is in it in any case.
        for name, pattern in (("clang", rb"clang version ([\d.]+)"), ("gcc", rb"GCC: \([^)]*\) ([\d.]+)")):
            if found := re.search(pattern, said):
                return f"{name} {found[1].decode()}"
    return "an unknown compiler"


def load() -> str:
    """The mean number of processes that ran or wanted to, over the last minute."""
    return f"{os.getloadavg()[0]:.1f}"


def _cpu() -> str:
    with suppress(OSError):
        if found := re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE):
            return " ".join(found[1].replace("(R)", "").replace("(TM)", "").split())
    return platform.processor() or platform.machine()


def _versions(packages: dict[str, str]) -> str:
    found = []
    for package, name in packages.items():
        with suppress(PackageNotFoundError):
            found.append(f"{name} {version(package)}")
    return ", ".join(found)
