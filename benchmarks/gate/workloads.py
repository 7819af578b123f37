"""What is counted: work of one process on a small campaign that is the same everywhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.gate.counting import YARDSTICK
from benchmarks.harness.generated import write_campaign
from benchmarks.together import typed
from models.storage.arrays import pack, unpack
from steelyard.formats.plain import read_lines
from steelyard.metrics.embeddings.vectors import store
from steelyard.metrics.registry import all_metrics, parse_metric
from steelyard.metrics.resolution import resolve
from steelyard.metrics.resources import Resources
from steelyard.metrics.run_context import RunContext
from steelyard.metrics.score_systems import resampled_run, score_systems
from steelyard.metrics.segments import Segments
from steelyard.resampling.paired import paired_bootstrap, paired_randomization

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from steelyard.metrics.metric import Metric
    from steelyard.metrics.score_systems import MetricResult

SYSTEMS, SEGMENTS = 5, 512
REPLICATES = TRIALS = 1000
DIMENSIONS = 100
SPECIFICATIONS = {
    **{each.name: each.name for each in all_metrics()},
    "chrf++": "chrf++",
    "meteor": "meteor:modules=exact",
    "bleu_modif": "bleu_modif:vectors=own",
    "wer_modif": "wer_modif:vectors=own",
}
"""Every metric of the house by name, with the parameters that it needs; Meteor's dictionaries are not ours."""
THREE = ("bleu", "chrf", "ter")


def nothing() -> None:
    """What most work needs to be done before it."""


@dataclass(frozen=True)
class Work:
    """What is counted each time, and what is done before it, which is not."""

    count: Callable[[], object]
    before: Callable[[], object] = nothing


@dataclass
class Texts:
    """The campaign's files, and what workloads have in common."""

    folder: Path
    campaign: Path = field(init=False)

    def __post_init__(self) -> None:
        self.campaign = write_campaign(self.folder / "campaign", SYSTEMS, SEGMENTS)

    @cached_property
    def paths(self) -> list[Path]:
        """The reference, then the systems."""
        return [self.campaign / "refs" / "A.txt", *sorted((self.campaign / "systems").iterdir())]

    @cached_property
    def texts(self) -> list[bytes]:
        """Their contents."""
        return [read_lines(path).bytes for path in self.paths]

    @cached_property
    def layers(self) -> dict[str, list[bytes]]:
        """What SemPOS reads."""
        return {"sempos": [typed(text) for text in self.texts]}

    @cached_property
    def resources(self) -> Resources:
        """Vectors of all words, drawn."""
        words = sorted({word for text in self.texts for word in text.split()})
        values = np.random.default_rng(1).random((len(words), DIMENSIONS), np.float32) - np.float32(0.5)
        folder = self.folder / "vectors"
        folder.mkdir()
        store(zip(words, values, strict=True), folder, "drawn", {})
        return Resources(files={"own": folder})

    def segments(self) -> Segments:
        """A shard of everything, with nothing done yet."""
        return Segments(references=self.texts[:1], hypotheses=self.texts[1:])

    def measured(self, names: tuple[str, ...], replicates: int = 0, *, keep: bool = False) -> list[MetricResult]:
        """All systems by these metrics, from texts in memory."""
        return self.measurer([parse_metric(name) for name in names], replicates, keep=keep)()

    def measurer(
        self, metrics: list[Metric], replicates: int = 0, *, keep: bool = False
    ) -> Callable[[], list[MetricResult]]:
        """The same with metrics that are resolved."""
        layers = self.layers if any(metric.layers for metric in metrics) else {}
        resources = self.resources if any("vectors" in metric.specification for metric in metrics) else None

        def work() -> list[MetricResult]:
            return score_systems(
                Segments(references=self.texts[:1], hypotheses=self.texts[1:], layers=layers),
                metrics,
                replicates=replicates,
                keep_statistics=keep,
                resources=resources,
            )

        return work


def _metric(specification: str) -> Callable[[Texts], Work]:
    def prepare(texts: Texts) -> Work:
        metric = parse_metric(specification)
        resources = texts.resources if "vectors" in specification else Resources()
        resolved, _ = resolve([metric], RunContext("cs", frozenset({"sempos"}), resources))
        return Work(texts.measurer(list(resolved)))

    return prepare


def _words(tokenizer: str, case: str = "mixed") -> Callable[[Texts], Work]:
    return lambda texts: Work(lambda: texts.segments().words(tokenizer, case))


def _reading(texts: Texts) -> Work:
    return Work(lambda: [read_lines(path).bytes for path in texts.paths])


def _replicates(texts: Texts) -> Work:
    statistics = [each.statistics for each in texts.measured(THREE, keep=True) if each.statistics is not None]
    seeds = iter(range(10**6))
    # Draws are kept for the next who wants the same: another seed each time has them made.
    return Work(lambda: resampled_run(statistics, SEGMENTS, next(seeds), REPLICATES, 0))


def _formulas(texts: Texts) -> Work:
    found = texts.measured(THREE, REPLICATES)
    sums = [np.repeat(each.sums[:, np.newaxis], REPLICATES, axis=1) for each in found]
    return Work(lambda: [each.metric.score(of) for each, of in zip(found, sums, strict=True)])


def _bootstrap(texts: Texts) -> Work:
    found = texts.measured(THREE, REPLICATES)
    return Work(lambda: paired_bootstrap(found, None))


def _randomization(texts: Texts) -> Work:
    found = texts.measured(THREE, keep=True)
    return Work(lambda: paired_randomization(found, trials=TRIALS))


def _storing(texts: Texts) -> Work:
    statistics = [system for each in texts.measured(THREE, keep=True) for system in each.statistics]
    return Work(lambda: [unpack(pack(system)) for system in statistics])


def _yardstick(texts: Texts) -> Work:
    """BLEU of one system by sacreBLEU, which is Python throughout and stays at one release."""
    from sacrebleu.metrics import BLEU

    reference, output = (text.decode().split("\n") for text in texts.texts[:2])
    return Work(lambda: BLEU(tokenize="none", force=True).corpus_score(output, [reference]))


WORKLOADS: dict[str, Callable[[Texts], Work]] = {
    YARDSTICK: _yardstick,
    "reading": _reading,
    "words 13a": _words("13a"),
    "words none": _words("none"),
    "words intl": _words("intl"),
    "words 13a lc": _words("13a", "lc"),
    **{name: _metric(specification) for name, specification in SPECIFICATIONS.items()},
    "replicates": _replicates,
    "formulas": _formulas,
    "paired bootstrap": _bootstrap,
    "randomization": _randomization,
    "storing": _storing,
}
"""By name, how to make each ready. All start from texts in memory but the first, and metrics end with scores."""
