"""The matrix of a campaign: systems over all test sets, by the API, on its page and from the command line."""

import csv
import io
import re
from typing import Any

import pytest
from httpx import Client

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.changes import lock_for_change
from campaigns.permissions import read_access
from campaigns.rules import Rules, set_rules
from campaigns.score_imports.autorank import rank_by_autorank
from campaigns.test_sets.stored import find_campaign_test_set
from models.database.session import reading, writing
from models.schema.roles import PhaseKind
from scheduler.ingest.judgments import ingest_judgments
from steelyard.commands.main import main
from steelyard.meta_evaluation.human.judgments import Judged, Judgment, SegmentScore, SystemScore
from tests.scheduler.jobs import work_off
from tests.service.campaigns import found, given, submit_output, with_test_set
from tests.service.service import Service

URL = "/api/v1/campaigns/port/matrix"
PAGE = "/campaigns/port/matrix"
TUG, BARGE, RAFT = "z/tug", "b/barge", "c/raft"
LINES = {
    "cs": b"kocka tam sedi a dum je velky\npes tu bezi a neni sam\ndum je tu a pes taky ne\n",
    "zh": "那只猫坐在那里看着我们\n整天都在下雨我们在家\n狗在跑步猫在睡觉\n".encode(),
}


@pytest.fixture
def nobody(service: Service) -> Client:
    """Two pairs in a public campaign; raft lacks one of them, and tug is the best of both."""
    found(service.engine, "port", visibility="public")
    for language, reference in LINES.items():
        with_test_set(
            *(service.engine, "port", given(reference, target_language=language)),
            name=f"en-{language}",
            metrics=("bleu", "chrf", "ter")[: 3 - (language == "zh")],
            replicates=20,
        )
    for language, reference in LINES.items():
        first, rest = reference.split(b"\n", 1)
        submit_output(service.engine, "port", "z", "tug", reference, test_set=f"en-{language}")
        submit_output(service.engine, "port", "b", "barge", 3 * (first + b"\n"), test_set=f"en-{language}")
        if language == "cs":
            submit_output(service.engine, "port", "c", "raft", b"x\n" + rest, test_set="en-cs")
    work_off(service.settings)
    return service.client()


def answer(client: Client, **query: Any) -> Any:
    got = client.get(URL, params=query)
    assert got.status_code == 200, got.text
    return got.json()


def _ranked_by_people(service: Service) -> None:
    """Of the Czech pair alone: raft before tug, and a translation by people before both; nobody judged barge."""
    judged = {"refA": 90.0, "c/raft": 80.0, "z/tug": 60.0}
    segments = [SegmentScore(name, each, score + each) for name, score in judged.items() for each in range(3)]
    systems = [SystemScore(name, score + 1, None, 3, 3) for name, score in judged.items()]
    found = Judged("ratings", {"standardised": False}, systems, segments, [
        Judgment("ann", each.system, each.segment, each.score) for each in segments
    ])  # fmt: skip
    with reading(service.engine) as connection:
        access = read_access(connection, COMMAND_LINE, "port")
        test_set = find_campaign_test_set(connection, access, "en-cs").id
    ingest_judgments(service.engine, access.campaign_id, test_set, "esa", found)
    with writing(service.engine) as connection:
        rules = Rules(human_rule="human:wmt25", human_judgments="esa")
        set_rules(connection, lock_for_change(connection, COMMAND_LINE, "port"), rules)


