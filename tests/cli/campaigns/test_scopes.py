"""What commands of campaigns are about, and nothing beside it: limits of one scope, files of one folder, one ending."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cli.main import main
from steelyard.commands.errors import UsageError
from steelyard_client.commands import backend
from steelyard_client.commands.campaigns.scores import _read
from steelyard_client.commands.submissions.evaluations import _ended
from steelyard_client.documents.campaigns.quotas import QuotaResponse

SCOPES = [("wmt", "", ""), ("wmt", "ants", ""), ("wmt", "", "Test"), ("wmt", "ants", "Test"), (None, "", "")]
KINDS = ["in_flight", "per_day"]


@pytest.fixture
def deleted(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is deleted of limits of every scope."""
    quotas = [
        QuotaResponse(campaign=campaign, team=team, phase=phase, kind=kind, amount=3, time_zone="UTC")
        for campaign, team, phase in SCOPES
        for kind in KINDS
    ]
    found: list[Any] = []
    client = SimpleNamespace(
        list_campaign_quotas=lambda _: quotas,
        list_quotas=lambda: quotas,
        delete_campaign_quota=lambda campaign, kind, **scope: found.append((campaign, *scope.values(), str(kind))),
        delete_quota=lambda kind: found.append((None, "", "", str(kind))),
    )

    @contextmanager
    def connected(*_: Any) -> Iterator[Any]:
        yield client

    monkeypatch.setattr(backend, "connected", connected)
    return found


@pytest.mark.parametrize("scope", SCOPES)
def test_limits_of_one_scope_are_deleted_and_no_others(
    scope: tuple[str | None, str, str], deleted: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["quota", "delete", "--yes"]
    for option, value in zip(("--campaign", "--team", "--phase"), scope, strict=True):
        words += [option, value] if value else []
    assert main(words) == 0
    assert deleted == [(*scope, kind) for kind in KINDS]
    assert capsys.readouterr().out == "Deleted: in flight (3), per day (UTC) (3).\n"
    deleted.clear()
    assert main([*words, "--per-day"]) == 0
    assert deleted == [(*scope, "per_day")]
    assert main([*words, "--per-phase"]) == 1
    assert deleted == [(*scope, "per_day")]


@pytest.mark.parametrize(
    ("states", "status"),
    [
        (None, 0),
        ({"done": 3}, 0),
        ({"done": 3, "failed": 1}, 1),
        ({"done": 3, "cancelled": 1}, 1),
        ({"cancelled": 1}, 1),
    ],
)
def test_work_that_did_not_end_well_has_a_status(states: dict[str, int] | None, status: int) -> None:
    assert _ended(None if states is None else Counter(states)) == status


def test_files_of_scores_are_known_by_their_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may name the language pair."""
    for folder in ("a/en-cs", "a/en-is", "b/en-cs"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "x.tsv").write_text(folder)
    both = [str(tmp_path / "a" / pair / "x.tsv") for pair in ("en-cs", "en-is")]
    assert _read(both) == {"en-cs/x.tsv": b"a/en-cs", "en-is/x.tsv": b"a/en-is"}
    with pytest.raises(UsageError, match=r"Two files are called en-cs/x\.tsv"):
        _read([both[0], str(tmp_path / "b" / "en-cs" / "x.tsv")])
    with pytest.raises(UsageError, match="there is no such file"):
        _read([str(tmp_path / "none.tsv")])
    monkeypatch.chdir(tmp_path / "a" / "en-cs")
    assert [*_read(["x.tsv"])] == ["en-cs/x.tsv"]


@pytest.mark.parametrize("scope", [["--team", "ants"], ["--phase", "Test"], ["--team", "ants", "--phase", "Test"]])
def test_a_team_and_a_phase_are_those_of_a_campaign(scope: list[str], deleted: list[Any]) -> None:
    assert main(["quota", "delete", "--yes", *scope]) == 2
    assert main(["quota", "update", "--per-day", "1", *scope]) == 2
    assert deleted == []
