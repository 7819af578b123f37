"""`steelyard campaign`: a task from nothing to its published ranking."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path

import pytest

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.leaderboards.choice import find_metric
from campaigns.measures import protocols_on
from campaigns.permissions import read_access
from cli.main import main
from models.database.migrate import REVISION
from models.database.session import make_engine, reading
from models.results.boards import list_boards
from models.schema.roles import SiteRole
from runtime.settings import Settings
from steelyard.commands.mtrics.command import main as mtrics
from tests.cli.campaigns.commands import REFERENCE, steelyard
from tests.cli.keyboard import answer
from tests.scheduler.jobs import work_off
from tests.service.service import Service

pytestmark = pytest.mark.usefixtures("news")


@pytest.mark.few(1)
def test_from_nothing_to_a_published_ranking(
    capsys: pytest.CaptureFixture[str], service: Service, sqlite_url: str
) -> None:
    service.account("olga", SiteRole.ORGANISER)
    service.team("harbour")
    rules = ["--title", "The task", "--time-zone", "Europe/Prague", "--anonymous"]
    out = steelyard(capsys, "campaign", "create", "wmt", *rules, "--organiser", "olga@example.org")
    assert "wmt (The task)" in out
    assert "yes, it has no phases" in out
    out = steelyard(
        *(capsys, "phase", "create", "wmt", "Test", "--kind", "blind", "--ends", "2099-01-20T18:00"),
        *("--grace", "2", "--feedback", "rounded", "--step", "0.5"),
    )
    assert "20 January 2099, 18:00 (Europe/Prague)" in out
    assert "accepted for 2 h" in out
    assert "21 January 2099" in steelyard(capsys, "phase", "extend", "wmt", "Test", "2099-01-21 18:00")
    out = steelyard(
        *(capsys, "testset", "create", "wmt", "news", "news", "--phase", "Test"),
        *("-m", "bleu", "chrf", "--confidence", "0"),
    )
    assert "hidden" in out
    assert "harbour" in steelyard(capsys, "campaign", "update", "wmt", "--add-team", "harbour") + steelyard(
        capsys, "campaign", "teams", "wmt"
    )
    assert "olga@example.org" in steelyard(capsys, "campaign", "members", "wmt")
    submit = ("submit", "out.txt", "--campaign", "wmt", "--team", "harbour", "--system", "mast", "--no-wait")
    steelyard(capsys, *submit)
    steelyard(capsys, "submission", "update", "1", "--primary", "--unconstrained")
    said = steelyard(capsys, "submission", "withdraw", "1", "--yes")
    assert said == "Submission 1 (harbour/mast): withdrawn, primary, unconstrained.\n"
    assert "stands, primary" in steelyard(capsys, "submission", "reinstate", "1")
    assert "Say what" in steelyard(capsys, "submission", "update", "1", status=2)
    assert "no submission 99" in steelyard(capsys, "submission", "withdraw", "99", "--yes", status=1)
    assert "mast" in steelyard(capsys, "submission", "list", "wmt", "--team", "harbour", "--kind", "primary")
    assert "no such submissions" in steelyard(capsys, "submission", "list", "wmt", "--kind", "withdrawn")
    assert "primary, unconstrained" in steelyard(capsys, "submission", "show", "1")
    steelyard(capsys, "campaign", "freeze", "wmt")
    assert "frozen on" in steelyard(capsys, *submit[:1], "out.txt", *submit[2:6], "--system", "b", status=1)
    steelyard(capsys, "campaign", "unfreeze", "wmt")
    work_off(Settings(database_url=sqlite_url))
    corrected = Path("A.txt")
    corrected.write_text(REFERENCE.replace("over", "up"))
    out = steelyard(capsys, "testset", "correct", "wmt", "news", "A.txt", "--reason", "A slip")
    assert "Correction 1: 1 evaluation queued on version 2." in out
    work_off(Settings(database_url=sqlite_url))
    out = steelyard(capsys, "testset", "correction", "wmt")
    assert "version 1 -> 2" in out
    assert "Reason: A slip" in out
    assert "100.00" in out
    assert "replaced by news@2" in steelyard(capsys, "campaign", "show", "wmt")
    assert "still open" not in out
    error = steelyard(capsys, "testset", "update", "wmt", "news@2", "--release", status=1)
    assert "Outputs for news@2 are accepted" in error
    steelyard(capsys, "campaign", "close", "wmt", "--yes")
    assert "Published" in steelyard(capsys, "campaign", "publish", "wmt", "--yes")
    assert "released" in steelyard(capsys, "testset", "update", "wmt", "news@2", "--release")
    steelyard(capsys, "testset", "measure", "wmt", "news@2", "-m", "ter", "--confidence", "0")
    steelyard(capsys, "campaign", "export", "wmt", "all.zip")
    assert "-o DIR" in steelyard(capsys, "campaign", "export", "wmt", "--layout", "mt-metrics-eval", status=2)
    assert "Written: all" in steelyard(capsys, "campaign", "export", "wmt", "--layout", "mt-metrics-eval", "-o", "all")
    assert Path("all", "references", "und-und.refA.txt").exists()
    assert "not an empty" in steelyard(
        capsys, "campaign", "export", "wmt", "--layout", "mt-metrics-eval", "-o", "all", status=1
    )
    assert stat.S_IMODE(Path("all.zip").stat().st_mode) == 0o600
    assert stat.S_IMODE(Path("all").stat().st_mode) == 0o700
    with zipfile.ZipFile("all.zip") as archive:
        assert "audit.tsv" in archive.namelist()
    assert "wmt" in steelyard(capsys, "campaign", "list")


@pytest.mark.parametrize("way", ["asked", "said"])
def test_later_phases_are_deleted_where_publication_is_confirmed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    steelyard(capsys, "campaign", "create", "wmt")
    steelyard(capsys, "phase", "create", "wmt", "Test", "--kind", "blind", "--starts", "2099-01-20T18:00")
    error = steelyard(capsys, "campaign", "publish", "wmt", "--yes", status=1)
    assert '"Test" (blind, planned for 20 January 2099, 18:00' in error
    assert "--delete-later" in error
    if way == "said":
        out = steelyard(capsys, "campaign", "publish", "wmt", "--yes", "--delete-later")
    else:
        answer(monkeypatch, "y\nn\n")
        assert "Nothing was done" in steelyard(capsys, "campaign", "publish", "wmt", status=1)
        assert "Test" in steelyard(capsys, "campaign", "show", "wmt")
        answer(monkeypatch, "y\ny\n")
        out = steelyard(capsys, "campaign", "publish", "wmt")
    assert "Published" in out
    assert "2099" not in steelyard(capsys, "campaign", "show", "wmt")


def test_what_cannot_be_is_said_without_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    steelyard(capsys, "campaign", "create", "wmt", "--time-zone", "Europe/Prague")
    night = ("phase", "create", "wmt", "Night", "--kind", "open", "--starts", "2027-10-31T02:30")
    error = steelyard(capsys, *night, status=1)
    assert "is ambiguous in Europe/Prague" in error
    assert "--kind" in steelyard(capsys, "phase", "create", "wmt", "Night", status=2)
    assert "Night" in steelyard(capsys, "phase", "update", "wmt", "Night", "--grace", "1", status=1)
    assert "no terminal" in steelyard(capsys, "campaign", "publish", "wmt", status=1)
    assert "There is no campaign 'other'" in steelyard(capsys, "campaign", "show", "other", status=1)
    assert "a similar one" in steelyard(capsys, "campaign", "create", "WMT", status=1)
    assert "no account with the address" in steelyard(
        capsys, "campaign", "update", "wmt", "--viewer", "x@example.org", status=1
    )


def test_phases_without_times_are_for_campaigns_that_have_no_others(capsys: pytest.CaptureFixture[str]) -> None:
    steelyard(capsys, "campaign", "create", "wmt")
    steelyard(capsys, "quota", "phase", "wmt", "dev")
    steelyard(capsys, "phase", "create", "wmt", "Test", "--kind", "open")
    assert "has phases with times" in steelyard(capsys, "quota", "phase", "wmt", "test", status=1)
    steelyard(capsys, "phase", "delete", "wmt", "Test", "--yes")
    steelyard(capsys, "quota", "phase", "wmt", "test")


def test_what_ranks_can_be_said_before_there_is_a_test_set(capsys: pytest.CaptureFixture[str], sqlite_url: str) -> None:
    for wrong in ("chrg", "bleu:order=x"):
        steelyard(capsys, "campaign", "create", "none", "--ranked-by", wrong, status=1)
    assert "There is no campaign 'none'" in steelyard(capsys, "campaign", "show", "none", status=1)
    out = steelyard(capsys, "campaign", "create", "wmt", "--ranked-by", "chrf")
    assert "chrf" in out
    steelyard(capsys, "testset", "create", "wmt", "news", "news", "-m", "bleu", "chrf", "--confidence", "0")
    submit = ("submit", "out.txt", "--campaign", "wmt", "--team", "harbour", "--system", "mast", "--no-wait")
    steelyard(capsys, *submit)
    with reading(make_engine(sqlite_url)) as connection:
        access = read_access(connection, COMMAND_LINE, "wmt")
        (listed,) = list_boards(connection, campaign_id=access.campaign_id)
    assert listed.metrics[find_metric(listed, "", access.ranked_by)] == "chrf"
    # Now it is known what it measures.
    assert "has no metric 'ter'" in steelyard(capsys, "campaign", "update", "wmt", "--ranked-by", "ter", status=1)


def test_options_of_a_test_set_that_do_not_go_together_change_nothing(
    capsys: pytest.CaptureFixture[str], sqlite_url: str
) -> None:
    def measured() -> list[tuple[str, ...]]:
        with reading(make_engine(sqlite_url)) as connection:
            campaign = read_access(connection, COMMAND_LINE, "wmt").campaign_id
            return [each.metrics for each in protocols_on(connection, campaign)]

    steelyard(capsys, "campaign", "create", "wmt")
    steelyard(capsys, "testset", "create", "wmt", "news", "news", "-m", "bleu", "--confidence", "0")
    assert measured() == [("bleu",)]
    assert "Say what" in steelyard(capsys, "testset", "update", "wmt", "news", status=2)
    assert "Say what" in steelyard(capsys, "campaign", "update", "wmt", status=2)
    assert "--early" in steelyard(capsys, "testset", "update", "wmt", "news", "--early", "--hide", status=2)
    assert "no terminal" in steelyard(capsys, "testset", "delete", "wmt", "news", status=1)
    assert measured() == [("bleu",)]
    steelyard(capsys, "testset", "delete", "wmt", "news", "--yes")
    assert measured() == []


def test_the_same_mistake_has_the_same_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    """2 for what the command line cannot mean, 1 for what a server, or the database, refuses."""
    steelyard(capsys, "campaign", "create", "wmt")
    steelyard(capsys, "testset", "create", "wmt", "news", "news", "-m", "bleu", "--confidence", "0")
    nobody = "x@example.org"
    for unknown in (
        ("user", "update", nobody, "--role", "viewer"),
        ("campaign", "update", "wmt", "--remove-member", nobody),
        ("campaign", "update", "wmt", "--viewer", nobody),
        ("leaderboard", "elsewhere"),
        ("campaign", "show", "elsewhere"),
        ("evaluate", "news", "--name", "a/b"),
        ("campaign", "create", "a/b"),
        ("evaluate", "news", "--by", "ter", "-m", "bleu"),
        ("campaign", "update", "wmt", "--time-zone", "Prague"),
        ("quota", "update", "--campaign", "wmt", "--per-day", "1", "--time-zone", "Prague"),
        ("phase", "create", "wmt", "dev", "--kind", "open", "--starts", "soon"),
        ("testset", "measure", "wmt", "news", "-m", "blue"),
    ):
        steelyard(capsys, *unknown, status=1)
    for wrong in (
        ("score", "news/refs/A.txt", "-i", "out.txt", "-m", "blue"),
        ("db", "upgrade", "--older", "5"),
        ("db", "current", "--force"),
    ):
        steelyard(capsys, *wrong, status=2)


@pytest.mark.parametrize(
    "arguments",
    [
        ["score", "--pair", "bootstrap", "ref", "-i", "out"],
        ["campaign", "create", "wmt", "--rank", "chrf"],
        ["--serv", "https://mt.example.org", "status"],
        ["mtrics", "--cand", "a", "-r", "b", "-b"],
    ],
)
def test_options_have_whole_names(arguments: list[str]) -> None:
    program = mtrics if arguments[0] == "mtrics" else main
    try:
        status = program(arguments[1:] if program is mtrics else arguments)
    except SystemExit as end:
        status = int(end.code or 0)
    assert status == 2


def test_the_version_of_the_tables_is_printed(sqlite_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["db", "current", "--database", sqlite_url]) == 0
    assert capsys.readouterr().out == f"tables: {REVISION} (up to date)\n"
