"""The image's lock files have all that the distributions need, in releases that they allow, with hashes."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
ALWAYS = ("vectors", "langid", "lemmas", "spm")
"""Extras of the library that every image has."""
CHOSEN = ("ja", "ko", "learned")
"""Extras that an image may have."""


def project(folder: str) -> dict:
    return tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]


def locked(file: str) -> dict[str, tuple[str, int]]:
    """Name -> version, number of hashes."""
    parts = re.split(r"^(?=[a-z0-9])", (ROOT / "docker" / file).read_text(), flags=re.MULTILINE)[1:]
    names = (re.match(r"([a-z0-9_.-]+)==([^ ;]+)", part) for part in parts)
    return {
        canonicalize_name(name[1]): (name[2], part.count("--hash=sha256:"))
        for name, part in zip(names, parts, strict=True)
    }


def unmet(needed: list[str], there: dict[str, tuple[str, int]]) -> list[str]:
    """Those of the requirements that the locked releases do not meet."""
    found = [Requirement(each) for each in needed if not each.startswith("steelyard")]
    names = [canonicalize_name(each.name) for each in found]
    return [
        str(each)
        for each, name in zip(found, names, strict=True)
        if name not in there or not each.specifier.contains(there[name][0]) or not there[name][1]
    ]


def test_what_the_distributions_need_is_locked():
    server, library, client = project("."), project("library"), project("client")
    needed = [*server["dependencies"], *library["dependencies"], *client["dependencies"]]
    needed += [each for extra in ("s3", "share", "sso", "traces") for each in server["optional-dependencies"][extra]]
    needed += [each for extra in ALWAYS for each in library["optional-dependencies"][extra]]
    assert not unmet(needed, locked("requirements.txt")), "make lock"


@pytest.mark.parametrize("extra", CHOSEN)
def test_what_an_extra_needs_is_locked_and_goes_with_the_rest(extra):
    needed = project("library")["optional-dependencies"][extra]
    small, more = locked("requirements.txt"), locked(f"requirements-{extra}.txt")
    assert not unmet(needed, more), "make lock"
    assert {name: more[name] for name in small.keys() & more.keys()} == {
        name: small[name] for name in small.keys() & more.keys()
    }


def test_every_extra_can_be_in_an_image():
    extras = set(project("library")["optional-dependencies"])
    assert extras == {*ALWAYS, *CHOSEN}
    assert {file.stem for file in (ROOT / "docker").glob("requirements-*.txt")} == {
        f"requirements-{extra}" for extra in CHOSEN
    }
