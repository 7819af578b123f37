"""A metric with all that it needs to be exercised: parameters, layers, resources."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.conformance.campaign import ODD_WORDS, WORDS
from steelyard.errors import MetricsError, MissingLayer
from steelyard.formats.layers import LAYERS, NOTHING
from steelyard.metrics.needed_statistics import states_of
from steelyard.metrics.registry import with_parameters
from steelyard.metrics.resolution import resolve
from steelyard.metrics.resources import Resources
from steelyard.metrics.run_context import RunContext
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from steelyard.conformance.campaign import Campaign
    from steelyard.metrics.metric import Metric
    from steelyard.metrics.score_systems import MetricResult

LANGUAGE = "en"
SEMPOS = (
    "n.denot", "n.denot.neg", "n.pron.def.pers", "n.quant.def", "adj.denot", "adj.quant.grad", "adv.pron.def", "v",
)  # fmt: skip


class PromiseBroken(MetricsError):
    """A metric does not do what every metric must do."""


@dataclass(frozen=True)
class Subject:
    """A resolved metric and the context it was resolved in.

    A metric that needs layers gets made-up ones: the lemma of a word is how it begins, and its semantic part of
    speech depends on nothing but the word, so that equal words have equal items.
    """

    metric: Metric
    context: RunContext

    def segments(self, campaign: Campaign, variable_references: bool = False) -> Segments:
        """The campaign as one shard, with what the metric must know of all its references.

        Parameters
        ----------
        campaign : Campaign
        variable_references : bool, optional

        Returns
        -------
        Segments
        """
        texts, layers = self.texts(campaign)
        split = len(campaign.references)
        segments = Segments(
            references=texts[:split],
            hypotheses=texts[split:],
            source=self.source(campaign),
            variable_references=variable_references,
            layers=layers,
            resources=self.context.resources,
        )
        segments.states = states_of([self.metric], segments)
        return segments

    def texts(self, campaign: Campaign) -> tuple[list[bytes], dict[str, list[bytes]]]:
        """All texts, references first, and the layers that the metric needs.

        Parameters
        ----------
        campaign : Campaign

        Returns
        -------
        (list of bytes, dict of str to list of bytes)
        """
        lines = [*campaign.references.values(), *campaign.systems.values()]
        if not self.metric.layers:
            return [joined(each) for each in lines], {}
        # Layered texts have words separated by one blank, and nothing else that is white.
        lines = [[" ".join(line.split()) for line in each] for each in lines]
        return [joined(each) for each in lines], {
            layer: [joined([_layered(layer, line) for line in each]) for each in lines] for layer in self.metric.layers
        }

    def source(self, campaign: Campaign) -> bytes | None:
        """What was translated, if the metric says that it reads it; one that reads it without saying so finds none.

        Parameters
        ----------
        campaign : Campaign

        Returns
        -------
        bytes or None
        """
        read = campaign.source is not None and "source" in self.metric.inputs
        return joined(campaign.source or ()) if read else None

    def statistics(self, campaign: Campaign, variable_references: bool = False) -> NDArray[np.float64]:
        """What the metric says of the campaign as one shard: (systems, segments, k).

        Parameters
        ----------
        campaign : Campaign
        variable_references : bool, optional

        Returns
        -------
        ndarray of float64
        """
        return self.metric.segment_statistics(self.segments(campaign, variable_references))

    def part(self, campaign: Campaign, positions: Sequence[int]) -> NDArray[np.float64]:
        """What it says of these segments alone, as a shard of the whole: (systems, positions, k).

        Parameters
        ----------
        campaign : Campaign
        positions : sequence of int

        Returns
        -------
        ndarray of float64
        """
        part = self.segments(campaign.rearranged(positions))
        part.states = self.segments(campaign).states
        return self.metric.segment_statistics(part)

    def measured(self, campaign: Campaign, shard_size: int) -> MetricResult:
        """Scored in shards, with replicates, as in real life.

        Parameters
        ----------
        campaign : Campaign
        shard_size : int

        Returns
        -------
        MetricResult
        """
        texts, layers = self.texts(campaign)
        split = len(campaign.references)
        (found,) = score_systems(
            Segments(references=texts[:split], hypotheses=texts[split:], source=self.source(campaign), layers=layers),
            [self.metric],
            replicates=20,
            shard_size=shard_size,
            resources=self.context.resources,
        )
        return found

    def scores(self, campaign: Campaign, variable_references: bool = False) -> NDArray[np.float64]:
        """The score of each system.

        Parameters
        ----------
        campaign : Campaign
        variable_references : bool, optional

        Returns
        -------
        ndarray of float64
        """
        return self.metric.score(self.statistics(campaign, variable_references).sum(axis=1))


def subjects(
    metric: type[Metric], folder: Path, files: Mapping[str, Path] | None = None, examples: Sequence[str] | None = None
) -> list[Subject]:
    """The metric with each of its `examples` (or these), with layers and without where it can do both.

    Its example resources are made in `folder`; `files` are resources that count before those of the same name.
    Raises MetricsError where the metric cannot be made or resolved.

    Parameters
    ----------
    metric : type of Metric
    folder : Path
    files : mapping of str to Path or None, optional
    examples : sequence of str or None, optional

    Returns
    -------
    list of Subject
    """
    folder.mkdir(parents=True, exist_ok=True)
    made = metric.example_resources(folder, [word for word in (*WORDS, *ODD_WORDS) if word.split() == [word]])
    resources = Resources(files={**made, **(files or {})})
    found: list[Subject] = []
    for example in metric.examples if examples is None else examples:
        for layers in (frozenset(LAYERS), frozenset[str]()):
            context = RunContext(LANGUAGE, layers, resources)
            try:
                (resolved,), _ = resolve([with_parameters(metric, example.split(":") if example else [])], context)
            except MissingLayer:
                if layers:
                    raise
                continue
            if resolved not in [subject.metric for subject in found]:
                found.append(Subject(resolved, context))
    return found


def joined(lines: Sequence[str]) -> bytes:
    """Lines as `Segments` has them.

    Parameters
    ----------
    lines : sequence of str

    Returns
    -------
    bytes
    """
    return "\n".join(lines).encode()


def _layered(layer: str, line: str) -> str:
    words = [(_lemma(word), zlib.crc32(word.encode()) % 10) for word in line.split(" ") if word]
    if layer == "lemma":
        return " ".join(lemma if kind else NOTHING for lemma, kind in words)
    # Some words are no node of their own, as prepositions are.
    return " ".join(f"{lemma}/{SEMPOS[kind]}" for lemma, kind in words if kind < len(SEMPOS))


def _lemma(word: str) -> str:
    return re.sub(r"\s", NOTHING, word.lower())[:3]
