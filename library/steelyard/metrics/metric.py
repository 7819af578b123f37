"""A metric as people call it: scores of lists of strings, signatures, and sacreBLEU's names for parameters."""

from __future__ import annotations

import dataclasses
import unicodedata
from abc import ABCMeta
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from steelyard.errors import BadParameter, BadText
from steelyard.metrics.contract import MetricContract
from steelyard.metrics.parameters import without_aliases
from steelyard.metrics.resources import given_resources
from steelyard.tokenizers.registry import dictionary_of, resolve_tokenizer, tokenizer_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from steelyard.metrics.score import Score
    from steelyard.metrics.scoring import Accumulator

VERSION = "0.1.0"
Made = TypeVar("Made")
_UNICODE_VERSIONS = 10_000
RELEASED = 2
"""Raised by a release in which any metric counts or scores anything differently."""


def edition_with(unicode_version: str) -> int:
    """The edition of the numbers that this release makes where Python has the tables of a version of Unicode.

    They say what is a capital letter and what is one character, and no two versions say the same of all.

    Parameters
    ----------
    unicode_version : str
        Such as "15.0.0".

    Returns
    -------
    int
    """
    major, minor, _ = unicode_version.split(".")
    return RELEASED * _UNICODE_VERSIONS + int(major) * 100 + int(minor)


def edition_name(edition: int) -> str:
    """An edition as people read it.

    Parameters
    ----------
    edition : int

    Returns
    -------
    str
        Such as "2 (Unicode 15.0)"; the first edition did not tell versions of Unicode apart.
    """
    released, version = divmod(edition, _UNICODE_VERSIONS)
    return f"{released} (Unicode {version // 100}.{version % 100})" if released else str(edition)


EDITION = edition_with(unicodedata.unidata_version)
"""The edition of the numbers. Statistics of one edition are never added to those of another.

Larger for a later release, and within a release for a later version of Unicode.
"""


class MetricType(ABCMeta):
    """The class of metric classes: a metric may be made with sacreBLEU's names for its parameters, too."""

    def __call__(cls: type[Made], *values: Any, **named: Any) -> Made:
        """The metric with these parameters, and with what sacreBLEU takes beside them.

        Parameters
        ----------
        references : list of list of str, optional
            Prepared now and kept for `corpus_score`, which may then be called without.
        trg_lang : str, optional
            The target language, which chooses the tokenizer where none is named.
        resources : mapping of str to path, or Resources, optional
            Files that the metric reads, by name: ``{"flores200": "flores200.model"}`` for that tokenizer. They stay
            with the metric, so that `corpus_score` and the like need no more.
        force : bool, optional
            Nothing here: there is no warning to be switched off.

        Raises
        ------
        BadParameter
        """
        kind = cast("type[Metric]", cls)
        references, language = named.pop("references", None), named.pop("trg_lang", "")
        resources = given_resources(named.pop("resources", None))
        named.pop("force", None)
        named = {key: value for key, value in named.items() if value is not None}
        fields = kind.parameters()
        given = without_aliases(getattr(cls, "name", cls.__name__), fields, named)
        if language and any(field.name == "tok" for field in fields) and "tok" not in given:
            given["tok"] = resolve_tokenizer(tokenizer_of(language), language, resources)
        metric: Made = ABCMeta.__call__(cls, *values, **given)
        if references is not None:
            from steelyard.metrics.scoring import prepared_references

            kept = prepared_references(references, blanks_count=bool(getattr(metric, "space", False)))
            object.__setattr__(metric, "_references", kept)
        if resources is not None:
            object.__setattr__(metric, "_resources", resources)
        return metric


