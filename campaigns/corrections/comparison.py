"""Scores and ranks before and after a correction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from campaigns.corrections.corrections import CorrectionInfo
from campaigns.measures import MeasureInfo, protocols_on
from campaigns.permissions import CampaignAccess
from models.results.leaderboard import LeaderboardRow, ranked, read_leaderboard
from steelyard.metrics.registry import parse_metric
from steelyard.tables.titles import distinct_titles


@dataclass(frozen=True, slots=True)
class CorrectedScore:
    """A system's score by one metric, before and after the correction."""

    team: str
    system: str
    submission_id: int
    """Its submission on the new test set."""
    old: float | None
    new: float | None
    """None if there is no score (yet)."""
    ranked: bool
    """Whether it is ranked now (`models.results.entries`).

    Ranks before the correction are those among the same systems.
    """
    old_rank: int | None
    new_rank: int | None

    @property
    def difference(self) -> float | None:
        """New minus old."""
        return None if self.old is None or self.new is None else self.new - self.old

    @property
    def risen(self) -> int | None:
        """Ranks gained (positive) or lost."""
        return None if self.old_rank is None or self.new_rank is None else self.old_rank - self.new_rank


@dataclass(frozen=True, slots=True)
class CorrectedMetric:
    """A metric against a list of references, before and after the correction."""

    references: tuple[str, ...]
    specification: str
    title: str
    higher_is_better: bool
    rows: tuple[CorrectedScore, ...]
    """By the new rank."""


def compare_correction(
    connection: Connection, access: CampaignAccess, correction: CorrectionInfo
) -> list[CorrectedMetric]:
    """Compare scores and ranks before and after a correction: by each metric, of every system not withdrawn."""
    measured_now = protocols_on(connection, access.campaign_id, correction.new_test_set_id)
    new_of = {_protocol_key(each): each for each in measured_now}
    compared = []
    for old in protocols_on(connection, access.campaign_id, correction.old_test_set_id):
        new = new_of.get(_protocol_key(old))
        if new is None:
            continue
        before, after = _board(connection, access, old), _board(connection, access, new)
        compared += [_compare_metric(old, place, before, after) for place in range(len(old.metrics))]
    return compared


Key = tuple[str, str, int]
"""Team, system, and the index among its submissions on the leaderboard."""


def ranks_before_and_after(
    old: Mapping[Key, float | None], new: Mapping[Key, float | None], among: Sequence[Key], higher_is_better: bool
) -> tuple[dict[Key, int], dict[Key, int]]:
    """Return the ranks of the same systems by their old and their new scores; none for those without a score."""
    before, after = (
        ranked({key: score for key in among if (score := scores[key]) is not None}, higher_is_better)
        for scores in (old, new)
    )
    return before, after


def _board(connection: Connection, access: CampaignAccess, measure: MeasureInfo) -> dict[Key, LeaderboardRow]:
    rows = read_leaderboard(connection, measure.id, campaign_id=access.campaign_id)
    found: dict[Key, LeaderboardRow] = {}
    for row in sorted(rows, key=lambda row: max(row.submissions)):
        number = sum(key[:2] == (row.team, row.system) for key in found) if row.twice else 0
        found[row.team, row.system, number] = row
    return found


def _compare_metric(
    measure: MeasureInfo, place: int, before: Mapping[Key, LeaderboardRow], after: Mapping[Key, LeaderboardRow]
) -> CorrectedMetric:
    metric = parse_metric(measure.metrics[place])
    titles = distinct_titles([parse_metric(each).title for each in measure.metrics], measure.metrics)
    both = [key for key in after if key in before]
    old, new = _scores(before, both, place), _scores(after, both, place)
    among = [key for key in both if after[key].ranked]
    ranks = ranks_before_and_after(
        dict(zip(both, old, strict=True)), dict(zip(both, new, strict=True)), among, metric.higher_is_better
    )
    rows = [
        CorrectedScore(
            team=key[0],
            system=key[1],
            submission_id=after[key].submissions[-1],
            old=old[number],
            new=new[number],
            ranked=after[key].ranked,
            old_rank=ranks[0].get(key),
            new_rank=ranks[1].get(key),
        )
        for number, key in enumerate(both)
    ]
    return CorrectedMetric(
        references=measure.references,
        specification=measure.metrics[place],
        title=titles[place],
        higher_is_better=metric.higher_is_better,
        # Ties by submission id: an order by name would reveal anonymous teams.
        rows=tuple(sorted(rows, key=lambda row: (row.new_rank or len(rows) + 1, row.submission_id))),
    )


def _scores(board: Mapping[Key, LeaderboardRow], keys: Sequence[Key], place: int) -> list[float | None]:
    return [board[key].scores[place].score if board[key].scores else None for key in keys]


def _protocol_key(measure: MeasureInfo) -> tuple[Any, ...]:
    return (measure.references, measure.metrics, measure.replicates, measure.seed, measure.resample)
