"""The overview of a campaign, and what organisers change of it."""

from __future__ import annotations

from web.pages.campaigns import (
    announce,
    campaign,
    feed,
    home,
    judgment_tasks,
    manage,
    manage_danger,
    manage_phases,
    manage_rules,
    manage_sections,
    manage_test_sets,
    new_campaign,
    nightly,
    past,
    scores,
    systems,
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
    manage_rules.router,
    manage_test_sets.router,
    nightly.router,
    past.router,
    announce.router,
    scores.router,
    systems.router,
    terms.router,
    judgment_tasks.router,
)
