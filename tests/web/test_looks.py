"""The pieces that all pages are made of."""

from models.schema.roles import PhaseKind, SiteRole
from runtime.times import utc
from tests.service.campaigns import with_test_set
from tests.service.service import DAY, Service


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
    with_test_set(service.engine, "open waters")
    shown = service.client().get("/").text
    assert "Open &lt;waters&gt;" in shown
    assert "blind week" in shown
    assert "closes in <strong data-until=" in shown
    assert "(Europe/Prague)" in shown


def test_times_for_programs_are_in_utc() -> None:
    assert utc(1_796_562_000.4) == "2026-12-06T13:00:00Z"
