"""Work on texts that several metrics share: done once, and measured where somebody wants to know."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from steelyard.metrics.preparation.score_store import ScoreStore
    from steelyard.metrics.preparation.stopwatch import Stopwatch

Prepared = TypeVar("Prepared")


class SharedWork:
    """Keeps what was made, by key.

    Attributes
    ----------
    stopwatch : Stopwatch or None
        Where it is set, it measures what is prepared.
    score_store : ScoreStore or None
        Where metrics find scores that a model or a program gave to the same texts before, and keep new ones.
    """

    def __init__(self) -> None:
        self.stopwatch: Stopwatch | None = None
        self.score_store: ScoreStore | None = None
        self._prepared: dict[Hashable, Any] = {}

    def cached(self, key: Hashable, make: Callable[[], Prepared]) -> Prepared:
        """Work that several metrics share, done at the first call.

        Parameters
        ----------
        key : Hashable
            What it is, with all that it depends on beside the texts.
        make : callable
            Does it.

        Returns
        -------
        Any
            What `make` returned.
        """
        watch = self.stopwatch
        # What is in another Unicode form has the same keys.
        piece = (id(self), key)
        if key not in self._prepared:
            with watch.timing(piece) if watch else nullcontext():
                self._prepared[key] = make()
        elif watch:
            watch.uses(piece)
        return cast("Prepared", self._prepared[key])
