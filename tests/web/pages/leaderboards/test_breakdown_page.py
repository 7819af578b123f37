"""The page of scores by part: which documents it shows, where its links lead, and which systems it has."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import delete, insert

from models.database.session import writing
from models.schema.corpus import Document
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from steelyard.metrics.registry import parse_metric
from tests.scheduler.jobs import work_off
from tests.service.inspected_campaign import OUTPUTS, Looked, bay_test_set, look_at
from tests.service.service import Service
from web.pages.leaderboards import breakdown

API, PAGE = "/api/v1/campaigns/bay/breakdown", "/campaigns/bay/breakdown"
CHOSEN = {"metric": "ter", "average": "macro", "shown": "all"}


@pytest.fixture
def bay(service: Service) -> Looked:
    """See `look_at`; each of the four segments is a document."""
    looked = look_at(service)
    with writing(service.engine) as connection:
        connection.execute(delete(Document))
        for number in range(4):
            row = {"test_set_id": looked.test_set, "first_segment": number, "segments": 1, "name": f"d{number}"}
            connection.execute(insert(Document).values(**row, domain="news" if number < 2 else "talk", test_suite=""))
    return looked


def submit(bay: Looked, system: str, lines: list[str], run: str = "") -> None:
    """Another output of the team "gulls", which waits to be measured."""
    ingest_campaign(
        bay.service.engine,
        bay.service.settings,
        campaign="bay",
        test_set=bay_test_set(),
        submissions=[NewSubmission(system, "\n".join(lines).encode(), "gulls", run=run)],
        protocols=[NewProtocol(["A", "B"], [parse_metric("bleu:smooth=exp"), parse_metric("ter")], 20)],
    )


def links(html: str, path: str) -> list[dict[str, list[str]]]:
    """The queries of all links to a path."""
    addresses = [urlsplit(unescape(each)) for each in re.findall(r'href="([^"]*)"', html)]
    return [parse_qs(each.query) for each in addresses if each.path == path]


def pages(html: str) -> list[dict[str, list[str]]]:
    """Those that lead to other documents, or from them to the first."""
    nav = html[html.index("Documents ") - 2000 :]
    return [each for each in links(nav, PAGE) if each.get("average") == ["macro"]]


def rows(html: str) -> dict[str, list[str]]:
    """The cells of each row of the table, by its title."""
    cells = re.findall(r'<tr[^>]*>(?:<td class="number">\d*</td>)?<th scope="row"[^>]*>(.*?)</th>(.*?)</tr>', html)
    strip = re.compile(r"<[^>]*>")
    return {strip.sub("", title): re.findall(r'<td class="number">([^<]*)</td>', rest) for title, rest in cells}


def test_documents_come_in_pages_with_their_own_scores(bay: Looked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breakdown, "PAGE", 2)
    organiser = bay.service.browser(bay.organiser)
    found = organiser.get(API, params={"by": "document", **CHOSEN}).json()
    for first, names, before, after in (
        (0, ("d0", "d1"), None, "2"),
        (1, ("d1", "d2"), "", "3"),
        (2, ("d2", "d3"), "", None),
        (3, ("d3",), "1", None),
    ):
        html = organiser.get(PAGE, params={"by": "document", "first": first, **CHOSEN}).text
        table = rows(html)
        assert [name for name in table if re.fullmatch(r"d\d", name)] == list(names)
        for name in names:
            place = [each["name"] for each in found["groups"]].index(name)
            scores = [each["scores"][place] for each in found["systems"]]
            assert table[name] == ["1", *(f"{each:.1f}" for each in scores)]
        assert f"Documents {first + 1} to {first + len(names)} of 4" in html
        expected = [each for each in (before, after) if each is not None]
        assert [each.get("first", [""])[0] for each in pages(html)] == expected


def test_links_keep_what_was_chosen(bay: Looked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breakdown, "PAGE", 3)
    organiser = bay.service.browser(bay.organiser)
    dive, soar = str(bay.submissions["dive"]), str(bay.submissions["soar"])
    asked = {"by": "document", **CHOSEN, "system": [soar, dive]}
    html = organiser.get(PAGE, params=asked).text
    (following,) = pages(html)
    kept: dict[str, Any] = {
        "metric": ["ter"], "by": ["document"], "average": ["macro"], "shown": ["all"], "system": [soar, dive],
    }  # fmt: skip
    assert kept.items() <= following.items()
    files = links(html, API)
    assert [each["format"] for each in files] == [["csv"], ["tsv"], ["json"], ["latex"]]
    assert all(kept.items() <= each.items() and "first" not in each for each in files)
    segments = [each for each in links(html, "/campaigns/bay/segments") if "document" in each]
    assert [each["document"] for each in segments] == [["d0"], ["d1"], ["d2"]]
    assert all((each["metric"], each["system"]) == (["ter"], [soar, dive]) for each in segments)
    assert not {"by", "average", "shown"} & set(segments[0])
    [board] = [each for each in links(html, "/campaigns/bay/leaderboard") if "shown" in each]
    assert (board["metric"], board["shown"]) == (["ter"], ["all"])
    assert not {"by", "average", "system"} & set(board)
    plain = organiser.get(PAGE, params={"by": "domain"}).text
    assert all("shown" not in each for each in links(plain, API)), "the default is not said"
    # What the form does not ask for goes along with it.
    hidden = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)">')
    form = hidden.findall(organiser.get(PAGE, params={**asked, "constrained": "no"}).text)
    assert {("by", "document"), ("shown", "all"), ("constrained", "no"), ("system", soar), ("system", dive)} < set(form)
    assert {name for name, _ in hidden.findall(plain)} == {"csrf_token", "test_set", "references", "by"}


def test_a_system_is_chosen_by_any_of_its_runs(bay: Looked) -> None:
    for run, (_, lines) in zip(("one", "two"), OUTPUTS.items(), strict=True):
        submit(bay, "loop", lines, run)
    work_off(bay.service.settings)
    organiser = bay.service.browser(bay.organiser)
    first = max(bay.submissions.values()) + 1
    alone = [organiser.get(API, params={"system": number}).json()["systems"] for number in (first, first + 1)]
    assert alone[0] == alone[1]
    assert [each["name"] for each in alone[0]] == ["gulls/loop (2 runs)"]
    both = organiser.get(API, params={"system": [first + 1, bay.submissions["soar"], first]}).json()["systems"]
    assert sorted(each["name"] for each in both) == ["gulls/loop (2 runs)", "terns/soar"]


def test_what_has_no_score_comes_last_without_a_rank(bay: Looked) -> None:
    submit(bay, "ahead", ["the blue ship", "the old port sleeps", "the wind", "a fish swims"])
    organiser = bay.service.browser(bay.organiser)
    for average in ("micro", "macro"):
        found = organiser.get(API, params={"average": average, "shown": "all"}).json()["systems"]
        assert [each["rank"] for each in found] == [1, 2, None]
        assert found[2]["name"] == "gulls/ahead"
        assert (found[2]["micro"], found[2]["macro"], found[2]["scores"]) == (None, None, [None, None])
    table = rows(organiser.get(PAGE, params={"by": "domain", "shown": "all"}).text)
    assert table["ahead"] == ["", "", "", ""]


def test_parts_of_a_chosen_system_are_refused_and_not_left_out(bay: Looked) -> None:
    olga, nobody = bay.service.browser(bay.organiser), bay.service.client()
    released = "Scores of parts are shown once the references are released, as those of segments are."
    for client, query, status, says in (
        (olga, {"system": "1"}, 200, ""),
        (olga, {"system": "9999"}, 404, "Submission 9999 is not on this leaderboard."),
        (nobody, {"system": "1"}, 403, released),
        # Where none is chosen, the page says it beside what else there is.
        (nobody, {}, 200, released),
    ):
        answer = client.get(PAGE, params=query)
        assert (answer.status_code, says in answer.text) == (status, True)
