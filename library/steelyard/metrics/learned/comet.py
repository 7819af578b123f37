"""COMET: a regression on sentence vectors of hypothesis, source and reference, or on all of them read as one."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Self, Unpack

import numpy as np

from steelyard.errors import BadParameter
from steelyard.metrics.learned.checkpoint import (
    BOTH,
    REFERENCE,
    REGRESSION,
    SOURCE,
    UNIFIED,
    encoder_folder,
    read_hyperparameters,
)
from steelyard.metrics.learned.engine import TokenSequence
from steelyard.metrics.learned.folder import changed_at, read_config
from steelyard.metrics.learned.learned_metric import AUTO, MODELS, LearnedMetric, distinct_texts
from steelyard.metrics.learned.sentences import SentenceModel, checkpoint_graphs
from steelyard.metrics.learned.tokens import tokenizer_file
from steelyard.metrics.parameters import parameter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from steelyard.metrics.content_scores import Content
    from steelyard.metrics.keywords import COMETKeywords
    from steelyard.metrics.run_context import RunContext

INPUTS = {each: frozenset(each.split("+")) for each in (SOURCE, REFERENCE, BOTH)}


@dataclass(frozen=True)
class COMET(LearnedMetric):
    """The mean of the scores that a checkpoint of COMET gives; against several references, their mean for a segment."""

    name: ClassVar[str] = "comet"
    source: ClassVar[str] = "Rei, Stewart, Farinha and Lavie 2020"
    inputs: ClassVar[frozenset[str]] = INPUTS[BOTH]

    reads: str = parameter(
        AUTO, "what the model reads beside the hypothesis; auto is all that it can", choices=(AUTO, *INPUTS), ours=True
    )

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[COMETKeywords]) -> None: ...

    def __post_init__(self) -> None:
        super().__post_init__()
        # Only a resolved metric knows what its model reads.
        object.__setattr__(self, "inputs", INPUTS.get(self.reads, type(self).inputs))

    @property
    def title(self) -> str:
        """COMET, and the model's name."""
        return f"COMET ({self.model.partition('@')[0]})"

    def check_folder(self, folder: Path) -> None:
        """Hyperparameters, and the encoder's configuration. Raises BadModel and MissingResource."""
        read_hyperparameters(folder)
        read_config(encoder_folder(folder))

    def check_model(self, folder: Path) -> None:
        """Hyperparameters, the encoder's files and all weights. Raises BadModel and MissingResource."""
        hyperparameters, encoder = read_hyperparameters(folder), encoder_folder(folder)
        tokenizer_file(encoder)
        checkpoint_graphs(folder, read_config(encoder), hyperparameters)

    def resolve(self, context: RunContext) -> tuple[Self, list[str]]:
        """With what the model reads. Raises MissingResource, BadModel and BadParameter."""
        resolved, notices = super().resolve(context)
        hyperparameters = read_hyperparameters(context.resources.path(resolved.model, MODELS))
        can = hyperparameters.reads
        reads = can if self.reads == AUTO else self.reads
        # A unified model that reads both can do without the reference.
        if reads != can and not (hyperparameters.kind == UNIFIED and can == BOTH and reads == SOURCE):
            raise BadParameter(f"comet: {resolved.model} reads {can}, and cannot read {reads} alone.")
        return dataclasses.replace(resolved, reads=reads), notices

    def opened(self, folder: Path, device: str) -> Regression:
        """The checkpoint."""
        return _opened(folder, changed_at(folder / "hparams.yaml"), self.reads, device)


class Regression:
    """A checkpoint that scores contents.

    Parameters
    ----------
    folder : Path
    reads : str
        SOURCE, REFERENCE or BOTH.
    device : str

    Raises
    ------
    BadModel, MissingResource
    """

    def __init__(self, folder: Path, reads: str, device: str) -> None:
        hyperparameters = read_hyperparameters(folder)
        self._kind, self._reads = hyperparameters.kind, reads
        self._model = SentenceModel(folder, hyperparameters, device)

    def scores(self, contents: Sequence[Content]) -> list[tuple[float, ...]]:
        """The score, and whether a text is truncated.

        Parameters
        ----------
        contents : list of Content

        Returns
        -------
        list of tuple of float
        """
        triples = [
            (number, content.hypothesis, content.source, reference)
            for number, content in enumerate(contents)
            for reference in (content.references if content.references is not None else (None,))
        ]
        scorer = self._read_as_one if self._kind == UNIFIED else self._read_apart
        scores, truncated = scorer(contents, [triple[1:] for triple in triples])
        found: list[list[tuple[float, bool]]] = [[] for _ in contents]
        for (number, *_), score, cut in zip(triples, scores.tolist(), truncated, strict=True):
            found[number].append((score, cut))
        return [
            (sum(score for score, _ in each) / len(each) if each else np.nan, float(any(cut for _, cut in each)))
            for each in found
        ]

    def _read_apart(self, contents: Sequence[Content], triples: Sequence[Triple]) -> tuple[Scores, list[bool]]:
        """Each text once; the head sees their vectors, products and differences."""
        texts = distinct_texts(contents)
        tokens = dict(zip(texts, self._model.tokens(texts), strict=True))
        sequences = [TokenSequence(tokens[text].ids) for text in texts]
        vectors = dict(zip(texts, self._model.vectors(sequences), strict=True))
        rows = []
        for hypothesis, source, reference in triples:
            own, origin = vectors[hypothesis], vectors[source or ""]
            if self._kind == REGRESSION:
                other = vectors[reference or ""]
                parts = [own, other, own * other, np.abs(own - other), own * origin, np.abs(own - origin)]
            else:
                parts = [own, origin, own * origin, np.abs(own - origin)]
            rows.append(np.concatenate(parts))
        cut = [any(tokens[text].truncated for text in triple if text is not None) for triple in triples]
        return (self._model.head(np.stack(rows)) if rows else np.empty(0)), cut

    def _read_as_one(self, contents: Sequence[Content], triples: Sequence[Triple]) -> tuple[Scores, list[bool]]:
        """The hypothesis with the source, with the reference, and with both: the mean of what there is."""
        texts = distinct_texts(contents)
        tokens = dict(zip(texts, self._model.tokens(texts), strict=True))
        read = [[self._model.joined([tokens[text] for text in each]) for each in self._inputs(*row)] for row in triples]
        distinct = list(dict.fromkeys(sequence for row in read for sequence, _ in row))
        heads = self._model.head(np.stack(self._model.vectors(distinct))) if distinct else np.empty(0)
        scores = dict(zip(distinct, heads.tolist(), strict=True))
        means = [sum(scores[sequence] for sequence, _ in row) / len(row) for row in read]
        return np.array(means), [any(cut for _, cut in row) for row in read]

    def _inputs(self, hypothesis: str, source: str | None, reference: str | None) -> Iterator[tuple[str, ...]]:
        if source is not None:
            yield hypothesis, source
        if reference is not None:
            yield hypothesis, reference
        if source is not None and reference is not None:
            yield hypothesis, source, reference


if TYPE_CHECKING:
    Triple = tuple[str, str | None, str | None]
    Scores = NDArray[np.float64]


@lru_cache(maxsize=2)
def _opened(folder: Path, modified: int, reads: str, device: str) -> Regression:  # noqa: ARG001 - read again
    return Regression(folder, reads, device)
