"""What stands beside a system, and the status of a verification."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cli.main import main
from steelyard.commands.errors import CommandError
from steelyard_client.commands import verify
from steelyard_client.commands.leaderboards.tables import remark


def system(**changed: object) -> Any:
    values = {
        "scores": [1], "same_as_reference": "", "same_output_as": "", "kind": "", "ranked": True, "late_seconds": 0.0,
        "origin": "team", "state": "failed", "reason": "", "runs_done": 1, "submissions": [1],
    }  # fmt: skip
    return SimpleNamespace(**values | changed)


def test_who_is_late_is_called_so_by_a_second() -> None:
    assert remark(system()) == ""
    assert "late" in remark(system(late_seconds=0.5))
    assert remark(system(origin="baseline")) == "baseline"
    assert remark(system(same_as_reference="A")) == "same as reference A"
    assert remark(system(scores=[], reason="no words")) == "failed: no words"
    assert remark(system(scores=[], submissions=[1, 2])) == "1 of 2 runs done; failed"


@pytest.mark.parametrize(("verified", "status"), [(True, 0), (False, 1)])
def test_what_is_not_verified_has_a_status(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch, *, verified: bool, status: int
) -> None:
    found = SimpleNamespace(verified=verified, rendered=lambda _form: "")
    monkeypatch.setattr(verify, "_of_stored", lambda *_: found)
    assert main(["verify", "--submission", "1", "--database", sqlite_url]) == status


def test_a_file_that_is_missing_is_no_campaign(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The database is not even asked, which has no tables here."""
    database = f"sqlite:///{tmp_path}/none.db"
    assert main(["verify", "ports27.zip", "--database", database]) == 1
    assert "ports27.zip: there is no such file. Check the path." in capsys.readouterr().err
    assert main(["verify", "ports27", "--database", database]) == 1
    assert "The database has no tables" in capsys.readouterr().err


def test_a_submission_is_verified_with_its_own_campaign() -> None:
    exported: list[str] = []

    def export(campaign: str) -> bytes:
        exported.append(campaign)
        raise BlockingIOError

    client: Any = SimpleNamespace(read_submission=lambda _: SimpleNamespace(campaign="wmt"), export_campaign=export)
    for named in (None, "wmt"):
        with pytest.raises(BlockingIOError):
            verify._of_stored(client, named, 7, ())
    with pytest.raises(CommandError, match=r"Submission 7 is one of wmt, not of other\."):
        verify._of_stored(client, "other", 7, ())
    assert exported == ["wmt", "wmt"]
