"""`steelyard --server URL compare`: the tests of a database, over the network."""

import json
import shutil
import threading
from contextlib import ExitStack

import pytest

from cli.main import main
from steelyard_client import BadInput, Client, NotSignedIn
from tests.client.live import Live
from tests.service.port import NAME, Port, output


@pytest.fixture(scope="module")
def live(tmp_path_factory, sqlite_template):
    """A server with three systems, all measured; tests only look."""
    file = shutil.copy(sqlite_template, tmp_path_factory.mktemp("live") / "steelyard.db")
    with ExitStack() as stack:
        live = Live.start(f"sqlite:///{file}", stack)
        port = Port.opened(live.service)
        for who, system, seed in (("mary", "mast", 1), ("zoe", "tug", 2)):
            live.client(port.accounts[who]).submit_output(NAME, output(seed), system=system, kind="primary")
        port.work_off()
        live.token_of_mary = live.token(port.accounts["mary"])
        live.port = port
        yield live


@pytest.fixture
def compare(live, monkeypatch, capsys):
    monkeypatch.setenv("STEELYARD_TOKEN", live.token_of_mary)

    def run(*arguments, server=True):
        where = ["--server", live.url] if server else ["--database", live.service.settings.database_url]
        status = main(["compare", *arguments, *where])
        return status, *capsys.readouterr()

    return run


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("-f", "tsv"),
        ("-f", "latex", "-w", "2"),
        ("-m", "chrf", "--correction", "none"),
        ("--correction", "bh"),
        ("--level", "0.9"),
        ("--interval", "bca", "--level", "0.8"),
        ("--baseline", "mast", "--alpha", "0.4"),
        ("--baseline", "anchor", "--correction", "holm", "-f", "tsv"),
    ],
)
def test_it_is_that_of_the_database(compare, arguments):
    here, there = compare(NAME, *arguments, server=False), compare(NAME, *arguments)
    assert here[0] == there[0] == 0
    assert here[1] == there[1]


def test_the_pairs_of_json_are_those_of_the_database(compare):
    (here,), (there,) = (json.loads(compare("-f", "json", server=server)[1]) for server in (False, True))
    assert len(here["paired"]) == 6
    assert there["paired"] == here["paired"]


def test_systems_are_chosen_by_name_or_number(compare):
    by_name = compare("--systems", "mast", "guests/tug", "-f", "tsv")[1]
    assert by_name == compare("--submissions", "2", "3", "-f", "tsv")[1]
    assert len(by_name.splitlines()) == 1 + 2
    for arguments in (("--systems", "mast", "raft"), ("--submissions", "2", "77"), ("-m", "ter"), ("elsewhere",)):
        status, _, err = compare(*arguments)
        assert status == 1
        assert "There is no" in err


def test_randomization_tests_are_made_and_waited_for(live, compare, monkeypatch):
    monkeypatch.setattr("steelyard_client.operations.leaderboards.TRIALS_POLL_SECONDS", 0.05)
    over = threading.Event()

    def work():
        while not over.wait(0.05):
            live.port.work_off()

    worker = threading.Thread(target=work)
    worker.start()
    try:
        status, out, _ = compare("--test", "randomization", "-m", "bleu")
    finally:
        over.set()
        worker.join()
    assert status == 0
    assert "10,000 trials" in out
    assert compare("--test", "randomization", "-m", "bleu", server=False)[1] == out


def test_a_report_is_made_from_a_database(compare):
    status, _, err = compare("--report", "x.html")
    assert status == 2
    assert "server" in err


def test_a_baseline_is_one_of_the_systems(live):
    client = live.client(live.port.accounts["mary"])
    found = client.compare(NAME, [2, 3], baseline=3, level=0.9, interval="bca", alpha=0.2)
    assert (found.baseline, found.level, found.interval, found.alpha) == (3, 0.9, "bca", 0.2)
    assert {(each.a_submission, each.b_submission) for each in found.pairs} == {(3, 2)}
    assert all(each.significant == (each.p < 0.2) for each in found.pairs)
    with pytest.raises(BadInput, match="baseline"):
        client.compare(NAME, [2, 3], baseline=1)


@pytest.mark.parametrize("rule", [{"level": 0.9}, {"alpha": 0.1}, {"baseline": 2}, {"interval": "bca"}])
def test_other_rules_are_for_accounts(live, rule):
    with Client(live.url) as visitor, pytest.raises(NotSignedIn):
        visitor.compare(NAME, [2, 3], **rule)
