"""What a stranger sees of a server that runs: headers, cookies, sessions, forms and tokens, by nothing but HTTP.

The same checks are for a process (`tests/acceptance/test_running_security.py`) and for the containers
(`tests/containers/test_compose_runs.py`).
"""

from __future__ import annotations

import re

import httpx

from tests.service.people import PASSWORD
from web.dependencies import FORM_FIELD, SESSION_COOKIE
from web.guards import HEADERS
from web.guards.request_ids import HEADER

ADMINISTRATOR = "root@example.org"
PLANTED = "x" * 43


def browser(server: str, **options: object) -> httpx.Client:
    """Somebody's browser, which follows no link by itself."""
    return httpx.Client(base_url=server, timeout=60.0, **options)  # type: ignore[arg-type]


def submit(client: httpx.Client, page: str, action: str | None = None, **fields: str) -> httpx.Response:
    """Send the form of a page, with its secret."""
    token = re.search(rf'name="{FORM_FIELD}" value="([0-9a-f]+)"', client.get(page).text)
    assert token, page
    return client.post(action or page, data={FORM_FIELD: token[1], **fields})


def sign_up(server: str, invitation: str) -> None:
    """Make the first account by the link that the server has printed, which is good for nothing afterwards."""
    with browser(server) as client:
        link = f"/invitations/{invitation}"
        fields = {"email": ADMINISTRATOR, "name": "Root", "password": PASSWORD}
        assert submit(client, link, f"{link}/sign-up", **fields).status_code == 303
        assert client.get("/api/v1/me").json()["role"] == "administrator"
    with browser(server) as client:
        assert client.get(link).status_code == 404


def check_headers(server: str) -> None:
    """Every kind of answer has the headers of a strict page, says nothing of what it runs on, and its own number."""
    seen = set()
    with browser(server) as client:
        for path in ("/", "/nowhere", "/api/v1/me", "/api/v1/nowhere", "/static/site.css", "/docs/", "/sign-in"):
            answer = client.get(path, headers={HEADER: "0" * 32, "traceparent": f"00-{'1' * 32}-{'2' * 16}-01"})
            missing = {name for name in HEADERS if name not in answer.headers}
            assert not missing, (path, missing)
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert not {"server", "x-powered-by"} & {name.lower() for name in answer.headers}
            seen.add(answer.headers[HEADER])
        assert len(seen) == 7
        assert not {"0" * 32, "1" * 32} & seen
        assert client.get("/", headers={"Host": "evil.example"}).status_code == 400
        assert client.get("/", headers={"X-Long": "x" * 40_000}).status_code == 431
        assert client.get(f"/{'x' * 9_000}").status_code == 414
        assert client.request("TRACE", "/").status_code == 405
        assert (
            client.get("/", headers={"Origin": "https://evil.example"}).headers.get("Access-Control-Allow-Origin")
            is None
        )


def check_sessions(server: str) -> None:
    """A session is new at each sign-in, out of reach for scripts, bound to forms, and over when it is over."""
    with browser(server) as client:
        client.cookies.set(SESSION_COOKIE, PLANTED)
        begun = submit(client, "/sign-in", email=ADMINISTRATOR, password=PASSWORD)
        assert begun.status_code == 303, begun.text
        cookies = [each for each in begun.headers.get_list("Set-Cookie") if SESSION_COOKIE in each.partition("=")[0]]
        parts = {part.strip().lower() for part in cookies[0].split(";")}
        assert {"httponly", "samesite=lax", "path=/"} <= parts
        assert not any(part.startswith("domain") for part in parts)
        name, _, secret = cookies[0].partition(";")[0].partition("=")
        assert secret != PLANTED
        assert name.startswith("__Host-") == ("secure" in parts)
    own = {name: secret}
    with browser(server, cookies=own) as client:
        assert client.get("/api/v1/me").json()["email"] == ADMINISTRATOR
        assert client.get("/account").headers["Cache-Control"] == "no-store"
        # Forms without the session's secret, and with it from another site.
        assert client.post("/account/name", data={"name": "Evil"}).status_code == 403
        page = client.get("/account").text
        token = re.search(rf'name="{FORM_FIELD}" value="([0-9a-f]+)"', page)
        assert token
        for foreign in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
            form = {FORM_FIELD: token[1], "name": "Evil"}
            assert client.post("/account/name", data=form, headers=foreign).status_code == 403
        assert client.get("/api/v1/me").json()["name"] == "Root"
        assert submit(client, "/account", "/sign-out").status_code == 303
    with browser(server, cookies=own) as client:
        assert client.get("/api/v1/me").json()["signed_in"] is False


def check_tokens(server: str) -> None:
    """A token does what its scopes say, until it is revoked; one that is none is not taken for nobody."""
    with browser(server) as client:
        asked = {"name": "reading", "email": ADMINISTRATOR, "password": PASSWORD, "scopes": ["read"]}
        made = client.post("/api/v1/tokens", json=asked)
        assert made.status_code == 201, made.text
        own = {"Authorization": f"Bearer {made.json()['token']}"}
        assert client.get("/api/v1/me", headers=own).json()["email"] == ADMINISTRATOR
        assert client.post("/api/v1/teams", json={"name": "evil"}, headers=own).status_code == 403
        for wrong in ("Bearer nonsense", f"Bearer {made.json()['token']}x"):
            answer = client.get("/api/v1/me", headers={"Authorization": wrong})
            assert (answer.status_code, answer.headers["WWW-Authenticate"][:6]) == (401, "Bearer"), wrong
        everything = client.post(
            "/api/v1/tokens", json={**asked, "name": "all", "scopes": ["read", "submit", "organise"]}
        )
        all_scopes = {"Authorization": f"Bearer {everything.json()['token']}"}
        gone = client.delete(f"/api/v1/tokens/{made.json()['id']}", headers=all_scopes)
        assert gone.status_code in (200, 204), gone.text
        assert client.get("/api/v1/me", headers=own).status_code == 401


def check_guessing(server: str) -> None:
    """Wrong passwords end with a time to wait; this address signs in no more for a while."""
    with browser(server) as client:
        wrong = {"name": "x", "email": "nobody@example.org", "password": "wrong"}
        codes = [client.post("/api/v1/tokens", json=wrong).status_code for _ in range(30)]
    assert codes[0] == 401
    assert codes[-1] == 429


def check_all(server: str, invitation: str) -> None:
    """All of the above, of a server without any account."""
    sign_up(server, invitation)
    check_headers(server)
    check_sessions(server)
    check_tokens(server)
    check_guessing(server)
