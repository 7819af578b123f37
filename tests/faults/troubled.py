"""Metrics that make trouble, or give others the time to make some."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from steelyard.metrics import built_in
from steelyard.metrics.corpus_statistics import CorpusStatistics
from steelyard.metrics.metric import Metric
from steelyard.metrics.parameters import parameter
from tests.faults.pauses import pause

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from steelyard.metrics.segments import Segments

MARKS = "STEELYARD_TEST_MARKS"
"""Environment variable with the folder where trouble that happens once leaves its mark."""

GATE = "STEELYARD_TEST_GATE"
"""Environment variable with a file: until it is there, no shard of this process goes on."""

MOUTHFUL = 16 * 2**20
"""Bytes that a text with EAT in it has allocated at a time, for ever."""


@dataclass(frozen=True)
class Troubled(Metric):
    """Bytes per word, after a pause; KILL, KILLONCE, RAISE, HANG and EAT in a text do what they say."""

    name: ClassVar[str] = "troubled"
    source: ClassVar[str] = "this test"
    cost: ClassVar[float] = 100.0
    pause: float = parameter(0.0, "seconds that each shard takes", parse=float)

    @property
    def columns(self) -> tuple[str, ...]:
        return ("bytes", "words")

    def segment_statistics(self, segments: Segments) -> NDArray[np.float64]:
        while (gate := os.environ.get(GATE)) and not Path(gate).exists():
            time.sleep(0.01)
        pause(self.pause)
        text = b"\n".join(segments.hypotheses)
        if b"KILLONCE" in text:
            mark = Path(os.environ[MARKS]) / "killed"
            if not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        elif b"KILL" in text:
            os.kill(os.getpid(), signal.SIGKILL)
        if b"RAISE" in text:
            raise RuntimeError("this text makes trouble")
        if b"HANG" in text:
            time.sleep(1000)
        if b"EAT" in text:
            eaten = []
            while True:
                eaten.append(np.empty(MOUTHFUL // 8))
        return np.array(
            [[(len(line), len(line.split())) for line in system.split(b"\n")] for system in segments.hypotheses],
            dtype=np.float64,
        )

    def score(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(invalid="ignore", divide="ignore"):
            return sums[..., 0] / sums[..., 1]


@dataclass(frozen=True)
class SlowCount(CorpusStatistics):
    """How many lines the references have, after a pause for each part and one for merging them."""

    pause: float
    cost = 100.0

    @property
    def key(self) -> str:
        return f"lines:pause={self.pause}"

    def count(self, segments: Segments) -> bytes:
        pause(self.pause)
        return str(len(segments)).encode()

    def merge(self, parts: Sequence[bytes]) -> bytes:
        pause(self.pause)
        return str(sum(map(int, parts))).encode()

    def read(self, state: bytes) -> int:
        return int(state)


@dataclass(frozen=True)
class Careful(Metric):
    """Words per line of the whole test set, which it must know before it scores a shard."""

    name: ClassVar[str] = "careful"
    source: ClassVar[str] = "this test"
    cost: ClassVar[float] = 100.0
    pause: float = parameter(0.0, "seconds that each part of the corpus_statistics takes", parse=float)

    @property
    def corpus_statistics(self) -> SlowCount:
        return SlowCount(self.pause)

    @property
    def columns(self) -> tuple[str, ...]:
        return ("words", "lines")

    def segment_statistics(self, segments: Segments) -> NDArray[np.float64]:
        lines = segments.state(self.corpus_statistics.key)
        return np.array(
            [[(len(line.split()), lines) for line in system.split(b"\n")] for system in segments.hypotheses],
            dtype=np.float64,
        )

    def score(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        return sums[..., 0] / sums[..., 1]


@dataclass(frozen=True)
class Weary(Metric):
    """Bytes per line, after a pause whenever a score is asked for, as trials do for each pair."""

    name: ClassVar[str] = "weary"
    source: ClassVar[str] = "this test"
    cost: ClassVar[float] = 100.0
    pause: float = parameter(0.0, "seconds that each score takes", parse=float)

    @property
    def columns(self) -> tuple[str, ...]:
        return ("bytes", "lines")

    def segment_statistics(self, segments: Segments) -> NDArray[np.float64]:
        return np.array(
            [[(len(line), 1) for line in system.split(b"\n")] for system in segments.hypotheses], dtype=np.float64
        )

    def score(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        pause(self.pause)
        return sums[..., 0] / sums[..., 1]


def register() -> None:
    """Make the metrics known in this process and those forked from it."""
    built_in.PLACES.update({each.name: f"{__name__}:{each.__name__}" for each in (Troubled, Careful, Weary)})
