"""Every page of a campaign that has scores without any text, and what organisers do with imported scores there."""

from __future__ import annotations

import json

import pytest

from models.schema.roles import SiteRole
from tests.service.service import Service
from tests.web.pages.forms_of import form_with

LINES = [
    {
        "language_pair": "en-is_IS",
        "domain": domain,
        "document_id": name,
        "metric_scores": {"X": [0.25, 0.5], "Y": [40.0, None]},
    }
    for domain, name in (("news", "quay"), ("speech", "mast"))
]


def sent(shift: float) -> tuple[str, tuple[str, bytes, str]]:
    lines = [
        {**line, "metric_scores": {"X": [shift, 0.5], "Y": [40.0, None]}, "document_id": line["document_id"]}
        for line in LINES
    ]
    content = "".join(json.dumps(line) + "\n" for line in lines).encode()
    return "files", (f"ship{shift:g}.jsonl", content, "application/json")


@pytest.fixture
def organiser(service: Service):
    """The browser of somebody with a campaign, into which scores of three systems were imported."""
    account = service.account("mary", role=SiteRole.ORGANISER)
    browser = service.browser(account)
    assert browser.post("/api/v1/campaigns", json={"name": "fleet"}).status_code == 201
    files = [sent(each) for each in (0.0, 1.0, 2.0)]
    answer = browser.post("/campaigns/fleet/scores", data={"create": "yes"}, files=files)
    assert answer.status_code == 200, answer.text
    assert "2 imported, 0 known already" in answer.text
    return browser


def test_pages_show_that_there_are_no_texts(organiser) -> None:
    for part in ("", "/leaderboard", "/compare", "/segments", "/metrics", "/submissions", "/manage", "/scores"):
        answer = organiser.get(f"/campaigns/fleet{part}")
        assert answer.status_code == 200, (part, answer.text[:2000])
    board = organiser.get("/campaigns/fleet/leaderboard").text
    assert "X (imported)" in board
    assert "n/a" not in board
    answer = organiser.get("/api/v1/campaigns/fleet/leaderboard").json()
    assert [each["scores"][0]["score"] for each in answer["items"]] == [1.25, 0.75, 0.25]
    number = answer["items"][0]["submission"]
    assert organiser.get(f"/submissions/{number}").status_code == 200
    assert organiser.get(f"/api/v1/submissions/{number}/output").status_code == 404
    segments = organiser.get("/api/v1/campaigns/fleet/segments").json()
    assert "items" in segments, segments
    assert [each["outputs"][0]["text"] for each in segments["items"]] == [""] * 4
    page = organiser.get("/campaigns/fleet/segments").text
    assert "There are no texts" in page
    # Nothing of what texts are compared by, and nothing that is said to be hidden.
    for part in ("(empty)", "in both, in the same order", "stay hidden"):
        assert part not in page
    assert ">without texts</option>" in organiser.get("/campaigns/fleet/compare").text
    assert organiser.get("/api/v1/campaigns/fleet/export").status_code == 200


def test_a_campaign_is_ranked_and_versions_are_chosen(organiser) -> None:
    answer = organiser.post("/campaigns/fleet/autorank", data={"rule": "wmt24", "metrics": "X\n"})
    assert answer.status_code == 200, answer.text
    assert "AutoRank wmt24: 1 + (x - best) / (worst - best) * N for each metric" in answer.text
    ranked = organiser.get("/api/v1/campaigns/fleet/leaderboard").json()
    assert [each["scores"][-1]["score"] for each in ranked["items"]] == [1.0, 2.5, 4.0]
    assert [each["scores"][-1]["metric"] for each in ranked["items"]] == ["autorank:rule=wmt24:of=1"] * 3
    assert organiser.post("/campaigns/fleet/autorank", data={"metrics": "Z"}).status_code == 422
    again = organiser.post("/campaigns/fleet/scores", data={"metric": "X"}, files=[sent(9.0), sent(1.0), sent(2.0)])
    assert "ship9" in again.text
    fields = {"title": "X@1", "test_set": "en-is_IS"}
    assert organiser.post("/campaigns/fleet/scores/change", data={**fields, "do": "delete"}).status_code in (400, 422)
    answer = organiser.post("/campaigns/fleet/scores/change", data={**fields, "do": "delete", "sure": "yes"})
    assert answer.status_code == 200
    assert "X@1" not in answer.text


