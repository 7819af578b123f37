"""What every metric promises, as checks that anybody can run on a metric of their own.

`steelyard metric check NAME` runs them on many texts; a test can call them one by one:

    for subject in subjects(MyMetric, tmp_path):
        for promise in PROMISES:
            promise(subject, campaign)
"""

from __future__ import annotations

from steelyard.conformance.campaign import Campaign, generated_campaigns
from steelyard.conformance.check import Finding, check
from steelyard.conformance.declarations import DECLARATIONS
from steelyard.conformance.promises import PROMISES
from steelyard.conformance.subject import PromiseBroken, Subject, subjects

__all__ = [
    "DECLARATIONS",
    "PROMISES",
    "Campaign",
    "Finding",
    "PromiseBroken",
    "Subject",
    "check",
    "generated_campaigns",
    "subjects",
]
