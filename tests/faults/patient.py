"""A learned metric that takes its time, and writes down what it was asked."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from steelyard.errors import MissingResource
from steelyard.metrics import built_in
from steelyard.metrics.content_scores import Content, ContentMetric
from steelyard.metrics.parameters import parameter
from steelyard.metrics.preparation.score_store import Scored
from steelyard.metrics.resources import Resources
from tests.faults.pauses import pause
from tests.faults.troubled import MARKS

MISSING = "STEELYARD_TEST_MISSING"
"""Environment variable: a process does not have the model."""
AT_ONCE = 16


@dataclass(frozen=True)
class Patient(ContentMetric):
    """Bytes of the hypothesis, and a tenth of those of the reference; a pause after each sixteen contents."""

    name: ClassVar[str] = "patient"
    source: ClassVar[str] = "this test"
    cost: ClassVar[float] = 1e4
    growth: ClassVar[float] = 1.0
    pause: float = parameter(0.0, "seconds after each sixteen contents", parse=float)

    def scorer(self, resources: Resources) -> str:
        if MISSING in os.environ:
            raise MissingResource("The model is not here.")
        return "patient 1"

    def score_contents(
        self, contents: Sequence[Content], resources: Resources, keep: Callable[[Mapping[int, Scored]], None]
    ) -> None:
        for begin in range(0, len(contents), AT_ONCE):
            some = dict(enumerate(contents))
            now = {
                place: Scored((len(some[place].hypothesis) + sum(map(len, some[place].references or ())) / 10,))
                for place in range(begin, min(begin + AT_ONCE, len(contents)))
            }
            if folder := os.environ.get(MARKS):
                with (Path(folder) / "asked.log").open("a") as file:
                    file.writelines(f"{os.getpid()} {contents[place].digest.hex()}\n" for place in now)
            pause(self.pause)
            keep(now)


def register_patient() -> None:
    """Make the metric known in this process and those forked from it."""
    built_in.LEARNED["patient"] = f"{__name__}:Patient"
