"""What a metric promises, whatever is done with it: all that workers, the reducer and the resolution know of one."""

from __future__ import annotations

import dataclasses
import re
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from steelyard.errors import BadParameter, BrokenMetric
from steelyard.metrics.parameters import without_aliases
from steelyard.metrics.score import Score
from steelyard.tokenizers.registry import USUAL, separates_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from steelyard.metrics.corpus_statistics import CorpusStatistics
    from steelyard.metrics.resources import Resources
    from steelyard.metrics.run_context import RunContext
    from steelyard.metrics.segments import Segments

TYPICAL_CHARACTERS = 120.0
"""Of a segment for which metrics state their costs."""
_UNWRITABLE = re.compile(r"[\s:|\x00-\x1f\x7f]")
"""What no parameter's text can hold: specifications and signatures could not be taken apart again."""


@dataclasses.dataclass(frozen=True)
class MetricContract(ABC):
    """A corpus score that depends on the text only through summed per-segment statistics.

    Metrics inherit from `steelyard.Metric`, which adds what people call: `corpus_score` and the like. This is the part
    that the rest of the library needs of them.
    """

    score_type: ClassVar[type[Score]] = Score
    """What `Metric.corpus_score` returns."""
    name: ClassVar[str]
    source: ClassVar[str]
    """Paper and section that define it."""
    inputs: ClassVar[frozenset[str]] = frozenset({"reference"})
    """What it reads beside the hypotheses: "reference", "source" or both."""
    learned: ClassVar[bool] = False
    """Whether a model or a program scores its segments (`steelyard.metrics.content_scores`): installations do so on a
    queue of its own, and no other metric waits for it."""
    reads_texts: ClassVar[bool] = True
    """Whether workers compute its statistics; those of columns that are imported or follow from others are given."""
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

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """What each of the k statistics is."""

    @abstractmethod
    def segment_statistics(self, segments: Segments) -> NDArray[np.float64]:
        """The statistics of every segment of every system.

        Parameters
        ----------
        segments : Segments
            All systems of a shard.

        Returns
        -------
        (systems, segments, k) float64
            Integers, or multiples of 2^-24.
        """

    @abstractmethod
    def score(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """The scores for summed statistics.

        Parameters
        ----------
        sums : (..., k) float64
            Of one system, of several, or of thousands of replicates.

        Returns
        -------
        (...) float64
            NaN where the score is undefined.
        """

    def segment_score(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        """The scores of single segments.

        Parameters
        ----------
        statistics : (..., k) float64
            As `segment_statistics` returns them.

        Returns
        -------
        (...) float64
            NaN where the score is undefined.
        """
        return self.score(statistics)

    @property
    def title(self) -> str:
        """The name people know, e.g. chrF2++."""
        return self.name

    @property
    def layers(self) -> tuple[str, ...]:
        """The linguistic layers (`steelyard.formats.layers`) that every text must have."""
        return ()

    @property
    def corpus_statistics(self) -> CorpusStatistics | None:
        """What must be counted in all references before a segment can be scored; None where nothing must.

        The metric finds the result in `segments.state(self.corpus_statistics.key)`.
        """
        return None

    @property
    def resources(self) -> Resources | None:
        """The files that the metric was made with; None where they come from the run, or none are needed."""
        return cast("Resources | None", vars(self).get("_resources"))

    def details(self, sums: NDArray[np.float64]) -> dict[str, float]:  # noqa: ARG002 - for those that have some
        """Further figures to show with the score of one system, such as the share of unknown words.

        Parameters
        ----------
        sums : (k,) float64
            Of that system.

        Returns
        -------
        dict of str to float
            By name, in the order in which they are shown.
        """
        return {}

    @classmethod
    def follows_language(cls) -> bool:
        """Whether the tokenizer is that of the target language where none is named.

        Metrics that by themselves have none, TER among them, go on without one, as in sacreBLEU.

        Returns
        -------
        bool
        """
        return any(field.name == "tok" and field.default == USUAL for field in cls.parameters())

    def separates_words(self, language: str) -> bool:
        """Whether what it counts are words of a target language, or characters.

        Parameters
        ----------
        language : str
            Its code or name, "" for any.

        Returns
        -------
        bool
        """
        tokenizer = getattr(self, "tok", None)
        return not isinstance(tokenizer, str) or separates_words(tokenizer, language)

    def resolve(self, context: RunContext) -> tuple[Self, list[str]]:  # noqa: ARG002 - for those that need it
        """The metric with every parameter pinned that depends on where it runs.

        Versions and hashes of resources belong into parameters, so that specification and signature name them.

        Parameters
        ----------
        context : RunContext
            Language, layers and resources.

        Returns
        -------
        metric : Metric
            Of the same class.
        notices : list of str
            What the user should know of it.

        Raises
        ------
        MissingResource, BadParameter
        """
        return self, []

    @classmethod
    def example_resources(cls, folder: Path, words: Sequence[str]) -> dict[str, Path]:  # noqa: ARG003 - as above
        """Small files for the resources that `examples` name.

        Parameters
        ----------
        folder : Path
            Where they are made.
        words : list of str
            Some of them occur in the texts that the examples are tried on.

        Returns
        -------
        dict of str to Path
            By name of the resource.
        """
        return {}

    @classmethod
    def seconds(cls, characters: float, microseconds: float | None = None) -> float:
        """Estimated seconds for a segment of one system.

        Parameters
        ----------
        characters : float
            How long the segment is.
        microseconds : float, optional
            Those for a typical segment, where another cost than the stated one was measured.

        Returns
        -------
        float
        """
        cost = cls.cost if microseconds is None else microseconds
        return float(cost * 1e-6 * max(1.0, characters / TYPICAL_CHARACTERS) ** cls.growth)

    @classmethod
    def longest(cls, seconds: float) -> float:
        """The length of a segment that is estimated to take so long: the inverse of `seconds`.

        Parameters
        ----------
        seconds : float

        Returns
        -------
        float
            In characters.
        """
        return float(TYPICAL_CHARACTERS * (seconds / (cls.cost * 1e-6)) ** (1 / cls.growth))

    @classmethod
    def parameters(cls) -> tuple[dataclasses.Field[Any], ...]:
        """The declared parameters, in order.

        Returns
        -------
        tuple of dataclasses.Field
        """
        return dataclasses.fields(cls)

    @classmethod
    def parameter(cls, key: str) -> dataclasses.Field[Any]:
        """The parameter of a name.

        Parameters
        ----------
        key : str

        Returns
        -------
        dataclasses.Field

        Raises
        ------
        BadParameter
            For one that the metric does not have.
        """
        known = {field.name: field for field in cls.parameters()}
        if key not in known:
            have = ", ".join(known) or "none"
            raise BadParameter(f'{cls.name} has no parameter "{key}". Its parameters: {have}.')
        return known[key]

    @classmethod
    def from_texts(cls, values: Mapping[str, str]) -> Self:
        """The metric with parameters given as text.

        Parameters
        ----------
        values : mapping of str to str
            By name, or by sacreBLEU's name, such as ``{"order": "1-4"}``.

        Returns
        -------
        Metric
            Of this class.

        Raises
        ------
        BadParameter
            For a key that it does not have and for a value that is not allowed.
        """
        texts = without_aliases(cls.name, cls.parameters(), values)
        return cls(**{key: cls._parsed(cls.parameter(key), text) for key, text in texts.items()})

    def __post_init__(self) -> None:
        for field in self.parameters():
            object.__setattr__(self, field.name, self._taken(field, getattr(self, field.name)))

    @classmethod
    def _taken(cls, field: dataclasses.Field[Any], value: Any) -> Any:
        """A value of a parameter as it is kept. Raises BadParameter, BrokenMetric."""
        if isinstance(value, str):
            return cls._parsed(field, value)
        _require_parameter(cls.name, field)
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
        _require_parameter(cls.name, field)
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
        """A parameter's value as text.

        Parameters
        ----------
        field : dataclasses.Field
            One of `parameters`.

        Returns
        -------
        str
        """
        return cast(str, field.metadata["show"](getattr(self, field.name)))

    @property
    def specification(self) -> str:
        """`NAME[:key=value]...` with the parameters that differ from their defaults; parses back to an equal metric."""
        changed = [
            f"{field.name}={self.shown(field)}"
            for field in self.parameters()
            if getattr(self, field.name) != field.default
        ]
        return ":".join([self.name, *changed])

    @abstractmethod
    def signature(
        self, references: int | str, replicates: int = 0, seed: int | None = None, unit: str = "segment"
    ) -> str:
        """All that the score depends on, in sacreBLEU's grammar, our own fields behind it.

        Parameters
        ----------
        references : int or "var"
            How many there are; "var" where that differs between segments.
        replicates : int
            Of the bootstrap; 0 without one.
        seed : int, optional
            Of the replicates.
        unit : str
            What the bootstrap draws: "segment" or "document".

        Returns
        -------
        str
            `key:value` fields with "|" between them. A metric of another distribution names it, with its version.
        """


def _require_parameter(metric: str, field: dataclasses.Field[Any]) -> None:
    if "parse" not in field.metadata:
        raise BrokenMetric(f"{metric}: the field {field.name} is not made by steelyard.metrics.parameters.")
