"""The signature that is stored with a score."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from models.corpus.protocols import ProtocolContent
    from steelyard.metrics.metric import Metric


def stored_signature(metric: Metric, protocol: ProtocolContent) -> str:
    """The signature of a metric's score under this protocol, in this release."""
    references = "var" if protocol.variable_references else len(protocol.reference_texts)
    seed = protocol.seed if protocol.replicates else None
    return metric.signature(references, protocol.replicates, seed, protocol.resample)
