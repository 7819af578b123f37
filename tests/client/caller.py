"""Calls operations of both clients, and compares what they return with what was sent."""

import asyncio
import inspect
import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
from pydantic import BaseModel

from steelyard_client import AsyncClient, Client, RetryPolicy
from tests.client.live import Live
from tests.client.live import live as live

COMPOSED = {"campaign_etag", "compare", "download_leaderboard", "get_json", "me", "send", "wait_for_submission"}
"""Methods of the clients beside those of one operation each."""


class Line(httpx.HTTPTransport):
    """Remembers what was asked and answered."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[httpx.Request, httpx.Response]] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = super().handle_request(request)
        answer.read()
        self.seen.append((request, answer))
        return answer


class AsyncLine(httpx.AsyncHTTPTransport):
    """Remembers what was asked and answered."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[httpx.Request, httpx.Response]] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        answer = await super().handle_async_request(request)
        await answer.aread()
        self.seen.append((request, answer))
        return answer


class Caller:
    """Calls the operations of one kind of client, and compares results with what was sent."""

    def __init__(self, live: Live, *, asynchronous: bool) -> None:
        self.live, self.asynchronous = live, asynchronous
        self.called: set[str] = set()
        self.tokens: dict[int | None, str | None] = {None: None}
        paths = live.service.app.openapi()["paths"]
        self.operations = {
            (method.upper(), re.compile(re.sub(r"\{\w+\}", "[^/]+", path))): each["operationId"]
            for path, methods in paths.items()
            for method, each in methods.items()
        }

    def __call__(self, who: int | None, name: str, *arguments: Any, **options: Any) -> Any:
        """The result of an operation for an account; None is nobody."""
        self.called.add(name)
        if who not in self.tokens:
            self.tokens[who] = self.live.token(who)  # type: ignore[arg-type]
        if self.asynchronous:
            found, seen = asyncio.run(self._run_async(self.tokens[who], name, *arguments, **options))
        else:
            line = Line()
            with Client(self.live.url, self.tokens[who], transport=line, patience=RetryPolicy(tries=1)) as client:
                found = getattr(client, name)(*arguments, **options)
                found = list(found) if isinstance(found, Iterator) else found
            seen = line.seen
        self._compare(name, found, seen)
        return found

    async def _run_async(self, token: str | None, name: str, *arguments: Any, **options: Any) -> tuple[Any, list[Any]]:
        line = AsyncLine()
        async with AsyncClient(self.live.url, token, transport=line, patience=RetryPolicy(tries=1)) as client:
            found = getattr(client, name)(*arguments, **options)
            found = await found if inspect.isawaitable(found) else [each async for each in found]
        return found, line.seen

    def _compare(self, name: str, found: Any, seen: list[tuple[httpx.Request, httpx.Response]]) -> None:
        for request, _ in seen:
            asked = [
                operation
                for (method, path), operation in self.operations.items()
                if method == request.method and path.fullmatch(request.url.raw_path.decode().partition("?")[0])
            ]
            assert name in COMPOSED or name in asked
        answers = [answer for _, answer in seen]
        kind = answers[-1].headers.get("Content-Type", "")
        if name in COMPOSED:
            return
        if kind.startswith("text/event-stream"):
            sent = [json.loads(line[6:]) for line in answers[-1].text.splitlines() if line.startswith("data: ")]
            assert [plain(each) for each in found] == sent
        elif isinstance(found, bytes):
            assert found == answers[-1].content
        elif answers[-1].status_code == 204 or found is None:
            assert found is None
            assert answers[-1].content in (b"", b"null")
        elif isinstance(found, list) and isinstance(answers[-1].json(), dict):
            assert [plain(each) for each in found] == [item for answer in answers for item in answer.json()["items"]]
        else:
            assert plain(found) == answers[-1].json()


def plain(found: Any) -> Any:
    """A document as JSON has it."""
    if isinstance(found, BaseModel):
        return found.model_dump(mode="json")
    return [plain(each) for each in found] if isinstance(found, list) else found
