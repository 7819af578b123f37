"""What tests of models share: they need the packages of `steelyard[learned]`, and skip without."""

from __future__ import annotations

import json
import os
from importlib.util import find_spec
from pathlib import Path

import pytest

from steelyard.metrics.registry import parse_metric
from steelyard.metrics.resolution import resolve
from steelyard.metrics.resources import Resources
from steelyard.metrics.run_context import RunContext
from steelyard.metrics.segments import Segments

GOLDEN = Path(__file__).parents[3] / "golden" / "learned"
SCORES = json.loads((GOLDEN / "scores.json").read_text("utf-8"))
SOURCES, HYPOTHESES, REFERENCES = map(list, zip(*SCORES["texts"], strict=True))
MISSING = [name for name in ("onnxruntime", "tokenizers", "yaml") if find_spec(name) is None]
# `make test-learned` sets it: there nothing may be skipped.
needs_extra = pytest.mark.skipif(
    bool(MISSING) and not os.environ.get("STEELYARD_TEST_LEARNED"),
    reason=f"needs steelyard[learned] ({', '.join(MISSING)}): make test-learned",
)


def resources_of(*folders: str) -> Resources:
    """The tiny models in these folders of `tests/golden/learned`, each by the name of its folder."""
    return Resources(files={folder: GOLDEN / folder for folder in folders})


def resolved(specification: str, resources: Resources):
    """A metric with everything pinned."""
    (metric,), _ = resolve([parse_metric(specification)], RunContext("en", frozenset(), resources))
    return metric


def segments_of(hypotheses, references, sources, resources: Resources, metric) -> Segments:
    """Texts with what the metric must know of all its references."""
    from steelyard.metrics.needed_statistics import states_of

    segments = Segments.from_lines(hypotheses=hypotheses, references=references, source=sources)
    segments.resources = resources
    segments.states = states_of([metric], segments)
    return segments
