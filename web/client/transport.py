"""Requests to a server: signed with a token, tried again where that is safe, remembered where nothing has changed."""

from __future__ import annotations

import random
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote, urlsplit

import httpx

from metrics.base import VERSION
from metrics.text.names import visible
from web.client.errors import KINDS, NotSteelyard, Refused, ServerAway
from web.client.reading import read_json, read_lines, read_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import TracebackType

API = "/api/v1"

SAFE = frozenset({"GET", "HEAD", "PUT", "DELETE", "OPTIONS"})
"""What may be asked twice and is done once. Other requests may where they have a key."""
KEY_HEADER = "Idempotency-Key"

AGAIN = frozenset({429, 502, 503, 504})
"""Answers that may be others in a moment."""

LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})

CONNECT_SECONDS = 10.0
REMEMBERED = 64
"""Answers that are kept for the case that they have not changed."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How often, and how long, a request is tried."""

    tries: int = 5
    first_seconds: float = 0.5
    """Before the second try; twice that before the third, and so on, each a little more or less."""
    longest_seconds: float = 60.0
    """A server that asks for more is not waited for."""
    answer_seconds: float = 120.0
    """How long one answer may take."""

    def wait(self, tried: int, asked: float | None) -> float | None:
        """Seconds until the next try; None where there is none. `asked` is what the server has asked for."""
        if tried >= self.tries or (asked is not None and asked > self.longest_seconds):
            return None
        own = self.first_seconds * 2 ** (tried - 1) * random.uniform(0.75, 1.25)  # noqa: S311 - no secret
        return min(max(float(own), asked or 0.0), self.longest_seconds)


class Transport:
    """A connection to one server. Not for several threads at once."""

    def __init__(
        self,
        server: str,
        token: str | None = None,
        *,
        patience: Patience | None = None,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.server = checked_server(server, token)
        self.patience = patience or Patience()
        """How often, and how long, it is tried."""
        self._sleep = sleep
        headers = {"User-Agent": f"steelyard/{VERSION}", "Accept": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        self._http = httpx.Client(
            base_url=self.server + API,
            headers=headers,
            timeout=httpx.Timeout(self.patience.answer_seconds, connect=CONNECT_SECONDS),
            transport=transport,
            # A token goes to the server that it was made by, and to no other.
            follow_redirects=False,
        )
        self._known: OrderedDict[str, tuple[str, Any]] = OrderedDict()

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
        """What is at an address, as JSON; what was asked before and has not changed is not sent again."""
        address, wanted = path_of(*path), given(parameters)
        key = str(httpx.URL(address, params=wanted))
        etag, known = self._known.get(key, ("", None))
        answer = self.send("GET", address, params=wanted, headers={"If-None-Match": etag} if etag else None)
        if answer.status_code == 304:
            self._known.move_to_end(key)
            return known
        found = json_of(answer)
        if answer.headers.get("ETag"):
            self._known[key] = answer.headers["ETag"], found
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return found

    def pages(self, *path: str | int, limit: int = 200, **parameters: Any) -> Iterator[Any]:
        """All items of a list, which comes in pages."""
        after = None
        while True:
            page = self.get(*path, limit=limit, after=after, **parameters)
            yield from page["items"]
            after = page["next"]
            if after is None:
                return

    def ask(self, method: str, address: str, **content: Any) -> Any:
        """As `send`; what the answer holds, as JSON."""
        return json_of(self.send(method, address, **content))

    def send(self, method: str, address: str, *, key: str | None = None, **content: Any) -> httpx.Response:
        """One request, tried again where that does no harm; its answer, whose status is below 400.

        With a `key` the server does it once, however often it is sent. Raises Refused, ServerAway and NotSteelyard.
        """
        headers = dict(content.pop("headers", None) or {})
        if key is not None:
            headers[KEY_HEADER] = key
        safe = method in SAFE or key is not None
        tried = 0
        while True:
            tried += 1
            trouble: Exception
            asked = None
            try:
                with self._http.stream(method, address, headers=headers, **content) as coming:
                    answer = read_whole(coming)
            except httpx.TransportError as error:
                trouble = ServerAway(f"{self.server} does not answer: {said(error)}.")
                # It was not even asked, so it is not asked twice.
                may_try = safe or isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout))
            else:
                if answer.status_code < 400 and not answer.has_redirect_location:
                    return answer
                trouble = self._refusal(answer)
                asked = retry_after(answer)
                may_try = safe and answer.status_code in AGAIN
                # A quota that is used up says no time: it will be so in a moment, too.
                if answer.status_code == 429 and asked is None:
                    may_try = False
            wait = self.patience.wait(tried, asked) if may_try else None
            if wait is None:
                raise trouble
            self._sleep(wait)

    def stream(self, *path: str | int, headers: Mapping[str, str] | None = None) -> Iterator[str]:
        """The lines of an answer that goes on for a while. Raises as `send`."""
        quiet = httpx.Timeout(self.patience.answer_seconds, connect=CONNECT_SECONDS)
        accepting = {"Accept": "text/event-stream", **(headers or {})}
        try:
            with self._http.stream("GET", path_of(*path), headers=accepting, timeout=quiet) as answer:
                if answer.status_code >= 300:
                    raise self._refusal(read_whole(answer))
                yield from read_lines(answer)
        except httpx.TransportError as error:
            raise ServerAway(f"{self.server} does not answer: {said(error)}.") from error

    def _refusal(self, answer: httpx.Response) -> Exception:
        if answer.has_redirect_location:
            return NotSteelyard(
                f"{self.server} sends requests elsewhere, to {visible(answer.headers['Location'][:200])}. "
                "Name that server instead."
            )
        kind = KINDS.get(answer.status_code, Refused)
        try:
            error = read_json(answer.content, self.server)["error"]
            return kind(answer.status_code, str(error["code"]), str(error["message"]), [*map(str, error["details"])])
        except (NotSteelyard, KeyError, TypeError):
            # Most likely a proxy's.
            return kind(
                answer.status_code,
                "unknown",
                f"{self.server} answers with status {answer.status_code}, and not in the words of Steelyard.",
            )


def checked_server(server: str, token: str | None) -> str:
    """The address of a server without a slash at its end. Raises NotSteelyard where it is none."""
    parts = urlsplit(server if "://" in server else f"https://{server}")
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment or parts.username:
        raise NotSteelyard(f'"{server}" is not the address of a server, such as https://mt.example.org.')
    if token and parts.scheme == "http" and parts.hostname not in LOCAL:
        raise NotSteelyard(
            f"{server} is not reached by https, so that anybody on the way could read the token. Use https."
        )
    return parts.geturl().rstrip("/")


def path_of(*parts: str | int) -> str:
    """The address of something by its parts, which may hold any character."""
    return "/" + "/".join(quote(str(part), safe="") for part in parts)


def given(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Those that are not None."""
    return {name: value for name, value in parameters.items() if value is not None}


def json_of(answer: httpx.Response) -> Any:
    """What an answer holds. Raises NotSteelyard."""
    return read_json(answer.content, answer.request.url.host)


def retry_after(answer: httpx.Response) -> float | None:
    """Seconds that the server asks us to wait."""
    try:
        return max(0.0, float(answer.headers["Retry-After"]))
    except (KeyError, ValueError):
        return None


def said(error: Exception) -> str:
    """What an error says, or what it is."""
    return visible(str(error)).strip().rstrip(".") or type(error).__name__
