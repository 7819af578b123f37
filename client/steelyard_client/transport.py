"""HTTP requests to a server: authentication, safe retries, and a cache by ETag."""

from __future__ import annotations

import random
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote, urlsplit

import httpx

from steelyard_client.errors import ERRORS_BY_STATUS, NotSteelyard, Refused, ServerUnreachable
from steelyard_client.reading import read_json, read_lines, read_whole
from steelyard_client.version import VERSION
from steelyard_client.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import TracebackType

API = "/api/v1"

IDEMPOTENT_METHODS = frozenset({"GET", "HEAD", "PUT", "DELETE", "OPTIONS"})
"""Idempotent methods, safe to retry. Other requests are safe with an idempotency key."""
KEY_HEADER = "Idempotency-Key"

RETRIED_STATUSES = frozenset({429, 502, 503, 504})
"""Statuses of temporary failures."""

LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})

CONNECT_SECONDS = 10.0
MAX_CACHED = 64
"""Number of cached responses."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often, and how long, a request is retried. Times are in seconds."""

    tries: int = 5
    first_seconds: float = 0.5
    """Delay before the second try; it doubles with each further try, with random jitter."""
    longest_seconds: float = 60.0
    """Maximum delay; if the server asks for more, the request fails."""
    answer_seconds: float = 120.0
    """Timeout of one response."""

    def wait(self, tried: int, asked: float | None) -> float | None:
        """Seconds until the next try; None for no further try. `asked` is the server's Retry-After, if any."""
        if tried >= self.tries or (asked is not None and asked > self.longest_seconds):
            return None
        own = self.first_seconds * 2 ** (tried - 1) * random.uniform(0.75, 1.25)  # noqa: S311 - no secret
        return min(max(float(own), asked or 0.0), self.longest_seconds)


