"""The pages of management lead to each other."""

import re

from models.schema.roles import SiteRole
from tests.service.campaigns import with_test_set
from tests.service.service import Service

MANAGE = "/campaigns/wmt/manage"
SECTIONS = ("", "/test-sets", "/teams", "/live", "/results", "/danger")


def test_every_page_of_management_leads_to_the_others_and_says_where_it_belongs(service: Service) -> None:
    olga = service.browser(service.account("olga", SiteRole.ORGANISER))
    olga.post("/new-campaign", data={"name": "wmt", "title": "The task", "time_zone": "UTC"})
    with_test_set(service.engine, "wmt")
    (test_set,) = set(re.findall(rf"{MANAGE}(/test-sets/\w+)", olga.get(f"{MANAGE}/test-sets").text)) - {
        "/test-sets/new"
    }
    belong = dict.fromkeys(("/rules", "/phases/new", "/terms"), "")
    belong |= dict.fromkeys(("/test-sets/new", test_set), "/test-sets")
    for page, section in (belong | {each: each for each in SECTIONS}).items():
        navigation = re.search(r'<nav class="local sub".*?</nav>', olga.get(f"{MANAGE}{page}").text, re.DOTALL)
        assert navigation, page
        assert re.findall(rf'href="{MANAGE}([^"]*)"', navigation[0]) == [*SECTIONS]
        assert re.findall(r'href="([^"]*)" aria-current="page"', navigation[0]) == [f"{MANAGE}{section}"], page
