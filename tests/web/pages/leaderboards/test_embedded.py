"""Frames of other sites: by a campaign's choice alone, and with what everybody sees."""

from __future__ import annotations

import re
from html import unescape

import pytest

from models.schema.roles import Feedback, PhaseKind
from tests.service.inspected_campaign import Looked, look_at
from tests.service.service import DAY, Service

EMBED, RULES = "/campaigns/bay/embed", "/api/v1/campaigns/bay"


@pytest.fixture
def bay(service: Service) -> Looked:
    """Published."""
    looked = look_at(service)
    looked.service.phase(looked.campaign, "out", PhaseKind.PUBLISHED)
    return looked


def choose(bay: Looked, **rules: object) -> None:
    changed = bay.service.program(bay.organiser).patch(RULES, json=rules)
    assert changed.status_code < 300, changed.text


def test_only_campaigns_that_choose_it_are_framed(bay: Looked) -> None:
    visitor = bay.service.client()
    refused = visitor.get(EMBED)
    assert refused.status_code == 404
    assert "frame-ancestors 'none'" in refused.headers["content-security-policy"]
    assert refused.headers["x-frame-options"] == "DENY"
    choose(bay, embeddable=True)
    assert visitor.get(RULES).json()["embeddable"]
    shown = visitor.get(EMBED)
    assert shown.status_code == 200
    policy = shown.headers["content-security-policy"]
    assert "frame-ancestors *" in policy
    assert "script-src 'none'" in policy
    assert "form-action 'none'" in policy
    assert "x-frame-options" not in shown.headers
    assert "set-cookie" not in shown.headers
    assert "dive" in shown.text
    assert "<form" not in shown.text
    assert "<script" not in shown.text
    # No other page may be framed.
    for page in ("/campaigns/bay", "/campaigns/bay/leaderboard", "/sign-in"):
        answer = visitor.get(page)
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-frame-options"] == "DENY"


def test_who_is_signed_in_is_shown_no_more_than_others(bay: Looked) -> None:
    choose(bay, embeddable=True)
    organiser = bay.service.browser(bay.organiser)
    assert organiser.get(EMBED).text == bay.service.client().get(EMBED).text
    bay.service.phase(bay.campaign, "blind", PhaseKind.BLIND, begins=-1, ends=DAY, feedback=Feedback.FULL)
    assert organiser.get("/campaigns/bay/leaderboard").status_code == 200
    assert organiser.get(EMBED).status_code == 404


def test_the_leaderboard_has_the_code_and_the_form_the_choice(bay: Looked) -> None:
    page = "/campaigns/bay/leaderboard"
    organiser = bay.service.browser(bay.organiser)
    assert "iframe" not in organiser.get(page).text
    assert 'name="embeddable"' in organiser.get("/campaigns/bay/manage/rules").text
    choose(bay, embeddable=True)
    text = organiser.get(page).text
    (code,) = re.findall(r'aria-label="HTML to embed">(.*?)</pre>', text)
    (address,) = re.findall(r'^<iframe src="https?://[^/"]+([^"]+)" title="Leaderboard of bay" ', unescape(code))
    shown = bay.service.client().get(unescape(address))
    assert shown.status_code == 200
    assert "ranked by BLEU" in shown.text
