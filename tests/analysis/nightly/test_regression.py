"""Findings from scores and replicates that are given."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from analysis.nightly.baselines import Candidate
from analysis.nightly.regression import BaselineScore, RegressionFinding, ScoreEntry, Subject, findings
from models.nightly.scores import NightlyScore
from steelyard.resampling.best_of import bootstrap_best_p
from steelyard.resampling.bootstrap_p import bootstrap_p
from steelyard.resampling.correction import corrected
from steelyard.resampling.interval import percentile_interval
from steelyard.resampling.regression import Outcome

REPLICATES = 400
SEGMENT_NOISE = np.random.default_rng(1).standard_normal(REPLICATES)


def score(value: float | None, seed: int = 0, *, higher: bool = True, scale: float = 100.0) -> NightlyScore:
    """A score whose replicates vary with those of all others, and a little by themselves."""
    own = np.random.default_rng(seed).standard_normal(REPLICATES)
    replicates = np.full(REPLICATES, math.nan) if value is None else value + SEGMENT_NOISE + 0.3 * own
    return NightlyScore("bleu", "BLEU", "s", higher, scale, value, replicates)


def rival(value: float | None, seed: int, date: str = "2027-03-01", **others: bool) -> BaselineScore:
    candidate = Candidate(seed, "tug", date, seed)
    return BaselineScore(candidate, score(value, seed), **{"same_output": False, **others})


def entry(value: float | None, *rivals: BaselineScore, seed: int = 99) -> ScoreEntry:
    return ScoreEntry(Subject("tug", "port", ("A",), "bleu"), 99, 1, 0, score(value, seed), rivals)


def test_all_tests_of_a_run_are_one_family() -> None:
    """Corrected together; the very same output and what has no baseline are no tests."""
    entries = [entry(30.0 - 0.35 * n, rival(30.0, n + 1), seed=50 + n) for n in range(6)]
    entries += [entry(30.0, rival(30.0, 9, same_output=True)), entry(30.0)]
    for correction in ("holm", "bh", "none"):
        found = findings(entries, alpha=0.05, correction=correction)
        p = [
            bootstrap_p(
                each.score.score - each.rivals[0].score.score,
                each.score.replicate_scores - each.rivals[0].score.replicate_scores,
            )
            for each in entries[:6]
        ]
        assert [each.p for each in found[:6]] == p
        family = corrected(p, correction).tolist()
        assert [each.p_corrected for each in found] == [*family, 1.0, None]
        expected = [Outcome.WORSE if each < 0.05 else Outcome.OPEN for each in family]
        assert [each.outcome for each in found] == [*expected, Outcome.SAME_OUTPUT, Outcome.NO_BASELINE]
        assert 0 < expected.count(Outcome.WORSE) < 6


def test_a_score_that_is_gone_fails_and_one_that_never_was_does_not() -> None:
    found = findings(
        [entry(None, rival(30.0, 1)), entry(30.0, rival(None, 1)), entry(None, rival(None, 1)), entry(None)],
        alpha=0.05,
        correction="holm",
    )
    assert [each.outcome for each in found] == [Outcome.NO_SCORE, *[Outcome.NO_BASELINE] * 3]
    assert [each.outcome.regressed for each in found] == [True, False, False, False]


def test_without_replicates_nothing_is_tested() -> None:
    bare = NightlyScore("bleu", "BLEU", "s", True, 100.0, 30.0, np.empty(0))
    against = BaselineScore(Candidate(1, "tug", None, None), bare, same_output=False)
    one = ScoreEntry(Subject("tug", "port", ("A",), "bleu"), 99, 1, 0, bare, [against])
    (found,) = findings([one], alpha=0.05, correction="holm")
    assert (found.outcome, found.p, found.interval) == (Outcome.UNTESTED, None, None)


def test_less_is_better_turns_directions_round() -> None:
    worse = ScoreEntry(
        Subject("tug", "port", ("A",), "ter"), 99, 1, 0, score(31.0, 50, higher=False),
        [BaselineScore(Candidate(1, "tug", None, None), score(30.0, 1, higher=False), same_output=False)],
    )  # fmt: skip
    (found,) = findings([worse], alpha=0.05, correction="holm")
    assert found.outcome == Outcome.WORSE


def test_the_best_is_chosen_by_score_and_the_latest_of_equals() -> None:
    rivals = [rival(29.0, 1, "2027-03-04"), rival(31.0, 2, "2027-03-03"), rival(31.0, 3, "2027-03-02"), rival(None, 4)]
    (found,) = findings([entry(30.9, *rivals)], alpha=0.05, correction="holm")
    assert (found.baseline_date, found.candidates) == ("2027-03-03", 4)
    alone = findings([entry(30.9, rivals[1])], alpha=0.05, correction="holm")[0]
    assert found.p > alone.p
    # Without joint trials: as many tests as candidates.
    (by_trials,) = findings([entry(30.9, *rivals)], alpha=0.05, correction="none", p_of=lambda *_: 0.02)
    assert by_trials.p == pytest.approx(0.08)


def test_ends_of_what_counts() -> None:
    """Below alpha, and by at least the least difference."""
    worse = entry(29.0, rival(30.0, 1))
    (found,) = findings([worse], alpha=0.05, correction="none")
    assert (found.outcome, found.difference) == (Outcome.WORSE, -1.0)
    for least, outcome in ((1.0, Outcome.WORSE), (1.0 + 2**-40, Outcome.SLIGHTLY_WORSE)):
        (judged,) = findings([worse], alpha=0.05, correction="none", minimum_difference=least)
        assert judged.outcome == outcome
    for alpha, outcome in ((found.p, Outcome.OPEN), (found.p + 2**-40, Outcome.WORSE)):
        assert findings([worse], alpha=alpha, correction="none")[0].outcome == outcome
    (better,) = findings([entry(31.0, rival(30.0, 1))], alpha=0.05, correction="none", minimum_difference=9.0)
    assert better.outcome == Outcome.BETTER
    (equal,) = findings([entry(30.0, rival(30.0, 1))], alpha=0.99, correction="none", p_of=lambda *_: 0.01)
    assert (equal.outcome, equal.difference) == (Outcome.OPEN, 0.0)


def test_what_a_finding_says() -> None:
    mine, against = entry(29.0, rival(30.0, 1), rival(28.0, 2)), rival(30.0, 1)
    (found,) = findings([mine], alpha=0.1, correction="holm")
    assert (found.score, found.baseline_score, found.difference, found.candidates) == (29.0, 30.0, -1.0, 2)
    assert (found.title, found.signature, found.scale, found.baseline_system) == ("BLEU", "s", 100.0, "tug")
    differences = mine.score.replicate_scores - against.score.replicate_scores
    assert found.interval == percentile_interval(differences, 0.9)
    endless = ScoreEntry(mine.subject, 99, 1, 0, score(5.0, scale=math.inf), ())
    assert findings([endless], alpha=0.1, correction="holm")[0].scale is None
    itself = entry(30.0, rival(30.0, 1, itself=True))
    (found,) = findings([itself], alpha=0.1, correction="holm")
    assert (found.outcome, found.baseline_system, found.p) == (Outcome.BASELINE, None, None)
    (same,) = findings([entry(30.0, rival(30.0, 1, same_output=True))], alpha=0.1, correction="holm")
    assert (same.interval, same.p, same.p_corrected, same.difference) == ((0.0, 0.0), 1.0, 1.0, 0.0)


def test_p_values_that_are_given() -> None:
    several = entry(29.0, rival(30.0, 1), rival(28.0, 2), rival(27.0, 3))
    for given, expected in ((0.5, 1.0), (0.1, pytest.approx(0.3)), (math.nan, None)):
        (found,) = findings([several], alpha=0.05, correction="none", p_of=lambda *_, given=given: given)
        assert found.p == expected
    assert found.outcome == Outcome.UNTESTED


def test_a_run_better_than_several_is_tested_against_the_best_alone() -> None:
    rivals = [rival(29.0, 1), rival(30.0, 2), rival(None, 3)]
    mine = entry(30.5, *rivals)
    (found,) = findings([mine], alpha=0.05, correction="none")
    assert found.p == bootstrap_p(0.5, mine.score.replicate_scores - rivals[1].score.replicate_scores)


@pytest.mark.parametrize("higher", [True, False])
def test_a_run_worse_than_several_is_tested_against_all_at_once(higher: bool) -> None:
    sign = 1 if higher else -1
    scores = [score(30 + 0.2 * n, n, higher=higher) for n in range(3)]
    rivals = [BaselineScore(Candidate(n, "tug", None, None), each, same_output=False) for n, each in enumerate(scores)]
    mine = score(29.8 if higher else 30.6, 50, higher=higher)
    one = ScoreEntry(Subject("tug", "port", ("A",), "m"), 99, 1, 0, mine, rivals)
    (found,) = findings([one], alpha=0.05, correction="none")
    best = 2 if higher else 0
    order = [best, *(n for n in range(3) if n != best)]
    losses = sign * np.array([scores[n].score - mine.score for n in order])
    replicates = sign * np.stack([scores[n].replicate_scores - mine.replicate_scores for n in order])
    assert found.p == bootstrap_best_p(losses, replicates)
    assert found.baseline_score == scores[best].score


def test_a_finding_survives_json() -> None:
    made = findings(
        [entry(29.0, rival(30.0, 1)), entry(29.0), entry(None, rival(30.0, 1))], alpha=0.05, correction="holm"
    )
    for each in made:
        assert RegressionFinding.from_json(json.loads(json.dumps(each.as_json(), allow_nan=False))) == each
