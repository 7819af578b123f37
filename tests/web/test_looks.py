"""The pieces that all pages are made of."""

from models.schema.roles import PhaseKind, SiteRole
from runtime.times import utc
from tests.service.service import DAY, Service
from web.pages.times import format_duration, format_time


def test_the_navigation_names_what_one_may_use(service: Service) -> None:
    mary, root = service.account("mary"), service.account("root", SiteRole.ADMINISTRATOR)
    links = {
        name: {part for part in ("/teams", "/queue", "/audit", "/sign-in", "/sign-out") if f'"{part}"' in text}
        for name, text in {
            "nobody": service.client().get("/").text,
            "mary": service.browser(mary).get("/").text,
            "root": service.browser(root).get("/").text,
        }.items()
    }
    assert links == {
        "nobody": {"/sign-in"},
        "mary": {"/teams", "/sign-out"},
        "root": {"/teams", "/sign-out", "/queue", "/audit"},
    }


def test_a_card_tells_the_phase_and_its_deadline(service: Service) -> None:
    campaign = service.campaign("open waters", title="Open <waters>", time_zone="Europe/Prague")
    service.phase(campaign, "blind week", PhaseKind.BLIND, ends=3 * DAY)
    shown = service.client().get("/").text
    assert "Open &lt;waters&gt;" in shown
    assert "blind week" in shown
    assert "until <time" in shown
    assert "(Europe/Prague)" in shown


def test_moments_are_in_their_zone() -> None:
    assert format_time(1_796_562_000, "Europe/Prague") == "6 December 2026, 14:00 (Europe/Prague)"
    assert format_time(1_796_562_000, "Nowhere/Nothing") == "6 December 2026, 13:00 (UTC)"
    assert utc(1_796_562_000.4) == "2026-12-06T13:00:00Z"


def test_spans_have_two_units() -> None:
    told = [format_duration(each) for each in (-5, 0, 59.6, 61, 3600, 7500, 86400, 2 * 86400 + 7200, 30 * 86400 + 3600)]
    assert told == ["0 s", "0 s", "1 min", "1 min 1 s", "1 h", "2 h 5 min", "1 day", "2 days 2 h", "30 days"]
