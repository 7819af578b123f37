"""Every kind of number that users see, made of the demo campaign, as a line of JSON: name and a digest of all bits.

`python -m tests.every_number`; tests/test_every_processor.py runs it as processors differ.
"""

import json
import math
from collections.abc import Iterator
from hashlib import sha256

import numpy as np

from steelyard.meta_evaluation.comparison import permutation_p, permutation_test, williams_p
from steelyard.meta_evaluation.human.judgments import Judgment
from steelyard.meta_evaluation.human.scoring import segment_scores, standardised, system_scores
from steelyard.meta_evaluation.soft_accuracy import better_p, soft_pairwise_accuracy
from steelyard.meta_evaluation.statistics import SEGMENT_STATISTICS, SYSTEM_STATISTICS
from steelyard.meta_evaluation.system import better_or_equal_share, pearson
from steelyard.metrics.score_systems import MetricResult
from steelyard.numerics import deterministic
from steelyard.numerics.distributions import mann_whitney_p, normal_cdf, normal_quantile, sign_p, student_t_sf
from steelyard.resampling.bootstrap import resampling_counts
from steelyard.resampling.change_points import find_change_points
from steelyard.resampling.interval import interval
from steelyard.resampling.jackknife import leave_one_out
from steelyard.resampling.paired import paired_bootstrap, paired_randomization
from steelyard.resampling.power import power_at, segments_needed, smallest_difference
from steelyard.resampling.runs import run_spread
from tests.test_golden_scores import METRICS, measurements

Numbers = Iterator[tuple[str, object]]


def functions() -> Numbers:
    """Of enough arguments that functions of another library would differ somewhere."""
    ratios = np.arange(1, 20_001) / 7919.0
    yield "log", deterministic.log(ratios)
    yield "log2", deterministic.log2(ratios)
    yield "exp", deterministic.exp(100 * ratios - 125)
    yield "power", [deterministic.power(ratios, exponent) for exponent in (0.83, 3.0, 0.5)]
    shares = (ratios[:400] * 19).tolist()
    yield "normal", [[normal_cdf(x - 0.5), normal_quantile(x / 2)] for x in shares]
    yield "student", [student_t_sf(20 * x - 10, degrees) for degrees in (1, 6, 33) for x in shares]
    yield "signs", [sign_p(successes, 90) for successes in range(91)]


def of_metric(name: str, found: MetricResult) -> Numbers:
    assert found.statistics is not None
    assert found.segment_scores is not None
    yield f"{name} scores", [found.scores, found.replicate_scores.ravel(), found.segment_scores.ravel()]
    yield f"{name} details", [list(found.metric.details(sums).values()) for sums in found.sums]
    for kind in ("percentile", "bca"):
        rows = zip(found.replicate_scores, found.scores, leave_one_out(found.metric, found.statistics), strict=True)
        ends = [interval(kind, replicates, 0.95, float(score), without) for replicates, score, without in rows]
        yield f"{name} {kind}", [each or () for each in ends]
    spread = run_spread(found.scores, found.replicate_scores)
    yield f"{name} runs", [spread.overall, spread.share_of_runs, spread.selection, spread.optimization]
    deviation = spread.selection
    power = [smallest_difference(deviation), power_at(1.3 * deviation, deviation)]
    yield f"{name} power", [*power, segments_needed(deviation / 3, deviation, 1000) or 0]
    yield f"{name} steps", [step.p for step in find_change_points(found.replicate_scores[0][:60])]


def tests_of_pairs(found: list[MetricResult]) -> Numbers:
    for kind in ("percentile", "bca"):
        for result in [*paired_bootstrap(found, kind=kind), *paired_randomization(found, trials=500, kind=kind)]:
            yield f"pair {kind}", [repr(result)]


def agreement(found: list[MetricResult]) -> Numbers:
    """People are made of one metric, the noise of a fixed generator and gaps."""
    generator = np.random.Philox(7)
    (one, other, *_) = [each.segment_scores for each in found if each.metric.name in {"chrf", "bleu"}]
    assert one is not None
    assert other is not None
    noise = (generator.random_raw(one.size) >> 11).reshape(one.shape) * 2.0**-53
    people = np.where(noise < 0.9, np.floor(one / 10) * 10 + 37 * noise, np.nan)
    counts = resampling_counts(one.shape[1], 3, 200, 0, one.shape[1])
    for statistic in SEGMENT_STATISTICS:
        yield f"segments {statistic.name}", statistic.values(people, other, counts)
        p = permutation_test(lambda a, b, each=statistic: each.exchanged(people, a, b), one, other, seed=1, trials=64)
        yield f"exchanged {statistic.name}", [p]
    systems = np.nanmean(people, axis=1)
    drawn = resampling_counts(len(people), 3, 200, 0, len(people))
    by_one, by_other = one.mean(axis=1), other.mean(axis=1)
    for each in SYSTEM_STATISTICS:
        human = better_or_equal_share(people) if each.by_share else systems
        if values := each.values:
            yield f"systems {each.name}", [values(human, by_one), *values(human, by_one, drawn)]
            yield (
                f"permuted {each.name}",
                [permutation_p(lambda stack, of=values, by=human: of(by, stack), by_one, by_other, seed=1, trials=200)],
            )
    first, second, between = float(pearson(systems, by_one)), float(pearson(systems, by_other)), 0.9
    yield "williams", [williams_p(first, second, between, size) for size in range(4, 60)]
    by_people, by_metric = (better_p(scores, ~np.isnan(people), 5) for scores in (people, one))
    yield "soft", [by_people, by_metric, soft_pairwise_accuracy(by_people, by_metric, drawn)]
    judged = [Judgment(f"a{i % 7}", f"s{i % 5}", i // 5, float(x)) for i, x in enumerate(people.ravel()) if x == x]
    segments = segment_scores(judged, standardised(judged))
    yield "people", [each.score for each in segments] + [each.score for each in system_scores(segments)]
    known = [row[~np.isnan(row)] for row in people]
    yield "mann-whitney", [mann_whitney_p(a[:size], b) for size in (5, 200) for a in known for b in known]


def digest(values: object) -> str:
    """Of all bits; NaN is NaN."""
    flat = [values] if isinstance(values, np.ndarray) else [np.asarray(value) for value in values]  # type: ignore[attr-defined]
    text = ",".join(
        str(value) if isinstance(value, str) else float(value).hex() for each in flat for value in each.ravel().tolist()
    )
    return sha256(text.encode()).hexdigest()[:16]


def main() -> None:
    _, found = measurements("AB", segment_scores=True, keep_statistics=True)
    parts = [functions(), tests_of_pairs(found), agreement(found)]
    parts += [of_metric(name, each) for name, each in zip(METRICS, found, strict=True)]
    numbered = [(f"{number} {name}", digest(values)) for part in parts for number, (name, values) in enumerate(part)]
    assert not math.isnan(float(found[0].scores[0]))
    print(json.dumps(numbered))


if __name__ == "__main__":
    main()
