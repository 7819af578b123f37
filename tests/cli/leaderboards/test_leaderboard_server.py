"""`steelyard --server URL leaderboard`: in the words, and with the numbers, of a database."""

import json
import shutil
from contextlib import ExitStack

import httpx
import pytest

from cli.main import main
from models.database.session import writing
from tests.client.live import Live
from tests.service.port import NAME, Port, output


@pytest.fixture(scope="module")
def live(tmp_path_factory, sqlite_template):
    """A server; all tests but the last two only look."""
    file = shutil.copy(sqlite_template, tmp_path_factory.mktemp("live") / "steelyard.db")
    with ExitStack() as stack:
        yield Live.start(f"sqlite:///{file}", stack)


@pytest.fixture(scope="module")
def measured(live):
    """Two teams with several systems each and the organisers, all measured."""
    port = Port.opened(live.service)
    for who, system, seed, kind in (
        *(("mary", "mast", 1, "primary"), ("mary", "keel", 2, "contrastive"), ("mary", "mast", 3, "")),
        *(("zoe", "oar", 4, ""), ("zoe", "tug", 5, ""), ("zoe", "leak", 6, "contrastive")),
    ):
        receipt = live.client(port.accounts[who]).submit_output(NAME, output(seed), system=system, kind=kind)
        if system == "leak":
            live.client(port.accounts[who]).withdraw_submission(receipt.id)
    port.work_off()
    return port


@pytest.fixture
def board(live: Live, monkeypatch, capsys, tmp_path):
    monkeypatch.delenv("STEELYARD_TOKEN", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    def run(*arguments, server=True):
        where = ["--server", live.url] if server else ["--database", live.service.settings.database_url]
        status = main(["leaderboard", *arguments, *where])
        return status, *capsys.readouterr()

    return run


@pytest.mark.parametrize("everything", [[], ["--all"]])
def test_it_is_that_of_the_database(measured, board, everything):
    here, there = (board(NAME, "-w", "3", *everything, server=server) for server in (False, True))
    assert here[0] == there[0] == 0
    assert here[1] == there[1]
    assert "Each team's primary submission is ranked" in here[1]
    assert "3 systems are not ranked" in here[1]
    names = [name for name in ("anchor", "mast", "tug", "keel", "oar", "leak") if f"{name} " in here[1]]
    assert names == ["anchor", "mast", "tug", *(["keel", "oar"] if everything else [])]


def test_a_table_has_one_header(measured, board):
    status, out, _ = board("-f", "tsv", "--by", "chrf")
    assert status == 0
    header, *rows = [line.split("\t") for line in out.splitlines()]
    assert header[:4] == ["campaign", "test_set", "version", "references"]
    assert len(rows) == 3 * 2
    assert {row[header.index("team")] for row in rows} == {"", "harbour", "guests"}


def test_names_and_references_choose(measured, board):
    assert board("quay")[1] == board(NAME)[1] == board("--references", "A")[1]
    for arguments in (("elsewhere",), ("--references", "B")):
        status, _, err = board(*arguments)
        assert status == 1
        assert "There is no such leaderboard." in err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--level", "0.9", "--interval", "bca"],
        ["--power"],
        ["--test", "randomization", "--trials", "100"],
        ["--all-submissions"],
        ["--correction", "holm", "--alpha", "0.01"],
    ],
)
def test_other_rules_are_for_accounts(measured, live, arguments, board, monkeypatch):
    status, _, err = board(NAME, *arguments)
    assert status == 1
    assert "Get a token" in err
    monkeypatch.setenv("STEELYARD_TOKEN", live.token(measured.accounts["ann"]))
    there = board(NAME, *arguments, "-f", "json")
    # What is shown of a database is what its organisers see.
    here = board(NAME, *arguments, "-f", "json", server=False)
    assert there[:2] == here[:2]
    (changed,), (usual,) = json.loads(there[1]), json.loads(board(NAME, "-f", "json")[1])
    assert changed != usual
    found, expected = {
        "--level": ((changed["level"], changed["interval"]), (0.9, "bca")),
        "--power": (changed["power"]["segments"], changed["segments"]) if changed["power"] else (None, "power"),
        "--test": ((changed["ranking"]["test"], changed["ranking"]["draws"]), ("randomization", 100)),
        "--all-submissions": (len(changed["systems"]), len(usual["systems"]) + 3),
        "--correction": ((changed["ranking"]["correction"], changed["ranking"]["alpha"]), ("holm", 0.01)),
    }[arguments[0]]
    assert found == expected
    assert not changed["ranking"]["testing"]


def test_replaced_submissions_are_for_organisers(measured, live, board, monkeypatch):
    monkeypatch.setenv("STEELYARD_TOKEN", live.token(measured.accounts["mary"]))
    status, out, err = board(NAME, "--all-submissions")
    assert (status, out) == (1, "")
    assert "rganiser" in err


def test_an_unchanged_board_is_not_sent_again(live, measured):
    class Line(httpx.HTTPTransport):
        def handle_request(self, request):
            answer = super().handle_request(request)
            statuses.append(answer.status_code)
            return answer

    statuses = []
    client = live.client(measured.accounts["mary"], transport=Line())
    first = client.read_leaderboard(NAME)
    assert client.read_leaderboard(NAME) == first
    guests = next(each.submission for each in first.items if each.team == "guests")
    live.client(measured.accounts["zoe"]).withdraw_submission(guests)
    assert [each.system for each in client.read_leaderboard(NAME).items if each.team == "guests"] == ["oar"]
    assert statuses == [200, 304, 200]


def test_what_is_hidden_is_said(live, measured, board):
    with writing(live.service.engine) as connection:
        connection.exec_driver_sql("UPDATE phase SET kind = 'blind', feedback = 'none'")
    status, _, err = board(NAME)
    assert status == 1
    assert f"Not shown now: {NAME}." in err
