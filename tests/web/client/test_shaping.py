"""Answers as dataclasses, of servers older and newer than the client."""

from dataclasses import dataclass

import pytest

from web.client.errors import NotSteelyard
from web.client.shaping import shaped


@dataclass(frozen=True)
class Part:
    name: str


@dataclass(frozen=True)
class Whole:
    id: int
    parts: tuple[Part, ...] = ()
    best: Part | None = None
    names: tuple[str, ...] = ()


def test_objects_in_objects_are_shaped_too() -> None:
    found = {"id": 1, "parts": [{"name": "a"}, {"name": "b", "new": 1}], "best": None, "names": ["x"], "more": {}}
    assert shaped(Whole, found) == Whole(1, (Part("a"), Part("b")), None, ("x",))
    assert shaped(Whole, {"id": 2, "best": {"name": "c"}}) == Whole(2, (), Part("c"), ())


@pytest.mark.parametrize("found", [None, [], "x", {"parts": []}, {"id": 1, "best": 3}])
def test_what_does_not_fit_is_said(found: object) -> None:
    with pytest.raises(NotSteelyard, match="another release"):
        shaped(Whole, found)
