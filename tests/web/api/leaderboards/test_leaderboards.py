"""The leaderboard as JSON and as files, and what it tells whom."""

import csv
import io
import math
from itertools import pairwise
from typing import Any
from urllib.parse import quote

import pytest
from sqlalchemy import update

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.accounts.teams import change_team
from models.database.session import writing
from models.schema.campaigns import CampaignTestSet
from models.schema.results import Score
from models.schema.roles import PhaseKind, SiteRole, Visibility
from tests.cli.latex_reader import tables
from tests.service.scored_campaigns import CONTRASTIVE, PRIMARY, Scored
from tests.service.service import Service

URL = "/api/v1/campaigns/port/leaderboard"
FORMATS = ("json", "csv", "tsv", "latex")


@pytest.fixture
def scored(service: Service) -> Scored:
    """Harbour (zoe) and lighthouse (eve) in a public campaign that mary organises."""
    found = Scored(service)
    found.add("harbour", "mast", 40.0, **PRIMARY, constrained=True)
    found.add("harbour", "sail", 41.0, **CONTRASTIVE)
    found.add("lighthouse", "=lamp", 30.0, ter=None, late_seconds=90.0, constrained=False)
    found.add("", "baseline", 20.0)
    accounts = {name: service.account(name) for name in ("mary", "zoe", "eve")}
    teams = service.team("harbour", accounts["zoe"]), service.team("lighthouse", accounts["eve"])
    service.campaign("port", organisers=(accounts["mary"],), teams=teams)
    found.people = {name: service.program(account) for name, account in accounts.items()}  # type: ignore[attr-defined]
    found.people["nobody"] = service.client()  # type: ignore[attr-defined]
    return found


def answer(scored: Scored, who: str = "nobody", ending: str = "", **query: Any) -> Any:
    return scored.people[who].get(URL + ending, params=query)  # type: ignore[attr-defined]


def names(scored: Scored, who: str = "nobody", **query: Any) -> list[str]:
    found = answer(scored, who, **query)
    assert found.status_code == 200, found.text
    return [each["name"] for each in found.json()["items"]]


def test_a_board_with_everything_that_is_known_of_its_systems(scored: Scored) -> None:
    board = answer(scored).json()
    assert (board["campaign"], board["test_set"], board["references"], board["sorted_by"]) == (
        "port",
        "port",
        ["A"],
        "bleu",
    )
    assert board["ranking"]["testing"] == 0
    first, second, third = board["items"]
    assert (first["name"], first["kind"], first["constrained"], first["ranked"]) == (
        "harbour/mast",
        "primary",
        True,
        True,
    )
    bleu, ter = first["scores"]
    assert (bleu["score"], bleu["rank"], bleu["rank_low"], bleu["cluster"], bleu["wins"]) == (40.0, 1, 1, 1, 2)
    assert bleu["interval"]["low"] < 40.0 < bleu["interval"]["high"]
    assert (ter["rank"], ter["higher_is_better"]) == (None, False)
    assert (second["late_seconds"], second["scores"][1]["score"]) == (90.0, None)
    assert (third["name"], third["team"]) == ("baseline", "")
    assert all("replicate" not in key for key in bleu), "replicates stay on the server"


def test_filters(scored: Scored) -> None:
    assert names(scored) == ["harbour/mast", "lighthouse/=lamp", "baseline"]
    assert names(scored, shown="all") == ["harbour/sail", "harbour/mast", "lighthouse/=lamp", "baseline"]
    assert names(scored, constrained="yes") == ["harbour/mast"]
    assert names(scored, constrained="no") == ["lighthouse/=lamp", "baseline"]
    assert names(scored, metric="ter")[-1] == "lighthouse/=lamp", "what has no score comes last"
    assert names(scored, test_set="port@1", references="A") == names(scored)
    for query in ({"metric": "nist"}, {"test_set": "pier"}, {"references": "B"}, {"board": 77}):
        assert answer(scored, **query).status_code == 404
    assert answer(scored, shown="none").status_code == 422


def test_the_metric_that_ranks_is_the_campaigns(scored: Scored) -> None:
    scored.service.campaign("port", ranked_by="ter")
    assert answer(scored).json()["sorted_by"] == "ter"


