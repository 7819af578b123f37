"""The signature that is stored with a score."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from metrics.base import Metric
    from models.corpus.protocols import ProtocolContent


def stored_signature(metric: Metric, measurement: ProtocolContent) -> str:
    """The signature of a metric's score by this protocol, in this release."""
    references = "var" if measurement.variable_references else len(measurement.reference_texts)
    return metric.signature(references, measurement.replicates, measurement.seed if measurement.replicates else None)
