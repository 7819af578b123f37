"""Requests of one server, without input and output: safe retries, a cache by ETag, pages, event streams."""

from __future__ import annotations

import logging
from collections import OrderedDict
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import httpx
from pydantic import BaseModel

from steelyard_client.addresses import check_server_url, drop_none, path_of
from steelyard_client.documents.campaigns.deletions import DeletionResponse
from steelyard_client.errors import ERRORS_BY_STATUS, NotSteelyard, Refused, ServerUnreachable
from steelyard_client.events import Event, EventParser
from steelyard_client.reading import LineReader, WholeResponse, decode, read_json
from steelyard_client.retries import IDEMPOTENT_METHODS, RETRIED_STATUSES, RetryPolicy
from steelyard_client.steps import Chunk, Item, Items, Open, Pause, Send, Steps, operation
from steelyard_client.version import VERSION
from steelyard_client.visible import visible

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Mapping

log = logging.getLogger(__name__)

API = "/api/v1"
KEY_HEADER = "Idempotency-Key"
CONNECT_SECONDS = 10.0
MAX_CACHED = 64
"""Number of cached responses."""
TOLD_SECONDS = 1.0
"""Longer waits before another try are told, by a warning: of a program on its standard error."""
PAGE_ITEMS = 200
"""Items of a page of a list: as many as a server sends at once."""

Shape = TypeVar("Shape", bound=BaseModel)


