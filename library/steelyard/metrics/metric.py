"""What a metric promises."""

from __future__ import annotations

import dataclasses
import re
import unicodedata
from abc import ABCMeta, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from steelyard.errors import BadParameter, BadText
from steelyard.metrics.parameters import without_aliases
from steelyard.metrics.score import Score
from steelyard.tokenizers.registry import dictionary_of, separates_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from steelyard.metrics.context import RunContext
    from steelyard.metrics.corpus_statistics import CorpusStatistics
    from steelyard.metrics.scoring import Accumulator
    from steelyard.metrics.segments import Segments

VERSION = "0.1.0"
TYPICAL_CHARACTERS = 120.0
"""Of a segment for which metrics state their costs."""
_UNICODE_VERSIONS = 10_000
RELEASED = 2
"""Raised by a release in which any metric counts or scores anything differently."""


def edition_with(unicode_version: str) -> int:
    """The edition of the numbers that this release makes where Python has the tables of a version such as "15.0.0".

    They say what is a capital letter and what is one character, and no two versions say the same of all.
    """
    major, minor, _ = unicode_version.split(".")
    return RELEASED * _UNICODE_VERSIONS + int(major) * 100 + int(minor)


def edition_name(edition: int) -> str:
    """As people read it: "2 (Unicode 15.0)"; the first edition did not tell versions of Unicode apart."""
    released, version = divmod(edition, _UNICODE_VERSIONS)
    return f"{released} (Unicode {version // 100}.{version % 100})" if released else str(edition)


EDITION = edition_with(unicodedata.unidata_version)
"""The edition of the numbers. Statistics of one edition are never added to those of another.

Larger for a later release, and within a release for a later version of Unicode.
"""
_UNWRITABLE = re.compile(r"[\s:|\x00-\x1f\x7f]")
"""What no parameter's text can hold: specifications and signatures could not be taken apart again."""


class MetricType(ABCMeta):
    """The class of metric classes: a metric may be made with sacreBLEU's names for its parameters, too."""

    def __call__(cls, *values: Any, **named: Any) -> Any:
        """The metric with these parameters, and with what sacreBLEU takes beside them.

        Parameters
        ----------
        references : list of list of str, optional
            Kept for `corpus_score`, which may then be called without.
        trg_lang : str, optional
            The target language, which chooses the tokenizer where none is named.
        force : bool, optional
            Nothing here: there is no warning to be switched off.

        Raises
        ------
        BadParameter

        """
        kind = cast("type[Metric]", cls)
        references, language = named.pop("references", None), named.pop("trg_lang", "")
        named.pop("force", None)
        named = {key: value for key, value in named.items() if value is not None}
        fields = kind.parameters()
        given = without_aliases(getattr(cls, "name", cls.__name__), fields, named)
        if language and any(field.name == "tok" for field in fields) and "tok" not in given:
            from steelyard.tokenizers.registry import resolve_tokenizer, tokenizer_of

            given["tok"] = resolve_tokenizer(tokenizer_of(language), language)
        metric = super().__call__(*values, **given)
        if references is not None:
            object.__setattr__(metric, "_references", references)
        return metric


