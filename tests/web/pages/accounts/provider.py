"""A small provider of identities, OpenID Connect and GitHub's kind alike, on a port of this machine."""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

from tests.web.wire import served

CLIENT = {"client_id": "steelyard", "client_secret": "of the client"}


@dataclass
class Provider:
    """People sign in by `authorize`; what a test changes in `claims` or `key` makes its tokens wrong."""

    url: str = ""
    person: dict[str, Any] = field(default_factory=dict)
    """Claims about whoever signs in next."""
    claims: dict[str, Any] = field(default_factory=dict)
    """Claims that replace right ones in ID tokens."""
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "first"}))
    signing: Any = None
    """Another key than the one that is published."""
    algorithm: str = "RS256"
    down: bool = False
    metadata: dict[str, Any] = field(default_factory=dict)
    """What replaces right metadata."""
    asked: list[str] = field(default_factory=list)
    """Paths of requests."""
    _codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def authorize(self, address: str, **person: Any) -> str:
        """Sign somebody in there; the address to which the browser is sent back."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert asked["response_type"] == "code"
        assert asked["client_id"] == CLIENT["client_id"]
        assert asked["code_challenge_method"] == "S256"
        self.person = person
        code = f"code {len(self._codes)}"
        self._codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def app(self) -> FastAPI:
        app = FastAPI()

        @app.middleware("http")
        async def note(request: Request, call_next: Any) -> Response:
            self.asked.append(request.url.path)
            return Response(status_code=503) if self.down else await call_next(request)

        @app.get("/.well-known/openid-configuration")
        def configuration() -> dict[str, Any]:
            found = {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "jwks_uri": f"{self.url}/keys",
                "userinfo_endpoint": f"{self.url}/userinfo",
            }
            return {**found, **self.metadata}

        @app.get("/authorize")
        def sign_in(request: Request) -> Response:
            """At once, and without asking: for browsers, which come here by themselves."""
            return RedirectResponse(self.authorize(str(request.url), **self.person), 303)

        @app.get("/keys")
        def keys() -> dict[str, Any]:
            return dict(KeySet([self.key]).as_dict(private=False))

        @app.post("/token")
        @app.post("/login/oauth/access_token")
        async def token(request: Request) -> Response:
            form = await request.form()
            given = base64.b64decode(request.headers.get("Authorization", "").removeprefix("Basic ")).decode()
            client = given.split(":") if given else [form.get("client_id"), form.get("client_secret")]
            asked = self._codes.pop(str(form.get("code")), None)
            challenge = hashlib.sha256(str(form.get("code_verifier")).encode()).digest()
            if (
                client != [*CLIENT.values()]
                or asked is None
                or asked["redirect_uri"] != form.get("redirect_uri")
                or asked["code_challenge"] != base64.urlsafe_b64encode(challenge).decode().rstrip("=")
            ):
                return JSONResponse({"error": "invalid_grant"}, 400)
            answer: dict[str, Any] = {"access_token": "of this person", "token_type": "Bearer", "expires_in": 60}
            if request.url.path == "/token":
                at = int(time.time())
                told = {name: value for name, value in self.person.items() if not name.startswith("info_")}
                claims = {"iss": self.url, "aud": CLIENT["client_id"], "iat": at, "exp": at + 60, **told}
                claims |= {"nonce": asked.get("nonce"), **self.claims}
                claims = {name: value for name, value in claims.items() if value is not ...}
                key = self.signing or self.key
                header = {"alg": self.algorithm, "kid": self.key.kid}
                answer["id_token"] = jwt.encode(header, claims, key, algorithms=["RS256", "HS256"])
            return JSONResponse(answer)

        @app.get("/userinfo")
        def userinfo() -> dict[str, Any]:
            info = {name[5:]: value for name, value in self.person.items() if name.startswith("info_")}
            return {"sub": self.person["sub"], **info}

        @app.get("/api/v3/user")
        def user() -> dict[str, Any]:
            return {"id": self.person["id"], "login": self.person["login"], "name": self.person.get("name")}

        @app.get("/api/v3/user/emails")
        def emails() -> Any:
            return self.person["emails"]

        return app


@contextmanager
def provided() -> Iterator[Provider]:
    """A provider, served."""
    provider = Provider()
    with served(provider.app()) as port:
        provider.url = f"http://127.0.0.1:{port}"
        yield provider
