"""The overview of a campaign, and what organisers change of it."""

from __future__ import annotations

from web.pages.campaigns import campaign, home, manage, manage_phases, manage_test_sets, nightly

ROUTERS = (home.router, campaign.router, manage.router, manage_phases.router, manage_test_sets.router, nightly.router)