@dataclasses.dataclass(frozen=True)
class Metric(MetricContract, metaclass=MetricType):
    """A corpus score that depends on the text only through summed per-segment statistics.

    Adding the statistics of two shards must give those of their union; that is what lets workers run apart and
    the reducer be a plain sum. Statistics are integers or multiples of 2^-24, so that sums are exact and their
    order does not matter. Subclasses are frozen dataclasses whose fields are made by `parameters.py`; a value may be
    given as it is, as text, or by sacreBLEU's name for it, and one that could not have been written on the
    command line raises BadParameter.
    """

    def corpus_score(
        self,
        hypotheses: Sequence[str],
        references: Sequence[Sequence[str | None]] | None = None,
        n_bootstrap: int = 0,
        *,
        seed: int = 12345,
        source: Sequence[str] | None = None,
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
        source : list of str, optional
            What was translated, for metrics that read it.

        Returns
        -------
        Score
            Of the class that the metric names: BLEU's has `bp` and `precisions`.

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
        found = corpus_score(self, hypotheses, references, source, n_bootstrap if n_bootstrap > 1 else 0, seed)
        object.__setattr__(self, "_last", found)
        return found

    def sentence_score(self, hypothesis: str, references: Sequence[str], *, source: str | None = None) -> Score:
        """The score of one segment by the formula of the corpus, as in sacreBLEU; `effective_order` helps BLEU there.

        Parameters
        ----------
        hypothesis : str
        references : list of str
        source : str, optional
            What was translated, for metrics that read it.

        Returns
        -------
        Score

        Raises
        ------
        BadText
            For what is no string, or no list of them.
        """
        if not isinstance(hypothesis, str) or isinstance(references, str):
            raise BadText(f"{self.name}: a sentence is scored as sentence_score(hypothesis, [reference, ...]).")
        return self.corpus_score(
            [hypothesis], [[reference] for reference in references], source=None if source is None else [source]
        )

    def get_signature(self) -> str:
        """The signature of the last score, or of a score by the references that the metric was made with.

        Returns
        -------
        str

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

        Returns
        -------
        Accumulator

        Raises
        ------
        BadParameter
            For a metric that must count something in all references first.
        """
        from steelyard.metrics.scoring import Accumulator

        return Accumulator(self)

    def pairwise(
        self, hypotheses: Sequence[str], references: Sequence[str], *, source: str | None = None
    ) -> NDArray[np.float64]:
        """Utilities for minimum Bayes risk decoding: each hypothesis scored against each reference.

        Parameters
        ----------
        hypotheses : list of str
        references : list of str
        source : str, optional
            What all of them translate, for metrics that read it.

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

        return pairwise(self, hypotheses, references, source)

    def _signed(self, field: dataclasses.Field[Any]) -> str:
        return cast(str, field.metadata["sign"](getattr(self, field.name)))

    def _own_fields(self) -> list[tuple[str, str]]:
        """The fields of the signature that sacreBLEU does not have, and that depend on the parameters."""
        return [(field.name, self._signed(field)) for field in self.parameters() if field.metadata["ours"]]

    def signature_fields(self) -> list[tuple[str, str]]:
        """The fields of sacreBLEU's signature that depend on the parameters.

        Returns
        -------
        list of (str, str)
            Key and value, in sacreBLEU's order.
        """
        return [(field.name, self._signed(field)) for field in self.parameters() if not field.metadata["ours"]]

    @classmethod
    def from_signature(cls, title: str, fields: Mapping[str, str]) -> Self:  # noqa: ARG003 - for those that say more
        """The metric that had a signature.

        Parameters
        ----------
        title : str
            The name before the fields, such as "chrF2++".
        fields : mapping of str to str
            Those that are parameters.

        Returns
        -------
        Metric
            Of this class.

        Raises
        ------
        BadParameter
            For a field that is no parameter of it, and for a value that is not allowed.
        """
        return cls.from_texts(fields)

    def signature(
        self, references: int | str, replicates: int = 0, seed: int | None = None, unit: str = "segment"
    ) -> str:
        """All that the score depends on: `MetricContract.signature`."""
        from steelyard.metrics.entry_points import changed_since, origin

        fields = [("nrefs", str(references))]
        if replicates:
            fields += [("bs", str(replicates)), ("seed", str(seed))]
            fields += [] if unit == "segment" else [("resample", unit)]
        fields += self.signature_fields()
        fields.append(("version", f"steelyard-{VERSION}"))
        if elsewhere := origin(type(self)):
            fields.append(("from", elsewhere))
        if changed := changed_since():
            fields.append(("changed", ",".join(changed)))
        fields += self._own_fields()
        if dictionary := dictionary_of(str(getattr(self, "tok", ""))):
            fields.append(("dict", dictionary))
        return "|".join(f"{key}:{value}" for key, value in fields)