def test_pages_of_it(scored: Scored) -> None:
    first = answer(scored, limit=2).json()
    assert (first["total"], first["next"]) == (3, "2")
    second = answer(scored, limit=2, after=first["next"]).json()
    assert [each["name"] for each in first["items"] + second["items"]] == names(scored)
    assert second["next"] is None
    assert answer(scored, after="x").status_code == 422


def test_what_has_not_changed_is_not_sent_again(scored: Scored) -> None:
    client = scored.people["nobody"]  # type: ignore[attr-defined]
    for form in FORMATS:
        tag = client.get(URL, params={"format": form}).headers["ETag"]
        assert client.get(URL, params={"format": form}, headers={"If-None-Match": tag}).status_code == 304
    assert client.get(URL, params={"metric": "ter"}, headers={"If-None-Match": tag}).status_code == 200
    tag = client.get(URL).headers["ETag"]
    scored.add("pier", "new", 35.0)
    assert client.get(URL, headers={"If-None-Match": tag}).status_code == 200
    tag = client.get(URL).headers["ETag"]
    with writing(scored.service.engine) as connection:
        change_team(connection, COMMAND_LINE, "lighthouse", publication_name="Light House")
    renamed = client.get(URL, headers={"If-None-Match": tag})
    assert renamed.status_code == 200
    assert "Light House/=lamp" in {each["name"] for each in renamed.json()["items"]}
    tag = client.get(URL).headers["ETag"]
    scored.service.campaign("port", anonymous=True)
    scored.service.phase(scored.campaign_id, "now", PhaseKind.OPEN)
    assert client.get(URL, headers={"If-None-Match": tag}).status_code == 200, "others see other names"


def test_names_of_anonymous_teams_are_nowhere_but_with_themselves_and_organisers(scored: Scored) -> None:
    scored.add("lighthouse", "bulb", 30.0, text="alike", **CONTRASTIVE)
    scored.add("harbour", "copy", 29.0, text="alike", **CONTRASTIVE)
    scored.service.campaign("port", anonymous=True)
    scored.service.phase(scored.campaign_id, "now", PhaseKind.OPEN)
    hidden = {"nobody": ("harbour", "mast", "lighthouse", "lamp", "bulb"), "zoe": ("lighthouse", "lamp", "bulb")}
    hidden |= {"eve": ("harbour", "mast", "sail"), "mary": ()}
    for who, words in hidden.items():
        for form in FORMATS:
            text = answer(scored, who, format=form, shown="all").text
            assert not [word for word in words if word in text], (who, form)
    board = answer(scored, shown="all").json()
    shown = {each["name"]: each for each in board["items"]}
    assert shown["baseline"]["system"] == "baseline"
    assert len([name for name in shown if name.startswith("Team ")]) == 5, "told apart by their numbers"
    same = [each["same_output_as"] for each in board["items"] if each["same_output_as"]]
    assert len(same) == 1
    assert same[0] in shown
    assert same[0].startswith("Team ")
    assert "harbour/mast" in names(scored, "zoe")
    scored.service.phase(scored.campaign_id, "out", PhaseKind.PUBLISHED, begins=-1)
    assert "lighthouse/=lamp" in names(scored)


def test_while_a_phase_is_blind_only_organisers_see_it(scored: Scored) -> None:
    scored.service.phase(scored.campaign_id, "now", PhaseKind.BLIND)
    for who in ("nobody", "zoe", "eve"):
        assert answer(scored, who, "s").status_code == 403
        for form in FORMATS:
            assert answer(scored, who, format=form).status_code == 403
    assert names(scored, "mary")[0] == "harbour/mast"


def test_a_private_campaign_is_not_there_for_others(scored: Scored) -> None:
    scored.service.campaign("port", visibility=Visibility.PRIVATE)
    assert answer(scored).json() == {
        "error": {"code": "not_found", "message": "There is no campaign 'port' that you may see.", "details": []}
    }
    assert answer(scored, "zoe").status_code == 200


