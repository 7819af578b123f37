"""What one of two systems gets right more often: who sees it, of which systems, and where it leads."""

import pytest

from models.schema.roles import Feedback, PhaseKind
from tests.service.inspected_campaign import Looked, look_at
from tests.service.service import DAY, Service

PAGE = "/campaigns/bay/ngrams"
API = "/api/v1/campaigns/bay/ngrams"


@pytest.fixture
def bay(service: Service) -> Looked:
    """See `look_at`."""
    return look_at(service)


def test_what_each_of_two_systems_has_more_often(bay: Looked) -> None:
    organiser = bay.service.browser(bay.organiser)
    dive, soar = bay.submissions["dive"], bay.submissions["soar"]
    page = organiser.get(PAGE, params={"first": dive, "second": soar}).text
    of_dive, of_soar = page.split("More often in <bdi>soar</bdi>")
    # "the blue ship" is in both references of the first segment, in parts; nothing of it is in "a green boat".
    assert "<bdi>blue ship</bdi>" in of_dive
    assert "<bdi>a fish swims</bdi>" in of_soar
    assert "<bdi>blue ship</bdi>" not in of_soar
    assert "tokenizer 13a" in page
    turned = organiser.get(PAGE, params={"first": soar, "second": dive}).text
    assert turned.index("More often in <bdi>soar</bdi>") < turned.index("More often in <bdi>dive</bdi>")
    assert turned.split("More often in <bdi>dive</bdi>")[1].count("<bdi>blue ship</bdi>") == 1
    # Without a choice, the best two.
    assert organiser.get(PAGE).text.count("More often in") == 2


def test_an_ngram_leads_to_its_segments(bay: Looked) -> None:
    organiser = bay.service.browser(bay.organiser)
    dive, soar = bay.submissions["dive"], bay.submissions["soar"]
    page = organiser.get(PAGE, params={"first": dive, "second": soar, "metric": "ter"}).text
    link = next(part for part in page.split('"') if "text=blue+ship" in part).replace("&amp;", "&")
    assert f"metric=ter&text=blue+ship&order=first-better&system={dive}&system={soar}" in link
    form = page[page.index('<form class="filters"') :].split("</form>")[0]
    assert '<input type="hidden" name="metric" value="ter">' in form, "also for the pair that is chosen next"
    segments = organiser.get(link).text
    assert segments.count('<article class="segment"') == 1
    assert "Segment 1<" in segments


def test_they_are_hidden_with_the_references_and_with_the_outputs(bay: Looked) -> None:
    bay.service.phase(bay.campaign, "week", PhaseKind.BLIND, ends=DAY, feedback=Feedback.FULL)
    gull = bay.service.browser(bay.gull)
    for hidden in (gull.get(PAGE), bay.service.client().get(PAGE)):
        assert "once the references are released" in hidden.text
        assert "blue ship" not in hidden.text
        assert "Views of segments" not in hidden.text
    bay.release()
    shown = gull.get(PAGE, params={"first": bay.submissions["dive"], "second": bay.submissions["soar"]})
    assert shown.status_code == 404, "nobody sees the outputs of others yet"
    assert "two outputs that you can see" in gull.get(PAGE).text


def test_segments_lead_to_all_their_views(bay: Looked) -> None:
    organiser = bay.service.browser(bay.organiser)
    views = organiser.get("/campaigns/bay/segments").text.split('aria-label="Views of segments"')[1].split("</nav>")[0]
    addresses = [part.replace("&amp;", "&") for part in views.split('"') if part.startswith("/campaigns/")]
    assert [each.split("?")[0].rpartition("/")[2] for each in addresses] == [
        *("segments", "ngrams", "breakdown", "breakdown", "breakdown")
    ]
    for address in addresses:
        answer = organiser.get(address)
        assert answer.status_code == 200
        assert answer.text.count('aria-current="page"') >= 2
    soar = bay.submissions["soar"]
    alone = organiser.get(PAGE, params={"first": soar, "second": soar})
    assert "More often in <bdi>dive</bdi>" in alone.text, "one alone is compared with the best other one"
    assert organiser.get(PAGE, params={"first": "10000", "second": "20000"}).status_code == 404


def test_programs_get_the_same_as_a_document(bay: Looked) -> None:
    organiser = bay.service.browser(bay.organiser)
    dive, soar = bay.submissions["dive"], bay.submissions["soar"]
    found = organiser.get(API, params={"system": [dive, soar]}).json()
    assert [each["submission"] for each in found["systems"]] == [dive, soar]
    assert (found["tokenizer"], found["case"], found["references"]) == ("13a", "mixed", ["A", "B"])
    rows = {" ".join(each["words"]): each for each in found["ngrams"]}
    # The output says "the blue ship"; "blue ship" is in reference B alone, and in no output of the other.
    row = rows["blue ship"]
    assert (row["order"], row["words"], row["more_often_in"]) == (2, ["blue", "ship"], dive)
    assert (row["first"], row["second"], row["possible"]) == (1, 0, 1)
    assert rows["a fish swims"]["more_often_in"] == soar
    turned = organiser.get(API, params={"system": [soar, dive]}).json()
    assert [each["submission"] for each in turned["systems"]] == [soar, dive]
    assert {(each["second"], each["first"], *each["words"]) for each in turned["ngrams"]} == {
        (each["first"], each["second"], *each["words"]) for each in found["ngrams"]
    }
    page = organiser.get(PAGE, params={"first": dive, "second": soar}).text
    assert page.count('class="ngram"') == len(found["ngrams"])


def test_programs_are_refused_what_people_do_not_see(bay: Looked) -> None:
    gull = bay.service.browser(bay.gull)
    bay.service.phase(bay.campaign, "week", PhaseKind.BLIND, ends=DAY, feedback=Feedback.FULL)
    assert gull.get(API).status_code == 403
    bay.release()
    hidden = gull.get(API)
    assert hidden.status_code == 404
    assert "two outputs that you can see" in hidden.text
    assert gull.get(API, params={"system": ["1", "2", "3"]}).status_code == 422


def test_they_are_of_test_sets_that_are_not_too_long(bay: Looked, monkeypatch: pytest.MonkeyPatch) -> None:
    organiser = bay.service.browser(bay.organiser)
    monkeypatch.setattr("campaigns.inspection.ngrams.TEXT_SEGMENTS", 4)
    assert organiser.get(API).status_code == 200
    monkeypatch.setattr("campaigns.inspection.ngrams.TEXT_SEGMENTS", 3)
    refused = organiser.get(API)
    assert (refused.status_code, refused.json()["error"]["message"]) == (
        404,
        "N-grams are shown for up to 3 segments, and this test set has 4.",
    )