class Requests:
    """Sends requests, and makes documents of the answers. Paths are given in parts, which may have any character."""

    _http: Any
    """An `httpx.Client` or `httpx.AsyncClient`: here it builds requests alone."""

    def __init__(self, server: str, token: str | None, patience: RetryPolicy | None) -> None:
        self.server = check_server_url(server, token)
        """The server's URL."""
        self.patience = patience or RetryPolicy()
        """When and how often requests are retried."""
        headers = {"User-Agent": f"steelyard/{VERSION}", "Accept": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        self._options: dict[str, Any] = {
            "base_url": self.server + API,
            "headers": headers,
            "timeout": httpx.Timeout(self.patience.answer_seconds, connect=CONNECT_SECONDS),
            # A redirect must not carry the token to another server.
            "follow_redirects": False,
            "verify": _trusted(),
        }
        self._cache: OrderedDict[str, tuple[str, Any]] = OrderedDict()

    @operation
    def get_json(self, /, *path: str | int, **parameters: Any) -> Steps[Any]:
        """What a server has at a path below /api/v1, for what has no method: `get_json("campaigns", name)`."""
        return self._get_json(*path, **parameters)

    @operation
    def send(self, /, method: str, *path: str | int, key: str | None = None, **content: Any) -> Steps[httpx.Response]:
        """Send a request for what has no method; `content` has arguments of httpx."""
        return self._send(method, path_of(*path), key=key, **content)

    def _get_json(self, *path: str | int, **parameters: Any) -> Steps[Any]:
        """GET a path; the decoded JSON. An unchanged response comes from the cache."""
        address, query = path_of(*path), drop_none(parameters)
        key = str(httpx.URL(address, params=query))
        etag, cached = self._cache.get(key, ("", None))
        answer = yield from self._send("GET", address, params=query, headers={"If-None-Match": etag} if etag else None)
        if answer.status_code == 304:
            self._cache.move_to_end(key)
            return cached
        found = json_of(answer)
        if answer.headers.get("ETag"):
            self._cache[key] = answer.headers["ETag"], found
            while len(self._cache) > MAX_CACHED:
                self._cache.popitem(last=False)
        return found

    def _get(self, kind: type[Shape], /, *path: str | int, **parameters: Any) -> Steps[Shape]:
        """GET a document."""
        return decode(kind, (yield from self._get_json(*path, **parameters)))

    def _get_bytes(self, *path: str | int, **parameters: Any) -> Steps[bytes]:
        """GET a file."""
        answer = yield from self._send("GET", path_of(*path), params=drop_none(parameters))
        return answer.content

    def _pages(
        self,
        kind: type[Shape],
        /,
        *path: str | int,
        on_page: Callable[[dict[str, Any]], None] | None = None,
        limit: int = PAGE_ITEMS,
        **parameters: Any,
    ) -> Items[Shape]:
        """All items of a paginated list; `on_page` is called with each page."""
        after = None
        while True:
            page = yield from self._get_json(*path, limit=limit, after=after, **parameters)
            if on_page is not None:
                on_page(page)
            for each in page["items"]:
                yield Item(decode(kind, each))
            after = page["next"]
            if after is None:
                return

    def _change(
        self, kind: type[Shape], method: str, *path: str | int, body: BaseModel | None = None, **content: Any
    ) -> Steps[Shape]:
        """Send a change; the document in the response. Fields of `body` that were not set are left out."""
        answer = yield from self._send(method, path_of(*path), **_body(body), **content)
        return decode(kind, json_of(answer))

    def _command(self, method: str, *path: str | int, body: BaseModel | None = None, **content: Any) -> Steps[None]:
        """Send a change whose response has no content."""
        yield from self._send(method, path_of(*path), **_body(body), **content)

    def _delete(self, *path: str | int, dry_run: bool) -> Steps[DeletionResponse]:
        """Delete something, or ask what would be deleted."""
        return self._change(DeletionResponse, "DELETE", *path, params={"dry_run": "true"} if dry_run else None)

    def _send(self, method: str, address: str, *, key: str | None = None, **content: Any) -> Steps[httpx.Response]:
        """Send a request, with retries where they are safe; a response with a status below 400.

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
        headers = drop_none(content.pop("headers", None) or {})
        if key is not None:
            headers[KEY_HEADER] = key
        safe = method in IDEMPOTENT_METHODS or key is not None
        tried = 0
        while True:
            tried += 1
            failure: Exception
            asked, busy = None, True
            try:
                answer: httpx.Response = yield Send(
                    self._http.build_request(method, address, headers=headers, **content)
                )
            except httpx.TransportError as error:
                failure = ServerUnreachable(f"{self.server} does not answer: {_error_text(error)}.")
                # The request never reached the server, so a retry is always safe.
                may_try = safe or isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout))
                # A server with too many connections closes them without a word.
                busy = isinstance(error, (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError))
            except httpx.DecodingError as error:
                raise NotSteelyard(f"{self.server} sends what cannot be decoded: {_error_text(error)}.") from error
            else:
                if answer.status_code < 400 and not answer.has_redirect_location:
                    return answer
                failure = self._refusal(answer)
                asked = _retry_after(answer)
                may_try = safe and answer.status_code in RETRIED_STATUSES
                # An exhausted quota has no Retry-After: a retry would fail, too.
                if answer.status_code == 429 and asked is None:
                    may_try = False
            wait = self.patience.wait(tried, asked, busy=busy) if may_try else None
            if wait is None:
                raise failure
            if wait >= TOLD_SECONDS:
                log.warning("%s Trying again in %.0f s.", failure, wait)
            yield Pause(wait)

    def _events(self, *path: str | int, headers: Mapping[str, str]) -> Items[Event]:
        """The events of a stream as they arrive. Raises as `_send`."""
        accepting = {"Accept": "text/event-stream", **headers}
        lines, events = LineReader(self.server), EventParser()
        try:
            answer = yield Open(self._http.build_request("GET", path_of(*path), headers=accepting))
            if answer.status_code >= 300:
                whole = WholeResponse(answer)
                while chunk := (yield Chunk()):
                    whole.add(chunk)
                raise self._refusal(whole.response())
            while chunk := (yield Chunk()):
                for line in lines.feed(chunk):
                    if (event := events.feed(line)) is not None:
                        yield Item(event)
        except httpx.TransportError as error:
            raise ServerUnreachable(f"{self.server} does not answer: {_error_text(error)}.") from error

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


@cache
def _trusted() -> ssl.SSLContext:
    """Whom to trust, the same for all clients: reading the certificates takes 20 ms."""
    return httpx.create_ssl_context()


def _body(document: BaseModel | None) -> dict[str, Any]:
    return {} if document is None else {"json": document.model_dump(mode="json", exclude_unset=True)}


def json_of(answer: httpx.Response) -> Any:
    """The decoded JSON of a response. Raises NotSteelyard."""
    return read_json(answer.content, answer.request.url.host)


def _retry_after(answer: httpx.Response) -> float | None:
    try:
        return max(0.0, float(answer.headers["Retry-After"]))
    except (KeyError, ValueError):
        return None


def _error_text(error: Exception) -> str:
    return visible(str(error)).strip().rstrip(".") or type(error).__name__
