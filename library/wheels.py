"""Builds the wheels of all platforms into dist/: `make wheels`, or `python library/wheels.py PLATFORM ...` for some."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from hatch_build import WHEELS

LIBRARY = Path(__file__).parent


def build(platform: str, into: Path) -> Path:
    """The wheel of one platform, built in a copy, so that the kernels of this machine stay as they are."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "library"
        shutil.copytree(LIBRARY, copy, ignore=shutil.ignore_patterns("*.so", "__pycache__", "dist"))
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(into.resolve())]
        subprocess.run(command, cwd=copy, env={**os.environ, "STEELYARD_WHEEL": platform}, check=True)  # noqa: S603
    (wheel,) = into.glob(f"steelyard-*-py3-none-{platform}.whl")
    return wheel


if __name__ == "__main__":
    for name in sys.argv[1:] or WHEELS:
        print(build(name, Path("dist")))
