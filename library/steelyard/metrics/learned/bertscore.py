"""BERTScore: tokens of both sides matched by the similarity of their contextual embeddings."""

from __future__ import annotations

import dataclasses
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Self, Unpack, cast

import numpy as np

from steelyard.errors import BadParameter
from steelyard.metrics.learned.embeddings import TokenEmbeddings
from steelyard.metrics.learned.folder import changed_at, read_config
from steelyard.metrics.learned.idf import Idf, IdfCounts
from steelyard.metrics.learned.learned_metric import MODELS, LearnedMetric, distinct_texts
from steelyard.metrics.parameters import parameter, whole_number_to

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from steelyard.metrics.content_scores import Content
    from steelyard.metrics.corpus_statistics import CorpusStatistics
    from steelyard.metrics.keywords import BERTScoreKeywords
    from steelyard.metrics.learned.tokens import Tokens
    from steelyard.metrics.resources import Resources
    from steelyard.metrics.run_context import RunContext
    from steelyard.metrics.segments import Segments

LAST = 0
"""The layer that stands for the last one, until the metric is resolved."""


@dataclass(frozen=True)
class BERTScore(LearnedMetric):
    """The harmonic mean of precision and recall, a token's share of each being its best cosine on the other side.

    Of several references the best one counts, for each of the three figures, as in bert-score.
    """

    name: ClassVar[str] = "bertscore"
    source: ClassVar[str] = "Zhang, Kishore, Wu, Weinberger and Artzi 2020"
    figures: ClassVar[tuple[str, ...]] = ("P", "R", "truncated")
    width: ClassVar[int] = 4
    examples: ClassVar[tuple[str, ...]] = ("model=tiny", "model=tiny:layer=1:idf=yes")

    layer: int = parameter(
        LAST, "the layer whose embeddings are compared, 1 being the first; 0 is the last", parse=whole_number_to(999),
        ours=True,
    )  # fmt: skip
    idf: bool = parameter(False, "tokens that are rare in the references weigh more", ours=True)

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[BERTScoreKeywords]) -> None: ...

    @property
    def title(self) -> str:
        """BERTScore."""
        return "BERTScore"

    @property
    def corpus_statistics(self) -> CorpusStatistics | None:
        """The counts of idf."""
        return IdfCounts(self.model, self.engine, self._tokens) if self.idf else None

    def resolve(self, context: RunContext) -> tuple[Self, list[str]]:
        """With the layer. Raises MissingResource, BadModel and BadParameter."""
        resolved, notices = super().resolve(context)
        layers = read_config(context.resources.path(resolved.model, MODELS)).layers
        if self.layer > layers:
            raise BadParameter(f"bertscore: layer is {self.layer}, but {resolved.model} has {layers}.")
        return dataclasses.replace(resolved, layer=self.layer or layers), notices

    def opened(self, folder: Path, device: str) -> Matching:
        """With the weights of tokens that were counted."""
        return Matching(_embeddings(folder, self.layer, device), vars(self).get("_idf"))

    def scorer(self, resources: Resources) -> str:
        """With the counts that weights follow from."""
        counted = cast("Idf | None", vars(self).get("_idf"))
        return super().scorer(resources) + (f"|counts:{counted.digest}" if counted else "")

    def values(self, segments: Segments) -> NDArray[np.float64]:
        """(systems, segments, 4): F, precision, recall, and whether a text is truncated."""
        if not self.idf:
            return super().values(segments)
        weighted = copy(self)
        object.__setattr__(weighted, "_idf", segments.state(cast("CorpusStatistics", self.corpus_statistics).key))
        return LearnedMetric.values(weighted, segments)

    def _tokens(self, resources: Resources, texts: Sequence[str]) -> list[Tokens]:
        return _embeddings(resources.path(self.model, MODELS), self.layer, "cpu").tokens(texts)


class Matching:
    """A model of embeddings, and how much tokens weigh.

    Parameters
    ----------
    embeddings : TokenEmbeddings
    idf : Idf, optional
        Without it all tokens weigh the same, but the special ones nothing.
    """

    def __init__(self, embeddings: TokenEmbeddings, idf: Idf | None) -> None:
        self._embeddings, self._idf = embeddings, idf

    def scores(self, contents: Sequence[Content]) -> list[tuple[float, ...]]:
        """F, precision, recall, and whether a text is truncated.

        Parameters
        ----------
        contents : list of Content

        Returns
        -------
        list of tuple of float
        """
        texts = list(dict.fromkeys(text.strip() for text in distinct_texts(contents)))
        tokens = dict(zip(texts, self._embeddings.tokens(texts), strict=True))
        embedded = dict(zip(texts, self._embeddings.embedded([tokens[text] for text in texts]), strict=True))
        weights = {text: self._weights(tokens[text].ids) for text in texts}
        found = []
        for content in contents:
            own, sides = content.hypothesis.strip(), [each.strip() for each in content.references or ()]
            matched = [matches(embedded[own], embedded[side], weights[own], weights[side]) for side in sides]
            cut = any(tokens[text].truncated for text in (own, *sides))
            best = [max(each) for each in zip(*matched, strict=True)] or [np.nan] * 3
            found.append((*map(float, best), float(cut)))
        return found

    def _weights(self, ids: Sequence[int]) -> NDArray[np.float64]:
        if self._idf:
            return self._idf.weights(ids)
        return (~np.isin(ids, self._embeddings.special)).astype(np.float64)


def matches(
    hypothesis: NDArray[np.float32],
    reference: NDArray[np.float32],
    own: NDArray[np.float64],
    theirs: NDArray[np.float64],
) -> tuple[float, float, float]:
    """F, precision and recall of one text against another.

    Parameters
    ----------
    hypothesis, reference : (tokens, width) float32
        Of length 1 each, special tokens included.
    own, theirs : (tokens,) float64
        The weights of their tokens.

    Returns
    -------
    (float, float, float)
        0 where one of them is empty or has no weight.
    """
    if min(len(hypothesis), len(reference)) <= 2 or not own.sum() or not theirs.sum():
        return 0.0, 0.0, 0.0
    # Not by a matrix product: its bits would follow the number of threads.
    cosines = np.einsum("ik,jk->ij", hypothesis, reference)
    precision = float(cosines.max(axis=1) @ own / own.sum())
    recall = float(cosines.max(axis=0) @ theirs / theirs.sum())
    total = precision + recall
    return (2 * precision * recall / total if total else 0.0), precision, recall


def _embeddings(folder: Path, layer: int, device: str) -> TokenEmbeddings:
    return _loaded(folder, changed_at(folder / "config.json"), layer, device)


@lru_cache(maxsize=2)
def _loaded(folder: Path, modified: int, layer: int, device: str) -> TokenEmbeddings:  # noqa: ARG001 - read again
    return TokenEmbeddings(folder, layer, device)
