"""A model runs once for the same texts: equal texts in one call, and known scores in the next."""

import numpy as np

from steelyard.metrics.learned import engine
from tests.library.metrics.learned.with_extra import (
    HYPOTHESES,
    REFERENCES,
    SOURCES,
    needs_extra,
    resolved,
    resources_of,
    segments_of,
)

pytestmark = needs_extra


class Kept:
    """A store in memory."""

    def __init__(self):
        self.scores = {}

    def known(self, scorer, digests):
        return {each: self.scores[scorer, each] for each in digests if (scorer, each) in self.scores}

    def keep(self, scorer, scored):
        self.scores |= {(scorer, digest): each.values for digest, each in scored.items()}
        return {digest: each.values for digest, each in scored.items()}


def counted(monkeypatch):
    """The numbers of sequences that encoders are given."""
    given = []
    encoded = engine.Encoder.encoded

    def counting(self, sequences):
        given.append(len(sequences))
        return encoded(self, sequences)

    monkeypatch.setattr(engine.Encoder, "encoded", counting)
    return given


def test_equal_texts_are_encoded_once(monkeypatch):
    resources = resources_of("comet-regression")
    metric = resolved("comet:model=comet-regression", resources)
    given = counted(monkeypatch)
    segments = segments_of([HYPOTHESES] * 7, [REFERENCES], SOURCES, resources, metric)
    statistics = metric.segment_statistics(segments)
    assert sum(given) == len({*HYPOTHESES, *REFERENCES, *SOURCES})
    assert len({each.tobytes() for each in statistics}) == 1


def test_several_references_are_encoded_once_and_the_best_or_the_mean_counts():
    resources = resources_of("comet-regression", "bertscore-bert")
    for name, over in (("comet:model=comet-regression", np.mean), ("bertscore:model=bertscore-bert", np.max)):
        metric = resolved(name, resources)
        both = metric.values(segments_of([HYPOTHESES], [REFERENCES, SOURCES], SOURCES, resources, metric))
        each = [
            metric.values(segments_of([HYPOTHESES], [side], SOURCES, resources, metric))
            for side in (REFERENCES, SOURCES)
        ]
        np.testing.assert_allclose(both[..., 0], over(each, axis=0)[..., 0], atol=1e-12)


def test_what_a_store_knows_runs_no_model(monkeypatch):
    store = Kept()
    given = counted(monkeypatch)
    found = []
    resources = resources_of("bertscore-bert")
    for idf in ("no", "yes", "no", "yes"):
        metric = resolved(f"bertscore:model=bertscore-bert:layer=2:idf={idf}", resources)
        segments = segments_of([HYPOTHESES, REFERENCES], [REFERENCES], None, resources, metric)
        segments.score_store = store
        before = len(given)
        found.append(metric.segment_statistics(segments))
        assert (len(given) > before) == (len(found) <= 2)
    assert found[0].tobytes() == found[2].tobytes() != found[1].tobytes()
    assert found[1].tobytes() == found[3].tobytes()


def test_other_references_have_other_weights_and_other_scores():
    """With idf a score depends on all references of the test set: those of another one are not taken for it."""
    resources, store = resources_of("bertscore-bert"), Kept()
    metric = resolved("bertscore:model=bertscore-bert:idf=yes", resources)
    for references in (REFERENCES, [*REFERENCES[:1], *SOURCES[1:]]):
        segments = segments_of([HYPOTHESES], [references], None, resources, metric)
        segments.score_store = store
        metric.segment_statistics(segments)
    assert len({scorer for scorer, _ in store.scores}) == 2


def test_a_models_name_changes_no_score():
    resources = resources_of("bertscore-bert")
    other = type(resources)(files={"other": resources.files["bertscore-bert"]})
    one, two = resolved("bertscore:model=bertscore-bert", resources), resolved("bertscore:model=other", other)
    assert one.signature(1) != two.signature(1)
    assert one.scorer(resources) == two.scorer(other)
