"""The form on *Create a campaign* that takes a whole one in."""

from __future__ import annotations

from models.schema.roles import SiteRole
from tests.service.service import Service
from tests.web.hostile.expected import pairs_zip


def test_a_zip_becomes_a_campaign_and_what_is_wrong_is_said_beside_the_form(service: Service) -> None:
    olga = service.browser(service.account("olga", SiteRole.ORGANISER))
    assert 'action="/new-campaign/import#import"' in olga.get("/new-campaign").text

    def sent(name: str, content: bytes) -> tuple[int, str]:
        files = {"file": ("port.zip", content, "application/zip")}
        answer = olga.post("/new-campaign/import", data={"import_name": name}, files=files, follow_redirects=False)
        return answer.status_code, answer.headers.get("Location", answer.text)

    assert sent("harbour", pairs_zip()) == (303, "/campaigns/harbour")
    assert "en-cs" in olga.get("/campaigns/harbour").text
    status, page = sent("harbour", pairs_zip())
    assert (status, "There is a campaign with the name" in page) == (409, True)
    assert 'value="harbour"' in page
    status, page = sent("other", b"no zip")
    assert (status, "This is no zip" in page) == (422, True)
    status, page = sent("more", pairs_zip({"system-outputs/en-cs/refA.txt": "one\ntwo\n"}))
    assert (status, "which are references" in page) == (200, True), "what is left out is said"


def test_what_would_be_imported_is_shown_before(service: Service) -> None:
    olga = service.browser(service.account("olga", SiteRole.ORGANISER))
    assert '<button type="submit" name="do" value="preview">Check</button>' in olga.get("/new-campaign").text
    files = {"file": ("port.zip", pairs_zip({"system-outputs/en-cs/a&b.txt": "one\ntwo\n"}), "application/zip")}
    page = olga.post("/new-campaign/import", data={"import_name": "bay", "do": "preview"}, files=files).text
    for said in ("Nothing is stored yet.", "1 test set, 2 outputs", 'title="a&amp;b, mast"', 'value="bay"'):
        assert said in page
    assert olga.get("/campaigns/bay").status_code == 404


def test_participants_are_refused(service: Service) -> None:
    mary = service.browser(service.account("mary"))
    answer = mary.post("/new-campaign/import", data={"import_name": "x"}, files={"file": ("x.zip", pairs_zip())})
    assert answer.status_code == 403
