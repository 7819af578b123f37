"""Campaigns that are over, as `campaign archive` lists them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from cli.main import main
from steelyard_client.commands import backend
from steelyard_client.documents.campaigns.past_campaigns import PastCampaign, Winners

OVER = [
    PastCampaign(
        name="wmt27", title="WMT27", year=2027, pairs=["en-cs"], segments=9, teams=4,
        winners=[
            Winners(test_set="news", ranked_by="esa", systems=["mast", "keel"]),
            Winners(test_set="talks", ranked_by="BLEU", systems=["raft"]),
        ],
    ),
    PastCampaign(name="quiet", title="Quiet", year=2026, pairs=[], segments=0, teams=1, winners=[]),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _server(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def connected(*_: Any) -> Iterator[Any]:
        yield SimpleNamespace(list_past_campaigns=lambda: iter(OVER))

    monkeypatch.setattr(backend, "connected", connected)


def test_campaigns_without_winners_are_listed_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["campaign", "archive", "-f", "csv"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "campaign,year,teams,test_set,ranked_by,winners",
        'wmt27,2027,4,news,esa,"mast, keel"',
        "wmt27,2027,4,talks,BLEU,raft",
        "quiet,2026,1,,,",
    ]
    assert main(["campaign", "archive", "-f", "json"]) == 0
    assert [each["name"] for each in json.loads(capsys.readouterr().out)] == ["wmt27", "quiet"]
