"""Which units a metric has scores of, and in which order: documents, each with segments by position or by their ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.formats.scores.score_runs import BadScores, ScoredDocument
from steelyard.text.findings import quoted
from steelyard.text.wording import number_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from steelyard.formats.scores.score_runs import ScoreRun

    Key = tuple[str, str]


class Columns(NamedTuple):
    """Where the units of a run stand."""

    places: NDArray[np.intp]
    twice: int | None
    """The first unit of the run that stands where an earlier one of the same run does."""


class UnitOrder:
    """The units of a metric: what its runs have, as one order for all systems.

    Systems mostly have the same documents in the same order, so what is done for each document is done once for each
    different list of documents. Runs must share equal lists (`with_shared_documents`).

    Parameters
    ----------
    runs : iterable of ScoreRun
        Of the metric.
    order : dict of (str, str) to dict of str to int
        `order_of_units` of all metrics of the pair, so that equal units are in equal places of every metric, whatever a
        file leaves out or writes first.

    Raises
    ------
    BadScores
        Where systems have different segments.
    """

    def __init__(self, runs: Iterable[ScoreRun], order: dict[Key, dict[str, int]]) -> None:
        self._sizes: dict[Key, int] = {}
        self._ids: dict[Key, dict[str, int]] = {}
        self._first: dict[Key, tuple[ScoreRun, int]] = {}
        self._columns: dict[int, Columns] = {}
        known = set()
        for run in runs:
            if id(run.documents) not in known:
                known.add(id(run.documents))
                for place in range(len(run.documents)):
                    self._learn(run, place)
        self._sizes = {key: self._sizes[key] for key in order if key in self._sizes}
        for key, own in self._ids.items():
            self._ids[key] = {each: place for place, each in enumerate(sorted(own, key=order[key].__getitem__))}
        ends = np.cumsum([0, *self._sizes.values()])
        self._begins = dict(zip(self._sizes, ends.tolist(), strict=False))
        self.total = int(ends[-1])
        """How many units there are."""

    def _learn(self, run: ScoreRun, place: int) -> None:
        document = run.documents[place]
        key = document.domain, document.name
        first, its_place = self._first.setdefault(key, (run, place))
        where = first.where.of(its_place)
        if (first.documents[its_place].ids is None) != (document.ids is None):
            raise BadScores(f"{run.where.of(place)}: numbers its segments, and {where} does not. Write both alike.")
        if document.ids is not None:
            known = self._ids.setdefault(key, {})
            for each in document.ids:
                known.setdefault(each, len(known))
            self._sizes[key] = len(known)
        elif self._sizes.setdefault(key, document.size) != document.size:
            own = f"{number_of(document.size, 'score')} " + (f"of {quoted(document.name)} " if document.name else "")
            raise BadScores(
                f"{run.where.of(place)}: {run.system} has {own}by {run.metric}, but {first.system} has "
                f"{self._sizes[key]:,} by {first.metric} ({where}). All systems need scores of the same segments; "
                "write null where one has none."
            )

    def columns(self, run: ScoreRun) -> Columns:
        """Where the units of a run stand among all.

        Parameters
        ----------
        run : ScoreRun

        Returns
        -------
        Columns
        """
        found = self._columns.get(id(run.documents))
        if found is None:
            found = self._columns[id(run.documents)] = self._columns_of(run.documents)
        return found

    def _columns_of(self, documents: tuple[ScoredDocument, ...]) -> Columns:
        parts = [np.zeros(0, np.intp)]
        for document in documents:
            key = document.domain, document.name
            own = range(document.size) if document.ids is None else [self._ids[key][each] for each in document.ids]
            parts.append(np.asarray(own, np.intp) + self._begins[key])
        places = np.concatenate(parts)
        first = np.unique(places, return_index=True)[1]
        again = np.setdiff1d(np.arange(len(places)), first)
        return Columns(places, int(again[0]) if len(again) else None)

    def documents(self) -> tuple[ScoredDocument, ...]:
        """The documents, in order.

        Returns
        -------
        tuple of ScoredDocument
        """
        return tuple(
            ScoredDocument(*key, size, tuple(self._ids[key]) if key in self._ids else None)
            for key, size in self._sizes.items()
        )


def with_shared_documents(runs: Iterable[ScoreRun]) -> Iterator[ScoreRun]:
    """Runs of which those with equal documents have one and the same object, so that these compare by identity.

    Parameters
    ----------
    runs : iterable of ScoreRun

    Yields
    ------
    ScoreRun
    """
    shared: dict[tuple[ScoredDocument, ...], tuple[ScoredDocument, ...]] = {}
    seen: dict[int, tuple[tuple[ScoredDocument, ...], tuple[ScoredDocument, ...]]] = {}
    for run in runs:
        # All metrics of a file mostly have the same object, which is hashed once, for it is long. It is kept, for
        # another could have its id after it.
        if id(run.documents) not in seen:
            seen[id(run.documents)] = run.documents, shared.setdefault(run.documents, run.documents)
        documents = seen[id(run.documents)][1]
        yield run if documents is run.documents else run._replace(documents=documents)


def order_of_units(runs: Iterable[ScoreRun]) -> dict[tuple[str, str], dict[str, int]]:
    """Documents in the order in which runs first name them, each with the ids of its segments in that order.

    Parameters
    ----------
    runs : iterable of ScoreRun

    Returns
    -------
    dict of (str, str) to dict of str to int
        By domain and name.
    """
    order: dict[tuple[str, str], dict[str, int]] = {}
    for documents in {id(run.documents): run.documents for run in runs}.values():
        for document in documents:
            known = order.setdefault((document.domain, document.name), {})
            for each in document.ids or ():
                known.setdefault(each, len(known))
    return order