@dataclasses.dataclass(frozen=True)
class Metric(metaclass=MetricType):
    """A corpus score that depends on the text only through summed per-segment statistics.

    Adding the statistics of two shards must give those of their union; that is what lets workers run apart and
    the reducer be a plain sum. Statistics are integers or multiples of 2^-24, so that sums are exact and their
    order does not matter. Subclasses are frozen dataclasses whose fields are made by `parameters.py`; a value may be
    given as it is, as text, or by sacreBLEU's name for it, and one that could not have been written on the
    command line raises BadParameter.
    """

    score_type: ClassVar[type[Score]] = Score
    name: ClassVar[str]
    source: ClassVar[str]
    """Paper and section that define it."""
    inputs: ClassVar[frozenset[str]] = frozenset({"reference"})
    """What it reads beside the hypotheses: "reference", "source" or both."""
    higher_is_better: ClassVar[bool] = True
    scale: ClassVar[float] = 100.0
    """The score of a perfect translation, or of one that has to be rewritten wholly for an error rate.

    Infinite where scores have no upper bound, so that none is perfect."""
    cost: ClassVar[float] = 1.0
    """Estimated microseconds per segment and system, for the size of shards.

    Measured by `python -m benchmarks.together` where ten systems are scored together, words made for it alone."""
    growth: ClassVar[float] = 2.0
    """The work on a segment of n characters grows as n to the power of this at most; what that means: `seconds`.

    Of metrics of the house it is counted (`tests/growth`)."""
    examples: ClassVar[tuple[str, ...]] = ("",)
    """Parameters to check it with (`steelyard.conformance`), each `key=value[:key=value]...`; "" is the defaults."""

    @classmethod
    def seconds(cls, characters: float, microseconds: float | None = None) -> float:
        """Estimated seconds for a segment of so many characters of one system.

        `microseconds` are those for a typical segment, where another cost than the stated one was measured.
        """
        cost = cls.cost if microseconds is None else microseconds
        return float(cost * 1e-6 * max(1.0, characters / TYPICAL_CHARACTERS) ** cls.growth)

    @classmethod
    def longest(cls, seconds: float) -> float:
        """The characters of a segment that is estimated to take so long: the inverse of `seconds`."""
        return float(TYPICAL_CHARACTERS * (seconds / (cls.cost * 1e-6)) ** (1 / cls.growth))

    @property
    def title(self) -> str:
        """The name people know, e.g. chrF2++."""
        return self.name

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """What each of the k statistics is."""

    @property
    def layers(self) -> tuple[str, ...]:
        """The linguistic layers (`steelyard.formats.layers`) that every text must have."""
        return ()

    @property
    def corpus_statistics(self) -> CorpusStatistics | None:
        """What must be counted in all references before a segment can be scored; None where nothing must.

        The metric finds the result in `segments.state(self.corpus_statistics)`.
        """
        return None

    def separates_words(self, language: str) -> bool:
        """Whether what it counts are words of this target language, or characters; its code or name, "" for any."""
        tokenizer = getattr(self, "tok", None)
        return not isinstance(tokenizer, str) or separates_words(tokenizer, language)

    def resolve(self, context: RunContext) -> tuple[Self, list[str]]:  # noqa: ARG002 - for those that need it
        """The metric with every parameter pinned that depends on where it runs, and what the user should know of it.

        Versions and hashes of resources belong into parameters, so that specification and signature name them.
        Raises MissingResource and BadParameter.
        """
        return self, []

    @classmethod
    def example_resources(cls, folder: Path, words: Sequence[str]) -> dict[str, Path]:  # noqa: ARG003 - as above
        """Small files, made in `folder`, for the resources that `examples` name: by name.

        Some of `words` occur in the texts that the examples are tried on.
        """
        return {}

    def details(self, sums: NDArray[np.float64]) -> dict[str, float]:  # noqa: ARG002 - for those that have some
        """Further figures to show with the score of one system, such as the share of unknown words: (k,) -> by name."""
        return {}

    @abstractmethod
    def segment_statistics(self, segments: Segments) -> NDArray[np.float64]:
        """The statistics of every segment of every system: (systems, segments, k)."""

    @abstractmethod
    def score(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """The scores for summed statistics: (..., k) -> (...). NaN where the score is undefined."""

    def segment_score(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        """The scores of single segments: (..., k) -> (...)."""
        return self.score(statistics)

    def corpus_score(
        self,
        hypotheses: Sequence[str],
        references: Sequence[Sequence[str | None]] | None = None,
        n_bootstrap: int = 0,
        *,
        seed: int = 12345,
    ) -> Score:
        """The score of one system, with sacreBLEU's order of arguments.

        Parameters
        ----------
        hypotheses : list of str
            One string for each segment.
        references : list of list of str
            One list for each reference, as long as the hypotheses; None for a reference that a segment lacks. May be
            left out where the metric was made with references.
        n_bootstrap : int
            Bootstrap replicates, for `Score.interval`; 1 is none, as in sacreBLEU.
        seed : int
            Of the replicates: 0 to 2**64 - 1.

        Raises
        ------
        BadText
            For lists of different lengths, for what is no string, and for no references.

        """
        from steelyard.metrics.scoring import corpus_score

        if references is None:
            references = vars(self).get("_references")
        if references is None:
            raise BadText(f"{self.name}: there are no references. Give them here, or make the metric with references=.")
        found = corpus_score(self, hypotheses, references, n_bootstrap if n_bootstrap > 1 else 0, seed)
        object.__setattr__(self, "_last", found)
        return found

    def sentence_score(self, hypothesis: str, references: Sequence[str]) -> Score:
        """The score of one segment by the formula of the corpus, as in sacreBLEU; `effective_order` helps BLEU there.

        Raises
        ------
        BadText

        """
        if not isinstance(hypothesis, str) or isinstance(references, str):
            raise BadText(f"{self.name}: a sentence is scored as sentence_score(hypothesis, [reference, ...]).")
        return self.corpus_score([hypothesis], [[reference] for reference in references])

    def get_signature(self) -> str:
        """The signature of the last score, or of a score by the references that the metric was made with.

        Raises
        ------
        BadParameter
            Where there is neither: the number of references is in the signature.

        """
        last: Score | None = vars(self).get("_last")
        if last is not None:
            return last.signature
        references = vars(self).get("_references")
        if references is None:
            raise BadParameter(f"{self.name} has scored nothing yet, and the number of references is in the signature.")
        from steelyard.metrics.scoring import signature_for

        return signature_for(self, references)

    def accumulator(self) -> Accumulator:
        """An empty sum of statistics, to which segments are added: `update`, `+` and `compute`.

        Raises
        ------
        BadParameter
            For a metric that must count something in all references first.

        """
        from steelyard.metrics.scoring import Accumulator

        return Accumulator(self)

    def pairwise(self, hypotheses: Sequence[str], references: Sequence[str]) -> NDArray[np.float64]:
        """Utilities for minimum Bayes risk decoding: each hypothesis scored against each reference.

        Returns
        -------
        (hypotheses, references) float64
            Sentence scores: those of `segment_score`.

        Raises
        ------
        BadText
            Where there are none, or one is no string.
        BadParameter
            For a metric that needs a whole test set of references.

        """
        from steelyard.metrics.scoring import pairwise

        return pairwise(self, hypotheses, references)

    @classmethod
    def parameters(cls) -> tuple[dataclasses.Field[Any], ...]:
        """The declared parameters, in order."""
        return dataclasses.fields(cls)

    def __post_init__(self) -> None:
        for field in self.parameters():
            object.__setattr__(self, field.name, self._taken(field, getattr(self, field.name)))

    @classmethod
    def from_texts(cls, values: Mapping[str, str]) -> Self:
        """The metric with parameters given as text, e.g. {"order": "1-4"}.

        Raises BadParameter for a key it does not have and for a value that is not allowed.
        """
        texts = without_aliases(cls.name, cls.parameters(), values)
        return cls(**{key: cls._parsed(cls.parameter(key), text) for key, text in texts.items()})

    @classmethod
    def parameter(cls, key: str) -> dataclasses.Field[Any]:
        """The parameter that is called so. Raises BadParameter for one that it does not have."""
        known = {field.name: field for field in cls.parameters()}
        if key not in known:
            have = ", ".join(known) or "none"
            raise BadParameter(f'{cls.name} has no parameter "{key}". Its parameters: {have}.')
        return known[key]

    @classmethod
    def _taken(cls, field: dataclasses.Field[Any], value: Any) -> Any:
        """A value of a parameter as it is kept. Raises BadParameter."""
        if isinstance(value, str):
            return cls._parsed(field, value)
        show, natural = field.metadata["show"], field.metadata["natural"]
        try:
            plain = natural(value) if natural else value
            text = show(plain)
            parsed = cls._parsed(field, text)
            fits = parsed == plain
        except (ArithmeticError, AttributeError, TypeError, ValueError):
            fits = False
        if not fits:
            raise BadParameter(f"{cls.name}: {field.name} cannot be {value!r}. It is: {field.metadata['describe']}.")
        return parsed

    @classmethod
    def _parsed(cls, field: dataclasses.Field[Any], text: str) -> Any:
        choices = field.metadata["choices"]
        if _UNWRITABLE.search(text):
            raise BadParameter(f'{cls.name}: {field.name} is {text[:100]!r}, but cannot hold white space, ":" or "|".')
        if choices and field.metadata["choice_of"](text) not in choices:
            raise BadParameter(f'{cls.name}: {field.name} is "{text}", but must be one of {", ".join(choices)}.')
        try:
            return field.metadata["parse"](text)
        except ValueError as error:
            raise BadParameter(f'{cls.name}: {field.name}="{text}": {error}.') from error

    def shown(self, field: dataclasses.Field[Any]) -> str:
        """A parameter's value as text."""
        return cast(str, field.metadata["show"](getattr(self, field.name)))

    def _signed(self, field: dataclasses.Field[Any]) -> str:
        return cast(str, field.metadata["sign"](getattr(self, field.name)))

    @property
    def specification(self) -> str:
        """`NAME[:key=value]...` with the parameters that differ from their defaults; parses back to an equal metric."""
        changed = [
            f"{field.name}={self.shown(field)}"
            for field in self.parameters()
            if getattr(self, field.name) != field.default
        ]
        return ":".join([self.name, *changed])

    def signature_fields(self) -> list[tuple[str, str]]:
        """The fields of sacreBLEU's signature that depend on the parameters, in its order."""
        return [(field.name, self._signed(field)) for field in self.parameters() if not field.metadata["ours"]]

    def signature(self, references: int | str, replicates: int = 0, seed: int | None = None) -> str:
        """All that the score depends on, in sacreBLEU's grammar, our own fields behind it.

        `references` is their number, or "var" where it differs between segments; `replicates` and `seed` are
        those of the bootstrap, where there is one. A metric of another distribution names it, with its version.
        """
        from steelyard.metrics.entry_points import changed_since, origin

        fields = [("nrefs", str(references))]
        if replicates:
            fields += [("bs", str(replicates)), ("seed", str(seed))]
        fields += self.signature_fields()
        fields.append(("version", f"steelyard-{VERSION}"))
        if elsewhere := origin(type(self)):
            fields.append(("from", elsewhere))
        if changed := changed_since():
            fields.append(("changed", ",".join(changed)))
        fields += [(field.name, self._signed(field)) for field in self.parameters() if field.metadata["ours"]]
        if dictionary := dictionary_of(str(getattr(self, "tok", ""))):
            fields.append(("dict", dictionary))
        return "|".join(f"{key}:{value}" for key, value in fields)
