"""Agreement of four metrics with the human judgments of three WMT campaigns, against figures made by other programs."""

import csv
from collections import defaultdict

import numpy as np
import pytest

from steelyard.meta_evaluation.statistics import segment_statistic, system_statistic
from steelyard.meta_evaluation.system import better_or_equal_share
from steelyard.metrics.registry import parse_metrics
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from tests.library.campaigns import joined, read_campaign

SPECIFICATIONS = {"BLEU": "bleu", "chrF2": "chrf", "chrF2++": "chrf++", "TER": "ter"}
NAMES = {
    ("system", "pearson"): "pearson",
    ("system", "spearman"): "spearman",
    ("system", "kendall_tau_b"): "kendall",
    ("system", "pairwise_accuracy"): "pairwise",
    ("system", "spearman_with_better_or_equal_share"): "spearman-share",
    ("segment", "pearson_pooled"): "pearson",
    ("segment", "kendall_tau_b_pooled"): "kendall",
    ("segment", "kendall_tau_b_mean_by_segment"): "kendall-by-segment",
    ("segment", "spearman_mean_by_segment"): "spearman-by-segment",
    ("segment", "kendall_like_gt25"): "kendall-da",
    ("segment", "pearson_mean_by_system"): "pearson-by-system",
}
ROWS = {"wmt21.en-cs": 48, "wmt22.de-en": 132, "wmt22.en-cs": 24}


def table(path):
    with path.open() as file:
        return list(csv.DictReader(file, delimiter="\t"))


@pytest.mark.parametrize("name", ROWS)
def test_every_published_figure_comes_out(real_data, name):
    campaign = read_campaign(real_data / name)
    systems = list(campaign.systems)
    segments = len(campaign.systems[systems[0]])
    official = np.full(len(systems), np.nan)
    if name != "wmt22.en-cs":
        for row in table(real_data / name / "human.sys.tsv"):
            if row["system"] in systems:
                official[systems.index(row["system"])] = float(row["score"])
    human, raw = np.full((2, len(systems) + 1, segments), np.nan)
    if name != "wmt21.en-cs":
        for row in table(real_data / name / "human.seg.tsv"):
            place = systems.index(row["system"]) if row["system"] in systems else len(systems)
            human[place, int(row["segment"])], raw[place, int(row["segment"])] = float(row["score"]), float(row["raw"])
    share = better_or_equal_share(human[:-1])
    human, raw = human[:-1], raw[:-1]
    rows = defaultdict(list)
    for row in table(real_data / "expected_correlations.tsv"):
        if row["dataset"] == name:
            rows[row["refs"]].append(row)
    assert sum(len(each) for each in rows.values()) == ROWS[name]
    for labels, expected in rows.items():
        measured = score_systems(
            Segments(
                references=[joined(campaign.references[label]) for label in labels.split(",")],
                hypotheses=[joined(lines) for lines in campaign.systems.values()],
            ),
            parse_metrics(list(SPECIFICATIONS.values())),
            segment_scores=True,
        )
        by_metric = dict(zip(SPECIFICATIONS, measured, strict=True))
        for row in expected:
            measurement = by_metric[row["metric"]]
            sign = 1 if measurement.metric.higher_is_better else -1
            statistic = NAMES[row["level"], row["statistic"]]
            if row["level"] == "system":
                found = system_statistic(statistic)
                people = share if found.by_share else official
                value = float(found.values(people, sign * measurement.scores))
                counted = len(systems) * (len(systems) - 1) // 2 if statistic == "pairwise" else len(systems)
            else:
                found = segment_statistic(statistic)
                people = raw if found.on_raw else human
                value = found.value(people, sign * measurement.segment_scores)
                counted = found.counted(people, sign * measurement.segment_scores)
            assert f"{value:.6f}" == row["value"], row
            assert counted == int(row["n"]), row