def test_a_system_has_its_place_by_people_where_they_rank(
    service: Service, nobody: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    systems = {each["system"]: each["id"] for each in nobody.get("/api/v1/campaigns/port/systems").json()["items"]}

    def places(name: str) -> dict[str, Any]:
        known = nobody.get(f"/api/v1/campaigns/port/systems/{systems[name]}").json()
        return {each["test_set"]: each["human"] for each in known["scores"]}

    page = f"/campaigns/port/systems/{systems['tug']}"
    assert places("tug") == {"en-cs": None, "en-zh": None}
    assert "Rank by people" not in nobody.get(page).text
    _ranked_by_people(service)
    ranking = nobody.get("/api/v1/campaigns/port/human-ranking", params={"test_set": "en-cs"}).json()["systems"]
    official = {each["name"]: each["human"] for each in ranking}
    assert places("tug") == {"en-cs": official[TUG], "en-zh": None}
    assert places("raft") == {"en-cs": official[RAFT]}
    assert places("barge") == {"en-cs": None, "en-zh": None}
    rows = [re.findall(r'<td class="number">(.*?)</td>', row) for row in nobody.get(page).text.split("<tr>")[2:]]
    assert [[re.sub("<.*?>", "", cell) for cell in row[1:3]] for row in rows] == [
        ["61.0", "3 1–3, cluster 1"],
        ["–", "–"],
    ]
    assert "Rank by people" not in nobody.get(f"/campaigns/port/systems/{systems['barge']}").text
    for name, shown in (("tug", ["1-3 61.0 [", "- n/a"]), ("barge", [])):
        assert main(["system", "show", "port", name, "--database", str(service.settings.database_url)]) == 0
        printed = capsys.readouterr().out
        assert ("By people" in printed) == bool(shown)
        for line in shown:
            assert line in re.sub(" +", " ", printed)


def test_people_rank_where_the_campaign_is_ranked_by_them(service: Service, nobody: Client) -> None:
    refused = nobody.get(URL, params={"metric": "human"})
    assert refused.status_code == 404, "there is no metric of this name either"
    assert "human" not in refused.text.partition("There are:")[2]
    _ranked_by_people(service)
    matrix = answer(nobody, metric="human")
    assert matrix == answer(nobody, metric="human:wmt25")
    assert (matrix["metric"], matrix["higher_is_better"], matrix["scale"]) == ("human:wmt25", True, 100.0)
    assert [(each["test_set"], each["metric"], each["systems"]) for each in matrix["test_sets"]] == [
        ("en-cs", "human:wmt25", 2)
    ]
    assert matrix["left_out"] == ["en-zh"]
    ranking = nobody.get("/api/v1/campaigns/port/human-ranking", params={"test_set": "en-cs"}).json()["systems"]
    official = {each["name"]: each["human"] for each in ranking}
    assert list(official) == ["refA", RAFT, TUG]
    rows = {each["name"]: each["cells"] for each in matrix["systems"]}
    assert list(rows)[:2] == [RAFT, TUG]
    for name in (RAFT, TUG):
        (cell,) = rows[name]
        assert cell == {key: official[name][key] for key in cell}
    assert rows.get(BARGE, [None]) == [None], "whom nobody judged has no score, never 0"
    assert matrix["test_sets"][0]["best"] == [RAFT], "of the systems: a human translation is none"
    page = nobody.get(PAGE, params={"metric": "human"}).text
    assert '<option value="human" selected>people</option>' in page
    assert "by human:wmt25, with human translations among the ranks" in page
    assert page.count("<strong>81.0</strong>") == 1
    # By a metric all is as before.
    assert answer(nobody)["metric"] == "BLEU"
    assert '<option value="human">people</option>' in nobody.get(PAGE).text
    written = [*csv.DictReader(io.StringIO(nobody.get(URL, params={"metric": "human", "format": "csv"}).text))]
    assert [(each["system"], each["metric"], each["score"]) for each in written] == [
        (RAFT, "human:wmt25", "81.0"), (TUG, "human:wmt25", "61.0")
    ]  # fmt: skip


def test_the_mean_autorank_is_of_the_test_sets_that_a_system_was_scored_on(service: Service, nobody: Client) -> None:
    with writing(service.engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "port")
        rank_by_autorank(connection, service.settings, access, rule="wmt24")
    work_off(service.settings)
    found = {each["name"]: each["autorank"] for each in answer(nobody)["systems"]}
    of_test_sets = [
        {each["name"]: each["scores"][-1] for each in board["items"]}
        for name in ("en-cs", "en-zh")
        for board in [nobody.get("/api/v1/campaigns/port/leaderboard", params={"test_set": name}).json()]
    ]
    assert [set(each) for each in of_test_sets] == [{TUG, BARGE, RAFT}, {TUG, BARGE}]
    for name, autorank in found.items():
        drawn = [each[name]["score"] for each in of_test_sets if name in each]
        assert autorank == pytest.approx(sum(drawn) / len(drawn)), name


def test_scores_ranks_and_gaps_are_those_of_the_leaderboards(nobody: Client) -> None:
    matrix = answer(nobody)
    best = [(each["test_set"], each["best"]) for each in matrix["test_sets"]]
    assert best == [("en-cs", [TUG]), ("en-zh", [TUG])]
    assert [each["metric"] for each in matrix["test_sets"]] == ["bleu", "bleu:tok=zh"], "one metric, two tokenizers"
    for place, column in enumerate(matrix["test_sets"]):
        board = nobody.get("/api/v1/campaigns/port/leaderboard", params={"test_set": column["test_set"]}).json()
        assert board["board"] == column["board"]
        expected = {each["name"]: each["scores"][0] for each in board["items"]}
        for row in matrix["systems"]:
            cell, score = row["cells"][place], expected.get(row["name"])
            assert (cell is None) == (score is None)
            if score is not None:
                keys = ("score", "rank", "rank_low", "rank_high", "cluster")
                assert [cell[key] for key in keys] == [score[key] for key in keys]
    rows = [(each["name"], each["mean_rank"], each["gaps"]) for each in matrix["systems"]]
    assert rows == [(TUG, 1.0, 0), (BARGE, 2.5, 0), (RAFT, 2.0, 1)]
    assert matrix["systems"][2]["cells"][1] is None, "a gap, not 0"
    assert [each["name"] for each in answer(nobody, sort="en-cs")["systems"]] == [TUG, RAFT, BARGE]
    assert [each["name"] for each in answer(nobody, sort="en-zh@1")["systems"]] == [TUG, BARGE, RAFT]
    assert [each["name"] for each in answer(nobody, sort="system")["systems"]] == [BARGE, RAFT, TUG]
    assert [each["name"] for each in answer(nobody, sort="gaps")["systems"]] == [TUG, BARGE, RAFT]
    assert [each["name"] for each in answer(nobody, complete="true")["systems"]] == [TUG, BARGE]
    alone = answer(nobody, only="en-zh", metric="chrf")
    assert ([each["test_set"] for each in alone["test_sets"]], alone["metric"]) == (["en-zh"], "chrF2")
    assert len(alone["systems"]) == 2
    for metric, higher, left_out in (("ter", False, ["en-zh"]), ("bleu:tok=13a", True, [])):
        other = answer(nobody, metric=metric)
        assert (other["higher_is_better"], other["left_out"]) == (higher, left_out)
        assert len(other["test_sets"]) == 2 - len(left_out)


def test_what_does_not_exist_is_named(nobody: Client) -> None:
    for query, status, said in (
        ({"sort": "speed"}, 422, "mean_rank, autorank"),
        ({"metric": "meteor"}, 404, "'meteor'. There are: bleu"),
        ({"only": "en-de"}, 404, "'en-de'. There are: en-cs, en-zh"),
    ):
        got = nobody.get(URL, params=query)
        assert (got.status_code, said in got.json()["error"]["message"]) == (status, True), got.text


def test_files_have_the_same_numbers(nobody: Client) -> None:
    matrix = answer(nobody)
    cells = [cell for row in matrix["systems"] for cell in row["cells"] if cell]
    for form, delimiter in (("csv", ","), ("tsv", "\t")):
        text = nobody.get(URL, params={"format": form}).text
        rows = list(csv.DictReader(io.StringIO(text), delimiter=delimiter))
        assert [float(row["score"]) for row in rows] == [cell["score"] for cell in cells]
        assert rows[0]["system"] == TUG
    latex = nobody.get(URL, params={"format": "latex"}).text
    places = [latex.index(name) for name in (TUG, BARGE, RAFT)]
    assert places == sorted(places)
    assert r"\textbf{100.0}" in latex


def test_the_page_links_to_the_leaderboard_of_each_pair(nobody: Client) -> None:
    page = nobody.get(PAGE)
    assert page.status_code == 200
    assert 'href="/campaigns/port/matrix" aria-current="page"' in page.text
    assert "test_set=en-zh%401&amp;references=A&amp;metric=bleu%3Atok%3Dzh" in page.text
    assert "<strong>100.0</strong>" in page.text
    again = nobody.get(PAGE, headers={"If-None-Match": page.headers["ETag"]})
    assert again.status_code == 304
    # The form sends along what another choice of test sets does not have.
    assert nobody.get(PAGE, params={"metric": "meteor"}).status_code == 200
    assert nobody.get(PAGE, params={"only": "en-de"}).status_code == 404


def test_a_hidden_leaderboard_hides_the_matrix(service: Service, nobody: Client) -> None:
    service.phase(service.campaign("port"), "test", PhaseKind.BLIND)
    assert nobody.get(URL).status_code == 403
    page = nobody.get(PAGE).text
    assert "hidden during this phase" in page
    assert "tug" not in page


@pytest.mark.parametrize("form", ["json", "csv"])
def test_what_has_not_changed_is_not_sent_again(nobody: Client, form: str) -> None:
    first = nobody.get(URL, params={"format": form})
    again = nobody.get(URL, params={"format": form}, headers={"If-None-Match": first.headers["ETag"]})
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")
    assert again.headers["ETag"] == first.headers["ETag"]
    other = nobody.get(URL, params={"format": form, "metric": "chrf"}, headers={"If-None-Match": first.headers["ETag"]})
    assert (other.status_code, other.content != first.content) == (200, True)


def test_links_of_the_matrix_keep_that_only_complete_systems_are_shown(nobody: Client) -> None:
    for query, kept in (("?complete=true", True), ("", False)):
        links = re.findall(r'href="(/campaigns/port/matrix\?[^"]*)"', nobody.get(PAGE + query).text)
        sorting = [each for each in links if "sort=" in each]
        assert sorting
        assert all(("complete=true" in each) == kept for each in sorting), sorting
