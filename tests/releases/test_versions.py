"""What a release is called, in each place, and what the rehearsal would find wrong with it."""

from __future__ import annotations

import pytest

from tests.releases.distributions import ROOT
from tests.releases.versions import PLACES, problems, read_versions


@pytest.fixture
def tree(tmp_path):
    """A tree with these files alone, of a release that could go out."""
    for name in PLACES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('VERSION = "1.2.0"\n')
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 1.2.0, 2026-12-01\n\n- Faster.\n\n## 1.1.0, 2026-01-01\n")
    return tmp_path


def test_those_of_this_tree_agree():
    assert not problems(ROOT)
    assert len(set(read_versions(ROOT).values())) == 1


def test_a_release_may_go_out(tree):
    assert not problems(tree, released=True)


@pytest.mark.parametrize(
    ("changed", "text", "found"),
    [
        ("client/steelyard_client/version.py", 'VERSION = "1.1.0"\n', "differ"),
        ("client/steelyard_client/version.py", 'VERSION = "new"\n', "names no version"),
        ("CHANGELOG.md", "## 1.2.0, unreleased\n\n- Faster.\n", "in place of its date"),
        ("CHANGELOG.md", "## 1.2.0, 2026-12-01\n\n## 1.1.0, 2026-01-01\n\n- Old.\n", "says nothing"),
        ("CHANGELOG.md", "# Changelog\n", "says nothing"),
    ],
)
def test_what_is_wrong_is_said(tree, changed, text, found):
    (tree / changed).write_text(text)
    assert any(found in each for each in problems(tree, released=True))
