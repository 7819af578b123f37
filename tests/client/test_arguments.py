"""Whatever an operation is given is in what it sends: no argument is forgotten, and none left out by default."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote_plus

import httpx
import pytest
from pydantic import BaseModel

from steelyard_client import Client, RetryPolicy
from steelyard_client.errors import ClientError
from steelyard_client.operations import Operations
from steelyard_client.steps import listing, operation

OPERATIONS = {
    name: each.steps
    for name in dir(Operations)
    if isinstance(each := inspect.getattr_static(Operations, name), operation | listing)
    # Takes its argument apart.
    and name != "list_evaluations"
}
PAGED = {
    name for name in OPERATIONS if isinstance(inspect.getattr_static(Operations, name), listing)
    # A stream.
    and name != "watch_submission"
}  # fmt: skip
PAGE = {"items": [], "next": None, "signed_in": True}


class Body(BaseModel):
    """Of any change."""

    marked: str


class Word(str):
    """Of an enumeration."""

    @property
    def value(self) -> str:
        """As members have it."""
        return str(self)


def argument(parameter: inspect.Parameter, number: int) -> tuple[Any, str]:
    """A value for a parameter by its annotation, and what must be found of it in a request."""
    kind, mark = str(parameter.annotation).removesuffix(" | None"), f"mark-{parameter.name}-"
    if kind == "str":
        return mark, mark
    if kind == "datetime":
        return datetime(2040 + number, 1, 1, tzinfo=UTC), f"{2040 + number}-01-01"
    if kind == "bool":
        return not parameter.default if parameter.default is not parameter.empty else True, parameter.name
    if kind in ("int", "float"):
        return 4000 + number, str(4000 + number)
    if kind.startswith(("Sequence[int", "Iterable[int")):
        return [4000 + number, 5000 + number], str(5000 + number)
    if kind.startswith(("Sequence[str", "Iterable[str")):
        return [f"{mark}1", f"{mark}2"], f"{mark}2"
    if "bytes" in kind:
        content = mark.encode()
        return ({f"{mark}.txt": content} if kind.startswith("Mapping") else content), mark
    if kind[0].isupper() and "[" not in kind:
        return (Word(mark) if parameter.default is not parameter.empty else Body(marked=mark)), mark
    return None, ""


def sent(name: str, chosen: Mapping[str, Any], required: Mapping[str, Any]) -> str:
    """The first request of an operation, as one text."""
    return all_sent(name, chosen, required)[0]


def all_sent(name: str, chosen: Mapping[str, Any], required: Mapping[str, Any], answered: Any = PAGE) -> list[str]:
    """All of them."""
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        headers = {key: each for key, each in request.headers.items() if key in ("if-match", "idempotency-key")}
        asked.append(f"{request.method} {request.url} {headers} {request.read().decode()}")
        return httpx.Response(200, json=answered)

    transport = httpx.MockTransport(answer)
    client = Client("https://mt.example.org", transport=transport, patience=RetryPolicy(tries=1))
    try:
        found = getattr(client, name)(**required, **chosen)
        if isinstance(inspect.getattr_static(Operations, name), listing):
            list(found)
    except ClientError:
        # The answer is no document.
        pass
    return [unquote_plus(each) for each in asked]


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_an_operation_sends_all_that_it_is_given(name: str) -> None:
    known = list(inspect.signature(OPERATIONS[name]).parameters.values())[1:]
    known = [each for each in known if each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)]
    values = {each.name: argument(each, number) for number, each in enumerate(known)}
    required = {each.name: values[each.name][0] for each in known if each.default is each.empty}
    plain = sent(name, {}, required)
    for each, (_, mark) in values.items():
        if each in required and mark:
            assert mark.casefold() in plain.casefold(), each
    for each in known:
        value, mark = values[each.name]
        if each.name in required or value is None or each.name.startswith("on_"):
            continue
        assert mark in sent(name, {each.name: value}, required), each.name


@pytest.mark.parametrize(("count", "requests"), [(0, 1), (1, 1), (200, 1), (201, 2)])
def test_evaluations_are_asked_for_in_portions(count: int, requests: int) -> None:
    numbers = list(range(4001, 4001 + count))
    selection = SimpleNamespace(
        evaluations=numbers, campaign="mark-campaign", system="mark-system", team="mark-team", states=["failed", "done"]
    )
    found = all_sent("list_evaluations", {}, {"selection": selection})
    assert len(found) == requests
    for each in found:
        for mark in ("campaign=mark-campaign", "system=mark-system", "team=mark-team", "state=failed", "state=done"):
            assert mark in each
    assert [int(each) for each in re.findall(r"evaluation=(\d+)", "".join(found))] == numbers
    if count:
        scores = all_sent("read_evaluation_scores", {}, {"evaluations": numbers}, {"scores": []})
        assert len(scores) == requests
        assert [each for each in numbers if not any(str(each) in one for one in scores)] == []


@pytest.mark.parametrize("name", sorted(PAGED))
def test_every_page_of_a_list_is_asked_for_as_the_first_one(name: str) -> None:
    """A filter that the second page forgets would bring in what nobody asked for."""
    known = list(inspect.signature(OPERATIONS[name]).parameters.values())[1:]
    values = {each.name: argument(each, number)[0] for number, each in enumerate(known)}
    asked: list[httpx.URL] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url)
        return httpx.Response(200, json=PAGE | {"next": {1: "second", 2: "third"}.get(len(asked))})

    client = Client("https://mt.example.org", transport=httpx.MockTransport(answer), patience=RetryPolicy(tries=1))
    given = {key: value for key, value in values.items() if value is not None and not key.startswith("on_")}
    assert list(getattr(client, name)(**given)) == []
    assert [url.params.get("after") for url in asked] == [None, "second", "third"]
    assert {url.copy_remove_param("after") for url in asked} == {asked[0]}
