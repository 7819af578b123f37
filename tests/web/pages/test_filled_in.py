"""A form that is refused comes back as it was filled in: every field of it, not only the one that is wrong.

Each form is sent with one fault and, in all other fields, what they do not have by themselves: a field that is
forgotten would go back to its default unseen, and the second try would say something else than the first.
"""

from __future__ import annotations

from typing import Any

import pytest

from models.schema.roles import PhaseKind, SiteRole
from tests.service.campaigns import REFERENCE, given, submit_output, with_test_set
from tests.service.port import Port, output
from tests.service.service import DAY
from tests.web.pages.forms_of import form_with

HERE = "/campaigns/port%201"
MANAGE = f"{HERE}/manage"
TABLE = ("files", ("odd.txt", b"hello\n"))
REFUSED: dict[str, tuple[str, dict[str, Any], Any]] = {
    "a new campaign": (
        "/new-campaign",
        {
            "name": "a/b",
            "title": "The Task",
            "description": "One\n\nTwo",
            "time_zone": "Europe/Prague",
            "visibility": "public",
            "joining": "open",
            "development_ends": "2127-01-01T12:00",
            "test_starts": "2127-01-02T12:00",
            "test_ends": "2127-01-03T12:00",
            "results_at": "2127-01-04T12:00",
        },
        None,
    ),
    "a campaign to import": ("/new-campaign/import", {"import_name": "brought"}, ("file", ("x.zip", b"no zip"))),
    "rules": (
        f"{MANAGE}/rules",
        {
            "title": "The Task",
            "description": "One\n\nTwo",
            "time_zone": "Mars/Olympus",
            "visibility": "private",
            "joining": "open",
            "anonymous": "yes",
            "verified_only": "yes",
            "ranked_by": "chrf",
            "embeddable": "yes",
        },
        None,
    ),
    "a phase": (
        f"{MANAGE}/phases/new",
        {
            "phase_name": "Night",
            "kind": "blind",
            "starts": "2127-02-03T10:00",
            "ends": "2127-02-02T10:00",
            "late": "flag",
            "grace_hours": "1,5",
            "feedback": "ladder",
            "feedback_step": "0,25",
        },
        None,
    ),
    "a test set": (
        f"{MANAGE}/test-sets/new",
        {
            "test_set_name": "a/b",
            "source_language": "en",
            "target_language": "cs",
            "variable_references": "yes",
            "phase": "second",
            "metric": ["chrf", "ter"],
            "metrics": "bleu:order=1",
            "replicates": "7",
            "resample": "document",
        },
        ("references", ("A.txt", output())),
    ),
    "more metrics": (
        f"{MANAGE}/test-sets/1",
        {"do": "measure", "metrics": "ter", "replicates": "few", "resample": "document"},
        None,
    ),
    "a correction": (f"{MANAGE}/test-sets/1", {"do": "correct", "reason": "Line 3"}, ("references", ("Z.txt", b"x\n"))),
    "terms": (f"{MANAGE}/terms", {"terms": "x" * 200_000}, None),
    "a team": (f"{MANAGE}/teams", {"do": "add", "team": "nobody"}, None),
    "a member": (f"{MANAGE}/members", {"member_email": "x@example.org", "member_role": "organiser"}, None),
    "a quota": (
        f"{MANAGE}/quotas",
        {"quota_kind": "per_phase", "quota_amount": "few", "quota_team": "guests", "quota_phase": "second"},
        None,
    ),
    "an announcement": (f"{MANAGE}/announce", {"announce_subject": " ", "announce_text": "We open soon."}, None),
    "a campaign to clone": (
        f"{MANAGE}/clone",
        {
            "clone_name": "port 1",
            "clone_title": "Next",
            "clone_starts": "2127-02-03T10:00",
            "clone_test_sets": [],
            "clone_teams": "yes",
        },
        None,
    ),
    "invitations": (f"{HERE}/invitations", {"email": "zoe, eve@", "role": "viewer"}, None),
    "an invitation to the server": ("/invitations", {"email": "zoe@", "role": "viewer"}, None),
    "a system": (
        f"{HERE}/systems/1",
        {
            "description": "One\n\nTwo",
            "affiliation": "Quay",
            "paper_url": "https://example.org/p",
            "url": "ftp",
            "parameters": "7 B",
            "weights": "open",
            "track": "no",
            "origin": "online",
        },
        None,
    ),
    "imported scores": (
        f"{HERE}/scores",
        {
            "test_set": "quay",
            "pairs": "en-cs de-en",
            "metric": "X@2",
            "lower_is_better": "X Y",
            "create": "yes",
        },
        TABLE,
    ),
    "AutoRank": (f"{HERE}/autorank", {"rule": "wmt24", "metrics": "X\nY", "weights": "1 heavy"}, None),
    "human scores": (f"{HERE}/metrics", {"test_set": "2", "called": "da", "rename": "Mast\tmast"}, TABLE),
    "tasks for annotators": (
        f"{MANAGE}/judgment-tasks",
        {
            "tool": "pearmut",
            "protocol": "mqm",
            "test_set": ["news"],
            "system": ["guests/oar"],
            "references": "yes",
            "tutorial": [],
            "assignment": "task-based",
            "annotators": "3",
            "together": "few",
            "checks": "2",
            "seed": "7",
        },
        None,
    ),
    "an output": (
        f"{HERE}/submit",
        {
            "test_set": "quay@1",
            "origin": "online",
            "team": "guests",
            "system": "mast",
            "kind": "primary",
            "constrained": "false",
            "description": "One\n\nTwo",
            "run": "seed 2",
        },
        ("file", ("mast.txt", b"")),
    ),
    "a name": ("/account/name", {"name": "x" * 101}, None),
    "a token": ("/account/tokens", {"name": "laptop", "days": "many", "scopes": ["organise"]}, None),
    "a team of one's own": ("/teams", {"name": "a/b", "publication_name": "The Pier", "affiliation": "Quay"}, None),
    "an account": ("/accounts", {"email": "zoe@", "name": "Zoë", "role": "viewer"}, None),
    "notices": (
        "/account/notices",
        {"wanted": ["failed:feed", "deadline:webhook"], "webhook": "ftp://example.org", "renew_feed": "yes"},
        None,
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_form_that_is_refused_keeps_what_was_filled_in(port: Port, what: str) -> None:
    address, sent, file = REFUSED[what]
    port.service.phase(port.campaign, "second", PhaseKind.OPEN, begins=DAY)
    with_test_set(port.service.engine, "port 1", given(source=b"one\ntwo\nsix\n"), name="news")
    submit_output(port.service.engine, "port 1", "guests", "oar", REFERENCE, test_set="news")
    browser = port.browser("ann")
    if address == "/accounts":
        browser = port.service.browser(port.service.account("root", SiteRole.ADMINISTRATOR))
    answer = browser.post(address, data=sent, files=[file] if file else None, follow_redirects=False)
    assert 400 <= answer.status_code < 500, answer.status_code
    does, fields = sent.get("do", ""), {field: value for field, value in sent.items() if field != "do"}
    kept = form_with(answer.text, fields, does)
    for field, value in fields.items():
        assert sorted(kept[field]) == sorted([value] if isinstance(value, str) else value), field
