"""The release that each place of the tree names; they must agree."""

from __future__ import annotations

import re
from pathlib import Path

from packaging.version import Version

PLACES = {
    "library/steelyard/metrics/metric.py": r'^VERSION = "(.+)"$',
    "client/steelyard_client/version.py": r'^VERSION = "(.+)"$',
    "CHANGELOG.md": r"^## (\S+), ",
}
"""File, and the line that names its newest release."""


def read_versions(root: Path) -> dict[str, str]:
    """The version that each place names."""
    found = {name: re.search(line, (root / name).read_text(), re.MULTILINE) for name, line in PLACES.items()}
    return {name: match[1] if match else "none" for name, match in found.items()}


def problems(root: Path, *, released: bool = False) -> list[str]:
    """What is wrong with them; a release that goes out has a date in the changelog, and changes beneath it."""
    versions = read_versions(root)
    found = [] if len(set(versions.values())) == 1 else [f"the versions differ: {versions}"]
    found += [f"{name} names no version: {each}" for name, each in versions.items() if not _is_version(each)]
    heading = re.search(r"^## \S+, (.+)$", changelog := (root / "CHANGELOG.md").read_text(), re.MULTILINE)
    if heading is None or not changelog[heading.end() :].partition("\n## ")[0].strip():
        found.append("CHANGELOG.md says nothing of the newest release")
    elif released and not re.fullmatch(r"\d{4}-\d\d-\d\d", heading[1]):
        found.append(f"CHANGELOG.md calls it {heading[1]!r} in place of its date (2026-01-31)")
    return found


def _is_version(text: str) -> bool:
    try:
        return str(Version(text)) == text
    except ValueError:
        return False
