"""What the client prints, writes and refuses of one measured campaign, on a database and on a server."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy import update

from cli.main import main
from models.database.session import writing
from models.schema.campaigns import Phase
from models.schema.roles import Feedback, PhaseKind, SiteRole
from steelyard_client.documents.campaigns.campaigns import CampaignUpdate
from tests.client.live import Live
from tests.service.port import NAME, REFERENCE, Port, output
from tests.service.service import DAY


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[tuple[Live, Port]]:
    """Two teams, each with a system called mast; people judged both."""
    file = shutil.copy(sqlite_template, tmp_path_factory.mktemp("one") / "steelyard.db")
    with ExitStack() as stack:
        live = Live.start(f"sqlite:///{file}", stack)
        port = Port.opened(live.service)
        for who, system, seed in (("mary", "mast", 1), ("zoe", "mast", 2), ("zoe", "oar", 3)):
            live.client(port.accounts[who]).submit_output(NAME, output(seed), system=system)
        port.work_off()
        ann = live.client(port.accounts["ann"])
        rows = "".join(
            f"eva\t{system}\t{segment}\t{50 + 10 * place + segment % 3}\n"
            for place, system in enumerate(("harbour/mast", "guests/mast"))
            for segment in range(40)
        )
        ann.add_human_scores(NAME, {"esa.tsv": f"annotator\tsystem\tsegment\tscore\n{rows}".encode()}, called="esa")
        port.accounts["root"] = live.service.account("root", SiteRole.ADMINISTRATOR)
        yield live, port


@pytest.fixture(params=["database", "server"])
def steelyard(request, port, monkeypatch, capsys, tmp_path):
    """Runs a command; its status, what it printed, and what it complained of."""
    live, known = port
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEELYARD_TOKEN", live.token(known.accounts["root"]))
    there = ["--server", live.url] if request.param == "server" else ["--database", live.service.settings.database_url]

    def run(*words: str) -> tuple[int, str, str]:
        return main([*words, *there]), *capsys.readouterr()

    return run


def test_a_system_of_two_teams_is_named_with_its_team(steelyard) -> None:
    status, out, err = steelyard("system", "show", NAME, "mast")
    assert (status, out) == (1, "")
    assert err == f"steelyard: Several systems of {NAME} are called mast: harbour/mast (2), guests/mast (3).\n"
    assert steelyard("system", "show", NAME, "guests/mast")[1] == steelyard("system", "show", NAME, "3")[1]
    assert steelyard("system", "show", NAME, "keel")[2].endswith("There are: anchor, mast, mast, oar.\n")


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"system\tpaper\nmast\t\xff\n", "is not UTF-8, at byte 19."), (b" \n\n", "is empty."), (b"", "is empty.")],
)
def test_a_table_of_systems_that_cannot_be_read(steelyard, tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "systems.tsv").write_bytes(content)
    status, out, err = steelyard("system", "import", NAME, "systems.tsv")
    assert (status, out, err) == (1, "", f"steelyard: systems.tsv: {says}\n")


def test_an_export_is_written_and_verified(steelyard, tmp_path: Path) -> None:
    assert steelyard("campaign", "export", NAME) == (0, f"Written: {NAME}.zip\n", "")
    exported = steelyard("verify", f"{NAME}.zip")
    stored = steelyard("verify", NAME)
    assert exported == stored
    assert (stored[0], stored[1].count("equal to the bit"), stored[2]) == (0, 4 * 2, "")
    alone = steelyard("verify", "--submission", "2", "-f", "tsv")
    rows = [line.split("\t") for line in alone[1].splitlines()[1:]]
    assert (alone[0], [row[0] for row in rows]) == (0, ["harbour/mast (2)"] * 2)
    assert steelyard("verify", "harbour") == (
        1, "",
        "steelyard: harbour is no file and no signature, and no campaign that you may see. There is no campaign "
        "'harbour' that you may see.\n",
    )  # fmt: skip
    # A signature is for the library, which needs texts for it.
    status, out, err = steelyard("verify", "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0 = 33.2")
    assert (status, out) == (2, "")
    assert err == "steelyard: The signature says 1 reference: give as many files, and then the output.\n"


def test_a_folder_is_written_for_other_programs(steelyard, tmp_path: Path) -> None:
    layout = ("--layout", "mt-metrics-eval")
    assert steelyard("campaign", "export", NAME, *layout, "-o", "folder") == (0, "Written: folder\n", "")
    assert (tmp_path / "folder" / "references" / "und-und.refA.txt").read_bytes().rstrip() == REFERENCE.rstrip()
    written = tmp_path / "folder" / "system-outputs" / "und-und" / "guests-mast.txt"
    assert written.read_bytes() == output(2)
    status, out, err = steelyard("campaign", "export", NAME, *layout, "-o", "other", "--test-set", "quay")
    assert (status, out, err) == (0, "Written: other\n", "")
    names = [sorted(each.name for each in (tmp_path / name).rglob("*")) for name in ("folder", "other")]
    assert names[0] == names[1]


RANKING = """\
quay: ranked by human:wmt25 of esa@1
Rank  Range  Cluster  System        Score                 Wins  Losses  Judgments
----  -----  -------  ------------  --------------------  ----  ------  ---------
   1      1        1  guests/mast   60.98 [60.73, 61.23]     1       0         40
