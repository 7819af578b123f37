"""What is asked of a provider: the address at which people sign in there, and who they are once they come back.

OAuth 2's code flow with state and PKCE, and for OpenID Connect a nonce (RFC 6749, 7636, 9207; OpenID Connect Core 1.0).
Authlib speaks it; it is imported where it is used, for most servers need none of it.
"""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

from campaigns.accounts.secrets import derive_secret, equal_secrets
from campaigns.errors import CampaignsError, Unavailable

if TYPE_CHECKING:
    from authlib.integrations.httpx_client import OAuth2Client

    from runtime.sign_in_providers import SignInProvider

TIMEOUT_SECONDS = 10.0
KEPT_SECONDS = 3600.0
"""How long endpoints and keys of a provider are kept."""
ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA"]
"""Of signatures of ID tokens: none that a client's secret, or nothing, could make."""
LEEWAY_SECONDS = 60
MAX_SUBJECT = 255


class ExternalSignInFailed(CampaignsError):
    """The provider did not say who somebody is, or not in a way that can be relied on."""

    status: ClassVar[int] = 401
    code: ClassVar[str] = "external_sign_in_failed"


class MissingPackages(CampaignsError):
    """STEELYARD_SIGN_IN_WITH needs more packages: pip install 'steelyard-server[sso]'."""


