"""Worked examples and tables of the four papers that the metrics come from, where no other test has them.

BLEU: Papineni et al. 2002. Correlation: Kos 2008. tBLEU: Libovický and Pecina 2014, Figure 1, in `test_tbleu`.
BLEU_modif and WER_modif: Wang and Merlo 2016.
"""

import math

import numpy as np
import pytest
from scipy.stats import pearsonr, rankdata

from steelyard.kernels.ranking.rank_sums import rank_sums
from steelyard.meta_evaluation.statistics import segment_statistic
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.segments import Segments
from tests.library.vocabularies import stored

GUIDE = [
    "It is a guide to action that ensures that the military will forever heed Party commands",
    "It is the guiding principle which guarantees the military forces always being under the command of the Party",
    "It is the practical guide for the army always to heed the directions of the party",
]
"""The references of Examples 1 and 3."""


def statistics(specification, hypothesis, references, resources=None):
    """The metric, and its columns of one segment by name."""
    metric = parse_metric(specification)
    texts = Segments.from_lines(references=[[text] for text in references], hypotheses=[[hypothesis]])
    segments = texts.with_resources(resources=resources)
    return metric, dict(zip(metric.columns, metric.segment_statistics(segments)[0, 0], strict=True))


@pytest.mark.parametrize(
    ("hypothesis", "references", "precisions"),
    [
        (
            "It is a guide to action which ensures that the military always obeys the commands of the party",
            GUIDE,
            {1: (17, 18), 2: (10, 17)},
        ),
        (
            "It is to insure the troops forever hearing the activity guidebook that party direct",
            GUIDE,
            {1: (8, 14), 2: (1, 13)},
        ),
        ("the the the the the the the", ["The cat is on the mat", "There is a cat on the mat"], {1: (2, 7), 2: (0, 6)}),
        ("of the", GUIDE, {1: (2, 2), 2: (1, 1)}),
    ],
    ids=["example 1, candidate 1", "example 1, candidate 2", "example 2", "example 3"],
)  # fmt: skip
def test_modified_precisions(hypothesis, references, precisions):
    """Papineni et al. 2002, sections 2.1 and 2.2: lowercased, nothing else is done to the text."""
    _, columns = statistics("bleu:case=lc:tok=none:smooth=none", hypothesis, references)
    assert {n: (columns[f"match_{n}"], columns[f"total_{n}"]) for n in precisions} == precisions


def test_recall_of_all_references_is_not_rewarded():
    """Example 4: the candidate that recalls more of the references is the worse one."""
    references = ["I always do", "I invariably do", "I perpetually do"]
    metric, more = statistics("bleu:order=1-2:tok=none", "I always invariably perpetually do", references)
    _, fewer = statistics("bleu:order=1-2:tok=none", "I always do", references)
    assert more["match_1"] > fewer["match_1"]
    scores = [float(metric.score(np.array(list(columns.values())))) for columns in (more, fewer)]
    assert scores[0] < scores[1] == pytest.approx(100)


def test_the_best_match_length():
    """Section 2.2.2: twelve words against references of 12, 15 and 17 have no brevity penalty."""
    references = [" ".join("abcdefghijklmnopq"[:length]) for length in (17, 12, 15)]
    metric, columns = statistics("bleu:tok=none", " ".join("abcdefghijkl"), references)
    assert columns["ref_len"] == 12
    assert float(metric.score(np.array(list(columns.values())))) == pytest.approx(100)


def test_the_conversion_of_scores_to_rankings():
    """Kos 2008, Table 3.1, and the coefficient of its rankings by the equation of section 3.2."""
    human_scores, metric_scores = [1, 3, 1, 5], [0.62, 0.54, 0.54, 0.54]
    human_ranks, metric_ranks = [1.5, 3, 1.5, 4], [1, 3, 3, 3]
    # People give 1 to the best, metrics give the best the most; ours are both the higher the better.
    human, metric = -np.array([human_scores], float).T, np.array([metric_scores]).T
    assert rankdata(-human).tolist() == human_ranks
    assert rankdata(-metric).tolist() == metric_ranks

    n, x, y = 4, np.array(human_ranks), np.array(metric_ranks)
    upper = n * (x * y).sum() - x.sum() * y.sum()
    lower = math.sqrt(n * (x * x).sum() - x.sum() ** 2) * math.sqrt(n * (y * y).sum() - y.sum() ** 2)
    assert upper / lower == pytest.approx(8 / math.sqrt(18 * 12))
    assert segment_statistic("spearman-by-segment").value(human, metric) == pytest.approx(upper / lower, abs=1e-12)
    # Four times the sums of products of the ranks' distances from their mean, 2.5.
    assert rank_sums(human, metric)[:, 0].tolist() == [4 * 2, 4 * 4.5, 4 * 3]


def test_without_ties_the_coefficient_is_spearmans():
    """Kos 2008, section 3.3: 1 - 6 sum of d² / (n (n² - 1)), as in its table of system-level correlations."""
    generator = np.random.default_rng(8)
    for _ in range(20):
        human, metric = (generator.permutation(4).astype(float)[:, None] for _ in range(2))
        d = rankdata(human) - rankdata(metric)
        found = segment_statistic("spearman-by-segment").value(human, metric)
        assert found == pytest.approx(1 - 6 * (d**2).sum() / (4 * (16 - 1)), abs=1e-12)
        # The coefficients of Table 3.4: 0.8, 0.4, 0, -0.2 and -0.4 are of this kind.
        assert round(found * 10) % 2 == 0
        assert found == pytest.approx(pearsonr(rankdata(human), rankdata(metric))[0], abs=1e-12)


TEACHER = "Die Geschichte ist ein großartiger Lehrmeister"
"""The reference of the sentences of Table 3."""


@pytest.mark.parametrize("words", ["guter Lehrer", "großer Lehrer", "großer Meister"])
def test_bleu_and_wer_of_single_sentences(words):
    """Wang and Merlo 2016, Table 3: equal for all three hypotheses, 0.508 and 0.333."""
    hypothesis = f"Die Geschichte ist ein {words}"
    bleu, columns = statistics("bleu:tok=none", hypothesis, [TEACHER])
    assert float(bleu.score(np.array(list(columns.values())))) / 100 == pytest.approx(0.508, abs=5e-4)
    wer, columns = statistics("wer:tok=none", hypothesis, [TEACHER])
    assert float(wer.score(np.array(list(columns.values())))) / 100 == pytest.approx(0.333, abs=5e-4)


@pytest.mark.parametrize(
    ("wer_modif", "words"), [(0.178, "guter Lehrer"), (0.199, "großer Lehrer"), (0.219, "großer Meister")]
)
def test_similar_words_cost_what_their_similarity_leaves(wer_modif, words, tmp_path):
    """Table 3: WER_modif of six words, two of them replaced by others whose similarities give the printed score."""
    similarity = 1 - wer_modif * 6 / 2
    across = math.sqrt(1 - similarity**2)
    adjective, noun = words.split()
    vectors = {
        "großartiger": [1, 0, 0, 0], adjective: [similarity, across, 0, 0],
        "Lehrmeister": [0, 0, 1, 0], noun: [0, 0, similarity, across],
    }  # fmt: skip
    specification = "wer_modif:vectors=toy:tok=none:case=mixed"
    resources = stored(vectors, tmp_path)
    metric, columns = statistics(specification, f"Die Geschichte ist ein {words}", [TEACHER], resources)
    assert float(metric.score(np.array(list(columns.values())))) / 100 == pytest.approx(wer_modif, abs=1e-6)
