"""Metrics that break a promise each, in the ways people break them, and the check that finds out."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from steelyard.conformance import check, subjects
from steelyard.metrics.metric import Metric
from steelyard.metrics.parameters import case_parameter, parameter
from steelyard.metrics.segments import Segments


@dataclass(frozen=True)
class Sound(Metric):
    """Words of the hypothesis that the first reference has at the same place."""

    name: ClassVar[str] = "sound"
    source: ClassVar[str] = "this test"
    case: str = case_parameter()

    @property
    def columns(self):
        return ("same", "longer")

    def segment_statistics(self, segments):
        words, texts = segments.words("none", self.case), len(segments.references) + len(segments.hypotheses)
        rows = [words.ids[a:b] for a, b in zip(words.starts, words.starts[1:], strict=False)]
        by_text = [rows[i * len(segments) : (i + 1) * len(segments)] for i in range(texts)]
        first, systems = by_text[0], by_text[len(segments.references) :]
        return np.array([[compared(*pair) for pair in zip(each, first, strict=True)] for each in systems], float)

    def score(self, sums):
        return np.where(sums[..., 1] > 0, 100.0 * sums[..., 0] / np.maximum(sums[..., 1], 1.0), np.nan)


def compared(hypothesis, reference):
    same = sum(a == b for a, b in zip(hypothesis, reference, strict=False))
    return [same, max(len(hypothesis), len(reference))]


def against_source(metric, segments):
    """As the sound metric, with the source for the reference."""
    only = Segments(references=[segments.source], hypotheses=segments.hypotheses)
    return Sound.segment_statistics(metric, only)


def changed(**methods):
    return dataclass(frozen=True)(type("Changed", (Sound,), {"__doc__": "Changed.", **methods}))


def statistics(change):
    """A metric whose statistics are those of the sound one after `change(statistics, segments)`."""
    return changed(segment_statistics=lambda self, segments: change(Sound.segment_statistics(self, segments), segments))


def score(change):
    return changed(score=lambda self, sums: change(Sound.score(self, sums), sums))


def spoil_words(statistics, segments):
    segments.words("13a", "mixed").ids[:] = 0
    return statistics


def spoil_sums(scores, sums):
    sums += 1
    return scores


def first_300(statistics, segments):
    statistics[:, 300:] = 0
    return statistics


def all_references(statistics, segments):
    return statistics + np.array([0, len(segments.references)])


def counted_in(segments):
    """How often it was asked for: what segments cache for all is changed."""
    count = segments.cached("asked", lambda: [0])
    count[0] += 1
    return count[0] - 1


def with_ones(statistics):
    return np.concatenate([statistics, np.ones((*statistics.shape[:-1], 1))], axis=-1)


def as_often_as_references(statistics, segments):
    return statistics * len(segments.references)


seen = []


def remember(statistics, segments):
    seen.append(statistics.sum())
    return statistics


BROKEN = {
    "depends on neighbours": (statistics(lambda s, b: s + len(b)), "whatever stands beside it"),
    "sums up along the shard": (statistics(lambda s, b: s.cumsum(axis=1)), "whatever stands beside it"),
    "depends on other systems": (statistics(lambda s, b: s + len(b.hypotheses)), "together with others"),
    "ranks the systems": (statistics(lambda s, b: s + np.arange(len(s))[:, None, None]), "together with others"),
    "float dust": (statistics(lambda s, b: s * 0.1), "multiple of 2^-24"),
    "single precision": (statistics(lambda s, b: s.astype(np.float32)), "float64"),
    "whole numbers of C": (statistics(lambda s, b: s.astype(np.int64)), "float64"),
    "one column too many": (statistics(lambda s, b: np.concatenate([s, s], axis=-1)), "float64"),
    "NaN in statistics": (statistics(lambda s, b: np.where(s, s, np.nan)), "float64"),
    "huge statistics": (statistics(lambda s, b: s * 2.0**50), "float64"),
    "a buffer of 300 segments": (statistics(first_300), "split of a long test set"),
    "spoils the shared words": (statistics(spoil_words), "do not disturb each other"),
    "counts missing references": (statistics(all_references), "variable references"),
    "remembers what it saw": (
        changed(
            segment_statistics=lambda self, segments: remember(Sound.segment_statistics(self, segments), segments),
            score=lambda self, sums: Sound.score(self, sums) + len(seen),
        ),
        "found in one call",
    ),
    "average of the rows": (score(lambda s, sums: s - s.mean()), "found in one call"),
    "changes its sums": (score(spoil_sums), "leave the sums alone"),
    "one number for all": (score(lambda s, sums: float(np.nanmax(s, initial=0))), "right shape"),
    "infinite": (score(lambda s, sums: np.where(np.isnan(s), np.inf, s)), "NaN where undefined"),
    "divides by zero": (changed(score=lambda self, sums: 100.0 * sums[..., 0] / sums[..., 1]), "NaN where undefined"),
    "details without words": (changed(details=lambda self, sums: {"mean": float("nan")}), "finite numbers by name"),
    "details by number": (changed(details=lambda self, sums: {1: 0.5}), "finite numbers by name"),
    "details that are no real numbers": (changed(details=lambda self, sums: {"mean": 1j}), "finite numbers by name"),
    "infinite without a segment": (
        changed(
            columns=("same", "longer", "segments"),
            segment_statistics=lambda self, segments: with_ones(Sound.segment_statistics(self, segments)),
            score=lambda self, sums: np.where(sums[..., 2] > 0, Sound.score(self, sums), np.inf),
        ),
        "NaN where undefined",
    ),
    "details in words": (changed(details=lambda self, sums: {"mean": "high"}), "finite numbers by name"),
    "a list": (statistics(lambda s, b: s.tolist()), "float64"),
    "one segment for all": (statistics(lambda s, b: s[:, :1]), "float64"),
    "segments in two formulas, one infinite": (
        changed(segment_score=lambda self, s: np.where(s[..., 1] > 0, Sound.score(self, s), np.inf)),
        "NaN where undefined",
    ),
    "one number for all segments": (changed(segment_score=lambda self, s: np.float64(1)), "right shape"),
    "infinite for nothing at all": (
        score(lambda s, sums: np.where(sums.any(axis=-1), s, np.inf)),
        "NaN where undefined",
    ),
    "counts how often it was asked": (
        changed(
            segment_statistics=lambda self, segments: Sound.segment_statistics(self, segments) + counted_in(segments)
        ),
        "do not disturb each other",
    ),
    "counts missing references in segments alone": (
        changed(
            segment_statistics=lambda self, segments: as_often_as_references(
                Sound.segment_statistics(self, segments), segments
            ),
            segment_score=lambda self, s: s[..., 0],
        ),
        "variable references",
    ),
    "counts missing references in systems alone": (
        changed(
            segment_statistics=lambda self, segments: all_references(
                Sound.segment_statistics(self, segments), segments
            ),
            segment_score=lambda self, s: np.zeros(s.shape[:-1]),
        ),
        "variable references",
    ),
    "higher is worse": (score(lambda s, sums: 100.0 - s), "equal to its reference"),
    "out of 1": (score(lambda s, sums: s / 100), "equal to its reference"),
    "no source": (changed(source=""), "source"),
    "the same column twice": (changed(columns=("same", "same")), "distinct columns"),
    "signature without case": (changed(signature_fields=lambda self: []), "changes the signature"),
    "signature with a key twice": (
        changed(signature_fields=lambda self: [*Sound.signature_fields(self), ("seed", "none")]),
        "changes the signature",
    ),
    "signature without replicates": (
        changed(signature=lambda self, references, *_, **__: Sound.signature(self, references)),
        "changes the signature",
    ),
    "resolves to something new each time": (
        changed(resolve=lambda self, _: (type(self)(case="mixed" if self.case == "lc" else "lc"), [])),
        "resolving it again",
    ),
    "reads the source without saying so": (changed(segment_statistics=against_source), "whatever stands beside it"),
    "reads the neighbours of the source": (
        changed(
            inputs=frozenset({"source"}),
            segment_statistics=lambda self, segments: against_source(self, segments) + len(set(segments.source)),
        ),
        "whatever stands beside it",
    ),
    "parses carelessly": (
        changed(__annotations__={"n": int}, n=parameter(1, "a number", parse=lambda text: int(float(text)))),
        "refused with BadParameter",
    ),
}


def test_a_sound_metric_keeps_all_promises(tmp_path):
    (subject,) = subjects(Sound, tmp_path)
    findings = list(check(subject, campaigns=60))
    assert len(findings) == len({finding.promise for finding in findings}) > 10
    assert [finding for finding in findings if finding.fault] == []


def test_so_does_one_that_reads_the_source(tmp_path):
    (subject,) = subjects(changed(inputs=frozenset({"source"}), segment_statistics=against_source), tmp_path)
    assert [finding for finding in check(subject, campaigns=60) if finding.fault] == []


@pytest.mark.parametrize(("metric", "promise"), BROKEN.values(), ids=BROKEN)
def test_a_broken_promise_is_found(metric, promise, tmp_path):
    (subject,) = subjects(metric, tmp_path)
    broken = [finding for finding in check(subject, campaigns=60) if finding.fault]
    assert any(promise in finding.promise for finding in broken), broken


def test_the_smallest_campaign_is_shown(tmp_path):
    metric, promise = BROKEN["depends on neighbours"]
    (subject,) = subjects(metric, tmp_path)
    (finding,) = [each for each in check(subject, campaigns=60) if promise in each.promise]
    # Two segments, and nothing in them.
    assert list(finding.campaign.references.values()) == [["", ""]]
    assert list(finding.campaign.systems.values()) == [["", ""]]
    assert "same of segment 1 differs (beside others, alone): 2.0, 1.0" in finding.fault


def test_it_is_the_same_every_time(tmp_path):
    (subject,) = subjects(BROKEN["float dust"][0], tmp_path)
    assert list(check(subject, campaigns=30, seed=5)) == list(check(subject, campaigns=30, seed=5))
