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
from models.database.session import make_engine, reading
from models.results.boards import list_boards
from models.schema.roles import SiteRole
from runtime.settings import Settings
from steelyard.commands.mtrics.command import main as mtrics
from tests.cli.campaigns.commands import REFERENCE, steelyard
from tests.scheduler.jobs import work_off
from tests.service.service import Service

pytestmark = pytest.mark.usefixtures("news")


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
    assert "accepted for 2 h" in out
    assert "21 Jan 2099" in steelyard(capsys, "campaign", "extend", "wmt", "Test", "2099-01-21 18:00")
    out = steelyard(
        *(capsys, "campaign", "test-set", "wmt", "news", "news", "--phase", "Test"),
        *("-m", "bleu", "chrf", "--confidence", "0"),
    )
    assert "hidden" in out
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
    assert "frozen on" in steelyard(capsys, *submit[:1], "out.txt", *submit[2:6], "--system", "b", status=1)
    steelyard(capsys, "campaign", "unfreeze", "wmt")
    work_off(Settings(database_url=sqlite_url))
    corrected = Path("A.txt")
    corrected.write_text(REFERENCE.replace("over", "up"))
    out = steelyard(capsys, "campaign", "correct", "wmt", "news", "A.txt", "--reason", "A slip")
    assert "Correction 1: 1 submission queued for rescoring." in out
    work_off(Settings(database_url=sqlite_url))
    out = steelyard(capsys, "campaign", "correction", "wmt")
    assert "version 1 -> 2: A slip" in out
    assert "100.00" in out
    assert "replaced by news@2" in steelyard(capsys, "campaign", "show", "wmt")
    assert "still open" not in out
    error = steelyard(capsys, "campaign", "release", "wmt", "news@2", status=1)
    assert "Outputs for news@2 are accepted" in error
    steelyard(capsys, "campaign", "close", "wmt")
    assert "Published" in steelyard(capsys, "campaign", "publish", "wmt")
    assert "released" in steelyard(capsys, "campaign", "release", "wmt", "news@2")
    steelyard(capsys, "campaign", "measure", "wmt", "news@2", "-m", "ter", "--confidence", "0")
    steelyard(capsys, "campaign", "export", "wmt", "all.zip")
    assert stat.S_IMODE(Path("all.zip").stat().st_mode) == 0o600
    with zipfile.ZipFile("all.zip") as archive:
        assert "audit.tsv" in archive.namelist()
    assert "wmt" in steelyard(capsys, "campaign", "show")


def test_what_cannot_be_is_said_without_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    steelyard(capsys, "campaign", "add", "wmt", "--time-zone", "Europe/Prague")
    night = ("campaign", "phase", "wmt", "Night", "--kind", "open", "--starts", "2027-10-31T02:30")
    error = steelyard(capsys, *night, status=1)
    assert "is ambiguous in Europe/Prague" in error
    assert "--kind" in steelyard(capsys, "campaign", "phase", "wmt", "Night", status=2)
    assert "say its --kind" in steelyard(capsys, "campaign", "phase", "wmt", "Night", "--grace", "1", status=1)
    assert "There is no campaign 'other'" in steelyard(capsys, "campaign", "show", "other", status=1)
    assert "a similar one" in steelyard(capsys, "campaign", "add", "WMT", status=1)
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


