"""The pages of submissions: who gets them, what the form keeps, what they say."""

import re

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.changes import lock_for_change
from campaigns.corrections.corrections import correct_test_set
from campaigns.quotas.quotas import set_quotas
from campaigns.quotas.rules import QuotaScope
from campaigns.test_sets.stored import find_campaign_test_set
from models.database.session import reading, writing
from models.schema.accounts import AuditEntry
from models.schema.base import now
from models.schema.campaigns import Campaign, CampaignTestSet, Phase
from models.schema.corpus import Submission
from models.schema.roles import Feedback, PhaseKind
from models.schema.states import QuotaKind
from steelyard.formats.plain import Text
from tests.service.campaigns import submit_output, with_test_set
from tests.service.port import ADDRESS, NAME, REFERENCE, Port, output
from tests.service.service import DAY, Service

CAMPAIGN = "/campaigns/port%201"


def send(client: TestClient, content: bytes | None = None, **fields: str):
    return client.post(
        f"{CAMPAIGN}/submit",
        data={"system": "mast", **fields},
        files={"file": ("out.txt", output() if content is None else content)},
        follow_redirects=False,
    )


def test_a_form_leads_to_the_page_of_the_submission(port: Port) -> None:
    mary = port.browser("mary")
    answer = send(mary, kind="primary", description="<script>alert(1)</script>")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/submissions/2")
    page = mary.get("/submissions/2").text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>alert" not in page
    assert 'data-events="/api/v1/submissions/2/events"' in page
    port.work_off()
    page = mary.get("/submissions/2").text
    assert "data-events" not in page
    assert "nrefs:1|bs:20" in page
    assert 'href="/submissions/2"' in mary.get(f"{CAMPAIGN}/submissions").text


def test_an_empty_list_has_nothing_to_filter(port: Port) -> None:
    mary = port.browser("mary")
    filters = 'class="filters"'
    page = mary.get(f"{CAMPAIGN}/submissions").text
    assert "No submissions yet" in page
    assert filters not in page
    found_none = mary.get(f"{CAMPAIGN}/submissions?kind=late").text
    assert "No matching submissions" in found_none
    assert filters in found_none
    send(mary)
    assert filters in mary.get(f"{CAMPAIGN}/submissions").text


