"""What a form of management cannot say, and what somebody sends all the same: refused, and nothing changes."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.service.people import audited, submit
from tests.service.port import Port, output

MANAGE = "/campaigns/port%201/manage"
PLAIN = {"test_set_name": "news", "metrics": "bleu", "replicates": "0"}


@pytest.mark.parametrize(
    ("path", "form", "status", "says"),
    [
        ("/state", {"do": "open", "sure": "yes"}, 422, "Unknown action."),
        ("/quotas", {"quota_kind": "per_year", "quota_amount": "3"}, 422, "Unknown kind of quota."),
        ("/rules", {"visibility": "secret"}, 422, "Unknown value for visibility or participation."),
        ("/rules", {"joining": "never"}, 422, "Unknown value for visibility or participation."),
        ("/phases/first", {"phase_name": "x"}, 404, ""),
        ("/phases/12345678901234567890", {"phase_name": "x"}, 404, ""),
        ("/test-sets/quay", {"do": "hide"}, 404, ""),
        ("/test-sets/1", {"do": "burn"}, 422, "Unknown action."),
        ("/test-sets/1", {"do": "measure", "metrics": " "}, 422, "Name at least one metric."),
        (
            "/test-sets/1",
            {"do": "measure", "metrics": "ter", "replicates": "many"},
            422,
            "&#39;many&#39; is not a number of replicates.",
        ),
        (
            "/test-sets/1",
            {"do": "measure", "metrics": "ter", "replicates": "0", "resample": "word"},
            422,
            "&#39;word&#39; cannot be resampled: choose segments or documents.",
        ),
        (
            "/test-sets/new",
            {**PLAIN, "target_language": "Czech!"},
            422,
            "&#39;Czech!&#39; is not a language code such as cs or pt-BR.",
        ),
        (
            "/test-sets/new",
            {**PLAIN, "source_language": "c"},
            422,
            "&#39;c&#39; is not a language code such as cs or pt-BR.",
        ),
    ],
)
def test_what_no_form_offers_is_refused(port: Port, path: str, form: dict[str, Any], status: int, says: str) -> None:
    ann, before = port.browser("ann"), audited(port.service)
    files = {"references": ("A.txt", output())} if path == "/test-sets/new" else None
    answer = ann.post(MANAGE + path, data=form, files=files, follow_redirects=False)
    assert (answer.status_code, says in answer.text) == (status, True), answer.text
    assert audited(port.service) == before


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ({"visibility": "secret"}, "Choose who sees the campaign."),
        ({"joining": "never"}, "Choose who can join."),
    ],
)
def test_a_new_campaign_is_seen_and_joined_as_can_be_chosen(port: Port, form: dict[str, str], says: str) -> None:
    ann = port.browser("ann")
    answer = ann.post("/new-campaign", data={"name": "wmt", "time_zone": "UTC", **form}, follow_redirects=False)
    assert (answer.status_code, says in answer.text) == (422, True)
    assert ann.get("/campaigns/wmt").status_code == 404


def test_a_member_is_removed_by_the_form_beside_it(port: Port) -> None:
    ann = port.browser("ann")
    assert (
        submit(
            ann, f"{MANAGE}/teams", f"{MANAGE}/members", member_email="zoe@example.org", member_role="viewer"
        ).status_code
        == 303
    )
    members = "/api/v1/campaigns/port%201/members"
    assert {each["email"]: each["role"] for each in ann.get(members).json()["items"]} == {
        "ann@example.org": "organiser",
        "zoe@example.org": "viewer",
    }
    gone = submit(ann, f"{MANAGE}/teams", f"{MANAGE}/members", do="remove", account=str(port.accounts["zoe"]))
    assert gone.headers["Location"] == f"{MANAGE}/teams?done=member#members"
    assert [each["email"] for each in ann.get(members).json()["items"]] == ["ann@example.org"]


def test_a_team_leaves_on_the_page_of_the_campaign(port: Port) -> None:
    mary, here = port.browser("mary"), "/campaigns/port%201"
    left = submit(mary, here, f"{here}/leave", team="harbour")
    assert (left.status_code, left.headers["Location"]) == (303, "/teams")
    assert [each["team"] for each in port.browser("ann").get("/api/v1/campaigns/port%201/teams").json()["items"]] == [
        "guests"
    ]
    assert submit(mary, "/teams", f"{here}/leave", team="guests").status_code in (403, 404)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"system\tpaper\nanchor\t\xff\n", "The table is not UTF-8, at byte 21. Save it as UTF-8."),
        (b"x" * 10, "system"),
    ],
)
def test_a_table_of_systems_that_cannot_be_read_says_so(port: Port, content: bytes, says: str) -> None:
    ann = port.browser("ann")
    answer = ann.post("/campaigns/port%201/systems", files={"file": ("systems.tsv", content)}, follow_redirects=False)
    (error,) = re.findall(r'class="notice error" role="alert">(.*?)</div></div>', answer.text, re.DOTALL)
    assert (answer.status_code, says in error) == (422, True)


def test_a_table_of_systems_has_a_largest_size(port: Port, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.pages.campaigns.systems.MAX_TABLE_BYTES", 30)
    ann = port.browser("ann")
    for more, status in ((b"", 200), (b"x", 422)):
        table = b"system\tpaper\nanchor\t\n".ljust(30, b"\n") + more
        answer = ann.post("/campaigns/port%201/systems", files={"file": ("systems.tsv", table)})
        assert (answer.status_code, "The table has more than 30 bytes." in answer.text) == (status, bool(more))


def test_an_organiser_says_whose_a_system_is(port: Port) -> None:
    ann, place = port.browser("ann"), "/campaigns/port%201/systems/1"
    saved = submit(ann, place, origin="baseline")
    assert saved.headers["Location"] == f"{place}?done=saved"
    assert ann.get("/api/v1/campaigns/port%201/systems/1").json()["origin"] == "baseline"
    # A form without the field says nothing of it.
    submit(ann, place, description="A boat.")
    found = ann.get("/api/v1/campaigns/port%201/systems/1").json()
    assert (found["origin"], found["description"]) == ("baseline", "A boat.")


def test_weights_of_autorank_are_numbers(port: Port) -> None:
    form = {"rule": "wmt24", "weights": "1 heavy"}
    answer = port.browser("ann").post("/campaigns/port%201/autorank", data=form, follow_redirects=False)
    assert (answer.status_code, "Weights are numbers with blanks between them." in answer.text) == (422, True)
