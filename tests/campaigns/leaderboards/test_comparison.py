"""How much may be compared, by whom, and which systems are meant; the limits exactly."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from campaigns.accounts.principal import COMMAND_LINE, Principal
from campaigns.errors import BadRequest, NotFound
from campaigns.leaderboards import comparison
from campaigns.leaderboards.comparison import (
    MAX_RANDOMIZED_SYSTEMS,
    MAX_TRIALS,
    ComparisonQuery,
    choose_systems,
    compare_systems,
    request_trials,
    single_systems,
)
from steelyard_client.vocabulary import PValueCorrection


def line(number: int, *, ranked: bool = True, scored: bool = True) -> Any:
    submissions = (number, number + 100)
    return SimpleNamespace(entry=SimpleNamespace(submissions=submissions, ranked=ranked, scores=(1,) if scored else ()))


def chosen(view: Any, *submissions: int, **limits: int) -> list[int]:
    return [each.submissions[0] for each in choose_systems(view, submissions, **limits)]


def test_systems_are_chosen_by_any_of_their_submissions_and_stay_best_first() -> None:
    view: Any = SimpleNamespace(lines=[line(3), line(1, ranked=False), line(2), line(4, scored=False), line(5)])
    assert chosen(view) == [3, 2, 5]
    assert chosen(view, best=2) == [3, 2]
    assert chosen(view, 102, 1, 3, 2) == [3, 1, 2]
    for unknown in (4, 9):
        with pytest.raises(NotFound, match=rf"No submission {unknown} is on"):
            choose_systems(view, [3, unknown])
    assert chosen(view, 3, 1, 1, most=2) == [3, 1]
    with pytest.raises(BadRequest, match=r"3 systems are too many. Compare at most 2"):
        choose_systems(view, [3, 1, 2], most=2)


@pytest.mark.parametrize(
    ("systems", "trials", "refused"),
    [
        (MAX_RANDOMIZED_SYSTEMS, MAX_TRIALS, ""),
        (MAX_RANDOMIZED_SYSTEMS + 1, 100, "systems are too many"),
        (2, MAX_TRIALS + 1, "trials are too many"),
    ],
)
def test_what_may_be_asked_for_has_an_end_but_on_the_command_line(
    systems: int, trials: int, refused: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(comparison, "request_comparison", lambda *given, **how: asked.append((given[2:], how)) or 7)
    entries: Any = [SimpleNamespace(evaluations=(number,)) for number in range(systems)]
    query = ComparisonQuery(entries, [0, 2], trials=trials, baseline=1)
    view: Any = SimpleNamespace(listed=SimpleNamespace(protocol_id=5, seed=11))
    nothing: Any = None
    if refused:
        with pytest.raises(BadRequest, match=refused):
            request_trials(nothing, nothing, view, query, "harbour", Principal())
        assert asked == []
    else:
        assert request_trials(nothing, nothing, view, query, "harbour", Principal()) == 7
    assert request_trials(nothing, nothing, view, query, "harbour", COMMAND_LINE) == 7
    pairs = [(entries[a].evaluations, entries[b].evaluations) for a, b in comparison.pairs_of(query)]
    assert len(pairs) == systems - 1
    assert asked[-1] == ((5, pairs, [0, 2]), {"trials": trials, "seed": 11, "team": "harbour"})


@pytest.mark.parametrize(("administrates", "campaign"), [(True, None), (False, 3)])
def test_organisers_compare_single_submissions_of_their_campaign_alone(
    administrates: bool, campaign: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def entry(number: int, score: float | None) -> Any:
        return SimpleNamespace(submission=number, scores=[SimpleNamespace(score=score, higher_is_better=False)])

    asked: list[Any] = []
    found = [entry(7, 50.0), entry(9, None), entry(8, 40.0)]
    monkeypatch.setattr(comparison, "read_single_entries", lambda *_, **how: asked.append(how) or found)
    asked_for: list[str] = []
    access: Any = SimpleNamespace(
        principal=SimpleNamespace(administrates=administrates), require_organiser=lambda: asked_for.append("organiser")
    )
    view: Any = SimpleNamespace(listed=SimpleNamespace(campaign_id=3), query=SimpleNamespace(metric=0))
    nothing: Any = SimpleNamespace(replicates=None)
    # Lower is better, and what is undefined comes last.
    assert [each.submission for each in single_systems(nothing, nothing, access, view, [7, 8, 9])] == [8, 7, 9]
    assert (asked, asked_for) == ([{"campaign_id": campaign}], ["organiser"])
    with pytest.raises(NotFound, match=r"no submission 6, 10 with scores"):
        single_systems(nothing, nothing, access, view, [10, 7, 6])


def test_what_is_drawn_in_the_background_is_kept_for_the_very_same_question(monkeypatch: pytest.MonkeyPatch) -> None:
    keys: list[Any] = []
    boards: Any = SimpleNamespace(slow=SimpleNamespace(get=lambda key, *_: keys.append(key)))
    monkeypatch.setattr(comparison, "_board", lambda *_: SimpleNamespace(rows=[]))
    monkeypatch.setattr(comparison, "draws_of_tests", lambda *_, **__: 1000)
    entries: Any = [
        SimpleNamespace(texts=(each,), measured=((each, 1.0),), runs=("",), alone=False) for each in range(3)
    ]
    plain = ComparisonQuery(entries, [0], correction=PValueCorrection.HOLM)
    changes: list[dict[str, Any]] = [
        {}, {"systems": entries[:2]}, {"metrics": [1]}, {"correction": PValueCorrection.BH}, {"alpha": 0.01},
        {"level": 0.9}, {"interval": "bca"}, {"baseline": 0}, {"baseline": 1},
    ]  # fmt: skip
    view: Any = SimpleNamespace(listed=SimpleNamespace(protocol_id=1, replicates=20))
    nothing: Any = None
    for each in changes:
        assert compare_systems(nothing, boards, view, comparison.replace(plain, **each)).drawing
    assert len(set(keys)) == len(changes)
    compare_systems(nothing, boards, view, plain)
    assert keys[-1] == keys[0]
    later: Any = [*entries[:2], SimpleNamespace(texts=(2,), measured=((2, 2.0),), runs=("",), alone=False)]
    compare_systems(nothing, boards, view, comparison.replace(plain, systems=later))
    assert keys[-1] not in keys[:-1], "measured again"
