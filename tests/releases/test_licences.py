"""All that an image may have is under licences that we, and those who run it, may use."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution

import pytest

from tests.docker.test_locked import locked
from tests.releases.licences import BY_HAND, FILES, KEPT, stated

LICENCES: dict[str, str] = tomllib.loads(KEPT.read_text())
ALLOWED = re.compile(r"Apache|MIT|BSD|ISC|PSF|Python Software Foundation|MPL|Mozilla|NAIST|CNRI|LGPL|GNU Lesser|OFL")
"""Linked code may be under the LGPL, which asks for nothing of the rest, and a font under the OFL."""
FORBIDDEN = re.compile(r"(?<!L)GPL|Affero|GNU General|SSPL|Commons Clause|BUSL|Non-?Commercial", re.IGNORECASE)
OTHER_PLATFORMS = {"async-timeout", "colorama", "httpx2-jsfetch"}
"""Locked for machines and Pythons on which no image runs."""


def test_every_locked_package_has_one():
    names = set().union(*(locked(file) for file in FILES))
    assert not names - set(LICENCES) - OTHER_PLATFORMS, "make lock"


@pytest.mark.parametrize("name", sorted(LICENCES))
def test_it_may_be_used(name):
    assert ALLOWED.search(LICENCES[name]), LICENCES[name]
    assert not FORBIDDEN.search(LICENCES[name]), LICENCES[name]


@pytest.mark.parametrize("licence", ["GPL-3.0-or-later", "GNU Affero General Public License v3", "", "Proprietary"])
def test_others_would_be_found(licence):
    assert FORBIDDEN.search(licence) or not ALLOWED.search(licence)


def test_what_is_installed_here_states_the_same():
    for name, kept in LICENCES.items():
        try:
            found = distribution(name)
        except PackageNotFoundError:
            continue
        if name not in BY_HAND and found.version == {**locked("requirements.txt")}.get(name, ("",))[0]:
            assert stated(found) == kept, name
