"""Errors that people marked, in segments: where they are, who sees them, and that nothing of them is markup."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest

from models.schema.roles import Feedback, PhaseKind
from tests.service.campaigns import submit_output
from tests.service.inspected_campaign import OUTPUTS, SOURCE, Looked, look_at
from tests.service.service import DAY, Service

BOTH = {"system": ["gulls/dive", "terns/soar"]}
PAGE, API = "/campaigns/bay/segments", "/api/v1/campaigns/bay/segments"
SCRIPT = "<script>alert(1)</script>"


def row(system: str, segment: int, rater: str, target: str, category: str, severity: str, source: str = "s") -> str:
    return "\t".join((system, "d", str(segment), str(segment), rater, source, target, category, severity))


MQM = "\n".join(
    [
        "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity",
        row("dive", 2, "rosa", "sleeps the <v>old port</v> now", "Style", "Minor"),
        row("dive", 2, "otto", "<v>sleeps the old</v> port now", f"Grammar {SCRIPT}", "Major"),
        row("dive", 2, "otto", "sleeps the old port now", "Omission", "Major"),
        row("dive", 2, "otto", "sleeps the old port now", "Source", "Minor", "starý <v>přístav</v> spí"),
        row("dive", 1, "rosa", "the blue ship", "no-error", "no-error"),
        row("soar", 3, "rosa", "wind <v><b>blows</b></v>", "Style", "Neutral"),
    ]
)


@pytest.fixture
def bay(service: Service) -> Looked:
    """With errors of "dive" and "soar", published."""
    looked = look_at(service)
    looked.service.phase(looked.campaign, "week", PhaseKind.PUBLISHED)
    add(looked, MQM)
    return looked


def add(bay: Looked, table: str, name: str = "mqm") -> None:
    organiser = bay.service.program(bay.organiser)
    files = {"files": ("mqm.tsv", table.encode())}
    answer = organiser.post("/api/v1/campaigns/bay/human-scores", files=files, data={"called": name})
    assert answer.status_code == 201, answer.text


def outputs(bay: Looked, segment: int, human: str = "") -> list[dict[str, Any]]:
    answer = bay.service.client().get(API, params={**BOTH, "segment": segment, "human": human})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"][0]["outputs"]
    return found


def test_errors_are_given_in_code_points_of_the_output(bay: Looked) -> None:
    dive, soar = outputs(bay, 2)
    assert dive["text"] == OUTPUTS["gulls", "dive"][1]
    told = [
        (each["severity"], each["category"], each["annotator"], each["missing"], each["in_source"])
        for each in dive["errors"]
    ]
    assert told == [
        ("major", f"Grammar {SCRIPT}", 1, False, False),
        ("minor", "Style", 2, False, False),
        ("major", "Omission", 1, True, False),
        ("minor", "Source", 1, False, True),
    ]
    first, second, _, in_source = dive["errors"]
    assert dive["text"][first["begins"] : first["ends"]] == "sleeps the old"
    assert dive["text"][second["begins"] : second["ends"]] == "old port"
    assert SOURCE[1][in_source["begins"] : in_source["ends"]] == "přístav"
    # Rosa gives 1, Otto 5 and 5 and 1.
    assert dive["human_score"] == -(1 + 11) / 2
    assert (soar["human_score"], soar["errors"]) == (None, [])
    assert bay.service.client().get(API).json()["human"] == "mqm@1"


def text_of(html: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", html))


def test_the_page_marks_them_and_nothing_of_them_is_markup(bay: Looked) -> None:
    client = bay.service.client()
    asked: dict[str, int | list[str]] = {**BOTH, "segment": 2}
    plain = client.get(PAGE, params=asked).text
    assert "error-span" not in plain
    assert "errors in mqm, by people" in plain
    page = client.get(PAGE, params={**asked, "marks": "mqm"}).text
    spans = re.findall(r'<span class="error-span (\w+)"><span class="hidden"[^>]*>([^<]*)</span>(.*?)</span>', page)
    told = [(severity, numbers.strip(), text_of(inside)) for severity, numbers, inside in spans]
    assert told == [
        ("major", "error 1:", "sleeps the "),
        ("major", "error 1, 2:", "old1"),
        ("minor", "error 2:", " port2"),
    ]
    assert '<q dir="auto">přístav</q>' in page
    assert "(something is missing)" in page
    assert "(not judged)" in page
    assert SCRIPT not in page
    assert "rosa" not in page
    assert "(no errors marked)" in client.get(PAGE, params={**asked, "segment": 1, "marks": "mqm"}).text
    blown = client.get(PAGE, params={**asked, "segment": 3, "marks": "mqm@1"}).text
    assert '<span class="error-span other"><span class="hidden" lang="en" dir="ltr">error 1: </span>&lt;b&gt;' in blown
    assert client.get(PAGE, params={"marks": "others"}).status_code == 404


def test_organisers_see_what_annotators_did_and_nobody_else(bay: Looked) -> None:
    address = "/campaigns/bay/metrics"
    page = bay.service.browser(bay.organiser).get(address).text
    # Both judged segment 2 of "dive": Rosa -1, Otto -11, as far apart as any two; Rosa's 0 and 0 stand alone.
    assert "Krippendorff's alpha is 0.000, on 1 outputs" in page.replace("&#39;", "'")
    table = page[page.index("What each annotator did") :]
    assert re.findall(r'<th scope="row" class="number">(\d)</th><td class="number">(\d)</td>', table) == [
        ("1", "3"),
        ("2", "3"),
    ]
    assert "rosa" not in page
    assert "alpha" not in bay.service.client().get(address).text
    details = bay.service.program(bay.organiser).get("/api/v1/campaigns/bay/human-scores/mqm").json()
    assert details["reliability"] == {"alpha": 0.0, "outputs": 1}
    assert [(each["number"], each["outputs"], each["mean"]) for each in details["by_annotator"]] == [
        (1, 1, -11.0),
        (2, 3, pytest.approx(-1 / 3)),
    ]


def test_an_output_that_came_later_is_not_marked(bay: Looked) -> None:
    bay.service.phase(bay.campaign, "again", PhaseKind.OPEN, begins=-1, ends=DAY, feedback=Feedback.FULL)
    later = "the blue ship\nthe old port is asleep, I say\nthe wind\nfish\n"
    submit_output(bay.service.engine, "bay", "gulls", "dive", later.encode(), enforce_rules=False)
    bay.service.phase(bay.campaign, "out", PhaseKind.PUBLISHED, begins=-0.5)
    (dive, _) = outputs(bay, 2)
    assert dive["text"] == "the old port is asleep, I say"
    assert (dive["errors"], dive["human_score"]) == ([], None)
    assert outputs(bay, 3)[1]["errors"], "those of others are"


def test_nobody_sees_them_while_the_board_is_hidden(bay: Looked) -> None:
    bay.service.phase(bay.campaign, "blind", PhaseKind.BLIND, begins=-1, ends=DAY, feedback=Feedback.FULL)
    gull = bay.service.browser(bay.gull)
    answer = gull.get(API, params={"segment": 2}).json()
    assert answer["human"] is None
    assert [each["errors"] for each in answer["items"][0]["outputs"]] == [[]]
    page = gull.get(PAGE, params={"marks": "mqm"}).text
    assert "error-span" not in page
    assert "errors in" not in page
    organiser = bay.service.browser(bay.organiser)
    assert "error-span" in organiser.get(PAGE, params={"marks": "mqm"}).text


def test_the_newest_judgments_with_errors_are_shown_unless_others_are_chosen(bay: Looked) -> None:
    add(bay, "system\tsegment\tscore\ndive\t1\t0.25\n", "da")
    assert bay.service.client().get(API).json()["human"] == "mqm@1", "nothing is marked in the others"
    (dive, _) = outputs(bay, 2, human="da")
    assert (dive["human_score"], dive["errors"]) == (0.25, [])
    add(bay, MQM.replace("\tMinor", "\tMajor"))
    assert {each["severity"] for each in outputs(bay, 2)[0]["errors"]} == {"major"}
    assert outputs(bay, 2, human="mqm@1")[0]["errors"][1]["severity"] == "minor"


def test_people_judged_the_newest_output_of_their_time(bay: Looked) -> None:
    """Not one that was replaced before they began, and not one that replaced it later."""
    bay.service.phase(bay.campaign, "again", PhaseKind.OPEN, begins=-1, ends=DAY, feedback=Feedback.FULL)
    newer = "the blue ship\nsleeps the old port now\nthe wind\na fish\n"
    submit_output(bay.service.engine, "bay", "gulls", "dive", newer.encode(), enforce_rules=False)
    bay.service.phase(bay.campaign, "out", PhaseKind.PUBLISHED, begins=-0.5)
    assert outputs(bay, 2)[0]["errors"] == [], "what was judged before is another output"
    add(bay, MQM.replace("\tMinor", "\tMajor"))
    dive, _ = outputs(bay, 2)
    assert {each["severity"] for each in dive["errors"]} == {"major"}
    assert outputs(bay, 2, human="mqm@1")[0]["errors"] == []
