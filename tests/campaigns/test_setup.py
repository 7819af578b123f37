"""The checklist of a campaign that is not open yet: who sees it, until when, and what is done."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from campaigns.setup import TEXTS, setup_steps
from models.schema.roles import Joining, PhaseKind, Visibility

HIDDEN = next(each for each in Visibility if each != Visibility.PUBLIC)
CLOSED = next(each for each in Joining if each != Joining.OPEN)
ALL = {"rules", "test-sets", "phases", "teams", "open"}


def phase(kind: PhaseKind, starts_at: float) -> Any:
    return SimpleNamespace(kind=kind, starts_at=starts_at)


def done(**known: Any) -> set[str] | None:
    """The steps that are done, of a campaign that has nothing but what is said; None without a checklist."""
    nothing = {"organises": True, "published": False, "at": 10.0, "phases": [], "test_sets": {}, "teams": {}}
    rules = {"joining": CLOSED, "visibility": HIDDEN, "description": ""}
    steps = setup_steps(SimpleNamespace(**{**nothing, **rules, **known}))  # type: ignore[arg-type]
    assert [each.key for each in steps] in ([], list(TEXTS))
    return {each.key for each in steps if each.done} if steps else None


@pytest.mark.parametrize(
    ("known", "step"),
    [
        ({"description": "What it is about"}, "rules"),
        ({"test_sets": {1: "news"}}, "test-sets"),
        ({"phases": [phase(PhaseKind.OPEN, 11.0)]}, "phases"),
        ({"phases": [phase(PhaseKind.PUBLISHED, 3.0)]}, "phases"),
        ({"teams": {1: "ants"}}, "teams"),
        ({"joining": Joining.OPEN}, "teams"),
        ({"visibility": Visibility.PUBLIC}, "open"),
    ],
)
def test_each_step_is_done_by_one_thing(known: dict[str, Any], step: str) -> None:
    assert done() == set()
    assert done(**known) == {step}


def test_organisers_alone_see_it_and_only_until_it_is_open() -> None:
    ready = {"description": "d", "test_sets": {1: "news"}, "teams": {1: "ants"}, "visibility": Visibility.PUBLIC}
    assert done(**ready) == ALL - {"phases"}
    assert done(**ready, phases=[phase(PhaseKind.OPEN, 11.0)]) is None, "nothing is left to do"
    assert done(organises=False) is None
    assert done(published=True) is None


@pytest.mark.parametrize("kind", [PhaseKind.OPEN, PhaseKind.BLIND])
def test_it_ends_where_a_phase_that_takes_submissions_begins(kind: PhaseKind) -> None:
    sets = {1: "news"}
    assert done(phases=[phase(kind, 10.0)], test_sets=sets) is None
    assert done(phases=[phase(kind, 10.5)], test_sets=sets) == {"phases", "test-sets"}
    assert done(phases=[phase(kind, 10.0)]) == {"phases"}, "there is nothing to translate yet"
    assert done(phases=[phase(PhaseKind.CLOSED, 9.0)], test_sets=sets) == {"phases", "test-sets"}