@dataclass(frozen=True, slots=True)
class ExternalIdentity:
    """Somebody as a provider knows them."""

    issuer: str
    subject: str
    """Never given to another person by this issuer, as names and addresses are."""
    name: str
    email: str
    """An address that the provider calls verified; "" if there is none."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt to sign in, by a secret that only the browser knows which began it."""

    secret: str
    purpose: str
    """The provider, and what it is for; an answer to another attempt is refused."""

    @property
    def state(self) -> str:
        """What the provider sends back: nobody else can make the browser end an attempt."""
        return derive_secret(self.secret, f"state of {self.purpose}")

    @property
    def nonce(self) -> str:
        """What the ID token must contain: one of another attempt is refused."""
        return derive_secret(self.secret, f"nonce of {self.purpose}")

    @property
    def verifier(self) -> str:
        """PKCE's secret: a stolen code is useless without it."""
        return derive_secret(self.secret, f"verifier of {self.purpose}")


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Where a provider is asked what."""

    authorization: str
    token: str
    keys: str = ""
    user: str = ""
    authentication: str = "client_secret_basic"
    names_issuer: bool = False
    """Whether it names itself when people come back (RFC 9207)."""


def require_packages() -> None:
    """Check that what speaks to providers is installed.

    Raises
    ------
    MissingPackages
        If it is not.
    """
    if find_spec("authlib") is None or find_spec("joserfc") is None:
        raise MissingPackages


def authorization_address(provider: SignInProvider, attempt: Attempt, redirect: str) -> str:
    """Return the provider's address at which people sign in.

    Raises
    ------
    Unavailable
        If the provider cannot be reached.
    """
    endpoints = _endpoints(provider)
    more = {"nonce": attempt.nonce} if provider.kind == "oidc" else {}
    with _client(provider, endpoints, redirect) as client:
        address, _ = client.create_authorization_url(
            endpoints.authorization, state=attempt.state, code_verifier=attempt.verifier, **more
        )
    return str(address)


def identify(
    provider: SignInProvider, attempt: Attempt, redirect: str, *, code: str, state: str, issuer: str | None = None
) -> ExternalIdentity:
    """Return who has signed in at the provider, by the code with which they came back.

    Raises
    ------
    ExternalSignInFailed
        If the answer belongs to another attempt or provider, or is no proof.
    Unavailable
        If the provider cannot be reached.
    """
    if not equal_secrets(state, attempt.state):
        raise ExternalSignInFailed("This sign-in was begun in another browser, or too long ago. Start again.")
    endpoints = _endpoints(provider)
    if (issuer is not None or endpoints.names_issuer) and issuer != provider.issuer:
        raise ExternalSignInFailed("The answer came from another provider. Start again.")
    from authlib.common.errors import AuthlibBaseError

    try:
        with _client(provider, endpoints, redirect) as client:
            token = client.fetch_token(
                endpoints.token, code=code, grant_type="authorization_code", code_verifier=attempt.verifier
            )
            if provider.kind == "github":
                return _github_user(provider, endpoints, client)
            return _oidc_user(provider, endpoints, client, str(token["id_token"]), attempt.nonce)
    except (AuthlibBaseError, KeyError, TypeError, ValueError) as error:
        raise ExternalSignInFailed(f"{provider.title} did not confirm who you are. Start again.") from error
    except _http_errors() as error:
        raise _unreachable(provider) from error


def _http_errors() -> tuple[type[Exception], ...]:
    """What requests fail with: authlib asks by httpx2 where that is installed, whose errors are not those of httpx."""
    return tuple(sys.modules[name].HTTPError for name in ("httpx", "httpx2") if name in sys.modules)


def _client(provider: SignInProvider, endpoints: Endpoints, redirect: str) -> OAuth2Client:
    from authlib.integrations.httpx_client import OAuth2Client

    return OAuth2Client(
        provider.client_id,
        provider.client_secret,
        scope="read:user user:email" if provider.kind == "github" else provider.scope,
        redirect_uri=redirect,
        token_endpoint_auth_method=endpoints.authentication,
        code_challenge_method="S256",
        timeout=TIMEOUT_SECONDS,
        # A token is used at once, however short it lives.
        leeway=0,
    )


def _oidc_user(
    provider: SignInProvider, endpoints: Endpoints, client: OAuth2Client, id_token: str, nonce: str
) -> ExternalIdentity:
    """Read the ID token, and ask for the address where it has none."""
    claims = _claims(provider, endpoints, id_token, nonce)
    profile = claims
    if "email" not in claims and endpoints.user and "email" in provider.scope.split():
        more = _json(client.get(endpoints.user))
        # Without this, an access token of somebody else would bring their address.
        if more.get("sub") == claims["sub"]:
            profile = more
    email = profile.get("email") if profile.get("email_verified") is True else ""
    return _identity(provider, str(claims["sub"]), _name(claims) or _name(profile), str(email or ""))


def _name(claims: dict[str, Any]) -> str:
    parts = (claims.get("given_name"), claims.get("family_name"))
    return str(claims.get("name") or " ".join(str(each) for each in parts if each))


def _claims(provider: SignInProvider, endpoints: Endpoints, id_token: str, nonce: str) -> dict[str, Any]:
    """Return the claims of an ID token that the provider signed for us, just now, for this attempt."""
    from joserfc import jwt
    from joserfc.errors import InvalidKeyIdError, JoseError, MissingKeyError
    from joserfc.jwk import KeySet

    def decoded(*, refresh: bool) -> jwt.Token:
        keys = KeySet.import_key_set(_KNOWN.get(endpoints.keys, refresh=refresh))  # type: ignore[arg-type]
        return jwt.decode(id_token, keys, algorithms=ALGORITHMS)

    try:
        try:
            token = decoded(refresh=False)
        except (InvalidKeyIdError, MissingKeyError):
            # The provider has new keys.
            token = decoded(refresh=True)
        jwt.JWTClaimsRegistry(
            leeway=LEEWAY_SECONDS,
            iss={"essential": True, "value": provider.issuer},
            aud={"essential": True, "value": provider.client_id},
            sub={"essential": True},
            exp={"essential": True},
            iat={"essential": True},
            nonce={"essential": True, "value": nonce},
        ).validate(token.claims)
    except JoseError as error:
        raise ValueError("The ID token is no proof.") from error
    claims = dict(token.claims)
    if claims.get("azp", provider.client_id) != provider.client_id:
        raise ValueError("The ID token was made for another client.")
    return claims


def _github_user(provider: SignInProvider, endpoints: Endpoints, client: OAuth2Client) -> ExternalIdentity:
    """Ask GitHub, which has no ID tokens."""
    user = _json(client.get(endpoints.user))
    emails = client.get(f"{endpoints.user}/emails").json()
    if not isinstance(emails, list):
        # It says why there are none, such as a scope that the client lacks.
        raise ValueError("No list of addresses.")
    verified = [str(each["email"]) for each in emails if each.get("primary") is True and each.get("verified") is True]
    return _identity(provider, str(int(user["id"])), str(user.get("name") or user["login"]), *(verified[:1] or [""]))


def _identity(provider: SignInProvider, subject: str, name: str, email: str) -> ExternalIdentity:
    if not 0 < len(subject) <= MAX_SUBJECT or not subject.isprintable():
        raise ValueError("The provider names nobody.")
    shown = "".join(each for each in name if each.isprintable())
    return ExternalIdentity(provider.issuer, subject, shown, email)


def _json(response: Any) -> dict[str, Any]:
    response.raise_for_status()
    found = response.json()
    if not isinstance(found, dict):
        raise ValueError("No object.")
    return found


def _endpoints(provider: SignInProvider) -> Endpoints:
    issuer = provider.issuer.rstrip("/")
    if provider.kind == "github":
        api = "https://api.github.com" if issuer == "https://github.com" else f"{issuer}/api/v3"
        login = f"{issuer}/login/oauth"
        return Endpoints(f"{login}/authorize", f"{login}/access_token", user=f"{api}/user",
                         authentication="client_secret_post")  # fmt: skip
    import httpx

    try:
        found = _KNOWN.get(f"{issuer}/.well-known/openid-configuration")
        if found["issuer"] != provider.issuer:
            raise ValueError("Another issuer.")
        methods = found.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        return Endpoints(
            found["authorization_endpoint"],
            found["token_endpoint"],
            found["jwks_uri"],
            found.get("userinfo_endpoint", ""),
            "client_secret_basic" if "client_secret_basic" in methods else "client_secret_post",
            found.get("authorization_response_iss_parameter_supported") is True,
        )
    except (KeyError, TypeError, ValueError, httpx.HTTPError) as error:
        raise _unreachable(provider) from error


def _unreachable(provider: SignInProvider) -> Unavailable:
    return Unavailable(
        f"{provider.title} cannot be reached at the moment. Sign in with your password, or try again later."
    )


class _Documents:
    """Documents of providers, kept for an hour."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[float, dict[str, Any]]] = {}

    def get(self, url: str, *, refresh: bool = False) -> dict[str, Any]:
        """Return a document; a fresh one with `refresh`, unless it was just read."""
        import httpx

        with self._lock:
            at, found = self._kept.get(url, (0.0, {}))
            age = time.monotonic() - at if found else float("inf")
            # At most one request a minute, whatever keys are named.
            if age > (TIMEOUT_SECONDS * 6 if refresh else KEPT_SECONDS):
                found = _json(httpx.get(url, timeout=TIMEOUT_SECONDS))
                self._kept[url] = (time.monotonic(), found)
            return found


_KNOWN = _Documents()
