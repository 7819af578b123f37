"""The leaderboard as a page."""

import re
from html import unescape
from typing import Any

import pytest
from sqlalchemy import event, insert, select, update

from models.database.session import writing
from models.schema.campaigns import Declaration
from models.schema.corpus import System
from models.schema.roles import PhaseKind, SystemOrigin
from models.schema.systems import SystemDescription
from steelyard_client.vocabulary import ORIGINS
from tests.service.scored_campaigns import CONTRASTIVE, PRIMARY, Scored
from tests.service.service import Service

URL = "/campaigns/port/leaderboard"


@pytest.fixture
def scored(service: Service) -> Scored:
    """Harbour (zoe) and lighthouse in a public campaign."""
    found = Scored(service)
    found.add("harbour", "mast", 40.0, **PRIMARY, constrained=True)
    found.add("harbour", "sail", 41.0, **CONTRASTIVE)
    found.add("lighthouse", "lamp", 30.0, late_seconds=7200.0)
    found.add("", "baseline", 20.0)
    zoe = service.account("zoe")
    service.campaign("port", teams=(service.team("harbour", zoe), service.team("lighthouse", service.account("eve"))))
    found.zoe = service.browser(zoe)  # type: ignore[attr-defined]
    return found


def shown(scored: Scored, client: Any = None, **query: Any) -> str:
    answer = (client or scored.service.client()).get(URL, params=query)
    assert answer.status_code == 200, answer.text
    return str(answer.text)


def systems(text: str) -> list[str]:
    return re.findall(r'<th scope="row" title="([^"]*)"', text)


def test_systems_with_whiskers_ranges_and_clusters(scored: Scored) -> None:
    text = shown(scored)
    assert systems(text) == ["harbour/mast", "lighthouse/lamp", "baseline"]
    assert text.count('class="whisker"') == 6
    assert text.count("<tbody>") == 3, "three clusters"
    assert "late" in text
    assert "2 h" in text
    assert "constrained" in text
    assert "bleu|version:1" in text


def test_filters_and_deep_links_say_the_same(scored: Scored) -> None:
    everything = shown(scored, shown="all")
    assert systems(everything) == ["harbour/sail", "harbour/mast", "lighthouse/lamp", "baseline"]
    (link,) = re.findall(r'href="([^"]*leaderboard\?[^"]*metric=ter[^"]*)"', everything)
    followed = scored.service.client().get(link.replace("&amp;", "&")).text
    assert len(systems(followed)) == 4, "the link keeps what was chosen"
    assert 'aria-sort="ascending"' in followed


def test_downloads_are_of_what_is_shown(scored: Scored) -> None:
    text = shown(scored, constrained="yes")
    for ending in ("csv", "tsv", "json", "latex"):
        (link,) = re.findall(rf'href="(/api/v1/[^"]*leaderboard\?[^"]*format={ending}[^"]*)"', text)
        found = scored.service.client().get(link.replace("&amp;", "&"))
        assert found.status_code == 200
        assert "mast" in found.text
        assert "lamp" not in found.text


def test_ones_own_systems_are_marked(scored: Scored) -> None:
    text = shown(scored, scored.zoe)  # type: ignore[attr-defined]
    assert "Your systems:" in text
    assert "at rank 1" in text
    assert "Your systems:" not in shown(scored)


def linked(text: str) -> dict[str, str]:
    """The pages of systems to which rows lead, by what is shown as the name."""
    rows = re.findall(
        r'<th scope="row" title="[^"]*"[^>]*><a href="(/campaigns/port/systems/\d+)"><bdi>(\w+)</bdi>', text
    )
    return {system: page for page, system in rows}


