"""How rare tokens are in the references of a test set, as BERTScore weighs them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from steelyard.errors import BadState
from steelyard.metrics.corpus_statistics import CorpusStatistics
from steelyard.numerics.deterministic import log

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from steelyard.metrics.learned.tokens import Tokens
    from steelyard.metrics.resources import Resources
    from steelyard.metrics.segments import Segments

FORM = "bertscore-idf 1"


@dataclass(frozen=True)
class Idf:
    """Inverse document frequencies: a document is a reference of a segment."""

    documents: int
    counts: dict[int, int]
    """In how many documents each token is."""
    digest: str

    def weights(self, ids: Sequence[int]) -> NDArray[np.float64]:
        """log((documents + 1) / (documents with the token + 1)), as bert-score has it.

        Parameters
        ----------
        ids : list of int

        Returns
        -------
        (tokens,) float64
        """
        containing = np.array([self.counts.get(each, 0) for each in ids], np.float64)
        return log((self.documents + 1.0) / (containing + 1.0))


@dataclass(frozen=True)
class IdfCounts(CorpusStatistics):
    """Counts documents that have a token."""

    cost: ClassVar[float] = 50.0

    model: str
    """`NAME@HASH`."""
    engine: str
    """Its tokenizer's version is in it."""
    tokenize: Callable[[Resources, Sequence[str]], list[Tokens]] = field(compare=False, repr=False)

    @property
    def key(self) -> str:
        """With the hash of the model, whatever it is called."""
        return f"bertscore-idf:model={self.model.rpartition('@')[2]}:engine={self.engine}"

    def count(self, segments: Segments) -> bytes:
        """As the base class has it."""
        lines = [text.decode().split("\n") for text in segments.references]
        there = [
            line.strip()
            for text, mask in zip(lines, segments.reference_mask, strict=True)
            for line, present in zip(text, mask, strict=True)
            if present
        ]
        counts = Counter(token for each in self.tokenize(segments.resources, there) for token in set(each.ids))
        return _written(len(there), counts)

    def merge(self, parts: Iterable[bytes]) -> bytes:
        """As the base class has it. Raises BadState."""
        documents, counts = 0, Counter[int]()
        for part in parts:
            more, of_part = _read(part)
            documents += more
            counts.update(of_part)
        return _written(documents, counts)

    def read(self, state: bytes) -> Idf:
        """As the base class has it. Raises BadState."""
        return Idf(*_read(state), sha256(state).hexdigest()[:12])


def _written(documents: int, counts: dict[int, int]) -> bytes:
    kept = {str(token): counts[token] for token in sorted(counts)}
    return json.dumps({"form": FORM, "documents": documents, "counts": kept}, separators=(",", ":")).encode()


def _read(state: bytes) -> tuple[int, dict[int, int]]:
    try:
        found = json.loads(state)
        if found["form"] != FORM:
            raise ValueError(f"the form is {found['form']}")
        return int(found["documents"]), {int(token): int(count) for token, count in found["counts"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadState(
            f"Counts of tokens in references cannot be read ({error}). Queue the evaluation again."
        ) from error