def test_the_next_page_keeps_what_was_chosen(port: Port, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.pages.submissions.submissions.PAGE", 1)
    mary, ann = port.browser("mary"), port.browser("ann")
    for seed, kind in enumerate(("contrastive", "contrastive", "primary"), 1):
        send(mary, output(seed), kind=kind)
    send(port.browser("zoe"), output(4), kind="contrastive")
    chosen = "team=harbour&test_set=quay&kind=contrastive"
    first = ann.get(f"{CAMPAIGN}/submissions?{chosen}").text
    (address,) = re.findall(r'rel="next" href="([^"]*)"', first) or re.findall(r'href="([^"]*after=\d+[^"]*)"', first)
    address = address.replace("&amp;", "&")
    assert address == f"{CAMPAIGN}/submissions?{chosen}&after=3"
    second = ann.get(address).text
    shown = [f'/submissions/{number}"' in second for number in (1, 2, 3, 4, 5)]
    assert shown == [False, True, False, False, False]
    assert "after=" not in second, "the last page"
    assert f'href="{CAMPAIGN}/submissions?{chosen}"'.replace("&", "&amp;") in second


def test_each_row_of_the_list_leads_to_its_own_submission(port: Port) -> None:
    numbers = {
        name: submit_output(port.service.engine, NAME, "harbour", name, output(seed)).submission
        for seed, name in enumerate(("mast", "keel", "sail"))
    }
    shown = port.browser("mary").get(f"{CAMPAIGN}/submissions").text
    rows = re.findall(r'<th scope="row"><a href="/submissions/(\d+)"><bdi>(\w+)</bdi>', shown)
    assert [(name, int(number)) for number, name in rows] == list(numbers.items())[::-1]


def test_a_form_sent_twice_submits_once_and_another_file_from_it_is_another_one(port: Port) -> None:
    mary = port.browser("mary")
    key = re.search(r'name="key" value="([^"]+)"', mary.get(f"{CAMPAIGN}/submit").text)
    assert key is not None
    first = [send(mary, key=key[1]).headers["Location"] for _ in range(2)]
    assert first == ["/submissions/2"] * 2
    assert send(mary, output(2), key=key[1]).headers["Location"] == "/submissions/3"
    assert port.count(Submission) == 3


def test_a_refused_form_keeps_what_was_filled_in_and_says_what_is_wrong(port: Port) -> None:
    mary = port.browser("mary")
    answer = send(mary, b"one line", system='"><b>', kind="primary", constrained="true", description="what & why")
    assert answer.status_code == 422
    assert "has 1 line, but the test set has 300 segments" in answer.text
    assert 'value="&#34;&gt;&lt;b&gt;"' in answer.text
    assert re.search(r'value="primary" checked', answer.text)
    assert re.search(r'value="true" checked', answer.text)
    assert "what &amp; why" in answer.text
    nothing = mary.post(f"{CAMPAIGN}/submit", data={"system": ""}, follow_redirects=False)
    assert nothing.status_code == 422
    assert 'id="system-error"' in nothing.text
    empty = mary.post(f"{CAMPAIGN}/submit", data={"system": "mast"}, follow_redirects=False)
    assert 'id="file-error"' in empty.text
    long = send(mary, description="x" * 5001)
    assert "At most 5,000 characters." in long.text
    assert port.count(Submission) == 1


def test_the_form_says_beforehand_why_nothing_is_taken(port: Port) -> None:
    mary = port.browser("mary")
    with writing(port.service.engine) as connection:
        set_quotas(connection, QuotaScope(port.campaign, "", ""), {QuotaKind.PER_DAY: 1})
    assert "0 of 1 used" in mary.get(f"{CAMPAIGN}/submit").text
    send(mary)
    page = mary.get(f"{CAMPAIGN}/submit").text
    assert "Team harbour has used 1 of 1 submission of" in page
    refused = send(mary, output(2))
    assert (refused.status_code, "has used 1 of 1 submission" in refused.text) == (429, True)
    with writing(port.service.engine) as connection:
        connection.execute(update(Phase).values(ends_at=now() - 5))
        connection.execute(update(Campaign).values(time_zone="Asia/Kathmandu"))
    closed = mary.get(f"{CAMPAIGN}/submit").text
    assert re.search(r"the phase &#34;first&#34; was closed at [^(]* \(Asia/Kathmandu\)", closed)
    with writing(port.service.engine) as connection:
        connection.execute(update(Campaign).values(frozen_at=now()))
    assert re.search(r"was frozen on [^(]* \(Asia/Kathmandu\)", mary.get(f"{CAMPAIGN}/submit").text)


def test_the_form_begins_with_the_only_test_set_that_takes_outputs_now(port: Port) -> None:
    engine = port.service.engine
    second = port.service.phase(port.campaign, "second", PhaseKind.OPEN, begins=DAY)
    other = with_test_set(engine, NAME, name="pier")
    for phases, expected in (
        ({port.test_set: None, other: None}, []),
        ({port.test_set: None, other: second}, ["quay"]),
        ({port.test_set: second, other: None}, ["pier"]),
        ({port.test_set: second, other: port.phase}, ["pier"]),
        ({port.test_set: second, other: second}, []),
        ({port.test_set: None, other: port.phase}, []),
    ):
        with writing(engine) as connection:
            for test_set, phase in phases.items():
                of = CampaignTestSet.campaign_id == port.campaign, CampaignTestSet.test_set_id == test_set
                connection.execute(update(CampaignTestSet).where(*of).values(phase_id=phase))
        page = port.browser("ann").get(f"{CAMPAIGN}/submit").text
        assert re.findall(r'<option value="[^"]*" data-segments="\d+" selected>(\w+),', page) == expected, phases


def test_organisers_submit_for_a_team_at_any_time(port: Port) -> None:
    with writing(port.service.engine) as connection:
        connection.execute(update(Phase).values(ends_at=now() - 5))
    ann, mary = port.browser("ann"), port.browser("mary")
    assert 'name="override"' in ann.get(f"{CAMPAIGN}/submit").text
    assert 'name="override"' not in mary.get(f"{CAMPAIGN}/submit").text
    assert send(ann, team="harbour").status_code == 403
    assert send(mary, team="harbour", override="yes").status_code == 403
    nameless = send(ann, override="yes")
    assert (nameless.status_code, "Name the team" in nameless.text) == (422, True)
    assert send(ann, team="harbour", override="yes").status_code == 303
    assert "5 s late" in re.sub(r"[6-9] s late", "5 s late", mary.get("/submissions/2").text)


def test_strangers_get_none_of_the_pages(port: Port) -> None:
    send(port.browser("mary"))
    eve = port.service.browser(port.service.account("eve"))
    answers = [
        client.get(path, follow_redirects=False).status_code
        for client in (port.service.client(), eve, port.browser("zoe"))
        for path in (f"{CAMPAIGN}/submit", f"{CAMPAIGN}/submissions", "/submissions/2", "/submissions/2/output")
    ]
    assert answers == [303, 303, 404, 404, 403, 403, 404, 404, 200, 200, 404, 404]
    forged = port.browser("zoe").post("/submissions/2/withdraw", follow_redirects=False)
    assert forged.status_code in (403, 404)


def test_what_a_team_says_is_changed_on_the_page_until_the_deadline(port_anywhere: Port) -> None:
    port = port_anywhere
    mary = port.browser("mary")
    send(mary)
    said = {"kind": "contrastive", "constrained": "false", "description": "small"}
    assert mary.post("/submissions/2/declaration", data=said, follow_redirects=False).status_code == 303
    page = mary.get("/submissions/2?saved=declared").text
    assert "Declaration saved." in page
    assert re.search(r'value="contrastive" checked', page)
    assert mary.post("/submissions/2/withdraw", follow_redirects=False).status_code == 303
    assert "Undo withdrawal" in mary.get("/submissions/2").text
    assert mary.post("/submissions/2/reinstate", follow_redirects=False).status_code == 303
    port.browser("ann").post("/submissions/2/withdraw")
    port.browser("ann").post("/submissions/2/reinstate")
    history = re.findall(r"</time>: ([a-z ]+) by <bdi>([^<]+)</bdi>", mary.get("/submissions/2").text)
    assert history == [
        ("reinstated", "the organisers"),
        ("withdrawn", "the organisers"),
        ("reinstated", "mary"),
        ("withdrawn", "mary"),
        ("declared", "mary"),
        ("submitted", "mary"),
    ]
    with writing(port.service.engine) as connection:
        connection.execute(update(Phase).values(ends_at=now() - 5))
    late = mary.post("/submissions/2/withdraw", follow_redirects=False)
    assert (late.status_code, 'role="alert"' in late.text) == (409, True)
    assert "<button" not in mary.get("/submissions/2").text.split('id="declaration"')[1]


def test_organisers_stop_it_and_let_it_be_tried_again(port: Port) -> None:
    mary, ann = port.browser("mary"), port.browser("ann")
    send(mary)
    with writing(port.service.engine) as connection:
        set_quotas(connection, QuotaScope(), {QuotaKind.PER_PHASE: 9})
    assert "1 of 9 used" in mary.get(f"{CAMPAIGN}/submit").text
    assert "Cancel evaluation" not in mary.get("/submissions/2").text
    assert mary.post("/submissions/2/cancel", follow_redirects=False).status_code == 403
    assert ann.post("/submissions/2/retry", follow_redirects=False).status_code == 409
    stopped = ann.post("/submissions/2/cancel", data={"reason": "the wrong <file>"}, follow_redirects=False)
    assert stopped.status_code == 303
    assert "0 of 9 used" in mary.get(f"{CAMPAIGN}/submit").text
    page = mary.get("/submissions/2").text
    assert "the wrong &lt;file&gt;" in page
    assert " cancelled</span>" in page
    assert mary.post("/submissions/2/retry", follow_redirects=False).status_code == 403
    assert "/submissions/2/retry" in ann.get("/submissions/2").text
    assert ann.post("/submissions/2/retry", follow_redirects=False).status_code == 303
    assert "queued</span>" in mary.get("/submissions/2").text
    assert ann.post("/submissions/2/cancel", data={"counts": "yes"}, follow_redirects=False).status_code == 303
    assert "1 of 9 used" in mary.get(f"{CAMPAIGN}/submit").text
    with reading(port.service.engine) as connection:
        entries = select(AuditEntry.details).where(AuditEntry.action == "evaluation.cancel").order_by(AuditEntry.id)
        told = [(each["reason"], each["counts"]) for each in connection.scalars(entries)]
    assert told == [("the wrong <file>", False), ("", True)], "whether it counts against the quota"


def test_the_rank_is_told_to_those_who_see_the_leaderboard(port: Port) -> None:
    mary, ann = port.browser("mary"), port.browser("ann")
    send(mary)
    port.work_off()
    place = re.compile(r"Rank <strong>\d</strong> of 2</a> by BLEU")
    assert place.search(mary.get("/submissions/2").text)
    with writing(port.service.engine) as connection:
        connection.execute(update(Phase).values(kind=PhaseKind.BLIND))
    assert not place.search(mary.get("/submissions/2").text)
    assert place.search(ann.get("/submissions/2").text)


def test_a_submission_leads_to_the_same_one_against_corrected_references(port: Port) -> None:
    mary = port.browser("mary")
    send(mary, kind="primary")
    lines = REFERENCE.split(b"\n")
    corrected = Text("A.txt", b"\n".join([b"a mat ran .", *lines[1:]]), len(lines))
    with writing(port.service.engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, NAME)
        known = find_campaign_test_set(connection, access, "quay")
        correct_test_set(connection, port.service.settings, access, known, {"A": corrected}, "A typing error")
    old = mary.get("/submissions/2").text
    leads = re.search(r'<a href="/submissions/(\d+)">Submission', old)
    assert leads is not None
    new = mary.get(f"/submissions/{leads[1]}").text
    assert '<a href="/submissions/2">submission 2</a>' in new
    assert re.search(r'value="primary" checked', new)
    # What is submitted from now on is for the corrected one.
    assert send(mary, output(2)).status_code == 303
    assert [
        each["test_set"] for each in port.program("mary").get(f"{ADDRESS}/submissions?limit=1").json()["items"]
    ] == ["quay@2"]


@pytest.mark.parametrize("feedback", [Feedback.NONE, Feedback.ROUNDED, Feedback.INTERVAL, Feedback.LADDER])
def test_scores_are_shown_as_the_phase_allows(service: Service, feedback: Feedback) -> None:
    port = Port.opened(service, PhaseKind.BLIND, feedback=feedback)
    mary = port.browser("mary")
    send(mary)
    port.work_off()
    page = mary.get("/submissions/2").text
    exact = port.browser("ann").get("/submissions/2").text
    scores = re.findall(r'<span class="score">(\d+\.\d)</span>', exact)
    assert len(scores) == 2
    shown = re.findall(r'<td class="number">(.+)</td>', page)
    assert len(shown) == {"none": 0, "rounded": 2, "interval": 2, "ladder": 2}[feedback]
    assert "blind" in page
    ranks = [
        [each["rank"] for each in port.program(who).get("/api/v1/submissions/2").json()["feedback"][0]["scores"]]
        for who in ("mary", "ann")
    ]
    assert ranks[0] == [None, None], "they would tell of scores that are withheld"
    assert None not in ranks[1]
    if feedback in (Feedback.NONE, Feedback.INTERVAL):
        assert all(score not in page for score in scores)


def test_the_page_names_metrics_that_failed_and_organisers_see_why(port: Port) -> None:
    send(port.browser("mary"))
    port.work_off()
    assert "chrF2 failed" not in port.browser("mary").get("/submissions/2").text
    port.fail_metric(2, "<b>hidden reference</b>")
    of_team, of_organiser = (port.browser(who).get("/submissions/2").text for who in ("mary", "ann"))
    assert "chrF2 failed. The organisers see why." in of_team
    assert "hidden reference" not in of_team
    assert "chrF2 failed: &lt;b&gt;hidden reference&lt;/b&gt;" in of_organiser
    assert "BLEU failed" not in of_team + of_organiser
    assert ["/submissions/2/retry" in page for page in (of_team, of_organiser)] == [False, True]
    assert "chrF2 failed" not in port.browser("ann").post("/submissions/2/retry").text
    again = port.browser("ann").post("/submissions/2/retry")
    assert (again.status_code, "there are none" in again.text) == (409, True)


@pytest.mark.parametrize("kind", [PhaseKind.OPEN, PhaseKind.BLIND, PhaseKind.PUBLISHED])
def test_the_page_of_a_submission_is_for_its_team_and_organisers_also_once_results_are_out(
    port: Port, kind: PhaseKind
) -> None:
    send(port.browser("mary"))
    port.work_off()
    with writing(port.service.engine) as connection:
        connection.execute(update(Phase).values(kind=kind))
    paths = ("/submissions/2", "/api/v1/submissions/2", "/api/v1/submissions/2/output")
    others = [404, 404, 200 if kind == PhaseKind.PUBLISHED else 404]
    for who, statuses in (("mary", [200] * 3), ("ann", [200] * 3), ("zoe", others)):
        assert [port.browser(who).get(path).status_code for path in paths] == statuses, who
    listed = {who: port.browser(who).get(f"{ADDRESS}/submissions").json()["items"] for who in ("mary", "ann", "zoe")}
    assert {who: [each["id"] for each in items] for who, items in listed.items()} == {
        "mary": [2],
        "ann": [2, 1],
        "zoe": [],
    }


def test_what_has_ended_is_not_stopped_and_the_page_says_why(port: Port) -> None:
    mary, ann = port.browser("mary"), port.browser("ann")
    send(mary)
    port.work_off()
    late = ann.post("/submissions/2/cancel", data={"reason": "too late"}, follow_redirects=False)
    assert late.status_code == 409
    assert "Only queued or running evaluations can be cancelled; there are none." in late.text
    assert port.count(select(AuditEntry).where(AuditEntry.action == "evaluation.cancel").subquery()) == 0
