"""A database and its server print the same bytes to one who may see all, and --as shows what an account sees."""

import json
import shutil
from contextlib import ExitStack

import pytest

from cli.main import main
from models.schema.roles import SiteRole
from steelyard.tables import FORMATS
from tests.client.live import Live
from tests.service.port import NAME, Port, output


@pytest.fixture(scope="module")
def live(tmp_path_factory, sqlite_template):
    """A server on a campaign of two anonymous teams with several systems each, one of them in three runs."""
    file = shutil.copy(sqlite_template, tmp_path_factory.mktemp("live") / "steelyard.db")
    with ExitStack() as stack:
        live = Live.start(f"sqlite:///{file}", stack)
        port = Port.opened(live.service)
        for who, system, seed, kind, run in (
            *(("mary", "mast", 1, "primary", ""), ("mary", "keel", 2, "contrastive", ""), ("mary", "mast", 3, "", "")),
            *(("zoe", "oar", 4, "", ""), ("zoe", "tug", 5, "", "one"), ("zoe", "tug", 6, "", "two")),
            *(("zoe", "tug", 7, "", "three"), ("mary", "copy", 1, "contrastive", "")),
        ):
            live.client(port.accounts[who]).submit_output(NAME, output(seed), system=system, kind=kind, run=run)
        port.work_off()
        root = live.service.account("root", role=SiteRole.ADMINISTRATOR)
        yield live, live.token(root), port


@pytest.fixture
def printed(live, monkeypatch, capsys):
    served, token, _ = live
    monkeypatch.setenv("STEELYARD_TOKEN", token)
    places = {
        "server": ["--server", served.url],
        "database": ["--database", served.service.settings.database_url],
    }

    def run(place, *words):
        status = main([*words, *places[place]])
        out, err = capsys.readouterr()
        assert status == 0, err
        return out

    return run


@pytest.mark.few(7)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("words", [(), ("--all",), ("--all", "--by", "chrf")])
def test_leaderboard(printed, words, form):
    here, there = (printed(place, "leaderboard", NAME, *words, "-f", form) for place in ("database", "server"))
    assert here == there
    assert "tug" in here


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("words", [(), ("--correction", "holm", "-m", "bleu")])
def test_compare(printed, words, form):
    chosen = ("--systems", "anchor", "mast", "oar", "copy", "guests/tug")
    here, there = (printed(place, "compare", NAME, *words, *chosen, "-f", form) for place in ("database", "server"))
    assert here == there
    assert ("s_opt" in here.replace("\\", "")) == (form not in ("csv", "tsv")), "tug has runs"


@pytest.mark.few(5)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("words", [("--level", "0.9", "-w", "3"), ("--no-wait",)])
def test_submit(printed, tmp_path, words, form):
    """The very same again, which is scored already."""
    (tmp_path / "mast.txt").write_bytes(output(1))
    asked = ("--campaign", NAME, "--team", "harbour", "--system", "mast", "--primary", "--override")
    here, there = (
        printed(place, "submit", str(tmp_path / "mast.txt"), *asked, *words, "-f", form)
        for place in ("database", "server")
    )
    assert here == there
    if form == "json":
        found = json.loads(here)
        assert (found["system"], found["kind"]) == ("mast", "primary")
        assert "stored" in found or [each["level"] for each in found["feedback"]] == [0.9]
    elif words == ("--no-wait",):
        assert "mast" in here
    else:
        assert "BLEU" in here


def test_json_is_bound(printed):
    """Programs of others read these fields."""
    (board,) = json.loads(printed("database", "leaderboard", NAME, "--all", "-f", "json"))
    assert (board["campaign"], board["references"]) == (NAME, ["A"])
    systems = {each["name"]: each for each in board["systems"]}
    assert {each["state"] for each in systems.values()} == {"done"}
    for score in systems["guests/tug (3 runs)"]["scores"]:
        assert len(score["runs"]) == 3
        assert score["interval"]["low"] <= score["score"] <= score["interval"]["high"]
    clusters = [each["scores"][1]["cluster"] for each in board["systems"] if each["ranked"]]
    assert sorted(clusters) == sorted(range(1, max(clusters) + 1)) or min(clusters) == 1, "by every metric"


def test_an_account_sees_of_a_database_what_a_server_shows_it(live, printed, monkeypatch, capsys):
    served, _, port = live
    mary = port.accounts["mary"]
    monkeypatch.setenv("STEELYARD_TOKEN", served.token(mary))
    for words in (["leaderboard", NAME, "--all", "-f", "json"], ["leaderboard", NAME], ["compare", NAME]):
        there = printed("server", *words)
        assert printed("database", *words, "--as", "mary@example.org") == there
