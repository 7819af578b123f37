"""Scores and intervals of the demo campaign that must stay the same to the last bit, on every machine.

A change of these values changes what people have stored and published: it needs a decision, not a new file.
`python -m tests.test_golden_scores` writes the file anew.
"""

import json
import tempfile
from pathlib import Path

import pytest

from steelyard.conformance.campaign import Campaign
from steelyard.conformance.subject import Subject
from steelyard.formats.campaign.folder import read_campaign
from steelyard.metrics import registry
from steelyard.metrics.registry import parse_metrics
from steelyard.metrics.resolution import resolve
from steelyard.metrics.resources import Resources
from steelyard.metrics.run_context import RunContext
from steelyard.metrics.score_systems import MetricResult, score_systems
from steelyard.metrics.segments import Segments
from steelyard.resampling.interval import percentile_interval

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "tests" / "golden" / "harbour.json"
METRICS = ["bleu", "bleu:order=3,1,5:tok=thesis", "chrf", "chrf++", "ter", "ter:tok=tercom", "wer", "per", "fmeasure"]
METRICS += ["gtm", "gtm:e=2", "tbleu", "tbleu:eps=0.3", "lebleu", "character", "ribes"]
METRICS += ["meteor:modules=exact", "meteor:modules=exact:params=orig"]
METRICS += ["nist", "nist:order=2,4:case=lc"]
# With made-up resources and layers, which are the same everywhere.
METRICS += ["meteor:modules=exact,lemma,synonym:lemmas=table:synonyms=groups", "sempos", "sempos:variant=cap-micro"]
METRICS += ["bleu_modif:vectors=toy", "wer_modif:vectors=toy", "wer_modif:vectors=toy:clamp=no"]
REFERENCES = ["A", "B", "AB"]


def measurements(labels: str, **kept: bool) -> tuple[list[str], list[MetricResult]]:
    """The systems of the demo campaign, and what each of the metrics says of them."""
    campaign = read_campaign(ROOT / "demo" / "harbour")
    texts = [campaign.references[label].bytes for label in labels]
    systems = [text.bytes for text in campaign.systems.values()]
    with tempfile.TemporaryDirectory() as scratch:
        words = sorted({word for text in texts for word in text.decode().split()})
        files = {}
        for metric in registry.all_metrics():
            files |= metric.example_resources(Path(scratch), words)
        context = RunContext("en", frozenset({"sempos"}), Resources(files=files))
        settled, _ = resolve(parse_metrics(METRICS), context)
        lines = [text.decode().split("\n") for text in (*texts, *systems)]
        made_up = Campaign({"R": lines[0]}, {str(number): each for number, each in enumerate(lines[1:])})
        (sempos, *_) = [metric for metric in settled if metric.name == "sempos"]
        _, layers = Subject(sempos, context).texts(made_up)
        resources = context.resources
        given = Segments(references=texts, hypotheses=systems, layers=layers)
        found = score_systems(given, settled, replicates=1000, seed=12345, resources=resources, **kept)
    return list(campaign.systems), found


def measured(labels: str) -> dict[str, dict[str, list[str]]]:
    """Of each system and metric: score and both ends of the 95 % interval, all digits."""
    systems, found = measurements(labels)
    return {
        system: {
            name: [
                float(value).hex()
                for value in (m.scores[position], *percentile_interval(m.replicate_scores[position], 0.95))
            ]
            for name, m in zip(METRICS, found, strict=True)
        }
        for position, system in enumerate(systems)
    }


def test_every_metric_is_among_them():
    assert {name.split(":")[0] for name in METRICS} >= {metric.name for metric in registry.all_metrics()}


@pytest.mark.parametrize("labels", REFERENCES)
def test_the_demo_campaign_keeps_its_scores(labels):
    assert measured(labels) == json.loads(GOLDEN.read_text())[labels]


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps({labels: measured(labels) for labels in REFERENCES}, indent=1) + "\n")
