"""The settings of providers through which people sign in."""

from __future__ import annotations

import json
import re
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

KNOWN_PROVIDERS: dict[str, dict[str, object]] = {
    "github": {"kind": "github", "issuer": "https://github.com", "title": "GitHub", "trusted_email": True},
    "orcid": {"kind": "oidc", "issuer": "https://orcid.org", "title": "ORCID", "scope": "openid"},
}
"""What need not be said of a provider with one of these names."""
LOOPBACK = ("127.0.0.1", "::1", "localhost")


def _checked_issuer(url: str) -> str:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        parts = urlsplit("")
    encrypted = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
    if not encrypted or not parts.hostname or parts.query or parts.fragment or "@" in parts.netloc:
        raise PydanticCustomError("bad_issuer", "The issuer must be an address such as https://login.example.org")
    return url


class SignInProvider(BaseModel):
    """A provider of identities."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    client_id: str = Field(min_length=1)
    client_secret: str = Field(min_length=1, repr=False)
    kind: Literal["oidc", "github"] = "oidc"
    issuer: Annotated[str, Field(max_length=200), AfterValidator(_checked_issuer)]
    """Of OpenID Connect: where `/.well-known/openid-configuration` is. Identities belong to it: people do not find
    their accounts under another one."""
    title: str = Field(min_length=1, max_length=50)
    """On the button."""
    scope: str = "openid email profile"
    trusted_email: bool = False
    """Whether an address that it calls verified is confirmed here, too: the account of that address is signed in."""


def with_known(providers: object) -> object:
    """Read JSON, and complete what is known of GitHub and ORCID, before validation."""
    if isinstance(providers, str):
        try:
            providers = json.loads(providers)
        except ValueError:
            raise PydanticCustomError("bad_providers", "The sign-in providers must be JSON") from None
    if not isinstance(providers, dict):
        return providers
    completed = {}
    for name, given in providers.items():
        if not isinstance(name, str) or not re.fullmatch(r"[a-z0-9-]{1,30}", name):
            raise PydanticCustomError(
                "bad_provider", "The name of a sign-in provider consists of 1 to 30 letters a-z, digits and hyphens"
            )
        known = {"title": name, **KNOWN_PROVIDERS.get(name, {})}
        completed[name] = {**known, **given} if isinstance(given, dict) else given
    return completed
