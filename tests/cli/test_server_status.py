"""`steelyard --server URL status`: how far one's own submissions are."""

import json

import pytest

from cli.main import main
from tests.web.client.live import Live
from tests.web.client.live import live as live
from tests.web.submissions.port import NAME, Port, output


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
    live.client(port.accounts["mary"]).submit(NAME, output(), system="mast", kind="primary")
    ended, out, _ = status("mary", NAME)
    assert ended == 0
    header, _, line = out.splitlines()
    assert header.split("  ")[0] == "Submission"
    assert line.split()[:8] == ["2", "port", "1", "harbour/mast", "quay", "queued", "0", "of"]
    assert line.endswith("primary")
    assert status("zoe")[1] == "There are no submissions of yours.\n"
    assert len(status("ann")[1].splitlines()) == 4
    port.work_off()
    (found,) = json.loads(status("mary", "--until-done", "-f", "json")[1])
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