def test_a_name_leads_to_the_page_of_its_system_which_leads_back(
    scored: Scored, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor = scored.service.client()
    pages = linked(shown(scored, shown="all"))
    assert set(pages) == {"sail", "mast", "lamp", "baseline"}
    assert pages == linked(visitor.get("/campaigns/port/matrix", params={"shown": "all"}).text)
    for limit in ("leaderboards.leaderboard.PAGE", "campaigns.systems.ON_BOARD"):
        monkeypatch.setattr(f"web.pages.{limit}", 2)
    for system, path in pages.items():
        page = visitor.get(path).text
        assert f"<h1><bdi>{system}</bdi>" in page or f"<h1>{system}" in page
        assert "/submissions/" not in page.replace("/api/v1/submissions/", ""), "for the team and organisers"
        (back,) = re.findall(r'href="(/campaigns/port/leaderboard\?[^"]*#s\d+)"', page)
        address, row = back.replace("&amp;", "&").split("#")
        assert f'<tr id="{row}"' in visitor.get(address).text
        (segments,) = re.findall(r'href="(/campaigns/port/segments\?[^"]*)"', page)
        assert visitor.get(segments.replace("&amp;", "&")).status_code == 200
    assert 'href="/submissions/1"' in scored.zoe.get(pages["mast"]).text  # type: ignore[attr-defined]


def told(client: Any, what: str, **asked: Any) -> set[int]:
    """The numbers of systems that the API tells of a leaderboard or matrix."""
    document = client.get(f"/api/v1/campaigns/port/{what}", params=asked).json()
    return {each["system_id"] for each in document.get("items", document.get("systems"))} - {None}


def test_an_unranked_system_leads_back_to_its_row(scored: Scored, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row is on a page of its own: also of systems without a rank, and of those that share one."""
    scored.add("harbour", "raft", 10.0, **CONTRASTIVE)
    scored.add("", "buoy", 30.0)
    visitor = scored.service.client()
    for limit in ("leaderboards.leaderboard.PAGE", "campaigns.systems.ON_BOARD"):
        monkeypatch.setattr(f"web.pages.{limit}", 1)
    pages = [linked(shown(scored, shown="all", first=first)).popitem() for first in range(6)]
    assert [name for name, _ in pages] == ["sail", "mast", "lamp", "buoy", "baseline", "raft"]
    for _, path in pages:
        (back,) = re.findall(r'href="(/campaigns/port/leaderboard\?[^"]*#s\d+)"', visitor.get(path).text)
        address, row = back.replace("&amp;", "&").split("#")
        assert f'<tr id="{row}"' in visitor.get(address).text


def describe_baseline(scored: Scored, **said: Any) -> None:
    with writing(scored.service.engine) as connection:
        number = connection.execute(select(System.id).where(System.name == "baseline")).scalar_one()
        row = {"campaign_id": scored.campaign_id, "system_id": number, **said}
        connection.execute(insert(SystemDescription).values(**row))


@pytest.mark.parametrize("origin", SystemOrigin)
def test_the_name_of_an_anonymous_team_leads_nowhere(scored: Scored, origin: SystemOrigin) -> None:
    describe_baseline(scored, origin=origin)
    pages = linked(shown(scored, shown="all"))
    scored.service.campaign("port", anonymous=True)
    scored.service.phase(scored.campaign_id, "now", PhaseKind.OPEN)
    visitor, zoe = scored.service.client(), scored.zoe  # type: ignore[attr-defined]
    known = {"baseline"} if origin in ORIGINS else set()
    for client, seen in ((visitor, known), (zoe, {"mast", "sail", *known})):
        expected = {system: page for system, page in pages.items() if system in seen}
        assert linked(shown(scored, client, shown="all")) == expected
        matrix = client.get("/campaigns/port/matrix", params={"shown": "all"}).text
        assert linked(matrix) == expected
        numbers = {int(page.rpartition("/")[2]) for page in expected.values()}
        assert told(client, "leaderboard", shown="all") == told(client, "matrix", shown="all") == numbers
        if client is zoe:
            assert told(client, "leaderboard", shown="all", level=0.9) == numbers
        for system, page in pages.items():
            assert client.get(page).status_code == (200 if system in seen else 404)
            assert (page in matrix) == (system in seen)


def labels(text: str) -> dict[str, list[str]]:
    """The track and the badges of each system."""
    row = r'<th scope="row" title="([^"]*)".*?<td class="track">(.*?)</td>.*?<td class="remark">(.*?)</td>'
    found = {}
    for name, track, remarks in re.findall(row, text, re.DOTALL):
        badges = re.findall(r'<span class="(badge[^"]*)"><bdi>([^<]*)</bdi>', remarks)
        found[name] = [re.sub("<[^>]*>", "", track), *(unescape(" ".join(each)) for each in badges)]
    return found


@pytest.mark.parametrize("origin", SystemOrigin)
def test_the_matrix_has_the_labels_of_the_leaderboard(scored: Scored, origin: SystemOrigin) -> None:
    describe_baseline(scored, origin=origin, constrained=False)
    board = labels(shown(scored, scored.zoe))  # type: ignore[attr-defined]
    assert board == {
        "harbour/mast": ["constrained", "badge strong yours", "badge primary"],
        "lighthouse/lamp": ["–"],
        "baseline": ["unconstrained", "badge " + ORIGINS.get(origin, "organisers'")],
    }
    matrix = scored.zoe.get("/campaigns/port/matrix").text  # type: ignore[attr-defined]
    # Primary is a submission, for one test set.
    board["harbour/mast"].remove("badge primary")
    assert labels(matrix) == board
    other = Scored(scored.service, references=("C",), version="2")
    other.add("harbour", "mast", 51.0, **PRIMARY, constrained=False)
    other.add("lighthouse", "lamp", 50.0, constrained=True)
    again = labels(scored.zoe.get("/campaigns/port/matrix").text)  # type: ignore[attr-defined]
    assert {name: said[0] for name, said in again.items()} == {
        "harbour/mast": "–", "lighthouse/lamp": "constrained", "baseline": "unconstrained",
    }  # fmt: skip
    one = scored.zoe.get("/campaigns/port/matrix", params={"only": "port@2"}).text  # type: ignore[attr-defined]
    assert labels(one)["harbour/mast"] == ["unconstrained", "badge strong yours"]


def test_that_all_outputs_are_the_organisers_own_is_said_once(scored: Scored) -> None:
    with writing(scored.service.engine) as connection:
        connection.execute(update(System).values(team=""))
    for page in ("leaderboard", "matrix"):
        text = scored.zoe.get(f"/campaigns/port/{page}").text  # type: ignore[attr-defined]
        assert text.count("All outputs are the organisers&#39; own.") == 1, page
        assert "<bdi>organisers&#39;</bdi>" not in text, page


def test_a_baseline_is_marked_as_that_and_the_organisers_others_as_theirs(scored: Scored) -> None:
    describe_baseline(scored, origin=SystemOrigin.BASELINE)
    with writing(scored.service.engine) as connection:
        connection.execute(update(System).values(team=""))
    for page in ("leaderboard", "matrix"):
        text = scored.zoe.get(f"/campaigns/port/{page}").text  # type: ignore[attr-defined]
        assert "All outputs are the organisers&#39; own." not in text, page
        assert "<bdi>organisers&#39;</bdi>" in text, page


def test_a_track_that_all_share_is_said_once_above_the_matrix(scored: Scored) -> None:
    with writing(scored.service.engine) as connection:
        connection.execute(update(Declaration).values(constrained=False))
    describe_baseline(scored, constrained=False)
    for page in ("leaderboard", "matrix"):
        text = scored.service.client().get(f"/campaigns/port/{page}", params={"constrained": "no"}).text
        assert text.count("All are unconstrained.") == 1, page
        assert "track" not in text


def test_another_test_set_is_shown_by_its_own_references_and_metrics(scored: Scored) -> None:
    other = Scored(scored.service, references=("C",), version="2", metrics=("ter",))
    other.add("harbour", "mast", 51.0)
    text = shown(scored, test_set="port@2", references="A", metric="bleu")
    assert "51.0" in text
    assert "against C" in text
    assert scored.service.client().get(URL, params={"test_set": "pier"}).status_code == 404


def test_a_blind_phase_shows_no_board_and_says_where_ones_own_scores_are(scored: Scored) -> None:
    scored.service.phase(scored.campaign_id, "now", PhaseKind.BLIND)
    text = shown(scored, scored.zoe)  # type: ignore[attr-defined]
    assert "hidden during this phase" in text
    assert "40.0" not in text
    assert "/campaigns/port/submissions" in text


def test_a_campaign_that_measures_nothing_yet_says_so(service: Service) -> None:
    service.campaign("empty")
    assert "no test set with references and metrics" in service.client().get("/campaigns/empty/leaderboard").text


def test_a_hundred_at_a_time(scored: Scored, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.pages.leaderboards.leaderboard.PAGE", 2)
    first = shown(scored)
    assert systems(first) == ["harbour/mast", "lighthouse/lamp"]
    (link,) = re.findall(r'rel="next" href="([^"]*)"', first)
    last = scored.service.client().get(link.replace("&amp;", "&")).text
    assert systems(last) == ["baseline"]
    assert ["Systems 1 to 2 of 3" in first, "Systems 3 to 3 of 3" in last] == [True, True]
    for beyond, status in ((2, 200), (3, 404), (10, 404)):
        assert scored.service.client().get(URL, params={"first": beyond}).status_code == status
    # Ones own systems are on the page on which they stand.
    scored.add("harbour", "oar", 10.0, **CONTRASTIVE)
    everything = shown(scored, scored.zoe, shown="all")  # type: ignore[attr-defined]
    own = dict(re.findall(r'href="([^"]*)"><bdi>(\w+)</bdi></a> (?:at rank|not ranked)', everything))
    assert {system: re.findall(r"first=(\d+)", link) for link, system in own.items()} == {
        "mast": [], "sail": [], "oar": ["4"],
    }  # fmt: skip


def test_a_submission_says_its_rank_among_those_that_have_one(scored: Scored) -> None:
    scored.add("pier", "waiting", None, state="queued")
    scored.add("quay", "broken", None, state="failed")
    page = scored.zoe.get("/submissions/1").text  # type: ignore[attr-defined]
    assert re.findall(r"Rank <strong>(\d)</strong> of (\d)</a> by BLEU", page) == [("1", "3")]


def test_equal_outputs_are_told_where_they_stand(scored: Scored, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.pages.leaderboards.leaderboard.PAGE", 3)
    for system in ("oar", "row"):
        scored.add("lighthouse" if system == "oar" else "", system, 10.0, text="the same", late_seconds=0.0)
    olga = scored.service.account("olga")
    scored.service.campaign("port", organisers=(olga,))
    client = scored.service.browser(olga)
    first, second = (shown(scored, client, shown="all", first=each) for each in (0, 3))
    told = "The output is byte-identical to that of"
    assert [set(systems(text)) & {"lighthouse/oar", "row"} for text in (first, second)] == [
        set(), {"lighthouse/oar", "row"},
    ]  # fmt: skip
    assert [text.count(told) for text in (first, second)] == [0, 1]


def test_all_systems_can_be_compared_and_a_chosen_one_stays_in_a_list_that_is_full(
    scored: Scored, monkeypatch: pytest.MonkeyPatch
) -> None:
    def offered(**query: Any) -> dict[str, bool]:
        text = scored.service.client().get("/campaigns/port/compare", params=query).text
        found = re.findall(r'name="system" value="(\d+)"( checked)?', text)
        return {number: bool(ticked) for number, ticked in found}

    # The best three, and those that are not ranked.
    assert sorted(offered().items()) == [("1", True), ("2", False), ("3", True), ("4", True)]
    monkeypatch.setattr("web.pages.leaderboards.comparison.MOST_LISTED", 1)
    listed = offered(system=["3", "4"])
    assert {each for each, ticked in listed.items() if ticked} == {"3", "4"}
    assert len(listed) == 3


def test_a_page_that_has_not_changed_is_not_sent_again_nor_worked_out_again(scored: Scored) -> None:
    client = scored.service.client()
    tag = client.get(URL).headers["ETag"]
    statements: list[str] = []
    engine = scored.service.app.state.steelyard.engine
    event.listen(engine, "before_cursor_execute", lambda *parts: statements.append(parts[2]))
    assert client.get(URL, headers={"If-None-Match": tag}).status_code == 304
    assert not [each for each in statements if "replicate_scores" in each], "scores are not read twice"


def test_names_that_are_script_are_shown_as_they_are(scored: Scored) -> None:
    scored.add("", '"><script>alert(1)</script>', 25.0)
    text = shown(scored)
    assert "<script>alert" not in text
    assert "&lt;script&gt;" in text


def test_a_table_that_is_kept_is_shown_only_to_those_who_see_the_same(scored: Scored) -> None:
    scored.service.campaign("port", anonymous=True)
    scored.service.phase(scored.campaign_id, "now", PhaseKind.OPEN)
    harbour, nobody = shown(scored, scored.zoe), shown(scored)  # type: ignore[attr-defined]
    assert "harbour/mast" in harbour
    assert "lighthouse" not in harbour
    assert not [word for word in ("harbour", "mast", "lighthouse", "/submissions/") if word in nobody]
    assert "harbour/mast" in shown(scored, scored.zoe), "whoever looked before"  # type: ignore[attr-defined]
    scored.service.phase(scored.campaign_id, "out", PhaseKind.PUBLISHED, begins=-1)
    assert "lighthouse/lamp" in shown(scored)


def test_a_full_page_with_all_that_it_loads_is_below_100_kb(scored: Scored) -> None:
    for number in range(60):
        scored.add(f"team of number {number}", f"system {number}", 20.0 + number / 7, **PRIMARY)
    client = scored.service.client()
    text = shown(scored, client)
    assert len(systems(text)) == 50
    assert text.count('class="whisker"') >= 50
    loaded = set(re.findall(r'(?:href|src)="(/static/[^"]+)"', text))
    assert len(loaded) >= 3
    assert len(text.encode()) + sum(len(client.get(each).content) for each in loaded) < 100_000
