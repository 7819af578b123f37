"""SemPOS: overlap of tectogrammatical lemmas, counted apart for each semantic part of speech."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Unpack

import numpy as np

from steelyard.kernels.alignment.bag_overlap import bag_overlaps
from steelyard.kernels.text.words import Words
from steelyard.metrics.metric import Metric
from steelyard.metrics.parameters import case_parameter, parameter
from steelyard.metrics.references.choice import lengths
from steelyard.numerics import deterministic

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.metrics.keywords import SemPOSKeywords
    from steelyard.metrics.segments import Segments

TYPES = (
    *("n.denot", "n.denot.neg", "n.pron.def.demon", "n.pron.def.pers", "n.pron.indef", "n.quant.def"),
    *("adj.denot", "adj.pron.def.demon", "adj.pron.indef", "adj.quant.def", "adj.quant.indef", "adj.quant.grad"),
    *("adv.denot.grad.nneg", "adv.denot.ngrad.nneg", "adv.denot.grad.neg", "adv.denot.ngrad.neg"),
    *("adv.pron.def", "adv.pron.indef", "v"),
)
"""The 19 semantic parts of speech of Kos 2008, table 2.1."""

OTHER = "other"
"""All types beyond these, taken together: statistics need columns that are known beforehand."""

UNDECIDED = frozenset(("", "-", "???"))
"""What annotators write where they know of no type; such nodes take no part."""

_NUMBERS = {name: number for number, name in enumerate(TYPES)}


@dataclass(frozen=True)
class SemPOS(Metric):
    """How many of the typed words of the reference the output has, whatever their order and form.

    Words are the nodes of the tectogrammatical layer that have a semantic part of speech. A word counts as found only
    with the same t-lemma and the same type.
    """

    name: ClassVar[str] = "sempos"
    source: ClassVar[str] = "Kos 2008, section 2.4.2; Kos and Bojar 2009; Bojar and Macháček 2011"
    cost: ClassVar[float] = 1.2
    growth: ClassVar[float] = 1.0
    # Not by `thesis-19`, in which a perfect text may score anything.
    examples: ClassVar[tuple[str, ...]] = ("", "variant=cap-micro:case=mixed")

    case: str = case_parameter("lc")
    variant: str = parameter(
        "cap-macro",
        "mean over the types of the reference, share of all typed words, or mean over all 19 types",
        choices=("cap-macro", "cap-micro", "thesis-19"),
        ours=True,
    )

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[SemPOSKeywords]) -> None: ...

    @property
    def title(self) -> str:
        """SemPOS, with the variant where it is not the usual one."""
        return "SemPOS" if self.variant == "cap-macro" else f"SemPOS[{self.variant}]"

    @property
    def layers(self) -> tuple[str, ...]:
        """The tectogrammatical nodes."""
        return ("sempos",)

    @property
    def columns(self) -> tuple[str, ...]:
        """For each type the words found, then for each the words of the reference."""
        types = (*TYPES, OTHER)
        return (*(f"clip_{name}" for name in types), *(f"ref_{name}" for name in types))

    def segment_statistics(self, segments: Segments) -> NDArray[np.float64]:
        """(systems, segments, 40)."""
        return segments.cached(("sempos", self.case), lambda: _statistics(segments, self.case))

    def score(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """0 to 100; 100 where no word of the references has a type (but 0 by `thesis-19`)."""
        clips, totals = np.split(sums, 2, axis=-1)
        if self.variant == "cap-micro":
            found, there = deterministic.total(clips), deterministic.total(totals)
            return np.where(there > 0, 100.0 * found / np.where(there > 0, there, 1.0), 100.0)
        if self.variant == "thesis-19":
            clips, totals = clips[..., : len(TYPES)], totals[..., : len(TYPES)]
        ratios = deterministic.total(clips / np.where(totals > 0, totals, 1.0))
        if self.variant == "thesis-19":
            return 100.0 * ratios / len(TYPES)
        types = (totals > 0).sum(axis=-1)
        return np.where(types > 0, 100.0 * ratios / np.maximum(types, 1), 100.0)

    def details(self, sums: NDArray[np.float64]) -> dict[str, float]:
        """Over how many types the mean goes, and how many words of the reference have a type of none of the 19."""
        totals = sums[len(sums) // 2 :]
        shown = {"types": float((totals > 0).sum())}
        if totals[-1]:
            shown["words of other types"] = float(totals[-1])
        return shown


def _statistics(segments: Segments, case: str) -> NDArray[np.float64]:
    """The reference of a type is the one of whose words of that type the largest share was found, the first on ties."""
    words = _by_type(segments.nfc.layer("sempos", case))
    systems, types = len(segments.hypotheses), len(TYPES) + 1
    present = np.repeat(segments.reference_mask, types, axis=1)
    overlaps = bag_overlaps(words, present, systems)
    totals, _ = lengths(words, present, systems)
    clip = np.zeros(overlaps.shape[1:], np.int64)
    total = np.zeros_like(clip)
    for overlap, words_of_reference in zip(overlaps, np.where(present > 0, totals, 0), strict=True):
        # Fractions are compared as products of whole numbers.
        better = (words_of_reference > 0) & ((total == 0) | (overlap * total > clip * words_of_reference))
        clip = np.where(better, overlap, clip)
        total = np.where(better, words_of_reference, total)
    shape = (systems, len(segments), types)
    return np.concatenate([clip.reshape(shape), total.reshape(shape)], axis=-1, dtype=np.float64)


def _by_type(items: Words) -> Words:
    """The words with each row cut into one row for each type, so that types are compared like segments."""
    types = len(TYPES) + 1
    type_of = np.array([_type_number(item) for item in items.lines.decode().split("\n")[:-1]], np.int64)
    rows = len(items.starts) - 1
    each = type_of[items.ids]
    takes_part = each >= 0
    into = (np.repeat(np.arange(rows), items.lengths) * types + each)[takes_part]
    starts = np.zeros(rows * types + 1, np.int64)
    np.cumsum(np.bincount(into, minlength=rows * types), out=starts[1:])
    order = np.argsort(into, kind="stable")
    return Words(items.ids[takes_part][order], starts, items.types, items.lines)


def _type_number(item: str) -> int:
    """Position of the column of `T_LEMMA/SEMPOS`; -1 where the item takes no part."""
    name = item.rpartition("/")[2]
    return -1 if name in UNDECIDED else _NUMBERS.get(name, len(TYPES))
