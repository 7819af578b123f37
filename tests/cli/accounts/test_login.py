"""`steelyard login`: a token kept for a server, by nobody else to be read."""

import io
import os
import stat

import pytest

from cli.main import main
from steelyard_client.commands.tokens import keep_token, read_tokens, token_file, token_for
from tests.client.live import Live
from tests.client.live import live as live

SITE = "https://mt.example.org"


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("STEELYARD_SERVER", "STEELYARD_TOKEN"):
        monkeypatch.delenv(name, raising=False)


def test_a_token_is_tried_and_kept(live: Live, monkeypatch, capsys):
    token = live.token(live.service.account("mary"))
    monkeypatch.setattr("sys.stdin", io.StringIO(token + "\n"))
    assert main(["login", "--server", live.url + "/"]) == 0
    out = capsys.readouterr().out
    assert "mary@example.org" in out
    assert token not in out
    assert token_for(live.url) == token
    assert stat.S_IMODE(token_file().stat().st_mode) == 0o600
    assert stat.S_IMODE(token_file().parent.stat().st_mode) == 0o700
    assert main(["--server", live.url, "login", "--forget"]) == 0
    assert read_tokens() == {}


@pytest.mark.parametrize("token", ["nonsense", "", "two words", "ü"])
def test_a_token_that_is_no_good_is_not_kept(live: Live, token, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{token}\n"))
    assert main(["login", "--server", live.url]) == 1
    assert "token" in capsys.readouterr().err
    assert not token_file().exists()


def test_each_server_gets_its_own_token(monkeypatch):
    keep_token(SITE, "one")
    keep_token("https://other.example.org/", "two")
    assert (token_for(f"{SITE}/"), token_for("https://other.example.org")) == ("one", "two")
    assert token_for("https://third.example.org") is None
    keep_token(SITE, "three")
    assert token_for(SITE) == "three"
    monkeypatch.setenv("STEELYARD_TOKEN", "four")
    assert token_for(SITE) == "four"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o644])
def test_a_file_that_others_can_read_is_refused(capsys, mode):
    keep_token(SITE, "one")
    os.chmod(token_file(), mode)
    assert main(["status", "--server", SITE]) == 1
    assert "can be read by others" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["login"], "Which server?"),
        (["--server", SITE, "score", "ref", "-i", "out"], "--server is for verbs about"),
        (["--server", SITE, "status", "--database", "sqlite:///x.db"], "not both"),
    ],
)
def test_wrong_usage(arguments, said, capsys):
    assert main(arguments) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("server", ["http://mt.example.org", "ftp://x"])
def test_a_token_goes_nowhere_in_the_open(server, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("token\n"))
    assert main(["login", "--server", server]) == 1
    assert "http" in capsys.readouterr().err
