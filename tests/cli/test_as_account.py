"""`--database URL --as ACCOUNT`: to the byte what a server says to that account, whatever it may see."""

import re
import shutil
from contextlib import ExitStack

import click
import pytest

from cli.main import main
from models.database.session import writing
from models.schema.roles import Scope, SiteRole
from steelyard_client.commands.verbs import VERBS as VERBS_OF_CLIENT
from steelyard_client.documents.accounts.invitations import InvitationCreate
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
    ["leaderboard", NAME, "--level", "0.9", "--interval", "bca", "--power", "-f", "json"],
    ["leaderboard", NAME, "--all", "--correction", "holm", "--alpha", "0.01"],
    ["compare", NAME, "--all", "-m", "chrf", "-f", "json"],
    ["status", NAME, "-f", "json"],
]


GET_A_TOKEN = "\nGet a token from the page of your account, and run `steelyard login`."
MANAGING = [
    ["campaign", "list"],
    ["campaign", "show", NAME],
    ["campaign", "teams", NAME],
    ["campaign", "members", NAME],
    ["campaign", "matrix", NAME],
    ["campaign", "ngrams", NAME],
    ["campaign", "metrics-task", NAME],
    ["campaign", "ranking", NAME],
    ["campaign", "correlate", NAME, "--granularity", "system", "--trials", "99"],
    ["campaign", "archive"],
    ["campaign", "announcements", NAME],
    ["system", "list", NAME],
    ["system", "show", NAME, "mast"],
    ["phase", "list", NAME],
    ["testset", "list", NAME],
    ["testset", "show", NAME, "quay"],
    ["testset", "correction", NAME],
    ["submission", "list", NAME],
    ["submission", "show", "1"],
    ["submission", "show", "5"],
    ["team", "list"],
    ["team", "show", "harbour"],
    ["user", "list"],
    ["user", "show", "mary@example.org"],
    ["token", "list", "otto@example.org"],
    ["invitation", "list"],
    ["scores", "list", NAME],
    ["quota", "list"],
    ["quota", "show", "harbour"],
    ["schedule", "list"],
    ["schedule", "show", "gate"],
    ["judgments", "list"],
    ["judgments", "show", "kept"],
    ["judgments", "show", "kept", "--granularity", "segment"],
]
"""What lists or shows, of the verbs that are written once."""
OWN = [["notice", "list"], ["notice", "show"]]
"""Of one's own account, which a command on a database has with --as alone."""


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
    port.accounts["root"] = live.service.account("root", SiteRole.ADMINISTRATOR)
    port.accounts["otto"] = live.service.account("otto")
    live.token(port.accounts["otto"])
    judged = "".join(f"{system}\t{segment}\t{segment % 7 + bonus}\n" for system, bonus in (("mast", 3), ("keel", 0))
                     for segment in range(40))  # fmt: skip
    live.client(port.accounts["ann"]).add_human_scores(
        NAME, {"kept.tsv": f"system\tsegment\tscore\n{judged}".encode()}, called="kept"
    )
    live.client(port.accounts["root"]).create_invitation(InvitationCreate(team="harbour"))
    return port


