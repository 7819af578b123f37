"""`--database URL --as ACCOUNT`: to the byte what a server says to that account, whatever it may see."""

import shutil
from contextlib import ExitStack

import pytest

from cli.main import main
from models.database.session import writing
from models.schema.roles import Scope
from tests.client.live import Live
from tests.service.port import NAME, Port, output

PHASES = {
    "open": ("open", "full", True),
    "blind": ("blind", "rounded", False),
    "silent": ("blind", "none", True),
    "published": ("published", "full", True),
}
"""The kind of the phase, its feedback, and whether teams are anonymous."""
VERBS = [
    ["leaderboard"],
    ["leaderboard", NAME, "--all", "-f", "json"],
    ["compare", NAME, "--all", "-m", "chrf", "-f", "json"],
    ["status", NAME, "-f", "json"],
]


@pytest.fixture(scope="module")
def live(tmp_path_factory, sqlite_template):
    """A server; the tests only change the phase and whether teams are anonymous."""
    file = shutil.copy(sqlite_template, tmp_path_factory.mktemp("live") / "steelyard.db")
    with ExitStack() as stack:
        yield Live.start(f"sqlite:///{file}", stack)


@pytest.fixture(scope="module")
def port(live):
    """Two teams with several systems each, one of them with two runs, one withdrawn; all measured."""
    port = Port.opened(live.service)
    for who, system, seed, kind, run in (
        *(("mary", "mast", 1, "primary", ""), ("mary", "keel", 2, "contrastive", ""), ("mary", "sail", 3, "", "")),
        *(("zoe", "oar", 4, "", "first"), ("zoe", "oar", 5, "", "second"), ("zoe", "leak", 6, "contrastive", "")),
    ):
        client = live.client(port.accounts[who])
        number = client.submit_output(NAME, output(seed), system=system, kind=kind, run=run).id
        if system == "leak":
            client.withdraw_submission(number)
    port.work_off()
    return port


@pytest.fixture
def steelyard(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("STEELYARD_TOKEN", raising=False)

    def run(*arguments):
        status = main(arguments)
        return status, *capsys.readouterr()

    return run


@pytest.mark.parametrize("phase", PHASES)
def test_it_is_what_a_server_says(live, port, steelyard, monkeypatch, phase):
    kind, feedback, anonymous = PHASES[phase]
    with writing(live.service.engine) as connection:
        connection.exec_driver_sql(f"UPDATE phase SET kind = '{kind}', feedback = '{feedback}'")
        connection.exec_driver_sql(f"UPDATE campaign SET anonymous = {int(anonymous)}")
    said = {}
    for who in ("ann", "mary", "zoe", "nobody"):
        if who != "nobody":
            monkeypatch.setenv("STEELYARD_TOKEN", live.token(port.accounts[who], Scope.READ))
        else:
            monkeypatch.delenv("STEELYARD_TOKEN", raising=False)
        account = who if who == "nobody" else f"{who}@example.org"
        for verb in VERBS:
            there = steelyard(*verb, "--server", live.url)
            here = steelyard(*verb, "--database", live.service.settings.database_url, "--as", account)
            assert here == (there[0], there[1], there[2].replace(live.url, "http://localhost")), (who, verb)
            said[who, tuple(verb)] = here[1]
    board = tuple(VERBS[0])
    assert "guests/oar" in said["ann", board]
    if kind == "blind":
        assert said["mary", board] == said["nobody", board] == ""
    if phase == "open":
        assert "guests" not in said["mary", board]


def test_it_shows_and_changes_nothing(live, port, steelyard):
    database = ["--database", live.service.settings.database_url]
    status, _, err = steelyard("leaderboard", *database, "--as", "who@example.org")
    assert (status, "who@example.org" in err) == (1, True)
    for arguments in (
        ["leaderboard", "--server", live.url, "--as", "ann@example.org"],
        ["leaderboard", *database, "--as", "ann@example.org", "--level", "0.9"],
    ):
        status, _, err = steelyard(*arguments)
        assert (status, "--as" in err) == (2, True)
    with writing(live.service.engine) as connection:
        connection.exec_driver_sql("UPDATE account SET disabled_at = 1 WHERE email = 'zoe@example.org'")
    try:
        assert "disabled" in steelyard("status", *database, "--as", "zoe@example.org")[2]
    finally:
        with writing(live.service.engine) as connection:
            connection.exec_driver_sql("UPDATE account SET disabled_at = NULL")
