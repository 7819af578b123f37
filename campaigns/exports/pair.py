"""A test set as it is written in the layout of mt-metrics-eval."""

from __future__ import annotations

from dataclasses import dataclass

from campaigns.inspection.visible import VisibleTestSet


@dataclass(frozen=True)
class Pair:
    """A test set as it is written: all by the names in the folder."""

    name: str
    """Language pair."""
    test_set: VisibleTestSet
    references: dict[str, tuple[str, int]]
    """Name -> label and text."""
    systems: dict[str, tuple[str, int, int]]
    """Name -> name here, submission and text."""

    @property
    def source(self) -> int:
        """The text of the source."""
        assert self.test_set.source_text is not None
        return self.test_set.source_text