def test_a_test_set_whose_phase_has_not_begun_is_not_listed(scored: Scored) -> None:
    later = Scored(scored.service, references=("B",), version="2")
    later.add("", "trial", 20.0)
    soon = scored.service.phase(scored.campaign_id, "soon", PhaseKind.OPEN, begins=3600)
    scored.service.phase(scored.campaign_id, "now", PhaseKind.OPEN)
    with writing(scored.service.engine) as connection:
        its = CampaignTestSet.test_set_id == later.test_set
        connection.execute(update(CampaignTestSet).where(its).values(phase_id=soon))
    assert [each["version"] for each in answer(scored, "zoe", "s").json()["items"]] == ["1"]
    assert answer(scored, "zoe", test_set="port@2").status_code == 404
    assert answer(scored, "mary", test_set="port@2").status_code == 200


def test_a_test_set_that_was_replaced_comes_last_and_says_so(scored: Scored) -> None:
    newer = Scored(scored.service, references=("B",), version="2")
    newer.add("harbour", "mast", 50.0)
    with writing(scored.service.engine) as connection:
        old = CampaignTestSet.test_set_id == scored.test_set
        connection.execute(update(CampaignTestSet).where(old).values(replaced_by=newer.test_set))
    assert answer(scored).json()["version"] == "2"
    assert answer(scored, test_set="port@1").json()["replaced"] is True


def test_csv_has_a_row_for_each_system_and_metric_and_no_formulas(scored: Scored) -> None:
    found = answer(scored, format="csv", shown="all")
    assert found.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert found.headers["Content-Disposition"] == 'attachment; filename="port-leaderboard.csv"'
    rows = list(csv.DictReader(io.StringIO(found.text)))
    assert len(rows) == 8
    lamp = next(row for row in rows if row["team"] == "lighthouse")
    assert (lamp["system"], lamp["score"], lamp["late_seconds"], lamp["constrained"]) == ("'=lamp", "30.0", "90", "no")
    tsv = list(csv.DictReader(io.StringIO(answer(scored, format="tsv", shown="all").text), delimiter="\t"))
    assert tsv == rows


@pytest.fixture
def odd(service: Service) -> Scored:
    """A board of odd systems: tied ones, runs, a contrastive, a failed, a late and a nameless one, none alike."""
    found = Scored(service, references=("A", "B"), version="2")
    found.add("harbour", "mast", 40.0, **PRIMARY, constrained=True)
    found.add("harbour", "sail", 41.0, ter=None, **CONTRASTIVE)
    found.add("lighthouse", "=lamp", 30.0, ter=None, late_seconds=90.6, constrained=False)
    found.add("lighthouse", "new", None, state="failed", **CONTRASTIVE)
    found.add("guests", "a_b", 39.9, ter=49.0, run="1", spread=2)
    found.add("guests", "a_b", 40.3, ter=48.0, run="2", spread=2)
    found.add("", "baseline", 20.0, ter=61.0)
    found.add("", "coming", None, state="running")
    teams = [service.team(name) for name in ("harbour", "lighthouse", "guests")]
    service.campaign("port", teams=tuple(teams))
    return found


PLACES = ("rank", "rank_low", "rank_high", "cluster", "wins")


