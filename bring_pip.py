"""Brings pip into an environment that was made without it, as on a Debian without python3-venv.

`make install` runs it with the environment's own Python when `python -m pip` is missing. pip's newest wheel comes
from the package index, is checked against the digest that the index gives, and installs itself.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urljoin
from urllib.request import Request, urlopen

INDEX = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/") + "/pip/"


def newest_wheel() -> tuple[str, str]:
    """Address and SHA-256 of the newest wheel of pip."""
    request = Request(INDEX, headers={"Accept": "application/vnd.pypi.simple.v1+json"})  # noqa: S310
    with urlopen(request, timeout=60) as answer:  # noqa: S310
        files = json.load(answer)["files"]
    wheels = [
        file for file in files
        if file["filename"].endswith("-py3-none-any.whl") and not file.get("yanked") and version(file) != ()
    ]  # fmt: skip
    newest = max(wheels, key=version)
    return urljoin(INDEX, newest["url"]), newest["hashes"]["sha256"]


def version(file: dict[str, str]) -> tuple[int, ...]:
    """The numbers of a release, or nothing for a pre-release."""
    parts = file["filename"].split("-")[1].split(".")
    return tuple(int(part) for part in parts) if all(part.isdigit() for part in parts) else ()


def main() -> None:
    """Fetch, check, install."""
    address, expected = newest_wheel()
    with urlopen(address, timeout=300) as answer:  # noqa: S310
        wheel = answer.read()
    if hashlib.sha256(wheel).hexdigest() != expected:
        sys.exit(f"{address}: the file does not have the digest that the index gives. Nothing was installed.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / address.rsplit("/", 1)[1].split("#")[0]
        path.write_bytes(wheel)
        subprocess.run([sys.executable, str(path / "pip"), "install", "--quiet", str(path)], check=True)  # noqa: S603


if __name__ == "__main__":
    main()
