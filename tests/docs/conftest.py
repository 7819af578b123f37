"""The site, built once: Sphinx with warnings as errors.

STEELYARD_TEST_SITE names a folder where `make docs` has just built it, as in CI.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    """The folder of the built site."""
    if given := os.environ.get("STEELYARD_TEST_SITE"):
        return Path(given).resolve(strict=True)
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going"]
    built = subprocess.run(
        [*command, "--doctree-dir", str(folder / "doctrees"), str(ROOT / "docs"), str(folder / "html")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    return folder / "html"
