"""Every system of three WMT campaigns against figures of sacreBLEU 2.6.0, references alone and together."""

import csv
from collections import defaultdict

import numpy as np
import pytest

from steelyard.metrics.registry import parse_metrics
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from tests.library.campaigns import joined, read_campaign

SPECIFICATIONS = {"BLEU": "bleu", "chrF2": "chrf", "chrF2++": "chrf++", "TER": "ter"}
CAMPAIGNS = ["wmt21.en-cs", "wmt22.de-en", "wmt22.en-cs"]


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_equals_sacrebleu(real_data, name):
    campaign = read_campaign(real_data / name)
    expected = defaultdict(dict)
    details = {}
    with (real_data / "expected_sacrebleu.tsv").open() as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row["dataset"] == name:
                expected[row["refs"]][row["system"], row["metric"]] = float(row["score"])
                details[row["refs"], row["system"], row["metric"]] = row["detail"]
    assert len(expected) == 4, "each reference, both, and both in the other order"
    for labels, scores in expected.items():
        references = [joined(campaign.references[label]) for label in labels.split(",")]
        systems = [joined(lines) for lines in campaign.systems.values()]
        measured = score_systems(
            Segments(references=references, hypotheses=systems), parse_metrics(list(SPECIFICATIONS.values()))
        )
        compared = 0
        for title, measurement in zip(SPECIFICATIONS, measured, strict=True):
            for position, system in enumerate(campaign.systems):
                if (system, title) not in scores:
                    continue
                ours = measurement.scores[position]
                assert ours == pytest.approx(scores[system, title], rel=1e-11), (labels, system, title)
                compared += 1
                if title == "BLEU":
                    check_counts(details[labels, system, title], measurement.sums[position])
        assert compared == len(scores)


def check_counts(detail: str, sums: np.ndarray) -> None:
    """The sums behind a BLEU score, written as `counts=... totals=... bp=... sys_len=... ref_len=...`."""
    fields = dict(part.split("=") for part in detail.split())
    counts, totals = ([int(n) for n in fields[key].split(",")] for key in ("counts", "totals"))
    assert sums.tolist() == [int(fields["sys_len"]), int(fields["ref_len"]), *counts, *totals]
