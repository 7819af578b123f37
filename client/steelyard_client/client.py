"""The two clients: one waits for each response, the other awaits it. What they can do is in `operations`."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Self, TypeVar

import httpx

from steelyard_client.operations import Operations
from steelyard_client.reading import WholeResponse
from steelyard_client.requests import Requests
from steelyard_client.steps import Chunk, Item, Open, Pause, Run, Send

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
    from types import TracebackType

    from steelyard_client.retries import RetryPolicy

T = TypeVar("T")


class Runner(Requests):
    """Performs the steps of operations, one after the other."""

    _http: httpx.Client

    def __init__(
        self,
        server: str,
        token: str | None = None,
        *,
        patience: RetryPolicy | None = None,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(server, token, patience)
        self._sleep = sleep
        self._http = httpx.Client(transport=transport, **self._options)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close its connections."""
        self._http.close()

    def run(self, steps: Generator[Any, Any, T]) -> T:
        """Perform an operation; its result."""
        run = Run(steps)
        for _ in self._performed(run):
            pass
        return run.result

    def iterate(self, steps: Generator[Any, Any, None]) -> Iterator[Any]:
        """Perform an operation as its items are asked for."""
        return self._performed(Run(steps))

    def _performed(self, run: Run[Any]) -> Iterator[Any]:
        try:
            while (step := run.advance()) is not None:
                if isinstance(step, Item):
                    yield step.value
                    continue
                try:
                    run.answer(self._perform(step, run))
                # Whether it can be tried again is for the operation to say.
                except Exception as error:
                    run.fail(error)
        finally:
            if run.stream is not None:
                run.stream[0].close()

    def _perform(self, step: Any, run: Run[Any]) -> Any:
        if isinstance(step, Pause):
            return self._sleep(step.seconds)
        if isinstance(step, Chunk):
            return next(run.stream[1], b"")
        assert isinstance(step, Send | Open)
        answer = self._http.send(step.request, stream=True)
        if isinstance(step, Open):
            if run.stream is not None:
                run.stream[0].close()
            run.stream = answer, answer.iter_bytes()
            return answer
        try:
            whole = WholeResponse(answer)
            for chunk in answer.iter_bytes():
                whole.add(chunk)
            return whole.response()
        finally:
            answer.close()


class AsyncRunner(Requests):
    """Awaits the steps of operations, one after the other."""

    _http: httpx.AsyncClient

    def __init__(
        self,
        server: str,
        token: str | None = None,
        *,
        patience: RetryPolicy | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        super().__init__(server, token, patience)
        self._sleep = sleep
        self._http = httpx.AsyncClient(transport=transport, **self._options)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close its connections."""
        await self._http.aclose()

    async def run(self, steps: Generator[Any, Any, T]) -> T:
        """Perform an operation; its result."""
        run = Run(steps)
        async for _ in self._performed(run):
            pass
        return run.result

    def iterate(self, steps: Generator[Any, Any, None]) -> AsyncIterator[Any]:
        """Perform an operation as its items are asked for."""
        return self._performed(Run(steps))

    async def _performed(self, run: Run[Any]) -> AsyncIterator[Any]:
        try:
            while (step := run.advance()) is not None:
                if isinstance(step, Item):
                    yield step.value
                    continue
                try:
                    run.answer(await self._perform(step, run))
                except Exception as error:
                    run.fail(error)
        finally:
            if run.stream is not None:
                await run.stream[0].aclose()

    async def _perform(self, step: Any, run: Run[Any]) -> Any:
        if isinstance(step, Pause):
            return await self._sleep(step.seconds)
        if isinstance(step, Chunk):
            return await anext(run.stream[1], b"")
        assert isinstance(step, Send | Open)
        answer = await self._http.send(step.request, stream=True)
        if isinstance(step, Open):
            if run.stream is not None:
                await run.stream[0].aclose()
            run.stream = answer, answer.aiter_bytes()
            return answer
        try:
            whole = WholeResponse(answer)
            async for chunk in answer.aiter_bytes():
                whole.add(chunk)
            return whole.response()
        finally:
            await answer.aclose()


class Client(Operations, Runner):
    """A client of one server, with a token or anonymous. Not thread-safe: use one client per thread.

    Parameters
    ----------
    server
        URL of the server; without a scheme, https.
    token
        Access token; None for anonymous access.
    patience
        When and how often requests are retried; default `RetryPolicy()`.
    transport, sleep
        Replacements for the network and the clock, for tests.

    Raises
    ------
    NotSteelyard
        The URL is invalid, or a token would be sent without https.
    """


class AsyncClient(Operations, AsyncRunner):
    """A client for asyncio: the methods of `Client` as coroutines, and lists as asynchronous iterators.

    Parameters
    ----------
    server
        URL of the server; without a scheme, https.
    token
        Access token; None for anonymous access.
    patience
        When and how often requests are retried; default `RetryPolicy()`.
    transport, sleep
        Replacements for the network and the clock, for tests.

    Raises
    ------
    NotSteelyard
        The URL is invalid, or a token would be sent without https.
    """
