"""The leaderboards of a test set: how they are resampled, and which one a page shows."""

from __future__ import annotations

import re
from html import unescape
from itertools import product
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.scheduler.jobs import work_off
from tests.service.campaigns import REFERENCE, SOURCE, submit_output
from tests.service.service import Service
from tests.web.api.campaigns.people import HERE, People, error


@pytest.fixture
def people(service: Service) -> People:
    return People(service)


def test_documents_are_resampled_where_there_are_any(people: People) -> None:
    people.found(visibility="public")
    form = {"target_language": "cs", "metrics": ["chrf"], "reference_lists": ["A"], "replicates": "20"}
    form["resample"] = "document"
    files = [("references", ("A.txt", REFERENCE)), ("source", ("s.txt", SOURCE))]
    none = people.organiser.post(f"{HERE}/test-sets", data={"name": "news", **form}, files=files)
    assert error(none) == (422, "bad_input")
    assert "names no documents" in none.json()["error"]["message"]
    assert people.organiser.get(f"{HERE}/test-sets").json()["items"] == [], "nothing is half stored"
    files.append(("documents", ("d.tsv", b"segment\tdoc_id\n0\ta\n1\ta\n2\tb\n")))
    odd = people.organiser.post(f"{HERE}/test-sets", data={"name": "news", **form, "resample": "words"}, files=files)
    assert odd.status_code == 422
    made = people.organiser.post(f"{HERE}/test-sets", data={"name": "news", **form}, files=files)
    assert made.status_code == 201, made.text
    assert [each["resample"] for each in made.json()["measures"]] == ["document"]
    address = f"{HERE}/test-sets/{made.json()['id']}/measures"
    submit_output(people.service.engine, "wmt", "harbour", "mast", REFERENCE)
    more = people.organiser.post(address, json={"metrics": ["ter"], "references": [["A"]]})
    assert [each["resample"] for each in more.json()["measures"]] == ["document", "document"], "as before"
    work_off(people.service.settings)
    board = people.nobody.get(f"{HERE}/leaderboard").json()
    assert (board["resample"], board["replicates"]) == ("document", 1000)
    assert "|resample:document|" in board["items"][0]["scores"][0]["signature"]
    page = people.nobody.get("/campaigns/wmt/leaderboard").text
    assert "interval, by document" in page
    listed = people.nobody.get(f"{HERE}/leaderboards").json()["items"]
    assert [(each["resample"], each["superseded"]) for each in listed] == [("document", False), ("document", True)]
    assert_forms_keep_boards(people, {each["board"]: each["superseded"] for each in listed})
    assert people.organiser.patch(HERE, json={"embeddable": True}).status_code < 300
    assert_frames_keep_boards(people, {each["board"]: each["superseded"] for each in listed})
    by_segment = {"metrics": ["ter"], "references": [["A"]], "resample": "segment"}
    assert people.organiser.post(address, json=by_segment).status_code == 201
    work_off(people.service.settings)
    listed = people.nobody.get(f"{HERE}/leaderboards").json()["items"]
    found = sorted((each["resample"], each["superseded"]) for each in listed)
    assert found == [("document", False), ("document", True), ("segment", False)], "documents are the more careful unit"
    # That of segments is the newest: only its number leads to that of documents, which nothing superseded.
    assert_forms_keep_boards(people, {each["board"]: each["resample"] == "document" for each in listed})
    assert_frames_keep_boards(people, {each["board"]: each["resample"] == "document" for each in listed})


def assert_forms_keep_boards(people: People, boards: dict[int, bool]) -> None:
    """Every form of what is shown of a leaderboard stays on it, and names its number where nothing else finds it."""
    for page, (number, named) in product(("leaderboard", "compare", "breakdown"), boards.items()):
        shown = people.nobody.get(f"/campaigns/wmt/{page}", params={"board": number}).text
        forms = re.findall(r'<form[^>]* method="get".*?</form>', shown, re.DOTALL)
        assert len(forms) == (2 if page == "leaderboard" else 1)
        for form in forms:
            kept = re.findall(r'<input type="hidden" name="board" value="(\d+)">', form)
            assert kept == [str(number)] * named, (page, number)
        assert ("Another leaderboard of this test set" in shown) == (named and page == "leaderboard")


def assert_frames_keep_boards(people: People, boards: dict[int, bool]) -> None:
    """The code for other sites shows the leaderboard that it is given with."""
    for number, named in boards.items():
        shown = people.nobody.get("/campaigns/wmt/leaderboard", params={"board": number}).text
        (code,) = re.findall(r'aria-label="HTML to embed">(.*?)</pre>', shown)
        (address,) = re.findall(r'^<iframe src="https?://[^/"]+([^"]+)"', unescape(code))
        framed = people.nobody.get(unescape(address))
        assert framed.status_code == 200
        (link,) = re.findall(r'href="([^"]+)">Whole leaderboard', framed.text)
        assert parse_qs(urlsplit(unescape(link)).query).get("board", []) == [str(number)] * named


def test_a_leaderboard_grows_by_metrics(people: People) -> None:
    people.found(visibility="public")
    test_set = people.upload(metrics=["chrf"], reference_lists=["A"], replicates="20")
    submit_output(people.service.engine, "wmt", "harbour", "mast", REFERENCE)
    work_off(people.service.settings)
    address = f"{HERE}/test-sets/{test_set['id']}/measures"
    asked = {"metrics": ["ter", "chrf"], "references": [["A"]], "replicates": 10, "seed": 7}
    more = people.organiser.post(address, json=asked)
    assert more.status_code == 201, more.text
    before, after = more.json()["measures"]
    assert after["metrics"] == [*before["metrics"], after["metrics"][-1]]
    assert after["metrics"][-1].startswith("ter")
    assert (after["replicates"], after["seed"]) == (20, 12345), "it loses nothing that it has"
    work_off(people.service.settings)
    # From now on nothing is measured twice.
    assert len(submit_output(people.service.engine, "wmt", "guests", "tent", SOURCE).evaluations) == 1
    assert error(people.lead.post(address, json={"metrics": ["ter"]})) == (403, "forbidden")
    assert error(people.organiser.post(address, json={"metrics": ["nosuch"]})) == (422, "bad_input")