def test_each_cell_of_a_file_is_what_it_should_be(odd: Scored) -> None:
    client = odd.service.client()
    board = client.get(URL, params={"shown": "all"}).json()
    rows = list(csv.DictReader(io.StringIO(client.get(URL, params={"shown": "all", "format": "csv"}).text)))
    same = {"campaign": "port", "test_set": "port", "version": "2", "references": "A+B"}
    assert all(row.items() >= same.items() for row in rows)
    of_systems = ("system", "team", "runs", "state", "submission", "kind", "ranked", "constrained", "late_seconds")
    mast = ("mast", "harbour", "1", "done", "1", "primary", "yes", "yes", "0")
    sail = ("sail", "harbour", "1", "done", "2", "contrastive", "no", "", "0")
    lamp = ("'=lamp", "lighthouse", "1", "done", "3", "", "yes", "no", "91")
    new = ("new", "lighthouse", "1", "failed", "4", "contrastive", "no", "", "0")
    runs = ("a_b", "guests", "2", "done", "6", "", "yes", "", "0")
    baseline = ("baseline", "", "1", "done", "7", "", "yes", "", "0")
    coming = ("coming", "", "1", "running", "8", "", "yes", "", "0")
    order = [sail, runs, mast, lamp, baseline]
    assert [tuple(row[name] for name in of_systems) for row in rows] == [
        *(each for each in order for _ in "12"),
        new,
        coming,
    ]
    # The metric that ranks has the places.
    none = ("",) * 5
    assert [tuple(row[name] for name in PLACES) for row in rows] == [
        *(none, none, ("1", "1", "2", "1", "2"), none, ("2", "1", "2", "1", "2"), none),
        *(("3", "3", "3", "2", "1"), none, ("4", "4", "4", "3", "0"), none, none, none),
    ]
    scores = [("bleu", "41.0"), ("ter", ""), ("bleu", str((39.9 + 40.3) / 2)), ("ter", "48.5")]
    scores += [("bleu", "40.0"), ("ter", "50.0"), ("bleu", "30.0"), ("ter", ""), ("bleu", "20.0"), ("ter", "61.0")]
    assert [(row["metric"], row["score"]) for row in rows] == [*scores, ("", ""), ("", "")]
    assert [row["signature"] for row in rows] == [*(f"{metric}|version:1" for metric, _ in scores), "", ""]
    intervals = [score["interval"] for item in board["items"] for score in item["scores"]]
    assert [(row["low"], row["high"], row["level"]) for row in rows] == [
        *((str(each["low"]), str(each["high"]), "0.95") if each else ("", "", "") for each in intervals),
        *([("", "", "")] * 2),
    ]
    assert [each is None for each in intervals] == [score == "" for _, score in scores]


def test_places_stand_with_the_metric_that_was_asked_for(odd: Scored) -> None:
    text = odd.service.client().get(URL, params={"metric": "ter", "format": "csv"}).text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["system"], row["metric"], row["rank"], row["cluster"]) for row in rows] == [
        *(("a_b", "bleu", "", ""), ("a_b", "ter", "1", "1"), ("mast", "bleu", "", ""), ("mast", "ter", "2", "1")),
        *(("baseline", "bleu", "", ""), ("baseline", "ter", "3", "2")),
        *(("'=lamp", "bleu", "", ""), ("'=lamp", "ter", "", ""), ("coming", "", "", "")),
    ]


def test_a_file_calls_a_system_without_a_name_by_its_team(odd: Scored) -> None:
    odd.service.campaign("port", anonymous=True)
    odd.service.phase(odd.campaign_id, "now", PhaseKind.OPEN)
    rows = csv.DictReader(io.StringIO(odd.service.client().get(f"{URL}?format=csv").text))
    named = {row["submission"]: (row["system"], row["team"]) for row in rows}
    assert named == {
        "1": ("Team 1 #1", "Team 1"),
        "3": ("Team 2 #3", "Team 2"),
        "6": ("Team 3 (2 runs)", "Team 3"),
        "7": ("baseline", ""),
        "8": ("coming", ""),
    }


def test_latex(odd: Scored) -> None:
    text = odd.service.client().get(URL, params={"shown": "all", "format": "latex"}).text
    ((caption, rows),) = tables(text)
    assert caption == "port (version 2), references A + B"
    assert rows[0] == ["Rank", "Range", "System", "BLEU", "TER ↓"]
    assert [row[:3] for row in rows[1:]] == [
        *(["–", "–", "harbour/sail"], ["1", "1–2", "guests/a_b (2 runs)"], ["2", "1–2", "harbour/mast"]),
        *(["3", "3", "lighthouse/=lamp"], ["4", "4", "baseline"], ["–", "–", "lighthouse/new"]),
        ["–", "–", "coming"],
    ]
    scores = [[cell.partition(" [")[0] for cell in row[3:]] for row in rows[1:]]
    assert scores == [
        ["41.0", "n/a"],
        ["40.1", "48.5"],
        ["40.0", "50.0"],
        ["30.0", "n/a"],
        ["20.0", "61.0"],
        ["n/a", "n/a"],
        ["n/a", "n/a"],
    ]
    assert rows[3][3] == "40.0 [39.3, 40.8]"
    lines = text.splitlines()
    assert "\\begin{tabular}{rrlrr}" in lines
    above = [below for line, below in pairwise(lines) if line == "\\midrule"]
    assert [line.split(" & ")[2] for line in above] == ["harbour/sail", "lighthouse/=lamp", "baseline"]
    assert [line for line in lines if line.startswith("%")] == [
        "% Scores with 95 % intervals from 40 replicates, seed 12345.",
        *("% bleu|version:1", "% ter|version:1"),
    ]