def test_what_ranks_can_be_said_before_there_is_a_test_set(capsys: pytest.CaptureFixture[str], sqlite_url: str) -> None:
    for wrong in ("chrg", "bleu:order=x"):
        steelyard(capsys, "campaign", "add", "none", "--ranked-by", wrong, status=2)
    assert "There is no campaign 'none'" in steelyard(capsys, "campaign", "show", "none", status=1)
    out = steelyard(capsys, "campaign", "add", "wmt", "--ranked-by", "chrf")
    assert "chrf" in out
    steelyard(capsys, "campaign", "test-set", "wmt", "news", "news", "-m", "bleu", "chrf", "--confidence", "0")
    submit = ("submit", "out.txt", "--campaign", "wmt", "--team", "harbour", "--system", "mast", "--no-wait")
    steelyard(capsys, *submit)
    with reading(make_engine(sqlite_url)) as connection:
        access = read_access(connection, COMMAND_LINE, "wmt")
        (listed,) = list_boards(connection, campaign_id=access.campaign_id)
    assert listed.metrics[find_metric(listed, "", access.ranked_by)] == "chrf"
    # Now it is known what it measures.
    assert "has no metric 'ter'" in steelyard(capsys, "campaign", "set", "wmt", "--ranked-by", "ter", status=1)


def test_options_of_a_test_set_that_do_not_go_together_change_nothing(
    capsys: pytest.CaptureFixture[str], sqlite_url: str
) -> None:
    def measured() -> list[tuple[str, ...]]:
        with reading(make_engine(sqlite_url)) as connection:
            campaign = read_access(connection, COMMAND_LINE, "wmt").campaign_id
            return [each.metrics for each in protocols_on(connection, campaign)]

    steelyard(capsys, "campaign", "add", "wmt")
    verb = ("campaign", "test-set", "wmt", "news")
    assert "removes the test set" in steelyard(capsys, *verb, "news", "--remove", status=2)
    assert measured() == []
    steelyard(capsys, *verb, "news", "-m", "bleu", "--confidence", "0")
    assert measured() == [("bleu",)]
    for options in (["-m", "ter"], ["--seed", "1"], ["--confidence", "0"], ["--references", "A"], ["--pair", "en-cs"]):
        error = steelyard(capsys, *verb, *options, status=2)
        assert "campaign measure" in error
        assert "removes the test set" in steelyard(capsys, *verb, *options, "--remove", status=2)
    assert "Say what" in steelyard(capsys, *verb, status=2)
    assert "Say what" in steelyard(capsys, "campaign", "set", "wmt", status=2)
    assert "--hide" in steelyard(capsys, "campaign", "release", "wmt", "news", "--early", "--hide", status=2)
    assert measured() == [("bleu",)]
    steelyard(capsys, *verb, "--remove")
    assert measured() == []


def test_the_same_mistake_has_the_same_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    """2 for what is wrong whatever is stored, 1 for what is wrong with what is stored."""
    steelyard(capsys, "campaign", "add", "wmt")
    steelyard(capsys, "campaign", "test-set", "wmt", "news", "news", "-m", "bleu", "--confidence", "0")
    nobody = "x@example.org"
    for unknown in (
        ("user", "update", nobody, "--role", "viewer"),
        ("campaign", "members", "wmt", "--remove", nobody),
        ("campaign", "members", "wmt", "--viewer", nobody),
        ("leaderboard", "elsewhere"),
        ("campaign", "show", "elsewhere"),
        ("evaluate", "news", "--name", "a/b"),
        ("campaign", "add", "a/b"),
        ("evaluate", "news", "--sort", "ter", "-m", "bleu"),
    ):
        steelyard(capsys, *unknown, status=1)
    for wrong in (
        ("campaign", "set", "wmt", "--time-zone", "Prague"),
        ("quota", "update", "--campaign", "wmt", "--per-day", "1", "--time-zone", "Prague"),
        ("campaign", "phase", "wmt", "dev", "--kind", "open", "--starts", "soon"),
        ("score", "news/refs/A.txt", "-i", "out.txt", "-m", "blue"),
        ("campaign", "measure", "wmt", "news", "-m", "blue"),
        ("db", "upgrade", "--older", "5"),
        ("db", "current", "--force"),
    ):
        steelyard(capsys, *wrong, status=2)


@pytest.mark.parametrize(
    "arguments",
    [
        ["score", "--pair", "bootstrap", "ref", "-i", "out"],
        ["campaign", "add", "wmt", "--rank", "chrf"],
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
