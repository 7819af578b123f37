"""The pages of organisers, as a browser without scripts uses them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import delete, select, update

from campaigns.accounts.principal import NOBODY
from campaigns.permissions import CampaignAccess, read_access
from models.corpus.judgments import NewJudgments, SystemRow, store_judgments
from models.database.session import reading, writing
from models.schema.accounts import AuditEntry
from models.schema.campaigns import CampaignTestSet, Phase
from models.schema.human import Judgments
from models.schema.roles import PhaseKind, SiteRole, Visibility
from models.schema.states import JudgmentKind
from tests.scheduler.jobs import work_off
from tests.service.campaigns import REFERENCE, SOURCE, given, submit_output, with_test_set
from tests.service.service import DAY, Service
from web.static_files import address_of

HERE = "/campaigns/wmt"
MANAGE = f"{HERE}/manage"
FILES = ("references", "source", "documents")


@pytest.fixture
def olga(service: Service) -> TestClient:
    """The organiser of "wmt"."""
    browser = service.browser(service.account("olga", SiteRole.ORGANISER))
    answer = browser.post("/new-campaign", data={"name": "wmt", "title": "The task", "time_zone": "Europe/Prague"})
    assert (answer.status_code, answer.url.path) == (200, MANAGE)
    return browser


def post(browser: TestClient, path: str, status: int = 303, **form: Any) -> Any:
    """Send a form, without going on to where it leads."""
    files = form.pop("files", None)
    answer = browser.post(f"{MANAGE}{path}", data=form, files=files, follow_redirects=False)
    assert answer.status_code == status, answer.text
    return answer


def look(service: Service) -> CampaignAccess:
    with reading(service.engine) as connection:
        return read_access(connection, NOBODY, "wmt")


def version(browser: TestClient) -> str:
    found = re.search(r'name="version" value="(\w+)"', browser.get(f"{MANAGE}/rules").text)
    assert found
    return found[1]


def test_from_nothing_to_published(service: Service, olga: TestClient) -> None:
    rules = {"title": "The task", "description": "One\n\nTwo", "time_zone": "Europe/Prague", "visibility": "public"}
    post(olga, "/rules", **rules, joining="open", anonymous="yes", version=version(olga))
    post(olga, "/phases/new", phase_name="Test", kind="blind", starts="", ends="2027-01-20 18:00", feedback="rounded")
    files = [("references", ("A.txt", REFERENCE)), ("source", ("s.txt", SOURCE)), ("documents", ("", b""))]
    form = {"test_set_name": "news", "target_language": "cs", "metrics": "bleu chrf", "replicates": "0"}
    post(olga, "/test-sets/new", files=files, phase="Test", **form)
    lead = service.account("mary")
    service.team("harbour", lead)
    mary = service.browser(lead)
    assert "Participate with team" in mary.get(HERE).text
    assert mary.post(f"{HERE}/join", data={"team": "harbour"}).status_code == 200
    overview = mary.get(HERE).text
    assert "Submit an output" in overview
    assert "20 January 2027, 18:00" in overview
    assert "Times in Europe/Prague" in overview
    assert '<p dir="auto">Two</p>' in overview
    submit_output(service.engine, "wmt", "harbour", "mast", REFERENCE)
    work_off(service.settings)
    assert not look(service).sees_board
    assert "Tick the box" in post(olga, "/state", 422, do="publish").text
    post(olga, "/state", do="publish", sure="yes")
    assert look(service).published
    assert "Results published." in olga.get(f"{MANAGE}/results?done=publish").text
    (test_set,) = look(service).test_sets
    post(olga, f"/test-sets/{test_set}", do="release")
    assert look(service).sees_references(test_set)


def test_publication_says_what_becomes_of_later_phases_and_does_it_in_one_step(
    service: Service, olga: TestClient
) -> None:
    campaign = service.campaign("wmt")
    service.phase(campaign, "dry run", PhaseKind.OPEN, begins=-DAY, ends=DAY)
    test = service.phase(campaign, "<test week>", PhaseKind.BLIND, begins=2 * DAY, ends=3 * DAY)
    service.phase(campaign, "results", PhaseKind.PUBLISHED, begins=4 * DAY)
    with_test_set(service.engine, "wmt", name="news")
    with writing(service.engine) as connection:
        connection.execute(update(CampaignTestSet).values(phase_id=test))
    page = re.sub(r"<[^>]*>", "", olga.get(f"{MANAGE}/results").text)
    for words in ("dry run ends now", "&lt;test week&gt; is deleted: blind", "results begins now instead of on"):
        assert words in page
    assert "news moves to dry run, which shows its source" in page
    assert "Delete that phase and publish" in page
    # Somebody who saw another page has not confirmed that phases are deleted.
    assert "would be deleted" in post(olga, "/state", 409, do="publish", sure="yes").text
    post(olga, "/state", do="publish", sure="yes", delete_later="yes")
    access = look(service)
    assert access.published
    assert [each.name for each in access.phases] == ["dry run", "results"]


def test_the_ranking_by_people_is_chosen_from_rules_and_judgments_that_exist(
    service: Service, olga: TestClient
) -> None:
    rules = olga.get(f"{MANAGE}/rules").text
    assert "human_rule" not in rules, "there is nothing to rank by"
    assert f"{HERE}/metrics#human-scores" in rules
    campaign, test_set = service.campaign("wmt"), with_test_set(service.engine, "wmt", name="news")
    kinds = {"esa": JudgmentKind.SCORES, "rr": JudgmentKind.RANKINGS}
    with writing(service.engine) as connection:
        for system, (name, kind) in enumerate([*kinds.items(), ("esa", JudgmentKind.SCORES)]):
            judged = NewJudgments(name, kind, {}, [SystemRow("keel", system)])
            store_judgments(connection, campaign, test_set, judged)
    rules = olga.get(f"{MANAGE}/rules").text
    options = re.findall(r'<option value="([^"]*)"', rules)
    assert [each for each in options if each.startswith("human")] == [
        *("human", "human:average=micro", "human:wmt24", "human:wmt24:average=micro", "human:wmt25")
    ]
    assert [each for each in options if each.startswith(("esa", "rr"))] == ["esa", "esa@1", "esa@2"]
    form = {"human_rule": "human:wmt24", "human_judgments": "esa@1", "version": version(olga)}
    post(olga, "/rules", **form)
    assert '<option value="esa@1" selected>' in olga.get(f"{MANAGE}/rules").text
    with writing(service.engine) as connection:
        connection.execute(delete(Judgments))
    assert '<option value="esa@1" selected>esa@1, deleted' in olga.get(f"{MANAGE}/rules").text


def test_what_is_wrong_stands_in_the_form_with_what_was_filled_in(olga: TestClient) -> None:
    answer = post(olga, "/phases/new", 422, phase_name="Night", kind="open", starts="2027-10-31 02:30")
    assert 'role="alert"' in answer.text
    assert "is ambiguous in Europe/Prague" in answer.text
    assert 'value="Night"' in answer.text
    assert 'value="2027-10-31 02:30"' in answer.text
    answer = post(olga, "/rules", 422, title="x", time_zone="Mars/Olympus", ranked_by="", version=version(olga))
    assert "There is no time zone" in answer.text
    # What browsers send where no file was chosen.
    parts = [f'--b\r\nContent-Disposition: form-data; name="{name}"; filename=""\r\n\r\n\r\n' for name in FILES]
    answer = olga.post(
        f"{MANAGE}/test-sets/new",
        content=f"{''.join(parts)}--b--\r\n",
        headers={"Content-Type": "multipart/form-data; boundary=b"},
    )
    assert answer.status_code == 422
    assert "needs at least one reference" in answer.text
    for words in ("cannot be the name", "Choose at least one metric"):
        assert words in answer.text, "everything that is wrong, at once"
    assert answer.text.count('aria-invalid="true"') >= 2
    files = [("references", ("A.txt", REFERENCE)), ("references", ("B.txt", b"x\n"))]
    answer = post(olga, "/test-sets/new", 422, test_set_name="n", metrics="bleu", files=files)
    assert "refs/B.txt: 1 line, 2 fewer" in answer.text
    assert "no team &#39;nobody&#39;" in post(olga, "/teams", 422, team="nobody").text
    assert "no account with the address" in post(olga, "/members", 422, member_email="x@example.org").text
    assert "is not a number of submissions" in post(olga, "/quotas", 422, quota_kind="per_day", quota_amount="-1").text
    # Nothing typed is no wish for "no limit".
    assert "is not a number of submissions" in post(olga, "/quotas", 422, quota_kind="per_day", quota_amount="").text
    # No database holds more digits.
    many = post(olga, "/quotas", 422, quota_kind="per_day", quota_amount="9999999999").text
    assert "is not a number of submissions" in many
    assert olga.post("/new-campaign", data={"name": "wmt"}).status_code == 409


def test_a_form_that_is_out_of_date_changes_nothing(olga: TestClient, service: Service) -> None:
    before = version(olga)
    post(olga, "/rules", title="First", visibility="public", version=before)
    answer = post(olga, "/rules", 412, title="Second", version=before)
    assert "Somebody else has changed it in the meantime" in answer.text
    assert 'value="Second"' in answer.text
    assert look(service).title == "First"


def test_fields_that_nobody_touched_keep_their_exact_moments(olga: TestClient, service: Service) -> None:
    campaign = service.campaign("wmt", visibility=Visibility.PUBLIC)
    phase = service.phase(campaign, "dev", PhaseKind.OPEN, begins=-DAY, ends=DAY)
    before = look(service).phases[0]
    page = olga.get(f"{MANAGE}/phases/{phase}").text
    form = dict(re.findall(r'<input id="\w+" name="(\w+)" type="(?:text|datetime-local)" value="([^"]*)"', page))
    assert form["starts"][10] == "T", "as the picker of a browser holds it"
    post(olga, f"/phases/{phase}", **{**form, "kind": "blind", "feedback": "none"})
    after = look(service).phases[0]
    assert (after.kind, after.feedback) == ("blind", "none")
    assert (after.starts_at, after.ends_at) == (before.starts_at, before.ends_at)
    post(olga, f"/phases/{phase}", **{**form, "kind": "open", "late": "flag", "grace_hours": "1,5"})
    assert (look(service).phases[0].late, look(service).phases[0].grace_seconds) == ("flag", 5400)
    with writing(service.engine) as connection:
        connection.execute(update(Phase).values(grace_seconds=5400.5, feedback_step=0.125))
    form["grace_hours"] = re.search(
        r'name="grace_hours"[^>]*value="([^"]*)"', olga.get(f"{MANAGE}/phases/{phase}").text
    )[1]
    post(olga, f"/phases/{phase}", **{**form, "kind": "open", "late": "flag", "feedback_step": "0,125"})
    assert (look(service).phases[0].grace_seconds, look(service).phases[0].feedback_step) == (5400.5, 0.125)
    # Without late ones there is no grace, though the field still has it.
    post(olga, f"/phases/{phase}", **{**form, "kind": "open", "late": "refuse"})
    assert (look(service).phases[0].late, look(service).phases[0].grace_seconds) == ("refuse", 0)
    answer = post(olga, f"/phases/{phase}", 422, **{**form, "kind": "open", "ends": form["starts"]})
    assert "The deadline must be after the beginning." in answer.text
    post(olga, f"/phases/{phase}", **{**form, "kind": "open", "ends": " "})
    assert look(service).phases[0].ends_at is None
    post(olga, f"/phases/{phase}", do="remove", kind="open")
    assert not look(service).phases
    assert olga.get(f"{MANAGE}/phases/{phase}").status_code == 404


def test_only_organisers_manage(service: Service, olga: TestClient) -> None:
    service.campaign("wmt", visibility=Visibility.PUBLIC)
    nobody, eve = service.client(), service.browser(service.account("eve"))
    for path in ("", "/test-sets", "/teams", "/live", "/results", "/rules", "/phases/new", "/test-sets/new"):
        assert eve.get(f"{MANAGE}{path}").status_code == 403
        answer = nobody.get(f"{MANAGE}{path}", follow_redirects=False)
        assert answer.headers["Location"].startswith("/sign-in?next=")
    before = look(service)
    for path in ("/rules", "/phases/new", "/state", "/teams", "/members", "/quotas", "/test-sets/new"):
        form = {"do": "freeze", "team": "x", "quota_kind": "per_day"}
        assert eve.post(f"{MANAGE}{path}", data=form).status_code == 403
    assert (look(service).frozen_at, look(service).phases) == (before.frozen_at, before.phases)


def test_teams_members_and_quotas(service: Service, olga: TestClient) -> None:
    mary = service.account("mary")
    service.team("harbour", mary)
    post(olga, "/teams", team="harbour")
    service.browser(mary).post(MANAGE.replace("manage", "join"), data={"team": "harbour"})
    post(olga, "/members", member_email="mary@example.org", member_role="viewer")
    post(olga, "/quotas", quota_kind="per_day", quota_amount="3")
    post(olga, "/quotas", quota_kind="per_day", quota_amount="none", quota_team="harbour")
    page = olga.get(f"{MANAGE}/teams").text
    assert page.count('<td class="number">no limit</td>') == 1
    assert "per day <span" in page
    assert "mary@example.org" in page
    post(olga, "/quotas", do="remove", quota_kind="per_day", quota_team="harbour")
    post(olga, "/teams", do="remove", team="harbour")
    with reading(service.engine) as connection:
        actions = list(connection.scalars(select(AuditEntry.action).order_by(AuditEntry.id)))
    assert actions == [
        *("campaign.found", "invitation.make", "team.join"),
        *("member.set", "quota.set", "quota.set", "quota.remove", "team.leave"),
    ]


def test_a_quota_is_for_a_phase_and_a_team_that_exist(service: Service, olga: TestClient) -> None:
    post(olga, "/rules", title="The task", visibility="public", version=version(olga))
    mary = service.account("mary")
    service.team("harbour", mary)
    service.team("guests", service.account("zoe"))
    post(olga, "/teams", team="harbour")
    service.browser(mary).post(MANAGE.replace("manage", "join"), data={"team": "harbour"})
    post(olga, "/phases/new", phase_name="Test", kind="open", starts="", ends="2027-01-20 18:00")
    page = olga.get(f"{MANAGE}/teams").text
    assert '<option value="Test">Test</option>' in page
    assert '<option value="harbour">harbour</option>' in page
    assert '<option value="guests">' not in page
    limit = {"quota_kind": "per_phase", "quota_amount": "6"}
    answer = post(olga, "/quotas", 422, **limit, quota_phase="test")
    assert "The campaign has no phase &#39;test&#39;. There are: Test." in answer.text
    assert "has no team &#39;guests&#39;" in post(olga, "/quotas", 422, **limit, quota_team="guests").text
    wrong = {"quota_amount": "-1", "quota_team": "nobody", "quota_phase": "no such phase"}
    answer = post(olga, "/quotas", 422, quota_kind="per_day", **wrong)
    said = {"amount": "not a number", "team": "no team &#39;nobody&#39;", "phase": "no phase &#39;no such"}
    for field, words in said.items():
        assert re.search(rf'id="quota_{field}-error" role="alert">.*?{words}', answer.text), "all at once"
    program = service.program(1)
    for wrong in ({"phase": "test"}, {"team": "guests"}):
        refused = program.put("/api/v1/campaigns/wmt/quotas", json={"kind": "per_phase", "amount": 6, **wrong})
        assert refused.status_code == 422, refused.text
    assert program.get("/api/v1/campaigns/wmt/quotas").json()["items"] == []
    post(olga, "/quotas", **limit, quota_phase="Test", quota_team="harbour")
    assert len(program.get("/api/v1/campaigns/wmt/quotas").json()["items"]) == 1
    # What limits nothing goes with its phase.
    (phase,) = look(service).phases
    post(olga, f"/phases/{phase.id}", do="remove", kind="open")
    assert program.get("/api/v1/campaigns/wmt/quotas").json()["items"] == []


def test_the_form_of_a_phase_says_what_can_be_learned_from_its_feedback(olga: TestClient) -> None:
    form = olga.get(f"{MANAGE}/phases/new").text
    assert "BLEU could be raised by 1.3 to 4.2 points without a better system" in form


def test_a_phase_that_was_closed_is_over(service: Service, olga: TestClient) -> None:
    post(olga, "/rules", title="The task", visibility="public", version=version(olga))
    post(olga, "/phases/new", phase_name="Test", kind="open", starts="", ends="2027-01-20 18:00")
    overview = olga.get(HERE).text
    assert "Opens once it has a test set" in overview
    assert "data-until" in overview
    assert ">now</bdi>" in overview
    assert ">now</bdi>" in olga.get(MANAGE).text
    post(olga, "/state", do="close", sure="yes")
    for page in (olga.get(HERE).text, olga.get(MANAGE).text):
        assert ">now</bdi>" not in page
        assert "data-until" not in page
    assert "closed on" in olga.get(f"{MANAGE}/live").text
    assert 'class="past"' in olga.get(HERE).text


def test_a_correction_by_form_and_its_page(service: Service, olga: TestClient) -> None:
    service.campaign("wmt", visibility=Visibility.PUBLIC)
    form = {"test_set_name": "news", "metrics": "chrf", "replicates": "0"}
    post(olga, "/test-sets/new", files=[("references", ("A.txt", REFERENCE))], **form)
    submit_output(service.engine, "wmt", "harbour", "mast", REFERENCE)
    submit_output(service.engine, "wmt", "guests", "tent", b"kocour\npes\nbarak\n")
    work_off(service.settings)
    (old,) = look(service).test_sets
    wrong = [("references", ("Z.txt", REFERENCE))]
    assert "unknown: Z" in post(olga, f"/test-sets/{old}", 422, do="correct", reason="why", files=wrong).text
    files = [("references", ("A.txt", b"kocour\npes\nbarak\n"))]
    post(olga, f"/test-sets/{old}", do="correct", reason="The <wrong> file", files=files)
    assert "2 evaluations" in olga.get(f"{HERE}/corrections/1").text
    work_off(service.settings)
    page = service.client().get(f"{HERE}/corrections/1").text
    assert "The &lt;wrong&gt; file" in page
    assert "▲ up 1" in page
    assert "▼ down 1" in page
    assert "evaluations" not in page
    assert f"{HERE}/corrections/1" in service.client().get(HERE).text


def test_the_overview_says_what_is_open_now(service: Service) -> None:
    campaign = service.campaign("wmt", title="The task", time_zone="Europe/Prague")
    nobody = service.client()
    assert "Opens once it has a test set" in nobody.get(HERE).text
    service.phase(campaign, "dev", PhaseKind.OPEN, begins=DAY, ends=3 * DAY)
    page = nobody.get(HERE).text
    assert "Closed for submissions" in page
    assert re.search(r"dev</bdi> begins on .*, in <span data-until=[^>]*>(1 day|23 h)", page)
    service.phase(campaign, "now", PhaseKind.BLIND, begins=-DAY, ends=DAY / 2, feedback="ladder", feedback_step=0.5)
    page = nobody.get(HERE).text
    assert re.search(r"in <span data-until=\"[\d.]+\" data-now=\"[\d.]+\">(12 h|11 h 59 min)", page)
    assert "only improvements of at least 0.5 points" in page
    assert f'<script src="{address_of("countdown.js")}" defer></script>' in page
    service.campaign("wmt", frozen_at=1.0)
    assert "froze this campaign" in nobody.get(HERE).text


def test_a_phase_says_all_that_is_wrong_at_its_fields(olga: TestClient) -> None:
    given = {"starts": "2027-02-30T10:00", "ends": "soon", "late": "flag", "grace_hours": "many", "feedback_step": "x"}
    page = post(olga, "/phases/new", 422, phase_name="", kind="", **given).text
    for field in ("phase_name", "kind", "starts", "ends", "grace_hours", "feedback_step"):
        assert f'id="{field}-error"' in page, field
    assert 'value="soon"' in page
    page = post(
        olga, "/phases/new", 422, phase_name="x", kind="open", starts="2027-02-03T10:00", ends="2027-02-02T10:00"
    )
    assert "must be after the beginning" in page.text


def test_metrics_are_ticked_or_written(olga: TestClient, service: Service) -> None:
    files = [("references", ("A.txt", REFERENCE))]
    form = {"test_set_name": "news", "metric": ["chrf", "ter"], "metrics": "bleu:order=1 ter", "replicates": "0"}
    post(olga, "/test-sets/new", files=files, **form)
    (test_set,) = service.program(1).get("/api/v1/campaigns/wmt/test-sets").json()["items"]
    assert test_set["measures"][0]["metrics"] == ["chrf", "ter", "bleu:order=1"]


def test_the_page_of_a_test_set_does_what_its_forms_say_and_to_no_other(olga: TestClient, service: Service) -> None:
    campaign = service.campaign("wmt")
    service.phase(campaign, "dev", PhaseKind.OPEN, begins=-DAY, ends=DAY)
    news = with_test_set(service.engine, "wmt", name="news", metrics=("bleu",))
    talks = with_test_set(service.engine, "wmt", given(source=b"one\ntwo\nsix\n"), name="talks", metrics=("bleu",))
    form = f"/test-sets/{talks}"

    def known() -> list[dict[str, Any]]:
        listed = service.program(1).get("/api/v1/campaigns/wmt/test-sets").json()["items"]
        return sorted(listed, key=lambda each: each["id"] == talks)

    other, before = known()
    assert (other["id"], before["id"]) == (news, talks)
    refused = post(olga, form, 409, do="release").text
    assert "Outputs for talks are accepted in the phase &#34;dev&#34;" in refused
    assert known() == [other, before], "the box was not ticked"
    post(olga, form, do="release", early="yes")
    assert known()[1]["released_at"] is not None
    post(olga, form, do="hide")
    assert known() == [other, before]
    post(olga, form, do="phase", phase="dev")
    assert known()[1]["phase"] == "dev"
    assert '<option value="dev" selected>' in olga.get(f"{MANAGE}{form}").text
    post(olga, form, do="phase", phase="")
    post(olga, form, do="measure", metrics="chrf  ter", replicates="7", resample="segment")
    measure = known()[1]["measures"][-1]
    assert (measure["metrics"], measure["replicates"]) == (["bleu", "chrf", "ter"], 7)
    wrong = post(olga, form, 422, do="measure", metrics="chrf", replicates="few").text
    assert 'value="few"' in wrong
    post(olga, form, 422, do="no such action")
    assert known()[0] == other
    answer = post(olga, form, do="remove")
    assert answer.headers["Location"] == f"{MANAGE}/test-sets?done=test-set"
    assert known() == [other]


def test_pages_of_management_are_by_subject(olga: TestClient) -> None:
    for section, words in (
        ("", "Phases"),
        ("/test-sets", "No test sets yet"),
        ("/teams", "Quotas"),
        ("/live", "Freeze"),
    ):
        page = olga.get(f"{MANAGE}{section}").text
        assert words in page
        assert page.count('aria-current="page"') == 2, "the tab, and the page of management"
    assert "Publish now" in olga.get(f"{MANAGE}/results").text
    assert "Publish now" not in olga.get(MANAGE).text
    # What went wrong is told on the page of its form.
    assert "Tick the box" in post(olga, "/state", 422, do="close").text
    assert "Freeze the campaign" in post(olga, "/state", 422, do="close").text


def test_a_campaign_is_created_with_its_usual_phases(service: Service) -> None:
    olga = service.browser(service.account("olga", SiteRole.ORGANISER))
    form = {
        "name": "wmt27",
        "title": "WMT27",
        "description": "News",
        "time_zone": "Europe/Prague",
        "visibility": "public",
        "joining": "open",
        "development_ends": "2127-01-10T12:00",
        "test_starts": "2127-01-10T12:00",
        "test_ends": "2127-01-20T18:00",
        "results_at": "2127-02-01T12:00",
    }
    answer = olga.post("/new-campaign", data=form, follow_redirects=False)
    assert answer.headers["Location"] == "/campaigns/wmt27/manage"
    with reading(service.engine) as connection:
        access = read_access(connection, NOBODY, "wmt27")
    kinds = [(each.name, each.kind, each.ends_at is None) for each in access.phases]
    assert kinds == [("Development", "open", False), ("Test", "blind", False), ("Results", "published", True)]
    assert access.phases[1].feedback == "rounded"
    assert access.joining == "open"
    assert access.phase_status(access.phases[0]) == "now"
    # Two steps are left: a test set and, since any team can join, nothing else.
    assert "4 of 5 done" in olga.get("/campaigns/wmt27/manage").text.replace("</span>", "")


def test_a_campaign_that_is_wrong_is_not_created_at_all(service: Service) -> None:
    olga = service.browser(service.account("olga", SiteRole.ORGANISER))
    wrong = {"name": "a/b", "time_zone": "Mars", "test_ends": "2127-01-20T18:00", "results_at": "2020-01-01T00:00"}
    page = olga.post("/new-campaign", data=wrong)
    assert page.status_code == 422
    for field, words in {
        "name": "cannot be the name",
        "time_zone": "There is no time zone",
        "test_starts": "needs a beginning and a deadline",
        "results_at": "This is before",
    }.items():
        error = re.search(rf'id="{field}-error".*?</p>', page.text)
        assert error, field
        assert words in error[0]
    # A conflict of its phases leaves no campaign behind.
    same = {"test_starts": "2127-01-20T18:00", "test_ends": "2127-01-20T18:00"}
    assert olga.post("/new-campaign", data={"name": "wmt27", **same}).status_code == 422
    assert olga.get("/campaigns/wmt27").status_code == 404
