"""TER: translation edit rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self, Unpack

import numpy as np

from steelyard.errors import BadParameter
from steelyard.kernels.edit.ter import least_edits
from steelyard.metrics.metric import Metric
from steelyard.metrics.parameters import alias, case_parameter, one_of, parameter
from steelyard.metrics.references import average_length
from steelyard.metrics.references.average_length import average_lengths, summed_length
from steelyard.metrics.references.choice import lengths
from steelyard.metrics.score import Score, TERScore
from steelyard.metrics.segments import Segments
from steelyard.text.languages import main_code
from steelyard.tokenizers.registry import TOKENIZERS, signed, tokenizer_choice
from steelyard.tokenizers.tercom import reference_text, tercom_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from steelyard.kernels.text.words import Words
    from steelyard.metrics.keywords import TERKeywords

OTHERS = tuple(name for name in TOKENIZERS if name != "none")


@dataclass(frozen=True)
class TER(Metric):
    """Words to insert, delete and replace and blocks of words to move, per word of the average reference.

    The defaults are sacreBLEU's, whose limits on the search for moves are part of the definition. With several
    references the one with the fewest edits counts, but the average length of all.
    """

    score_type: ClassVar[type[Score]] = TERScore
    name: ClassVar[str] = "ter"
    source: ClassVar[str] = "Snover et al. 2006, section 3; Kos 2008, section 2.3.2"
    higher_is_better: ClassVar[bool] = False
    cost: ClassVar[float] = 0.7
    growth: ClassVar[float] = 1.0
    examples: ClassVar[tuple[str, ...]] = ("", "case=mixed:norm=yes:asian=yes:punct=no", "tok=char")

    case: str = case_parameter("lc")
    tok: str = parameter(
        "none",
        "none, tercom (the same as norm=yes), or another tokenizer",
        choices=("none", "tercom", *OTHERS),
        choice_of=tokenizer_choice,
        sign=signed,
        aliases=[alias("tokenize")],
    )
    norm: bool = parameter(
        False, "resolve entities and cut off punctuation as tercom does", aliases=[alias("normalized")]
    )
    punct: bool = parameter(True, "no takes punctuation away", aliases=[one_of("no_punct", "no", "yes")])
    asian: bool = parameter(
        False, "norm and punct also know Chinese and Japanese characters", aliases=[alias("asian_support")]
    )

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[TERKeywords]) -> None: ...

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tok == "tercom":
            object.__setattr__(self, "tok", "none")
            object.__setattr__(self, "norm", True)
        if self.tok != "none" and (self.norm or not self.punct or self.asian):
            raise BadParameter(
                f"ter: norm, punct and asian are rules of tercom and do not go with tok={self.tok}. "
                "Leave them out, or leave tok out."
            )

    @property
    def title(self) -> str:
        """TER."""
        return "TER"

    def separates_words(self, language: str) -> bool:
        """As for any metric; `norm` and `asian` together part Chinese and Japanese characters."""
        asian = self.norm and self.asian and main_code(language) in {"zh", "yue", "ja"}
        return asian or super().separates_words(language)

    @property
    def columns(self) -> tuple[str, ...]:
        """Edits; the average reference length in whole words, and its rest in 720,720ths of a word."""
        return ("edits", *average_length.COLUMNS)

    def segment_statistics(self, segments: Segments) -> NDArray[np.float64]:
        """(systems, segments, 3)."""
        words, systems = self._words(segments), len(segments.hypotheses)
        references, _ = lengths(words, segments.reference_mask, systems)
        out = np.empty((systems, len(segments), 3))
        out[..., 0] = least_edits(words, segments.reference_mask, systems)
        out[..., 1:] = average_lengths(references, segments.reference_mask)
        return out

    def score(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """0 for a perfect text, above 100 where there are more edits than words; 100 for words against none."""
        edits, length = sums[..., 0], summed_length(sums[..., 1:])
        rate = edits / np.where(length > 0, length, 1.0)
        return 100.0 * np.where(length > 0, rate, np.where(edits > 0, 1.0, 0.0))

    def signature_fields(self) -> list[tuple[str, str]]:
        """SacreBLEU's fields; it calls words as they are `tercom`, too."""
        fields = dict(super().signature_fields())
        return list((fields | {"tok": "tercom"} if self.tok == "none" else fields).items())

    @classmethod
    def from_signature(cls, title: str, fields: Mapping[str, str]) -> Self:
        """Words as they are, where sacreBLEU says `tercom`."""
        return super().from_signature(title, {**fields, **({"tok": "none"} if fields.get("tok") == "tercom" else {})})

    def _words(self, segments: Segments) -> Words:
        if self.punct and not self.norm:
            return segments.words(self.tok, self.case)
        references = [self._prepared(text, reference_text) for text in segments.references]
        prepared = segments.with_texts(
            references, [self._prepared(text, tercom_text) for text in segments.hypotheses], {}
        )
        return prepared.words("none", "mixed")

    def _prepared(self, text: bytes, prepare: Callable[..., str]) -> bytes:
        # It is lowercased first: entities and possessives are looked for in small letters.
        cased = text.decode() if self.case == "mixed" else text.decode().lower()
        return prepare(cased, norm=self.norm, punct=self.punct, asian=self.asian).encode()
