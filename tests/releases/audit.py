"""Asks whether anything that an image may have is known to be vulnerable, with pip-audit.

    python -m tests.releases.audit     (make audit)

Where no source of advisories answers, it says so and ends with 0: a source that knows of nothing in a release that had
several is none, however friendly its answer.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.releases.distributions import ROOT
from tests.releases.licences import FILES

TOOL = "pip-audit==2.10.1"
SOURCES = ("pypi", "osv")
VULNERABLE = "jinja2==2.11.2"
"""Has CVE-2020-28493 and others."""


def audit(file: Path, source: str) -> list[str]:
    """The advisories for what a file pins; raises ConnectionError where the source gives no answer."""
    command = [
        sys.executable,
        "-m",
        "uv",
        "tool",
        "run",
        TOOL,
        "--requirement",
        str(file),
        "--disable-pip",
        "--no-deps",
    ]
    command += ["--format", "json", "--progress-spinner", "off", "--vulnerability-service", source]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        packages = json.loads(ran.stdout)["dependencies"]
    except ValueError:
        raise ConnectionError((ran.stderr.strip().splitlines() or ["no answer"])[-1][:120]) from None
    if skipped := [each["name"] for each in packages if "skip_reason" in each]:
        raise ConnectionError(
            f"it knows nothing of {len(skipped)} of {len(packages)} packages, {skipped[0]} among them"
        )
    return [f"{each['name']} {each['version']}: {found['id']}, mended in {', '.join(found['fix_versions']) or 'none'}"
            for each in packages for found in each["vulns"]]  # fmt: skip


def answering() -> str | None:
    """The first source that knows of the advisories of a release that has some."""
    with tempfile.TemporaryDirectory() as folder:
        known = Path(folder) / "vulnerable.txt"
        known.write_text(f"{VULNERABLE}\n")
        for source in SOURCES:
            try:
                if audit(known, source):
                    return source
                print(f"{source}: knows of no advisory for {VULNERABLE}")
            except ConnectionError as error:
                print(f"{source}: {error}")
    return None


def main() -> int:
    """Print what is known; 1 if anything is."""
    source = answering()
    if source is None:
        print("Skipped: no source of advisories can be reached from here.")
        return 0
    found = sorted({line for file in FILES for line in audit(ROOT / "docker" / file, source)})
    print("\n".join(found) or f"Nothing in {', '.join(FILES)} has a known vulnerability ({source}).")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
