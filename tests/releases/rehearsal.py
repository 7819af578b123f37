"""A release from beginning to end, but for handing it to anybody: docs/how-to/release.md.

    python -m tests.releases.rehearsal [--released] [--into dist]     (make release-rehearsal)

In a copy of the files that git knows it builds the docs, the wheel and the source distribution of library, client and
server, and looks at what is in them. Then it installs the wheels in a new environment, and the source distributions in
another, with nothing from this tree, and tries both: the demo, an empty database, the service with its pages and its
site of the docs, the client.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request
import zipfile
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.releases.distributions import FOLDERS, ROOT, build, copy_sources, uv
from tests.releases.versions import problems, read_versions
from tests.servers import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = ("steelyard", "steelyard_client", "steelyard_server")
INSIDE = {
    "steelyard": ("steelyard/kernels/_kernels.so", "steelyard/py.typed"),
    "steelyard_client": ("steelyard_client/py.typed",),
    "steelyard_server": ("models/migrations/env.py", "cli/demo/harbour/refs/A.txt", "web/documentation/index.html"),
}
"""Files that wheels must have, which no import would miss at once."""
CLIENT = "import steelyard_client, sys; c = steelyard_client.Client(sys.argv[1]); print(list(c.list_campaigns()))"
START_SECONDS = 120.0


def main() -> int:
    """Rehearse; 1 with the reason where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--released", action="store_true", help="the changelog must have the date of the release")
    parser.add_argument("--into", type=Path, help="keep what was built in this folder")
    options = parser.parse_args()
    found = problems(ROOT, released=options.released)
    if options.released and (changed := _git("status", "--porcelain")):
        found.append(f"a release is made of a commit, and this tree has changes:\n{changed}")
    if found:
        print("\n".join(found))
        return 1
    version = next(iter(read_versions(ROOT).values()))
    print(f"{version}, commit {_git('rev-parse', '--short', 'HEAD')}")
    with tempfile.TemporaryDirectory(prefix="steelyard-release-") as home:
        folder = Path(home)
        dist = (options.into or folder / "dist").resolve()
        build_all(copy_sources(folder / "sources"), dist)
        look_inside(dist, version)
        for kind, pattern in (("wheels", "*.whl"), ("sources", "*.tar.gz")):
            programs = install(folder / f"{kind}-environment", sorted(dist.glob(pattern)), version)
            try_out(programs, folder / f"{kind}-home", version)
            print(f"{kind}: installed and tried", flush=True)
    return 0


def build_all(sources: Path, dist: Path) -> None:
    """The wheel and the source distribution of each, the server's with the docs."""
    build(sources, "library", dist, ("sdist", "wheel"))
    build(sources, "client", dist, ("sdist", "wheel"))
    path = os.pathsep.join(str(sources / folder) for folder in (".", "library", "client"))
    if built := os.environ.get("STEELYARD_TEST_SITE"):
        # CI has built it of the same files.
        shutil.copytree(built, sources / "web/documentation")
    else:
        command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "docs", "web/documentation"]
        subprocess.run(command, cwd=sources, env={**os.environ, "PYTHONPATH": path}, check=True)
    build(sources, ".", dist, ("sdist", "wheel"))
    print("built: " + ", ".join(sorted(file.name for file in dist.iterdir())), flush=True)


def look_inside(dist: Path, version: str) -> None:
    """Fail where an archive lacks what it must have, or has what it must not."""
    assert len(FOLDERS) == len(NAMES)
    for name in NAMES:
        (wheel,) = dist.glob(f"{name}-{version}-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            (metadata,) = (each for each in names if each.endswith(".dist-info/METADATA"))
            about = archive.read(metadata).decode()
        lacking = [each for each in INSIDE[name] if each not in names]
        assert not lacking, f"{wheel.name} lacks {lacking}"
        assert f"\nVersion: {version}\n" in about
        assert "License-Expression: Apache-2.0" in about
        with tarfile.open(dist / f"{name}-{version}.tar.gz") as archive:
            packed = archive.getnames()
        assert any(each.endswith("/LICENSE") for each in packed)
        odd = [each for each in (*names, *packed) if "__pycache__" in each or each.endswith((".db", ".o", ".env"))]
        assert not odd, f"{name} has {odd[:3]}"


def install(folder: Path, archives: list[Path], version: str) -> Path:
    """A new environment with these archives and what they ask for; its folder of programs."""
    uv("venv", "--python", sys.executable, folder)
    uv("pip", "install", "--python", folder / "bin" / "python", *archives, cwd=folder)
    listed = subprocess.run(
        [sys.executable, "-m", "uv", "pip", "list", "--python", folder / "bin" / "python"],
        capture_output=True, text=True, check=True, cwd=folder,
    ).stdout  # fmt: skip
    for name in NAMES:
        assert any(line.split() == [name.replace("_", "-"), version] for line in listed.splitlines()), listed
    return folder / "bin"


def try_out(programs: Path, home: Path, version: str) -> None:
    """What somebody does first, with nothing of this tree in reach."""
    home.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("STEELYARD", "PYTHON"))}
    environment = {**kept, "HOME": str(home), "STEELYARD_DATABASE_URL": f"sqlite:///{home}/steelyard.db"}

    def run(program: str, *arguments: str) -> str:
        command = [str(programs / program), *arguments]
        ran = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, f"{' '.join(command)}: {ran.stdout}{ran.stderr}"
        return ran.stdout

    assert run("steelyard", "--version").strip().startswith(f"steelyard {version}")
    (home / "hypothesis.txt").write_text("the cat sat on the mat\n")
    assert "100" in run("steelyard", "score", "hypothesis.txt", "-i", "hypothesis.txt", "-m", "bleu")
    run("steelyard", "demo")
    run("steelyard", "db", "upgrade")
    with serving(programs, home, environment) as address:
        assert b"Steelyard" in _read(f"{address}/docs/index.html")
        assert b"openapi" in _read(f"{address}/api/v1/openapi.json")
        run("python", "-c", CLIENT, address)


@contextmanager
def serving(programs: Path, home: Path, environment: dict[str, str]) -> Iterator[str]:
    """The address of `steelyard serve` as long as this is open."""
    port = free_port()
    log = home / "serve.log"
    with log.open("w") as file:
        command = [str(programs / "steelyard"), "serve", "--port", str(port)]
        process = subprocess.Popen(command, cwd=home, env=environment, stdout=file, stderr=file)
    try:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                _read(f"http://127.0.0.1:{port}/")
                break
            except OSError:
                assert process.poll() is None, log.read_text()
                assert time.monotonic() < deadline, log.read_text()
                time.sleep(0.2)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        assert process.wait(60) == 0, log.read_text()


def _read(address: str) -> bytes:
    with closing(urllib.request.urlopen(address, timeout=30)) as answer:
        return bytes(answer.read())


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
