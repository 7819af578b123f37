"""What errors weigh in MQM: by severity, and by category below it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from steelyard.errors import BadParameter

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MQM_WEIGHTS = {
    "major": 5.0,
    "minor": 1.0,
    "neutral": 0.0,
    "major/non-translation": 25.0,
    "minor/fluency/punctuation": 0.1,
}
"""Those of Freitag et al. 2021 (Experts, Errors, and Context; section 3.1)."""

NO_ERROR = "no-error"
_WEIGHT = re.compile(r"(?P<path>[^=]{1,200})=(?P<weight>\d{1,6}(?:\.\d{1,6})?)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights by `severity[/category[/subcategory]]`, in lower case; the most specific one counts."""

    by_path: Mapping[str, float] = field(default_factory=lambda: dict(MQM_WEIGHTS))

    def of(self, severity: str, category: str) -> float | None:
        """What an error weighs.

        Parameters
        ----------
        severity, category : str

        Returns
        -------
        float or None
            0 where the annotator found none, None where its severity has no weight.
        """
        if is_no_error(severity, category):
            return 0.0
        steps = [_folded(step) for step in (severity, *category.split("/"))]
        for length in range(len(steps), 0, -1):
            weight = self.by_path.get("/".join(steps[:length]))
            if weight is not None:
                return weight
        return None


def is_no_error(severity: str, category: str) -> bool:
    """Whether a row says that an annotator found none.

    Parameters
    ----------
    severity, category : str

    Returns
    -------
    bool
    """
    return NO_ERROR in (_folded(severity), _folded(category.split("/")[-1]))


def parse_weights(given: Iterable[str]) -> Weights:
    """The usual weights, with changes.

    Parameters
    ----------
    given : iterable of str
        `SEVERITY[/CATEGORY]=NUMBER`.

    Returns
    -------
    Weights

    Raises
    ------
    BadParameter
        For anything else.
    """
    by_path = dict(MQM_WEIGHTS)
    for text in given:
        match = _WEIGHT.fullmatch(text)
        if match is None:
            raise BadParameter(
                f"{text[:100]!r} is no weight of errors. Write SEVERITY=NUMBER, or SEVERITY/CATEGORY=NUMBER, such as "
                "major=10 or minor/fluency/punctuation=0.1."
            )
        by_path["/".join(_folded(step) for step in match["path"].split("/"))] = float(match["weight"])
    return Weights(by_path)


def _folded(step: str) -> str:
    """`Non-translation!` and `non-translation` are one category."""
    return re.sub(r"[\s_]+", "-", step.strip().rstrip("!").casefold())
