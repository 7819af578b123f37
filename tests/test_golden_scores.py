"""Scores and intervals of the demo campaign that must stay the same to the last bit, on every machine.

A change of these values changes what people have stored and published: it needs a decision, not a new file.
`python -m tests.test_golden_scores` writes the file anew.
"""

import json
from pathlib import Path

import pytest

from metrics.measure import measure
from metrics.registry import parse_metrics
from metrics.resampling.interval import percentile_interval
from metrics.text.folder import read_campaign

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "tests" / "golden" / "harbour.json"
METRICS = ["bleu", "bleu:order=3,1,5:tok=thesis", "chrf", "chrf++", "ter", "ter:tok=tercom", "wer", "per", "fmeasure"]
METRICS += ["gtm", "gtm:e=2", "tbleu", "tbleu:eps=0.3", "lebleu", "character"]
METRICS += ["meteor:modules=exact", "meteor:modules=exact:params=orig"]
METRICS += ["nist", "nist:order=2,4:case=lc"]
REFERENCES = ["A", "B", "AB"]


def measured(labels: str) -> dict[str, dict[str, list[str]]]:
    """Of each system and metric: score and both ends of the 95 % interval, all digits."""
    campaign = read_campaign(ROOT / "demo" / "harbour")
    texts = [campaign.references[label].bytes for label in labels]
    systems = [text.bytes for text in campaign.systems.values()]
    measurements = measure(texts, systems, parse_metrics(METRICS), replicates=1000, seed=12345)
    return {
        system: {
            name: [
                float(value).hex()
                for value in (m.scores[position], *percentile_interval(m.replicate_scores[position], 0.95))
            ]
            for name, m in zip(METRICS, measurements, strict=True)
        }
        for position, system in enumerate(campaign.systems)
    }


@pytest.mark.parametrize("labels", REFERENCES)
def test_the_demo_campaign_keeps_its_scores(labels):
    assert measured(labels) == json.loads(GOLDEN.read_text())[labels]


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps({labels: measured(labels) for labels in REFERENCES}, indent=1) + "\n")
