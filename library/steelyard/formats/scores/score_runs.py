"""What every file of scores is read into: runs of scores of one system by one metric, over documents."""

from __future__ import annotations

import math
from itertools import accumulate
from types import NoneType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.errors import BadText
from steelyard.text.findings import quoted
from steelyard.text.names import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEVELS = ("segment", "document", "system")
"""What a score is of, the finest first."""

LARGEST_SCORE = 1e6
LONGEST_NAME = 200

_NUMBERS = {float, int, NoneType}


class BadScores(BadText):
    """The file does not hold scores of segments in a format that is known."""


class ScoredDocument(NamedTuple):
    """A document as a file of scores knows it."""

    domain: str
    name: str
    """Empty where the file does not name its documents."""
    size: int
    """Its units."""
    ids: tuple[str, ...] | None
    """Of its units, in their order; None where the file counts them."""


class Lines(NamedTuple):
    """Where documents are in a file, for messages."""

    file: str
    numbers: Sequence[int] = ()
    """The line of each document; none where the file has no lines."""

    def of(self, document: int) -> str:
        """File and line of a document.

        Parameters
        ----------
        document : int
            Its place in the run, from 0.

        Returns
        -------
        str
        """
        return f"{self.file}, line {self.numbers[document]}" if self.numbers else self.file


class ScoreRun(NamedTuple):
    """Scores of one system by one metric."""

    pair: str
    """Languages, such as "en-cs_CZ"; empty where the file does not say."""
    metric: str
    system: str
    documents: tuple[ScoredDocument, ...]
    scores: Floats
    """(units): of all documents, in order; NaN where there is none."""
    where: Lines
    level: str = "segment"

    def place_of(self, unit: int) -> tuple[int, int]:
        """The document of a unit, and where it stands there.

        Parameters
        ----------
        unit : int
            Its place in `scores`.

        Returns
        -------
        tuple of int
            The place in `documents`, and that in the document.
        """
        ends = accumulate(each.size for each in self.documents)
        document, end = next((place, end) for place, end in enumerate(ends) if unit < end)
        return document, unit - end + self.documents[document].size


def check_run(run: ScoreRun) -> None:
    """Refuse names that cannot be shown, and scores that are too large.

    Parameters
    ----------
    run : ScoreRun

    Raises
    ------
    BadScores
        Naming the line.
    """
    pair = (("language pair", run.pair),) if run.pair else ()
    for what, name in (("metric", run.metric), ("system", run.system), *pair):
        if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
            raise BadScores(
                f"{run.where.of(0)}: {quoted(name)} cannot be the name of a {what}: give 1 to {LONGEST_NAME} printable "
                "characters."
            )
    large = np.abs(run.scores) > LARGEST_SCORE
    if large.any():
        unit = int(large.argmax())
        document, place = run.place_of(unit)
        raise BadScores(
            f"{run.where.of(document)}: score {place + 1} of {run.system} by {run.metric} is {run.scores[unit]:g}, but "
            f"must be at most {LARGEST_SCORE:g}."
        )


def numbers(values: Sequence[object], documents: Sequence[ScoredDocument], where: Lines) -> Floats:
    """Scores as they stand in JSON: null and NaN are NaN.

    Parameters
    ----------
    values : sequence of object
        Of all documents, in order.
    documents : sequence of ScoredDocument
    where : Lines

    Returns
    -------
    ndarray of float64, shape (units,)

    Raises
    ------
    BadScores
        For what is no number, naming the line.
    """
    if set(map(type, values)) <= _NUMBERS:
        try:
            return np.array(values, dtype=np.float64)  # None is NaN
        except OverflowError:
            pass  # said below, with the line
    lines = (place for place, document in enumerate(documents) for _ in range(document.size))
    return np.array([number(value, where.of(place)) for value, place in zip(values, lines, strict=True)])


def number(value: object, where: str) -> float:
    """A score as it stands in JSON: null and NaN are NaN.

    Parameters
    ----------
    value : object
    where : str
        File and line, for messages.

    Returns
    -------
    float

    Raises
    ------
    BadScores
        For what is no number.
    """
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadScores(f"{where}: {quoted(printable(str(value)[:50]))} is no number. Write scores as numbers or null.")
    try:
        return float(value)
    except OverflowError as error:
        raise BadScores(f"{where}: the score is too large. Give at most {LARGEST_SCORE:g}.") from error
