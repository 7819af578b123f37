"""Zips whose names lead out of the folder that they are unpacked into."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.schema.roles import SiteRole
from tests.service.campaigns import given, with_test_set
from tests.service.service import Service
from tests.web.hostile.expected import zipped

UP = "../" * 20
NAMES = ("{0}", "/{0}", "//{0}", UP + "{0}", "a/../" + UP + "{0}", "./" + UP + "{0}")
ROUTES = (
    "/api/v1/campaigns/port/outputs",
    "/campaigns/port/submit",
    "/api/v1/campaigns/fresh/import",
    "/new-campaign/import",
)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_written_elsewhere(service: Service, tmp_path: Path, route: str, name: str) -> None:
    """For Python's paths two slashes at the beginning are another root than one."""
    account = service.account("mary", SiteRole.ORGANISER)
    service.campaign("port", teams=(service.team("harbour", account),))
    with_test_set(service.engine, "port", given(source=b"one\n", reference=b"jedna\n"), name="en-cs")
    target = tmp_path / "elsewhere" / "x"
    packed = zipped({"en-cs.txt": "jedna\n", name.format(target): "x"})
    answer = service.browser(account).post(
        route,
        data={"system": "mast", "test_set": "*", "team": "harbour", "import_name": "fresh"},
        files={"file": ("sent.zip", packed)},
    )
    assert (answer.status_code, "which cannot be used" in answer.text) == (422, True), answer.text
    assert not target.parent.exists()
