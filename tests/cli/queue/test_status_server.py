"""`steelyard --server URL status`: how far one's own submissions are."""

import json
from types import SimpleNamespace

import pytest
from sqlalchemy import update

from cli.main import main
from models.database.session import writing
from models.schema.base import now
from models.schema.queue import Evaluation
from models.schema.roles import SiteRole
from models.schema.states import EvaluationState
from steelyard_client import Client, Unavailable
from steelyard_client.requests import Requests
from tests.client.live import Live
from tests.client.live import live as live
from tests.service.port import NAME, Port, output


@pytest.fixture
def port(live: Live) -> Port:
    return Port.opened(live.service)


@pytest.fixture
def status(live: Live, port: Port, monkeypatch, capsys):
    def run(who, *arguments):
        monkeypatch.setenv("STEELYARD_TOKEN", live.token(port.accounts[who]))
        ended = main(["--server", live.url, "status", *arguments])
        return ended, *capsys.readouterr()

    return run


def test_a_team_sees_its_own_and_organisers_all(live, port, status):
    assert status("mary")[:2] == (0, "There are no submissions of yours.\n")
    live.client(port.accounts["mary"]).submit_output(NAME, output(), system="mast", kind="primary")
    ended, out, _ = status("mary", NAME)
    assert ended == 0
    header, _, line = out.splitlines()
    assert header.split("  ")[0] == "Submission"
    assert line.split()[:8] == ["2", "port", "1", "harbour/mast", "quay", "queued", "0", "of"]
    assert line.endswith("primary")
    assert status("zoe")[1] == "There are no submissions of yours.\n"
    (line,) = (line for line in status("ann")[1].splitlines() if "0/2" in line)
    assert line.startswith(NAME)
    port.work_off()
    (found,) = json.loads(status("mary", "--until-done", "-f", "json")[1])["submissions"]
    assert (found["system"], found["progress"]["state"]) == ("mast", "done")
    assert status("mary", "--failed")[1] == "No submission has failed.\n"


def test_what_is_not_there(status):
    ended, _, err = status("mary", "elsewhere")
    assert ended == 1
    assert f'There is no campaign "elsewhere". There are: {NAME}.' in err
    assert status("mary", "--evaluation", "1")[0] == 2


def test_nobody_has_no_submissions(live, monkeypatch, capsys, tmp_path):
    monkeypatch.delenv("STEELYARD_TOKEN", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert main(["--server", live.url, "status"]) == 1
    assert "steelyard login" in capsys.readouterr().err


AGES = {"at", "ended_seconds", "oldest_seconds", "beat_seconds", "up_seconds", "seconds"}


def timeless(text):
    """What was printed without what depends on the moment."""
    return json.loads(text, object_hook=lambda each: {key: value for key, value in each.items() if key not in AGES})


def test_a_database_and_its_server_say_the_same_to_one_who_may_see_all(live, port, status, monkeypatch, capsys):
    mary = live.client(port.accounts["mary"])
    mary.submit_output(NAME, output(), system="mast")
    with writing(live.service.engine) as connection:
        failed = {"state": EvaluationState.FAILED, "reason": "a reason", "finished_at": now()}
        connection.execute(update(Evaluation).where(Evaluation.submission_id == 2).values(**failed))
    port.accounts["root"] = live.service.account("root", SiteRole.ADMINISTRATOR)
    database = live.service.settings.database_url
    for words in ([], [NAME], ["--failed"], ["--evaluation", "1", "2"]):
        there = timeless(status("root", *words, "-f", "json")[1])
        assert main(["status", *words, "-f", "json", "--database", database]) == 0
        assert timeless(capsys.readouterr().out) == there
    (found,) = there["failures"]
    assert (found["team"], found["system"], found["reason"]) == ("harbour", "mast", "a reason")
    # A team reads of its failure in the same words, but for what is to blame.
    (mine,) = timeless(status("mary", "-f", "json")[1])["failures"]
    reason, fault = found.pop("reason"), found.pop("fault")
    assert mine.pop("reason") != reason
    assert fault is None
    assert mine.items() <= found.items()


def test_an_organiser_is_told_of_no_other_campaign(live, port, status):
    live.client(port.accounts["mary"]).submit_output(NAME, output(), system="mast")
    port.accounts["otto"] = live.service.account("otto", SiteRole.ORGANISER)
    ended, out, _ = status("otto", "-f", "json")
    found = json.loads(out)
    assert (ended, found["campaigns"], found["teams"], found["asked"]) == (0, [], [], [])
    for words in ([NAME], ["--evaluation", "1"]):
        ended, out, err = status("otto", *words)
        assert (ended, out, "quay" in err or "numbered" in err) == (1, "", False)


def requests(status, monkeypatch, looks, *arguments):
    """What a watcher asks for and how long it waits, until Ctrl-C after so many looks."""
    asked, waits = [], []
    send = Requests._send

    def counted(client, method, address, **content):
        asked.append(address)
        return send(client, method, address, **content)

    def sleep(seconds):
        waits.append(seconds)
        if len(waits) == looks:
            raise KeyboardInterrupt

    monkeypatch.setattr(Requests, "_send", counted)
    monkeypatch.setattr("steelyard_client.commands.queue.watch.time", SimpleNamespace(sleep=sleep))
    ended = status("mary", *arguments)
    return ended, asked, waits


def test_a_watcher_asks_within_the_servers_limit(live, port, status, monkeypatch):
    for number in range(9):
        live.service.campaign(f"extra {number}")
    few, many = 3, 13
    counts = {}
    for looks in (few, many):
        (ended, _, err), asked, waits = requests(status, monkeypatch, looks, "--watch", "0.1")
        assert (ended, err) == (0, ""), "Ctrl-C is the usual way to end it"
        counts[looks] = len(asked)
        assert set(waits) == {waits[0]}
    each_look = (counts[many] - counts[few]) / (many - few)
    assert 60 * each_look / waits[0] <= live.service.settings.requests_per_minute / 4
    # One campaign needs no more than one request a look.
    _, _, waits = requests(status, monkeypatch, few, NAME, "--watch", "2")
    assert waits[0] == 2


def test_a_server_that_is_away_is_waited_for(live, port, status, monkeypatch):
    monkeypatch.setattr("steelyard_client.commands.queue.watch.time", SimpleNamespace(sleep=lambda _: None))
    live.client(port.accounts["mary"]).submit_output(NAME, output(), system="mast")
    port.work_off()
    looks = iter([None, Unavailable(503, "unavailable", "not just now"), KeyboardInterrupt()])
    submissions = Client.list_campaign_submissions

    def sometimes(client, campaign):
        if (error := next(looks)) is not None:
            raise error
        return submissions.__get__(client, Client)(campaign)

    monkeypatch.setattr(Client, "list_campaign_submissions", sometimes)
    ended, out, err = status("mary", NAME, "--watch")
    assert (ended, err) == (0, "steelyard: not just now\n")
    assert out.count("mast") == 1


def test_ctrl_c_ends_a_watch_of_a_database_in_the_same_way(live, monkeypatch, capsys):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("steelyard_client.commands.queue.watch.time", SimpleNamespace(sleep=interrupted))
    assert main(["status", "--watch", "--database", live.service.settings.database_url]) == 0
    assert capsys.readouterr().err == ""
