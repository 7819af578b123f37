"""The three distributions, built in a copy of the files that git knows: the kernels of this tree stay as they are."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("library", "client", ".")
"""Of the distributions: what others stand on comes first."""


def copy_sources(into: Path) -> Path:
    """A copy of what git knows of the working tree."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, into / name)
    return into


def build(sources: Path, folder: str, dist: Path, kinds: tuple[str, ...] = ("wheel",)) -> None:
    """Build one distribution; each of the kinds is `wheel` or `sdist`."""
    targets = [part for kind in kinds for part in ("-t", kind)]
    command = [sys.executable, "-m", "hatchling", "build", *targets, "-d", str(dist.resolve())]
    # Only so are files dated alike that were built twice.
    environment = {**os.environ, "SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH", "1767225600")}
    built = subprocess.run(command, cwd=sources / folder, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, f"{folder}: {built.stdout}{built.stderr}"


def uv(*arguments: str | Path, cwd: Path = ROOT) -> None:
    """Run uv, which says nothing but errors."""
    command = [sys.executable, "-m", "uv", "--quiet", *map(str, arguments)]
    subprocess.run(command, check=True, cwd=cwd)
