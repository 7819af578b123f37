"""Scores of tiny models are those that bert-score and COMET give; `peers.py` has made both."""

import numpy as np
import pytest

from tests.library.metrics.learned.with_extra import (
    HYPOTHESES,
    REFERENCES,
    SCORES,
    SOURCES,
    needs_extra,
    resolved,
    resources_of,
    segments_of,
)

pytestmark = needs_extra


@pytest.mark.parametrize("options", ["layer=3:idf=no", "layer=2:idf=yes"])
@pytest.mark.parametrize("kind", ["bert", "xlm-roberta"])
def test_bertscore_is_that_of_bert_score(kind, options):
    resources = resources_of(f"bertscore-{kind}")
    metric = resolved(f"bertscore:model=bertscore-{kind}:{options}", resources)
    (values,) = metric.values(segments_of([HYPOTHESES], [REFERENCES], None, resources, metric))
    expected = np.array(SCORES["bertscore"][kind][options])
    assert np.ptp(expected[:, 0]) > 0.1
    np.testing.assert_allclose(values[:, :3], expected, atol=1e-5)


@pytest.mark.parametrize("name", SCORES["comet"])
def test_comet_is_that_of_comet(name):
    resources = resources_of(f"comet-{name}")
    metric = resolved(f"comet:model=comet-{name}", resources)
    (values,) = metric.values(segments_of([HYPOTHESES], [REFERENCES], SOURCES, resources, metric))
    expected = np.array(SCORES["comet"][name])
    assert np.ptp(expected) > 0.005
    np.testing.assert_allclose(values[:, 0], expected, atol=1e-5)


def test_long_texts_are_cut_and_counted():
    resources = resources_of("comet-regression")
    metric = resolved("comet:model=comet-regression", resources)
    segments = segments_of([HYPOTHESES], [REFERENCES], SOURCES, resources, metric)
    sums = metric.segment_statistics(segments).sum(axis=1)[0]
    assert metric.details(sums) == {"truncated segments": 1.0}


def test_a_segment_is_cut_where_one_of_its_references_is():
    resources = resources_of("comet-regression")
    metric = resolved("comet:model=comet-regression", resources)
    long = [line * 100 for line in REFERENCES]
    for references in ([REFERENCES, long], [long, REFERENCES]):
        segments = segments_of([HYPOTHESES], references, SOURCES, resources, metric)
        sums = metric.segment_statistics(segments).sum(axis=1)[0]
        assert metric.details(sums) == {"truncated segments": float(sum(map(bool, REFERENCES)))}
