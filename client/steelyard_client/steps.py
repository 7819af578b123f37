"""Operations that are written once and run on both clients.

An operation is a generator: it yields what it needs from outside (send a request, wait a while) and gets the answer
back. `Client` performs each step at once, `AsyncClient` awaits it; what an operation does is in one place.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator
from dataclasses import dataclass
from functools import update_wrapper, wraps
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar, cast, overload

if TYPE_CHECKING:
    import httpx

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Send:
    """Send a request; the answer is an `httpx.Response`, read completely."""

    request: httpx.Request


@dataclass(frozen=True, slots=True)
class Open:
    """Send a request and leave its response open; the answer is an `httpx.Response` with its head alone."""

    request: httpx.Request


@dataclass(frozen=True, slots=True)
class Chunk:
    """Wait for more of the open response; the answer is bytes, b"" at the end."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait for some seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Item(Generic[T]):
    """An item of a list, for whoever iterates."""

    value: T


Step = Send | Open | Chunk | Pause
Steps = Generator[Step, Any, T]
"""An operation with a result."""
Items = Generator[Step | Item[T], Any, None]
"""An operation that yields items."""


class Run(Generic[T]):
    """An operation while it runs: gives its steps, and takes their answers."""

    def __init__(self, steps: Generator[Any, Any, T]) -> None:
        self._steps = steps
        self._answer: Any = None
        self._error: Exception | None = None
        self._result: list[T] = []
        self.stream: Any = None
        """The chunks of the open response."""

    def advance(self) -> Any:
        """The next step or item; None at the end."""
        answer, self._answer = self._answer, None
        error, self._error = self._error, None
        try:
            return self._steps.throw(error) if error is not None else self._steps.send(answer)
        except StopIteration as end:
            self._result.append(end.value)
            return None

    def answer(self, answer: Any) -> None:
        """What the last step gave."""
        self._answer = answer

    def fail(self, error: Exception) -> None:
        """Why the last step failed: the operation may try it again."""
        self._error = error

    @property
    def result(self) -> T:
        """The result, once there are no more steps."""
        (result,) = self._result
        return result


def forwarded(step: Any, run: Run[Any]) -> Steps[None]:
    """Let the outside perform a step of an operation inside another."""
    try:
        answer = yield step
    except Exception as error:
        run.fail(error)
    else:
        run.answer(answer)


def exhausted(items: Items[Any]) -> Steps[None]:
    """An operation without its items."""
    run = Run(items)
    while (step := run.advance()) is not None:
        if not isinstance(step, Item):
            yield from forwarded(step, run)


class Blocking(Protocol):
    """A client that performs operations at once."""

    def run(self, steps: Generator[Any, Any, T]) -> T:
        """Perform an operation; its result."""


class Awaiting(Protocol):
    """A client whose operations are awaited."""

    def run(self, steps: Generator[Any, Any, T]) -> Coroutine[Any, Any, T]:
        """Perform an operation; its result."""


class operation(Generic[P, T]):  # noqa: N801 - a decorator
    """A method that sends requests: `Client` returns its result, `AsyncClient` a coroutine with it."""

    def __init__(self, steps: Callable[Concatenate[Any, P], Steps[T]]) -> None:
        self.steps = steps
        update_wrapper(cast("Any", self), steps)

    @overload
    def __get__(self, client: None, owner: type) -> Self: ...
    @overload
    def __get__(self, client: Blocking, owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: Awaiting, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, client: Any, owner: type) -> Any:
        """The method of a client."""
        if client is None:
            return self

        @wraps(self.steps)
        def call(*arguments: P.args, **options: P.kwargs) -> Any:
            return client.run(self.steps(client, *arguments, **options))

        return call


class listing(Generic[P, T]):  # noqa: N801 - a decorator
    """A method that yields items: `Client` returns an iterator, `AsyncClient` an asynchronous one."""

    def __init__(self, steps: Callable[Concatenate[Any, P], Items[T]]) -> None:
        self.steps = steps
        update_wrapper(cast("Any", self), steps)

    @overload
    def __get__(self, client: None, owner: type) -> Self: ...
    @overload
    def __get__(self, client: Blocking, owner: type) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, client: Awaiting, owner: type) -> Callable[P, AsyncIterator[T]]: ...
    def __get__(self, client: Any, owner: type) -> Any:
        """The method of a client."""
        if client is None:
            return self

        @wraps(self.steps)
        def call(*arguments: P.args, **options: P.kwargs) -> Any:
            return client.iterate(self.steps(client, *arguments, **options))

        return call
