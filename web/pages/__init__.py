"""Pages for people, made on the server, usable without a script: one file for each kind of page."""

from __future__ import annotations

from web.pages import (
    about,
    boards,
    campaign,
    comparing,
    home,
    manage,
    manage_phases,
    manage_test_sets,
    metrics,
    nights,
    queue,
    segments,
    submissions,
    submit,
)

ROUTERS = (
    home.router,
    boards.router,
    campaign.router,
    manage.router,
    manage_phases.router,
    manage_test_sets.router,
    comparing.router,
    segments.router,
    metrics.router,
    nights.router,
    queue.router,
    about.router,
    submit.router,
    submissions.router,
)
