"""`steelyard campaign`: a task from nothing to its published ranking."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from cli.main import main
from models.roles import SiteRole
from tests.scheduler.jobs import work_off
from tests.web.service import Service
from worker.settings import Settings

REFERENCE = "the small cat sleeps here now\na dog runs over the hill\nwe see a house\n"


@pytest.fixture
def service(sqlite_url: str) -> Iterator[Service]:
    """Accounts and teams."""
    with ExitStack() as stack:
        yield Service.start(sqlite_url, stack)


@pytest.fixture(autouse=True)
def _database(sqlite_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STEELYARD_DATABASE_URL", sqlite_url)
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "news"
    (folder / "refs").mkdir(parents=True)
    (folder / "refs" / "A.txt").write_text(REFERENCE)
    (folder / "source.txt").write_text("one\ntwo\nthree\n")
    (tmp_path / "out.txt").write_text(REFERENCE.replace("over", "up"))


def steelyard(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> str:
    assert main(words) == status
    told = capsys.readouterr()
    return told.err if status else told.out


def test_from_nothing_to_a_published_ranking(
    capsys: pytest.CaptureFixture[str], service: Service, sqlite_url: str
) -> None:
    service.account("olga", SiteRole.ORGANISER)
    service.team("harbour")
    rules = ["--title", "The task", "--time-zone", "Europe/Prague", "--anonymous"]
    out = steelyard(capsys, "campaign", "add", "wmt", *rules, "--organiser", "olga@example.org")
    assert "wmt (The task)" in out
    assert "yes, it has no phases" in out
    out = steelyard(
        *(capsys, "campaign", "phase", "wmt", "Test", "--kind", "blind", "--ends", "2099-01-20T18:00"),
        *("--grace", "2", "--feedback", "rounded", "--step", "0.5"),
    )
    assert "Wed 20 Jan" not in out
    assert "20 Jan 2099, 18:00 (Europe/Prague)" in out
    assert "flagged for 2 h" in out
    assert "21 Jan 2099" in steelyard(capsys, "campaign", "extend", "wmt", "Test", "2099-01-21 18:00")
    out = steelyard(
        *(capsys, "campaign", "test-set", "wmt", "news", "news", "--phase", "Test"),
        *("-m", "bleu", "chrf", "--confidence", "0"),
    )
    assert "kept" in out
    assert "harbour" in steelyard(capsys, "campaign", "teams", "wmt", "--add", "harbour")
    assert "olga@example.org" in steelyard(capsys, "campaign", "members", "wmt")
    submit = ("submit", "out.txt", "--campaign", "wmt", "--team", "harbour", "--system", "mast", "--no-wait")
    steelyard(capsys, *submit)
    said = steelyard(capsys, "campaign", "declare", "1", "--primary", "--no-constrained", "--withdraw")
    assert said == "Submission 1 (harbour/mast): withdrawn, primary, unconstrained.\n"
    assert "stands, primary" in steelyard(capsys, "campaign", "declare", "1", "--reinstate")
    assert "Say what" in steelyard(capsys, "campaign", "declare", "1", status=2)
    assert "no submission 99" in steelyard(capsys, "campaign", "declare", "99", "--withdraw", status=1)
    steelyard(capsys, "campaign", "freeze", "wmt")
    assert "frozen since" in steelyard(capsys, *submit[:1], "out.txt", *submit[2:6], "--system", "b", status=1)
    steelyard(capsys, "campaign", "unfreeze", "wmt")
    work_off(Settings(database_url=sqlite_url))
    corrected = Path("A.txt")
    corrected.write_text(REFERENCE.replace("over", "up"))
    out = steelyard(capsys, "campaign", "correct", "wmt", "news", "A.txt", "--reason", "A slip")
    assert "Correction 1: submissions that are measured anew: 1." in out
    work_off(Settings(database_url=sqlite_url))
    out = steelyard(capsys, "campaign", "correction", "wmt")
    assert "version 1 -> 2: A slip" in out
    assert "100.00" in out
    assert "replaced by news@2" in steelyard(capsys, "campaign", "show", "wmt")
    assert "still to be done" not in out
    error = steelyard(capsys, "campaign", "release", "wmt", "news@2", status=1)
    assert "Outputs for news@2 are taken" in error
    steelyard(capsys, "campaign", "close", "wmt")
    assert "Published" in steelyard(capsys, "campaign", "publish", "wmt")
    assert "released" in steelyard(capsys, "campaign", "release", "wmt", "news@2")
    steelyard(capsys, "campaign", "measure", "wmt", "news@2", "-m", "ter", "--confidence", "0")
    steelyard(capsys, "campaign", "export", "wmt", "all.zip")
    with zipfile.ZipFile("all.zip") as archive:
        assert "audit.tsv" in archive.namelist()
    assert "wmt" in steelyard(capsys, "campaign", "show")


def test_what_cannot_be_is_said_without_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    steelyard(capsys, "campaign", "add", "wmt", "--time-zone", "Europe/Prague")
    night = ("campaign", "phase", "wmt", "Night", "--kind", "open", "--starts", "2027-10-31T02:30")
    error = steelyard(capsys, *night, status=1)
    assert "comes twice in Europe/Prague" in error
    assert "say its --kind" in steelyard(capsys, "campaign", "phase", "wmt", "Night", status=2)
    assert "There is no campaign 'other'" in steelyard(capsys, "campaign", "show", "other", status=1)
    assert "nearly so" in steelyard(capsys, "campaign", "add", "WMT", status=1)
    assert "no account with the address" in steelyard(
        capsys, "campaign", "members", "wmt", "--viewer", "x@example.org", status=1
    )


def test_phases_without_times_are_for_campaigns_that_have_no_others(capsys: pytest.CaptureFixture[str]) -> None:
    steelyard(capsys, "campaign", "add", "wmt")
    steelyard(capsys, "quota", "phase", "wmt", "dev")
    steelyard(capsys, "campaign", "phase", "wmt", "Test", "--kind", "open")
    assert "has phases with times" in steelyard(capsys, "quota", "phase", "wmt", "test", status=1)
    steelyard(capsys, "campaign", "phase", "wmt", "Test", "--remove")
    steelyard(capsys, "quota", "phase", "wmt", "test")