def test_latex_without_replicates_has_no_ranges_and_intervals(service: Service) -> None:
    plain = Scored(service, replicates=0)
    plain.add("", "one", 10.0)
    plain.add("", "two", 12.25)
    service.campaign("port")
    text = service.client().get(f"{URL}?format=latex").text
    ((caption, rows),) = tables(text)
    assert caption == "port, reference A"
    assert rows == [
        ["Rank", "System", "BLEU", "TER ↓"],
        *(["1", "two", "12.2", "50.0"], ["2", "one", "10.0", "50.0"]),
    ]
    assert "\\begin{tabular}{rlrr}" in text
    rows = list(csv.DictReader(io.StringIO(service.client().get(f"{URL}?format=csv").text)))
    assert {(row["low"], row["high"], row["level"]) for row in rows} == {("", "", "")}
    assert [(row["rank"], row["cluster"]) for row in rows] == [("1", ""), ("", ""), ("2", ""), ("", "")]


def test_a_score_without_an_end_has_three_digits_in_latex(odd: Scored) -> None:
    with writing(odd.service.engine) as connection:
        connection.execute(update(Score).where(Score.metric == 0).values(scale=math.inf))
    ((_, rows),) = tables(odd.service.client().get(f"{URL}?format=latex").text)
    assert rows[2][3:] == ["40.000 [39.286, 40.840]", "50.0 [49.1, 50.9]"]


def test_a_file_of_a_campaign_with_a_long_name_has_a_short_one(service: Service) -> None:
    name = ".ports & " + 80 * "x"
    Scored(service, name=name).add("", "one", 10.0)
    service.campaign(name)
    answer = service.client().get(f"/api/v1/campaigns/{quote(name, safe='')}/leaderboard?format=latex")
    assert answer.headers["Content-Disposition"] == f'attachment; filename="ports-{54 * "x"}-port-leaderboard.tex"'


def test_why_something_failed_stands_on_a_board_for_organisers_alone(scored: Scored) -> None:
    """It may quote a reference, even to the team whose output it is."""
    scored.add("lighthouse", "broken", None, state="failed")
    assert "too long" in answer(scored, "mary").text
    for who in ("eve", "zoe"):
        assert "too long" not in answer(scored, who).text


def test_a_campaign_of_the_command_line_alone_has_a_board(service: Service) -> None:
    plain = Scored(service, name="plain")
    plain.add("", "one", 10.0)
    root = service.program(service.account("root", SiteRole.ADMINISTRATOR))
    assert root.get("/api/v1/campaigns/plain/leaderboard").json()["items"][0]["name"] == "one"
    assert service.client().get("/api/v1/campaigns/plain/leaderboard").status_code == 404


def test_files_are_of_the_usual_leaderboard(scored: Scored) -> None:
    for ending in ("csv", "tsv", "latex"):
        usual = scored.people["zoe"].get(URL, params={"format": ending})  # type: ignore[attr-defined]
        assert usual.status_code == 200
        other = scored.people["zoe"].get(URL, params={"format": ending, "level": 0.9})  # type: ignore[attr-defined]
        assert (other.status_code, other.json()["error"]["message"]) == (
            422, "Files are of the usual leaderboard. Leave out level, test and the like, or format.",
        )  # fmt: skip
    assert answer(scored, "zoe", format="json", level=0.9).json()["level"] == 0.9


def test_a_campaign_without_a_test_set_has_an_empty_ranking_by_people(service: Service) -> None:
    service.campaign("empty")
    found = service.client().get("/api/v1/campaigns/empty/human-ranking")
    assert (found.status_code, found.json()) == (
        200, {"campaign": "empty", "test_set": None, "official": None, "hidden": 0, "systems": []},
    )  # fmt: skip
    named = service.client().get("/api/v1/campaigns/empty/human-ranking", params={"test_set": "news"})
    assert named.status_code == 404
    for part in ("human-ranking", "ngrams"):
        page = service.client().get(f"/campaigns/empty/{part}")
        assert (page.status_code, "There is no test set here yet." in page.text) == (200, True)