@pytest.fixture
def steelyard(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("STEELYARD_TOKEN", raising=False)

    def run(*arguments):
        status = main(arguments)
        return status, *capsys.readouterr()

    return run


REPEATED = "silent", "published"
"""Phases that show in make test-thorough what the others do in make test."""


@pytest.mark.parametrize(
    "phase", [pytest.param(each, marks=[pytest.mark.thorough] * (each in REPEATED)) for each in PHASES]
)
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
            # The queue is read a moment later.
            here, there = (
                (found[0], re.sub(r'"(at|\w*seconds)": [^\n]+', r'"\1": now', found[1]), found[2])
                for found in (here, there)
            )
            # Whoever asks a server without a token reads, besides, where to get one.
            told = there[2].replace(live.url, "http://localhost").replace(GET_A_TOKEN, "")
            # The queue is shown with the moment at which it was read.
            there_then, here_now = (re.sub(r'"at": "[^"]+"', '"at": now', each[1]) for each in (there, here))
            assert (here[0], here_now, here[2]) == (there[0], there_then, told), (who, verb)
            said[who, tuple(verb)] = here[1]
    board = tuple(VERBS[0])
    assert "guests/oar" in said["ann", board]
    if kind == "blind":
        assert said["mary", board] == said["nobody", board] == ""
    if phase == "open":
        assert "guests" not in said["mary", board]


# Texts are made here of what was said either way, so one phase shows that they are the same.
@pytest.mark.parametrize(
    ("form", "phase"),
    [
        pytest.param("json", "open", marks=pytest.mark.thorough),
        ("json", "silent"),
        pytest.param("json", "published", marks=pytest.mark.thorough),
        pytest.param("text", "open", marks=pytest.mark.thorough),
    ],
)
def test_what_is_managed_is_what_a_server_says(live, port, steelyard, monkeypatch, phase, form):
    """Also for the command line on the database: it sees what an administrator sees through a server."""
    kind, feedback, anonymous = PHASES[phase]
    with writing(live.service.engine) as connection:
        connection.exec_driver_sql(f"UPDATE phase SET kind = '{kind}', feedback = '{feedback}'")
        connection.exec_driver_sql(f"UPDATE campaign SET anonymous = {int(anonymous)}")
    database = ["--database", live.service.settings.database_url]
    said = {}
    for who, account in ({who: port.accounts[who] for who in ("ann", "mary", "zoe")} | {"nobody": None}).items():
        for verb in [*MANAGING, *OWN]:
            said[who, tuple(verb)] = compared(
                steelyard, monkeypatch, live, [*verb, "-f", form], account,
                [*database, "--as", "nobody" if account is None else f"{who}@example.org"],
            )  # fmt: skip
    for verb in MANAGING:
        said["root", tuple(verb)] = compared(
            steelyard, monkeypatch, live, [*verb, "-f", form], port.accounts["root"], database
        )
    # What is to be hidden is hidden, and whoever may see it sees it.
    teams, submissions = ("campaign", "teams", NAME), ("submission", "list", NAME)
    assert ("harbour" in said["zoe", teams]) == (not anonymous or kind == "published")
    assert all("harbour" in said[who, teams] for who in ("root", "ann", "mary"))
    assert "oar" not in said["mary", submissions]
    assert all("oar" in said[who, submissions] and "mast" in said[who, submissions] for who in ("root", "ann"))
    assert "withdrawn" in said["root", submissions]


def test_judgments_that_a_phase_hides_are_refused_to_whoever_asks_for_that_campaign(live, port, steelyard):
    with writing(live.service.engine) as connection:
        connection.exec_driver_sql("UPDATE phase SET kind = 'blind', feedback = 'none'")
    here = ["--database", live.service.settings.database_url, "--as", "mary@example.org"]
    status, said, noticed = steelyard("judgments", "list", *here)
    assert (status, "kept" in said) == (0, False)
    assert f"{NAME}: its judgments are not shown in this phase" in noticed
    status, said, refused = steelyard("judgments", "list", "--campaign", NAME, *here)
    assert (status, said) == (1, "")
    assert refused


def test_every_verb_that_lists_or_shows_is_compared():
    shown = {
        (noun, name)
        for noun, verb in VERBS_OF_CLIENT.items()
        if isinstance(group := verb.load(), click.Group)
        for name, command in group.commands.items()
        if {"format", "server", "account"} <= {param.name for param in command.params}
    }
    assert shown == {tuple(verb[:2]) for verb in [*MANAGING, *OWN]}


def compared(steelyard, monkeypatch, live, verb, account, here):
    """What a verb says, to the byte the same on a server and here; but for the time."""
    if account is None:
        monkeypatch.delenv("STEELYARD_TOKEN", raising=False)
    else:
        monkeypatch.setenv("STEELYARD_TOKEN", live.token(account, *([Scope.READ] if "--as" in here else Scope)))
    there = steelyard(*verb, "--server", live.url)
    monkeypatch.delenv("STEELYARD_TOKEN", raising=False)
    found = steelyard(*verb, *here)

    def timeless(text):
        text = text.replace(live.url, "http://localhost").replace(GET_A_TOKEN, "")
        return re.sub(r"\d+ \w+ \d{4}, \d\d:\d\d \(UTC\)", "now", text)

    assert found[0] == there[0], verb
    assert [timeless(part) for part in found[1:]] == [timeless(part) for part in there[1:]], verb
    return found[1]


def test_it_shows_and_changes_nothing(live, port, steelyard):
    database = ["--database", live.service.settings.database_url]
    status, _, err = steelyard("leaderboard", *database, "--as", "who@example.org")
    assert (status, "who@example.org" in err) == (1, True)
    for arguments in (
        ["leaderboard", "--server", live.url, "--as", "ann@example.org"],
        ["compare", *database, "--as", "ann@example.org", "--report", "page.html"],
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