----  -----  -------  ------------  --------------------  ----  ------  ---------
   2      2        2  harbour/mast  50.98 [50.73, 51.23]     0       1         40

80 judgments are few: WMT left out pairs with fewer than 500.
"""


def test_the_official_ranking_of_people(steelyard, port) -> None:
    live, known = port
    ann = live.client(known.accounts["ann"])
    ann.update_campaign(NAME, CampaignUpdate(human_rule=""))
    assert steelyard("campaign", "ranking", NAME) == (
        1, "",
        f"steelyard: {NAME} has no official ranking by people of quay. Import judgments, and choose a rule: "
        f"`steelyard campaign update {NAME} --human-rule human`.\n",
    )  # fmt: skip
    ann.update_campaign(NAME, CampaignUpdate(human_rule="human:wmt25", human_judgments="esa"))
    few = "80 judgments are few: WMT left out pairs with fewer than 500."
    assert steelyard("campaign", "ranking", NAME, "-f", "csv") == (
        0,
        "rank,range_low,range_high,cluster,system,score,score_low,score_high,wins,losses,n\n"
        "1,1,1,1,guests/mast,60.975,60.725,61.225,1,0,40\n"
        "2,2,2,2,harbour/mast,50.975,50.725,51.225,0,1,40\n",
        f"note: {few}\n",
    )
    assert steelyard("campaign", "ranking", NAME) == (0, RANKING, "")


def test_judgments_of_which_there_are_several_are_named(steelyard, port) -> None:
    live, known = port
    table = b"system\tscore\nharbour/mast\t1\nguests/mast\t2\n"
    live.client(known.accounts["ann"]).add_human_scores(NAME, {"da.tsv": table}, called="da")
    assert steelyard("judgments", "show") == (
        1, "", "steelyard: The test set has several human judgments: da, esa. Name one.\n"
    )  # fmt: skip
    assert steelyard("judgments", "show", "da")[1].startswith("da@1: scores of quay\n")
    live.client(known.accounts["ann"]).delete_human_scores(NAME, "da@1")
    assert steelyard("judgments", "show")[1].startswith("esa@1: ")


def test_judgments_of_a_campaign_that_hides_them_are_not_an_empty_list(port, monkeypatch, capsys) -> None:
    live, known = port
    monkeypatch.setenv("STEELYARD_TOKEN", live.token(known.accounts["mary"]))
    with writing(live.service.engine) as connection:
        connection.execute(update(Phase).values(kind=PhaseKind.BLIND, feedback=Feedback.NONE))
    found = []
    for where in ((), ("--campaign", NAME)):
        found.append((main(["judgments", "list", *where, "--server", live.url]), *capsys.readouterr()))
    with writing(live.service.engine) as connection:
        connection.execute(update(Phase).values(kind=PhaseKind.OPEN, feedback=Feedback.FULL))
    note = f"note: {NAME}: its judgments are not shown in this phase\n"
    assert found[0] == (
        0, "No human judgments yet. Import some: `steelyard judgments import FILE --test-set NAME`.\n", note
    )  # fmt: skip
    assert found[1] == (1, "", "steelyard: Scores of all systems are not shown in this phase.\n")


def test_a_baseline_that_is_not_there(steelyard) -> None:
    status, out, err = steelyard("compare", "--submissions", "2", "3", "--baseline", "keel")
    assert (status, out) == (1, "")
    assert err == (
        f"steelyard: There is nothing to compare. {NAME}: quay, reference A: there is no system keel with scores.\n"
    )


def test_the_phase_of_that_name_is_deleted(steelyard, port) -> None:
    live, known = port
    for number in (1, 2):
        live.service.phase(
            known.campaign, f"later {number}", PhaseKind.CLOSED, begins=number * DAY, ends=2 * number * DAY
        )
    for name in ("later 1", "later 2"):
        status, out, err = steelyard("phase", "delete", NAME, name, "--yes")
        assert (status, err, name in out) == (0, "", False)
    assert [each.name for each in live.client(known.accounts["ann"]).list_phases(NAME)] == ["first"]
    status, out, err = steelyard("phase", "delete", NAME, "later 1", "--yes")
    assert (status, out) == (1, "")
    assert err == f'steelyard: The campaign {NAME} has no phase "later 1". There are: first.\n'


def test_a_plot_is_of_systems(port, capsys, monkeypatch, tmp_path: Path) -> None:
    live, _ = port
    monkeypatch.chdir(tmp_path)
    words = ["campaign", "correlate", NAME, "--human", "esa", "--plot", "x.svg"]
    database = ["--database", live.service.settings.database_url]
    assert main([*words, "--granularity", "segment", *database]) == 1
    assert capsys.readouterr().err == (
        "steelyard: There is nothing to plot: a plot shows systems, and nothing was compared by system. Leave out "
        "--granularity segment, or import human scores of systems.\n"
    )
    assert not (tmp_path / "x.svg").exists()
    assert main([*words, *database]) == 0
    told = capsys.readouterr()
    assert "esa@1, by system\n" in told.out
    assert told.err == f"note: x.svg shows {NAME}: quay, reference A, chrF2; see --references and --metrics.\n"
    assert "guests/mast" in (tmp_path / "x.svg").read_text()
