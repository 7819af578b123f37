"""A score as Python users get it: the number, its signature, what it is made of, and how sure it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.resampling.interval import Ends

    Floats = NDArray[np.float64]


class Scored(Protocol):
    """What a score asks of its metric: `steelyard.metrics.contract.MetricContract` says what each is."""

    @property
    def title(self) -> str:
        """The name people know."""

    @property
    def columns(self) -> tuple[str, ...]:
        """What each of the k sums is."""

    def score(self, sums: Floats) -> Floats:
        """The scores for summed statistics.

        Parameters
        ----------
        sums : (..., k) float64

        Returns
        -------
        (...) float64
        """

    def details(self, sums: Floats) -> dict[str, float]:
        """Further figures by name.

        Parameters
        ----------
        sums : (k,) float64

        Returns
        -------
        dict of str to float
        """

    def signature(
        self, references: int | str, replicates: int = 0, seed: int | None = None, unit: str = "segment"
    ) -> str:
        """All that the score depends on.

        Parameters
        ----------
        references : int or "var"
        replicates : int
        seed : int, optional
        unit : str

        Returns
        -------
        str
        """


class Score:
    """The score of one system by one metric.

    Parameters
    ----------
    metric : Metric
    sums : (k,) float64
        The summed statistics of the system.
    references : int or "var"
        How many there are.
    replicates : (B,) float64, optional
        The scores of bootstrap replicates.
    seed : int, optional
        Of the replicates.
    unit : str
        What they drew: "segment" or "document".

    Attributes
    ----------
    name : str
        The name people know, such as ``chrF2``.
    score : float
        NaN where it is undefined.
    sums : (k,) float64
        The summed statistics that it is made of, ``metric.columns`` says what each is.
    replicates : (B,) float64
        The scores of bootstrap replicates; empty where none were asked for.
    """

    def __init__(
        self,
        metric: Scored,
        sums: Floats,
        references: int | str,
        replicates: Floats | None = None,
        seed: int | None = None,
        unit: str = "segment",
    ) -> None:
        """`references` is how many there are, or "var"; `seed` that of the replicates, which drew each `unit`."""
        self.metric = metric
        self.name = metric.title
        self.score = float(metric.score(sums))
        self.sums = sums
        self.references = references
        self.replicates = np.empty(0) if replicates is None else replicates
        self.seed = seed
        self.unit = unit

    @property
    def signature(self) -> str:
        """All that the score depends on, in sacreBLEU's grammar."""
        return self.metric.signature(self.references, len(self.replicates), self.seed, self.unit)

    @property
    def details(self) -> dict[str, float]:
        """Further figures, such as the brevity penalty, by name."""
        return self.metric.details(self.sums)

    def interval(self, level: float = 0.95) -> Ends | None:
        """The percentile interval at a confidence level (Efron and Tibshirani 1993, section 13.3).

        Parameters
        ----------
        level : float
            Between 0 and 1.

        Returns
        -------
        (float, float) or None
            The low end and the high one; None without replicates.

        Raises
        ------
        BadParameter
            For another level.
        """
        from steelyard.resampling.interval import percentile_interval

        return percentile_interval(self.replicates, level)

    @property
    def verbose(self) -> str:
        """What sacreBLEU shows behind the number."""
        return ""

    def format(self, width: int = 2, score_only: bool = False, signature: str = "", is_json: bool = False) -> str:
        """The score as a line of text or a JSON object, as sacreBLEU writes it; an interval as mean and half width.

        Parameters
        ----------
        width : int
            Digits behind the point.
        score_only : bool
            The number alone.
        signature : str
            Written behind the name.
        is_json : bool
            A JSON object.

        Returns
        -------
        str
        """
        number, spread = f"{self.score:.{width}f}", {}
        if ends := self.interval():
            mean, half = f"{self.replicates.mean():.{width}f}", f"{(ends[1] - ends[0]) / 2:.{width}f}"
            text = f"μ = {mean} ± {half}"
            number = f"{number} ({text})"
            spread = {"confidence_mean": float(mean), "confidence_var": float(half), "confidence": text}
        if score_only:
            return number
        if is_json:
            found: dict[str, Any] = {"name": self.name, "score": round(self.score, width), "signature": signature}
            found |= spread
            found |= {"verbose_score": self.verbose} if self.verbose else {}
            found |= dict(field.split(":", 1) for field in signature.split("|") if field)
            return json.dumps(found, indent=1, ensure_ascii=False)
        name = f"{self.name}|{signature}" if signature else self.name
        return f"{name} = {number} {self.verbose}".rstrip()

    def __float__(self) -> float:
        return self.score

    def __repr__(self) -> str:
        return self.format()


class BLEUScore(Score):
    """A score of BLEU, or of tBLEU, whose counts are no whole numbers."""

    @property
    def counts(self) -> list[float]:
        """Matched n-grams of each order."""
        return _whole(self.sums[2 : 2 + self._orders])

    @property
    def totals(self) -> list[float]:
        """N-grams of the hypotheses of each order."""
        return _whole(self.sums[2 + self._orders : 2 + 2 * self._orders])

    @property
    def precisions(self) -> list[float]:
        """Of each order, in percent, smoothed."""
        return [value for name, value in self.details.items() if name.startswith("p_")]

    @property
    def prec_str(self) -> str:
        """The precisions as text."""
        return "/".join(f"{value:.1f}" for value in self.precisions)

    @property
    def bp(self) -> float:
        """The brevity penalty."""
        return self.details["BP"]

    @property
    def ratio(self) -> float:
        """Words of the hypotheses per word of the references."""
        return self.details["ratio"]

    @property
    def sys_len(self) -> int:
        """Words of the hypotheses."""
        return int(self.sums[0])

    @property
    def ref_len(self) -> int:
        """Words of the references."""
        return int(self.sums[1])

    @property
    def verbose(self) -> str:
        """Precisions, brevity penalty and lengths."""
        return (
            f"{self.prec_str} (BP = {self.bp:.3f} ratio = {self.ratio:.3f} hyp_len = {self.sys_len} "
            f"ref_len = {self.ref_len})"
        )

    @property
    def _orders(self) -> int:
        return (len(self.metric.columns) - 2) // 2


class ChrFScore(Score):
    """A score of chrF or chrF++."""

    @property
    def char_order(self) -> int:
        """The largest order of character n-grams."""
        return int(getattr(self.metric, "nc"))  # noqa: B009 - of this one metric

    @property
    def word_order(self) -> int:
        """The largest order of word n-grams."""
        return int(getattr(self.metric, "nw"))  # noqa: B009

    @property
    def beta(self) -> float:
        """How many times more recall weighs than precision."""
        return float(getattr(self.metric, "beta"))  # noqa: B009


CHRFScore = ChrFScore
"""As sacreBLEU calls it."""


class TERScore(Score):
    """A score of TER."""

    @property
    def num_edits(self) -> float:
        """Edits of all hypotheses."""
        return float(self.sums[0])

    @property
    def ref_length(self) -> float:
        """Words of the average reference, summed over the segments."""
        from steelyard.metrics.references.average_length import summed_length

        return float(summed_length(self.sums[1:]))


def _whole(counts: Floats) -> list[float]:
    """Counts as integers where they are whole."""
    return [int(count) if count.is_integer() else count for count in counts.tolist()]