def test_what_would_be_imported_is_shown_before(organiser) -> None:
    def listed() -> list[object]:
        return organiser.get("/api/v1/campaigns/fleet/scores").json()["items"]

    before, files = listed(), [sent(9.0), sent(1.0)]
    fields = {"metric": "X", "do": "preview"}
    page = organiser.post("/campaigns/fleet/scores", data=fields, files=files).text
    assert "Nothing is stored yet. 1 would be imported, 0 are known already." in page
    assert "<bdi>X@2</bdi>, scores of segments, 1 system." in page
    assert "ship9" in page, "which the campaign does not have"
    answer = organiser.post("/api/v1/campaigns/fleet/scores", data={"metric": "X", "preview": "true"}, files=files)
    assert (answer.status_code, answer.json()["stored"]) == (200, False)
    assert [each["version"] for each in answer.json()["columns"]] == ["2"]
    fields = {"create": "true", "preview": "true"}
    assert organiser.post("/api/v1/campaigns/navy/scores", data=fields, files=files).status_code == 200
    assert organiser.get("/campaigns/navy").status_code == 404
    assert listed() == before
    answer = organiser.post("/api/v1/campaigns/fleet/scores", data={"metric": "X"}, files=files)
    assert (answer.status_code, answer.json()["stored"]) == (201, True)


def test_what_was_checked_is_imported_as_it_was_filled_in(organiser) -> None:
    # Only the files are chosen again. A form that came back empty would import by other rules than it had shown.
    files = [sent(9.0), sent(1.0), sent(2.0)]
    fields = {"test_set": "en-is_IS", "pairs": "en-is_IS", "metric": "", "lower_is_better": "X Z", "create": "yes"}
    checked = organiser.post("/campaigns/fleet/scores", data={**fields, "do": "preview"}, files=files)
    shown = form_with(checked.text, fields)
    again = {name: " ".join(shown[name]) for name in fields}
    assert again == fields
    answer = organiser.post("/campaigns/fleet/scores", data={**again, "do": "add"}, files=files)
    assert "2 imported, 0 known already" in answer.text
    shown = form_with(answer.text, fields)
    assert (shown["pairs"], shown["lower_is_better"], shown["create"]) == ([""], [""], [])
    board = organiser.get("/api/v1/campaigns/fleet/leaderboard").json()
    better = [(each["metric"].split(":")[1], each["higher_is_better"]) for each in board["items"][0]["scores"]]
    assert better == [("metric=X", False), ("metric=Y", True)]


def test_nonsense_is_explained(organiser) -> None:
    odd = [("files", ("odd.txt", b"hello\n", "text/plain"))]
    answer = organiser.post("/campaigns/fleet/scores", files=odd)
    assert answer.status_code == 422
    assert "is not a file of scores" in answer.text
    assert "/tmp" not in answer.text


def test_scores_without_a_pair_are_of_the_chosen_test_set(organiser) -> None:
    def posted(**fields: str):
        lines = [{"prediction": each, "system_id": f"ship{shift}"} for shift in (0, 1, 2) for each in (1, 2, 3, 4)]
        content = "".join(json.dumps(line) + "\n" for line in lines).encode()
        files = [("files", ("metricx.jsonl", content, "application/json"))]
        return organiser.post("/campaigns/fleet/scores", data=fields, files=files)

    other = [
        ("files", (name, content.replace(b"en-is_IS", b"en-cs_CZ"), kind)) for _, (name, content, kind) in [sent(5.0)]
    ]
    assert organiser.post("/campaigns/fleet/scores", data={"create": "yes"}, files=other).status_code == 200
    assert "0 imported" in posted().text
    assert "no test set of these pairs" in posted().text
    assert '<option value="en-cs_CZ">' in posted().text
    assert "1 imported" in posted(test_set="en-is_IS").text
    assert posted(test_set="nowhere").status_code == 404
    assert "The scores: there is no pair de-en." in posted(pairs="de-en").text
    # Each test set by its own metrics.
    answer = organiser.post("/campaigns/fleet/autorank", data={"metrics": "en-is_IS\tMetricX\nen-cs_CZ\tX\n"})
    assert answer.status_code == 200
    page = organiser.get("/campaigns/fleet/scores").text
    assert "<bdi>en-is_IS</bdi>: <code>autorank:rule=wmt25:of=3</code>" in page
    assert "<bdi>en-cs_CZ</bdi>: <code>autorank:rule=wmt25:of=1</code>" in page
