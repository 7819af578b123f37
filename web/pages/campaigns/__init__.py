"""The overview of a campaign, and what organisers change of it."""

from __future__ import annotations

from web.pages.campaigns import (
    campaign,
    feed,
    home,
    manage,
    manage_danger,
    manage_phases,
    manage_sections,
    manage_test_sets,
    new_campaign,
    nightly,
    scores,
    terms,
)

ROUTERS = (
    home.router,
    feed.router,
    campaign.router,
    new_campaign.router,
    manage_sections.router,
    manage.router,
    manage_danger.router,
    manage_phases.router,
    manage_test_sets.router,
    nightly.router,
    scores.router,
    terms.router,
)
