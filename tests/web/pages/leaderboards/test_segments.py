"""Segments: who sees what of them, filters, orders, pages."""

import re
from html import unescape
from urllib.parse import parse_qsl

import pytest
from sqlalchemy import delete, insert, update

from campaigns.accounts.principal import COMMAND_LINE, EVERY_SCOPE, NOBODY, Principal
from campaigns.inspection.segments import SegmentQuery, read_segments
from campaigns.permissions import read_access
from models.database.session import reading, writing
from models.schema.base import now
from models.schema.campaigns import CampaignTestSet, Declaration
from models.schema.corpus import Document
from models.schema.roles import Feedback, PhaseKind, TeamRole
from scheduler.ingest.campaigns import ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.text.blocks import BLOCK
from tests.service.campaigns import submit_output, with_test_set
from tests.service.inspected_campaign import OUTPUTS, Looked, look_at
from tests.service.service import DAY, Service
from web.pages.leaderboards import segments as segments_page
from web.static_files import address_of

PAGE, API = "/campaigns/bay/segments", "/api/v1/campaigns/bay/segments"


@pytest.fixture
def bay(service: Service) -> Looked:
    """See `look_at`."""
    return look_at(service)


def _numbers(bay: Looked, **asked: object) -> list[int]:
    answer = bay.service.browser(bay.organiser).get(API, params=asked)
    assert answer.status_code == 200, answer.text
    return [each["number"] for each in answer.json()["items"]]


def test_before_references_are_released_nothing_tells_of_them(bay: Looked) -> None:
    bay.service.phase(bay.campaign, "week", PhaseKind.BLIND, ends=DAY, feedback=Feedback.FULL)
    gull = bay.service.browser(bay.gull)
    for order in ("number", "difference", "worst"):
        answer = gull.get(API, params={"order": order}).json()
        assert [each["number"] for each in answer["items"]] == [1, 2, 3, 4]
        assert (answer["metric"], answer["references"]) == (None, [])
        for segment in answer["items"]:
            assert segment["references"] == []
            (output,) = segment["outputs"]
            assert output["system"] == "gulls/dive"
            assert (output["score"], output["missing"], output["against"]) == (None, [], "")
            assert {run["mark"] for run in output["words"]} == {"unmarked"}
    # Nor can one find out by searching what is in them, or in outputs of others.
    for text in ("canary", "asleep", "green boat"):
        assert gull.get(API, params={"text": text}).json()["found"] == 0
    page = gull.get(PAGE).text
    assert "CANARY" not in page
    assert "green boat" not in page
    assert "stay hidden until the references are released" in page


def test_organisers_see_everything_and_so_does_everybody_once_it_is_out(bay: Looked) -> None:
    bay.service.phase(bay.campaign, "week", PhaseKind.PUBLISHED)
    for client in (bay.service.browser(bay.organiser), bay.service.client()):
        if client.cookies:
            seen = client.get(API).json()
        else:
            hidden = client.get(API).json()
            assert all(segment["references"] == [] for segment in hidden["items"])
            # Outputs are out: they are marked against each other.
            assert hidden["items"][0]["outputs"][0]["against"] == "terns/soar"
            bay.release()
            seen = client.get(API).json()
        first = seen["items"][0]
        assert [each["label"] for each in first["references"]] == ["A", "B"]
        assert [each["system"] for each in first["outputs"]] == ["gulls/dive", "terns/soar"]
        assert first["outputs"][0]["score"] > first["outputs"][1]["score"]
        assert first["difference"] == pytest.approx(first["outputs"][0]["score"] - first["outputs"][1]["score"])
        assert first["outputs"][0]["against"] == "A"
        assert first["outputs"][0]["missing"] == ["CANARY"]


def test_marks_tell_matches_shifts_and_edits_and_make_up_the_text(bay: Looked) -> None:
    segments = bay.service.browser(bay.organiser).get(API).json()["items"]
    moved = segments[1]["outputs"][0]
    assert [(each["text"].strip(), each["mark"]) for each in moved["words"]] == [
        ("sleeps", "moved"),
        ("the old port", "same"),
        ("now", "alone"),
    ]
    assert (moved["against"], moved["missing"]) == ("B", [])
    for place, output in enumerate(segments[1]["outputs"]):
        text = list(OUTPUTS.values())[place][1]
        assert output["text"] == "".join(each["text"] for each in output["words"]) == text


