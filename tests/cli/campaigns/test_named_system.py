"""Which system of a campaign a command means: by its name, with its team where several share one, or by its number."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from cli.main import main
from steelyard_client.commands import backend

KNOWN = [(3, "harbour", "mast"), (4, "bay", "mast"), (5, "harbour", "4"), (6, "", "raft"), (7, "bay", "harbour/keel")]
"""Number, team and name; one has the number of another one as its name."""


@pytest.fixture
def cited(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The campaigns and systems that were cited."""
    found: list[tuple[str, int]] = []

    def cite(campaign: str, number: int) -> bytes:
        found.append((campaign, number))
        return b"@misc{}\n"

    systems = [SimpleNamespace(id=number, team=team, system=name) for number, team, name in KNOWN]
    client = SimpleNamespace(list_campaign_systems=lambda _: iter(systems), cite_campaign_system=cite)

    @contextmanager
    def connected(*_: Any) -> Iterator[Any]:
        yield client

    monkeypatch.setattr(backend, "connected", connected)
    return found


@pytest.mark.parametrize(
    ("named", "number"),
    [("harbour/mast", 3), ("bay/mast", 4), ("4", 5), ("5", 5), ("3", 3), ("raft", 6), ("harbour/keel", 7)],
)
def test_a_name_goes_before_a_number(named: str, number: int, cited: list[tuple[str, int]]) -> None:
    assert main(["system", "cite", "wmt", named]) == 0
    assert cited == [("wmt", number)]


@pytest.mark.parametrize(
    ("named", "says"),
    [
        ("mast", "Several systems of wmt are called mast: harbour/mast (3), bay/mast (4)."),
        ("keel", "wmt has no system 'keel'. There are: mast, mast, 4, raft, harbour/keel."),
        ("8", "wmt has no system '8'. There are: mast, mast, 4, raft, harbour/keel."),
    ],
)
def test_none_or_several_are_not_guessed(
    named: str, says: str, cited: list[tuple[str, int]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["system", "cite", "wmt", named]) == 1
    assert capsys.readouterr().err == f"steelyard: {says}\n"
    assert not cited
