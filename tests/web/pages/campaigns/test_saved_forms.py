"""What a form of management saves: the field that was changed and no other, and the page says so."""

from __future__ import annotations

from typing import Any

import pytest

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.permissions import CampaignAccess, read_access
from campaigns.rules import Rules
from models.database.session import reading
from tests.service.campaigns import given, with_test_set
from tests.service.port import Port
from tests.web.pages.forms_of import form_with
from web.pages.campaigns.manage_sections import MESSAGES

HERE = "/campaigns/port%201"
MANAGE = f"{HERE}/manage"
CHANGES: dict[str, Any] = {
    "title": "The Port",
    "description": "One\n\nTwo",
    "time_zone": "Asia/Tokyo",
    "visibility": "private",
    "joining": "open",
    "anonymous": True,
    "verified_only": True,
    "ranked_by": "chrf",
    "embeddable": True,
}


def rules_of(port: Port) -> dict[str, Any]:
    with reading(port.service.engine) as connection:
        access: CampaignAccess = read_access(connection, COMMAND_LINE, "port 1")
    return {name: getattr(access, name) for name in Rules.__dataclass_fields__}


@pytest.mark.parametrize("field", CHANGES)
def test_a_rule_is_changed_alone_and_back(port: Port, field: str) -> None:
    ann, before = port.browser("ann"), rules_of(port)
    assert before[field] != CHANGES[field]
    shown = form_with(ann.get(f"{MANAGE}/rules").text, CHANGES)
    sent: dict[str, Any] = {name: values for name, values in shown.items() if values}
    value = CHANGES[field]
    changed = ann.post(f"{MANAGE}/rules", data={**sent, field: "yes" if value is True else value})
    assert "Rules saved." in changed.text
    assert rules_of(port) == {**before, field: value}
    again = form_with(ann.get(f"{MANAGE}/rules").text, CHANGES)
    assert again[field] == ["yes" if value is True else value]
    back = {name: values for name, values in sent.items() if name != "version"}
    assert "Rules saved." in ann.post(f"{MANAGE}/rules", data=back).text
    assert {**rules_of(port), "title": ""} == {**before, "title": ""}


def test_what_a_form_does_not_ask_is_as_it_was(port: Port) -> None:
    ann, rules = port.browser("ann"), f"{MANAGE}/rules"
    for joining, visibility in (("open", "private"), ("invited", "public"), ("open", "public")):
        kinds = {"joining": joining, "visibility": visibility, "time_zone": "Asia/Tokyo"}
        assert "Rules saved." in ann.post(rules, data=kinds).text
        assert "Rules saved." in ann.post(rules, data={"title": f"{joining} {visibility}"}).text
        assert {name: rules_of(port)[name] for name in kinds} == kinds


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("rules", {"title": "x"}),
        ("terms", {"terms": "Be kind."}),
        (
            "phases/new",
            {"phase_name": "next", "kind": "open", "starts": "2127-01-20T18:00", "ends": "2127-01-21T18:00"},
        ),
        ("test-sets/1", {"do": "hide"}),
        ("teams", {"do": "remove", "team": "harbour"}),
        ("teams", {"team": "eels"}),
        ("members", {"member_email": "zoe@example.org", "member_role": "viewer"}),
        ("quotas", {"quota_kind": "per_day", "quota_amount": "3"}),
        ("announce", {"announce_subject": "x", "announce_text": "y"}),
        ("state", {"do": "freeze"}),
        ("state", {"do": "close", "sure": "yes"}),
        ("state", {"do": "publish", "sure": "yes"}),
        ("clone", {"clone_name": "next year"}),
    ],
    ids=lambda each: "" if isinstance(each, dict) else each,
)
def test_the_page_to_which_a_form_leads_says_what_was_done(port: Port, path: str, form: dict[str, str]) -> None:
    ann = port.browser("ann")
    port.service.team("eels", port.service.account("eva"))
    answer = ann.post(f"{MANAGE}/{path}", data=form, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    done = answer.headers["Location"].partition("done=")[2].partition("#")[0]
    shown = ann.get(answer.headers["Location"]).text
    assert MESSAGES[done] in shown
    assert sum(message in shown for message in MESSAGES.values()) == 1


def test_scores_are_imported_for_test_sets_that_count(port: Port) -> None:
    old = with_test_set(port.service.engine, "port 1", given(), name="news", metrics=("bleu",))
    ann = port.browser("ann")

    def offered() -> str:
        page = ann.get(f"{HERE}/scores").text
        return page[page.index('<select id="test_set" name="test_set"') :].partition("</select>")[0]

    assert offered().count("<option") == 3, "each, and that of each language pair"
    file = ("references", ("A.txt", b"kocour\npes\ndum\n"))
    form = {"do": "correct", "reason": "The wrong cat."}
    assert ann.post(f"{MANAGE}/test-sets/{old}", data=form, files=[file]).status_code == 200
    assert offered().count("<option") == 3, "the old version takes no scores any more"
    assert '<option value="news@2"' in offered() or '<option value="news"' in offered()


@pytest.mark.parametrize("test_sets", [True, False])
@pytest.mark.parametrize("teams", [True, False])
def test_a_clone_takes_along_what_was_ticked(port: Port, test_sets: bool, teams: bool) -> None:
    ann = port.browser("ann")
    form = {"clone_name": "next", **({"clone_test_sets": "yes"} if test_sets else {})}
    answer = ann.post(f"{MANAGE}/clone", data={**form, **({"clone_teams": "yes"} if teams else {})})
    assert MESSAGES["cloned"] in answer.text
    assert len(ann.get("/api/v1/campaigns/next/test-sets").json()["items"]) == test_sets
    # Teams are invited: their leads accept.
    invited = ann.get("/campaigns/next/invitations").text
    assert [team in invited for team in ("harbour", "guests")] == [teams] * 2