class Transport:
    """A connection to one server. Not thread-safe."""

    def __init__(
        self,
        server: str,
        token: str | None = None,
        *,
        patience: RetryPolicy | None = None,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.server = check_server_url(server, token)
        self.patience = patience or RetryPolicy()
        """When and how often requests are retried."""
        self._sleep = sleep
        headers = {"User-Agent": f"steelyard/{VERSION}", "Accept": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        self._http = httpx.Client(
            base_url=self.server + API,
            headers=headers,
            timeout=httpx.Timeout(self.patience.answer_seconds, connect=CONNECT_SECONDS),
            transport=transport,
            # A redirect must not carry the token to another server.
            follow_redirects=False,
        )
        self._cache: OrderedDict[str, tuple[str, Any]] = OrderedDict()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close its connections."""
        self._http.close()

    def get(self, *path: str | int, **parameters: Any) -> Any:
        """GET a path; the decoded JSON. An unchanged response comes from the cache."""
        address, query = path_of(*path), drop_none(parameters)
        key = str(httpx.URL(address, params=query))
        etag, cached = self._cache.get(key, ("", None))
        answer = self.send("GET", address, params=query, headers={"If-None-Match": etag} if etag else None)
        if answer.status_code == 304:
            self._cache.move_to_end(key)
            return cached
        found = json_of(answer)
        if answer.headers.get("ETag"):
            self._cache[key] = answer.headers["ETag"], found
            while len(self._cache) > MAX_CACHED:
                self._cache.popitem(last=False)
        return found

    def pages(self, *path: str | int, limit: int = 200, **parameters: Any) -> Iterator[Any]:
        """All items of a paginated list."""
        after = None
        while True:
            page = self.get(*path, limit=limit, after=after, **parameters)
            yield from page["items"]
            after = page["next"]
            if after is None:
                return

    def ask(self, method: str, address: str, **content: Any) -> Any:
        """As `send`; returns the decoded JSON."""
        return json_of(self.send(method, address, **content))

    def send(self, method: str, address: str, *, key: str | None = None, **content: Any) -> httpx.Response:
        """Send a request, with retries where they are safe; returns a response with a status below 400.

        Parameters
        ----------
        method, address
            HTTP method and path.
        key
            Idempotency key: the server carries the request out once, however often it is sent.
        content
            Arguments of httpx: headers, params, json, data, files.

        Raises
        ------
        Refused
            The server refused the request; usually a subclass.
        ServerUnreachable
            No response.
        NotSteelyard
            The response is not from a Steelyard server.

        """
        headers = dict(content.pop("headers", None) or {})
        if key is not None:
            headers[KEY_HEADER] = key
        safe = method in IDEMPOTENT_METHODS or key is not None
        tried = 0
        while True:
            tried += 1
            failure: Exception
            asked = None
            try:
                with self._http.stream(method, address, headers=headers, **content) as coming:
                    answer = read_whole(coming)
            except httpx.TransportError as error:
                failure = ServerUnreachable(f"{self.server} does not answer: {error_text(error)}.")
                # The request never reached the server, so a retry is always safe.
                may_try = safe or isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout))
            else:
                if answer.status_code < 400 and not answer.has_redirect_location:
                    return answer
                failure = self._refusal(answer)
                asked = retry_after(answer)
                may_try = safe and answer.status_code in RETRIED_STATUSES
                # An exhausted quota has no Retry-After: a retry would fail, too.
                if answer.status_code == 429 and asked is None:
                    may_try = False
            wait = self.patience.wait(tried, asked) if may_try else None
            if wait is None:
                raise failure
            self._sleep(wait)

    def stream(self, *path: str | int, headers: Mapping[str, str] | None = None) -> Iterator[str]:
        """The lines of a streamed response. Raises as `send`."""
        timeout = httpx.Timeout(self.patience.answer_seconds, connect=CONNECT_SECONDS)
        accepting = {"Accept": "text/event-stream", **(headers or {})}
        try:
            with self._http.stream("GET", path_of(*path), headers=accepting, timeout=timeout) as answer:
                if answer.status_code >= 300:
                    raise self._refusal(read_whole(answer))
                yield from read_lines(answer)
        except httpx.TransportError as error:
            raise ServerUnreachable(f"{self.server} does not answer: {error_text(error)}.") from error

    def _refusal(self, answer: httpx.Response) -> Exception:
        if answer.has_redirect_location:
            return NotSteelyard(
                f"{self.server} sends requests elsewhere, to {visible(answer.headers['Location'][:200])}. "
                "Name that server instead."
            )
        kind = ERRORS_BY_STATUS.get(answer.status_code, Refused)
        try:
            error = read_json(answer.content, self.server)["error"]
            return kind(answer.status_code, str(error["code"]), str(error["message"]), [*map(str, error["details"])])
        except (NotSteelyard, KeyError, TypeError):
            # Most likely a proxy's response.
            return kind(
                answer.status_code,
                "unknown",
                f"{self.server} answered with status {answer.status_code}, and not as a Steelyard server does.",
            )


def check_server_url(server: str, token: str | None) -> str:
    """The URL of a server, without a trailing slash. Raises NotSteelyard if it is invalid or unsafe for the token."""
    parts = urlsplit(server if "://" in server else f"https://{server}")
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment or parts.username:
        raise NotSteelyard(f'"{server}" is not the address of a server, such as https://mt.example.org.')
    if token and parts.scheme == "http" and parts.hostname not in LOCAL:
        raise NotSteelyard(f"{server} does not use https, so the token could be read in transit. Use https.")
    return parts.geturl().rstrip("/")


def path_of(*parts: str | int) -> str:
    """The path of a resource; its parts may have any character."""
    return "/" + "/".join(quote(str(part), safe="") for part in parts)


def drop_none(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters without those that are None."""
    return {name: value for name, value in parameters.items() if value is not None}


def json_of(answer: httpx.Response) -> Any:
    """The decoded JSON of a response. Raises NotSteelyard."""
    return read_json(answer.content, answer.request.url.host)


def retry_after(answer: httpx.Response) -> float | None:
    """Seconds from Retry-After; None without one."""
    try:
        return max(0.0, float(answer.headers["Retry-After"]))
    except (KeyError, ValueError):
        return None


def error_text(error: Exception) -> str:
    """The message of an error, or its type if it has none."""
    return visible(str(error)).strip().rstrip(".") or type(error).__name__