def test_filters(bay: Looked) -> None:
    items = bay.service.browser(bay.organiser).get(API).json()["items"]
    assert [(each["document"], each["domain"]) for each in items] == [("quay", "news")] * 2 + [("sea", "talk")] * 2
    assert _numbers(bay, document="sea") == [3, 4]
    assert _numbers(bay, domain="news") == [1, 2]
    assert _numbers(bay, domain="nothing") == []
    assert _numbers(bay, document="quay", domain="news") == [1, 2]
    assert _numbers(bay, document="quay", domain="talk") == _numbers(bay, document="quay", test_suite="x") == []
    assert _numbers(bay, text="CANARY") == [1, 4]
    assert _numbers(bay, text="přístav") == [2]
    assert _numbers(bay, longest=2) == [1, 3, 4]
    assert _numbers(bay, shortest=3) == [2]
    assert _numbers(bay, segment=3) == [3]


def test_texts_are_searched_in_all_parts_of_a_long_test_set(bay: Looked, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a part of it, some hundreds of segments, has been left out before."""
    monkeypatch.setattr("campaigns.inspection.segments.AT_ONCE", 1)
    engine, segments = bay.service.engine, 3 * BLOCK + 5
    source = [f"line {number}" for number in range(1, segments + 1)]
    for number in (3, 300, 600, segments):
        source[number - 1] += " with a needle"
    documents = [("second" if BLOCK <= number < 2 * BLOCK else "other", "", "") for number in range(segments)]
    ingest_campaign(
        engine,
        bay.service.settings,
        campaign="bay",
        test_set=NewTestSet(
            *("long", {"A": "\n".join(f"reference {number}" for number in range(1, segments + 1)).encode()}),
            source="\n".join(source).encode(),
            documents=documents,
        ),
        submissions=[],
        protocols=[],
    )
    for asked, expected in (
        ({"text": "needle"}, [3, 300, 600, segments]),
        ({"text": "needle", "document": "other"}, [3, 600, segments]),
        ({"text": "needle", "document": "second"}, [300]),
        ({"shortest": 3}, [3, 300, 600, segments]),
        ({"longest": 3, "text": "line 30"}, [30, *range(301, 310)]),
        ({"text": "REFERENCE 773"}, [segments]),
        ({"text": "haystack"}, []),
    ):
        assert _numbers(bay, test_set="long", **asked) == expected, asked
    client = bay.service.browser(bay.organiser)
    for first in (250, 765):
        answer = client.get(API, params={"test_set": "long", "limit": 12, "after": first}).json()
        shown = [(each["number"], each["source"], each["references"][0]["text"]) for each in answer["items"]]
        last = min(first + 12, segments)
        assert shown == [(n, source[n - 1], f"reference {n}") for n in range(first + 1, last + 1)]
        assert answer["next"] == (None if last == segments else str(last))


@pytest.mark.parametrize(
    ("variable", "labels"), [(True, ["A", "B", "A", "AB"]), (False, ["AB", "AB", "AB", "AB"])], ids=["some", "all"]
)
def test_missing_references_of_a_segment_are_left_out(bay: Looked, variable: bool, labels: list[str]) -> None:
    """One stays where it lacks all: it is what the segment is measured against."""
    ingest_campaign(
        bay.service.engine,
        bay.service.settings,
        campaign="bay",
        test_set=NewTestSet("gaps", {"A": b"a\n\n\nd", "B": b"\nb\n\nD"}, variable_references=variable),
        submissions=[],
        protocols=[],
    )
    items = bay.service.browser(bay.organiser).get(API, params={"test_set": "gaps"}).json()["items"]
    assert ["".join(each["label"] for each in item["references"]) for item in items] == labels


def test_orders_by_scores(bay: Looked) -> None:
    service, seen = bay.service, bay.service.browser(bay.organiser)
    scores = {each["number"]: each["outputs"] for each in seen.get(API).json()["items"]}
    ahead = {number: outputs[0]["score"] - outputs[1]["score"] for number, outputs in scores.items()}
    assert _numbers(bay, order="difference") == sorted(ahead, key=lambda each: -abs(ahead[each]))
    assert _numbers(bay, order="first-better") == sorted(ahead, key=lambda each: -ahead[each])
    # Who is first is whom the address names first; an error rate that is lower is better.
    wanted = {"order": "first-better", "system": ["terns/soar", str(bay.submissions["dive"])], "metric": "ter"}
    answer = seen.get(API, params=wanted).json()
    differences = [each["difference"] for each in answer["items"]]
    assert differences == sorted(differences)
    assert service.client().get(API, params={"order": "sideways"}).status_code == 422


def test_pages_go_on_where_the_last_one_ended(bay: Looked) -> None:
    client, after, found = bay.service.browser(bay.organiser), "", []
    while after is not None:
        answer = client.get(API, params={"limit": 3, "after": after}).json()
        found += [each["number"] for each in answer["items"]]
        after = answer["next"]
    assert found == [1, 2, 3, 4]
    for strange in ("-1", "1.5", "²", "9" * 10, "9" * 5000):
        assert client.get(API, params={"after": strange}).status_code == 422, strange[:20]


def test_pages_lead_to_those_beside_them_and_keep_what_was_chosen(bay: Looked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments_page, "PAGE", 2)
    organiser = bay.service.browser(bay.organiser)

    def beside(**asked: object) -> dict[str, dict[str, str]]:
        html = organiser.get(PAGE, params={"order": "worst", **asked}).text
        found = re.findall(r'<a rel="(prev|next)" href="[^"?]*\?([^"]*)"', html)
        return {way: dict(parse_qsl(unescape(query))) for way, query in found}

    for first, before, after in ((0, None, "2"), (1, "0", "3"), (2, "0", None), (3, "1", None)):
        links = beside(first=first)
        assert all(each["order"] == "worst" for each in links.values())
        expected = {way: at for way, at in (("prev", before), ("next", after)) if at is not None}
        assert {way: each["first"] for way, each in links.items()} == expected
    dive = str(bay.submissions["dive"])
    asked = {"order": "worst", "text": "boat", "system": dive, "first": "1", "context": "2"}
    (form,) = re.findall(r'<form class="jump".*?</form>', organiser.get(PAGE, params=asked).text, re.DOTALL)
    hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form))
    assert hidden == {"order": "worst", "text": "boat", "system": dive}
    for segment in (1, 2, 3, 4):
        links = beside(segment=segment)
        expected = {"prev": str(segment - 1)} if segment > 1 else {}
        expected |= {"next": str(segment + 1)} if segment < 4 else {}
        assert {way: each["segment"] for way, each in links.items()} == expected


def test_long_segments_come_in_several_answers(bay: Looked, monkeypatch: pytest.MonkeyPatch) -> None:
    client, after, found = bay.service.browser(bay.organiser), "", []
    monkeypatch.setattr("web.api.leaderboards.segments.MAX_CHARACTERS", 1)
    while after is not None:
        answer = client.get(API, params={"after": after}).json()
        found.append([each["number"] for each in answer["items"]])
        after = answer["next"]
    assert found == [[1], [2], [3], [4]]


def test_what_is_not_to_be_seen_is_not_there(bay: Looked) -> None:
    bay.service.phase(bay.campaign, "week", PhaseKind.OPEN)
    gull = bay.service.browser(bay.gull)
    other = str(bay.submissions["soar"])
    answers = [gull.get(API, params={"system": name}) for name in (other, "terns/soar", "999999", "nobody/else")]
    assert {each.status_code for each in answers} == {404}
    assert gull.get(API, params={"test_set": "other"}).status_code == 404
    assert gull.get(API, params={"segment": 5}).status_code == 422


def test_a_link_to_an_output_finds_its_test_set(bay: Looked) -> None:
    with_test_set(bay.service.engine, "bay", name="cove")
    later = submit_output(bay.service.engine, "bay", "gulls", "dive", b"a\nb\nc\n", test_set="cove").submission
    client = bay.service.browser(bay.organiser)
    assert client.get(API).json()["test_set"] == "bay"
    found = client.get(API, params={"system": str(later)}).json()
    assert (found["test_set"], found["items"][2]["outputs"][0]["text"]) == ("cove", "c")
    assert client.get(API, params={"system": str(later), "test_set": "bay"}).status_code == 404


def test_the_page_escapes_what_teams_wrote_and_works_without_a_script(bay: Looked) -> None:
    page = bay.service.browser(bay.organiser).get(PAGE).text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    ours = [f'<script src="{address_of(f"{name}.js")}" defer>' for name in ("swap", "keys")]
    assert re.findall("<script[^>]*>", page) == ours, "none but ours"
    assert "<b>" not in page
    assert 'style="' not in page
    assert '<dd dir="auto" lang="cs">' in page
    assert '<dd dir="auto" lang="en">' in page
    assert 'id="s3"' in page
    one = bay.service.browser(bay.organiser).get(PAGE, params={"segment": "2"}).text
    assert 'id="s2"' in one
    assert 'id="s3"' not in one
    assert "segment=3" in one


def test_nonsense_in_an_address_is_refused_in_words(bay: Looked) -> None:
    client = bay.service.browser(bay.organiser)
    for asked in ({"shortest": "ten"}, {"segment": "0"}, {"first": "²"}, {"order": "sideways"}):
        answer = client.get(PAGE, params=asked)
        assert answer.status_code == 422, asked
        assert 'role="alert"' in answer.text
    assert client.get(PAGE, params={"first": "100"}).status_code == 200


def test_what_was_withdrawn_is_shown_nowhere_also_once_it_is_published(bay: Looked) -> None:
    withdrawn = bay.submissions["soar"]
    with writing(bay.service.engine) as connection:
        values = {"campaign_id": bay.campaign, "test_set_id": bay.test_set, "team": "terns", "withdrawn_at": now()}
        connection.execute(insert(Declaration).values(submission_id=withdrawn, **values))
    bay.service.phase(bay.campaign, "week", PhaseKind.PUBLISHED)
    bay.release()
    for client in (bay.service.client(), bay.service.browser(bay.gull), bay.service.browser(bay.organiser)):
        items = client.get(API).json()["items"]
        assert {each["system"] for item in items for each in item["outputs"]} == {"gulls/dive"}
        assert client.get(API, params={"text": "green boat"}).json()["found"] == 0
        assert client.get(API, params={"system": str(withdrawn)}).status_code == 404
        for page in (PAGE, "/campaigns/bay/metrics"):
            assert "terns/soar" not in client.get(page).text
            assert "green boat" not in client.get(page).text
    with writing(bay.service.engine) as connection:
        connection.execute(update(Declaration).values(withdrawn_at=None))
    assert bay.service.client().get(API, params={"text": "green boat"}).json()["found"] == 1


def test_a_test_set_is_shown_once_its_phase_has_begun(bay: Looked) -> None:
    """Also where references are out, and an earlier phase is published."""
    bay.service.phase(bay.campaign, "results", PhaseKind.PUBLISHED)
    coming = bay.service.phase(bay.campaign, "next", PhaseKind.OPEN, begins=DAY)
    bay.release()
    with writing(bay.service.engine) as connection:
        connection.execute(update(CampaignTestSet).values(phase_id=coming))
    member, organiser = bay.service.browser(bay.gull), bay.service.browser(bay.organiser)
    for client in (bay.service.client(), member):
        assert client.get(API).json()["items"] == []
        for address in (API, PAGE):
            answer = client.get(address, params={"test_set": "bay"})
            assert "přístav" not in answer.text
    assert organiser.get(API).json()["items"][1]["source"] == "starý přístav spí"
    with writing(bay.service.engine) as connection:
        connection.execute(update(CampaignTestSet).values(phase_id=None))
    assert member.get(API).json()["items"][1]["source"] == "starý přístav spí"


def test_one_way_to_name_a_test_set(service: Service) -> None:
    """Boards, segments, metrics and submissions understand the same names; after a correction the short one is new."""
    bay = look_at(service)
    olga = service.browser(bay.organiser)
    first = {"bay", "bay@1", "bay (version 1)", str(bay.test_set)}

    def found(name: str) -> list[str]:
        versions = []
        for page in ("leaderboard", "compare", "segments", "metrics", "submissions"):
            answer = olga.get(f"/campaigns/bay/{page}", params={"test_set": name})
            assert answer.status_code == 200, (page, name, answer.text)
        for route, key in (("leaderboard", "version"), ("comparisons", "version"), ("segments", "test_set")):
            answer = olga.get(f"/api/v1/campaigns/bay/{route}", params={"test_set": name})
            assert answer.status_code == 200, (route, name, answer.text)
            versions.append(answer.json()[key].removeprefix("bay (version ").removesuffix(")").replace("bay", "1"))
        answer = olga.get("/api/v1/campaigns/bay/correlations", params={"test_set": name})
        assert answer.status_code == 200, (name, answer.text)
        return versions

    for name in first:
        assert found(name) == ["1", "1", "1"], name
    corrected = olga.post(
        "/api/v1/campaigns/bay/corrections",
        files={"references": ("A.txt", b"the blue ship\nthe old harbour\nthe wind\na fish swims\n")},
        data={"test_set": bay.test_set, "reason": "why"},
    )
    assert corrected.status_code == 201, corrected.text
    for name in ("bay", "bay@2", "bay (version 2)"):
        assert found(name) == ["2", "2", "2"], name
    for name in first - {"bay"}:
        assert found(name) == ["1", "1", "1"], name


def test_the_pages_of_an_empty_campaign_are_there(service: Service) -> None:
    olga = service.account("olga")
    service.campaign("empty", organisers=(olga,))
    for page in ("segments", "metrics", "leaderboard", "compare"):
        for client in (service.client(), service.browser(olga)):
            answer = client.get(f"/campaigns/empty/{page}")
            assert answer.status_code == 200, page
            assert f'href="/campaigns/empty/{page}"' in answer.text, "its tabs stay"
    assert "no test set here yet" in service.client().get("/campaigns/empty/segments").text
    assert "Add a test set" in service.browser(olga).get("/campaigns/empty/metrics").text
    assert service.client().get("/campaigns/empty/segments?test_set=x").status_code == 200


def test_the_api_of_an_empty_campaign_has_empty_answers(service: Service) -> None:
    service.campaign("empty")
    client = service.client()
    segments, correlations = (client.get(f"/api/v1/campaigns/empty/{each}") for each in ("segments", "correlations"))
    nothing = {"test_set": None, "metric": None, "references": [], "human": None, "found": 0, "items": [], "next": None}
    assert (segments.status_code, segments.json()) == (200, nothing)
    nothing = {"test_set": None, "references": [], "human": None, "tables": []}
    assert (correlations.status_code, correlations.json()) == (200, nothing)
    for named in ("segments?test_set=x", "segments?system=7", "correlations?test_set=x", "correlations?human=da"):
        assert client.get(f"/api/v1/campaigns/empty/{named}").status_code == 404, named


def test_a_segment_is_shown_between_its_neighbours_in_the_same_document(bay: Looked) -> None:
    assert _numbers(bay, segment=2) == [2]
    assert _numbers(bay, segment=2, context=1) == [1, 2]
    assert _numbers(bay, segment=3, context=50, order="worst") == [3, 4], "whatever the order, and no further"
    assert bay.service.browser(bay.organiser).get(API, params={"segment": 1, "context": 51}).status_code == 422
    page = bay.service.browser(bay.organiser).get(PAGE, params={"segment": 2, "context": 3}).text
    assert (page.count("<article"), page.count('class="segment context"')) == (2, 1)
    assert "among 2 of its document <bdi>quay</bdi>" in page
    assert re.search(r'segment=1&amp;context=3[^"]*#s1"', page), "from a neighbour to its own context"


def test_a_segment_without_a_document_stands_alone(bay: Looked) -> None:
    with writing(bay.service.engine) as connection:
        connection.execute(delete(Document))
    assert _numbers(bay, segment=2, context=3) == [2]


def test_so_many_systems_are_shown_side_by_side(bay: Looked, monkeypatch: pytest.MonkeyPatch) -> None:
    client, both = bay.service.browser(bay.organiser), {"system": list(bay.submissions.values())}
    assert client.get(API, params=both).status_code == 200
    monkeypatch.setattr("campaigns.inspection.segments.MAX_OUTPUTS", 1)
    refused = client.get(API, params=both)
    assert (refused.status_code, refused.json()["error"]["message"]) == (
        422,
        "2 systems are too many side by side. Choose at most 1.",
    )


def test_a_test_suite_is_chosen_as_a_domain_is(bay: Looked) -> None:
    """What is not said of a document is no domain, and no suite, to choose."""
    with writing(bay.service.engine) as connection:
        connection.execute(update(Document).where(Document.name == "sea").values(domain="", test_suite="idioms"))
    assert _numbers(bay, test_suite="idioms") == [3, 4]
    assert _numbers(bay, test_suite="talk") == _numbers(bay, test_suite="idioms", domain="news") == []
    assert [each["test_suite"] for each in bay.service.browser(bay.organiser).get(API).json()["items"]] == [
        *("", "", "idioms", "idioms")
    ]
    with reading(bay.service.engine) as connection:
        found = read_segments(connection, read_access(connection, COMMAND_LINE, "bay"), SegmentQuery())
    assert (found.documents, found.domains, found.test_suites) == (["quay", "sea"], ["news"], ["idioms"])


def test_without_a_choice_own_outputs_come_first(bay: Looked) -> None:
    bay.service.phase(bay.campaign, "week", PhaseKind.PUBLISHED)
    submit_output(bay.service.engine, "bay", "terns", "arrow", "\n".join([*OUTPUTS["gulls", "dive"], ""]).encode())
    with reading(bay.service.engine) as connection:
        for team, names in (("gulls", ["gulls/dive", "terns/arrow"]), ("terns", ["terns/arrow", "terns/soar"])):
            member = Principal(1, scopes=EVERY_SCOPE, teams={team: TeamRole.MEMBER})
            found = read_segments(connection, read_access(connection, member, "bay"), SegmentQuery())
            assert [each.name for each in found.chosen] == names
            assert [each.output.name for each in found.segments[0].outputs] == names
            nobody = read_segments(connection, read_access(connection, NOBODY, "bay"), SegmentQuery())
            assert [each.name for each in nobody.chosen] == ["gulls/dive", "terns/arrow"]
