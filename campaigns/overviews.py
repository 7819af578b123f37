"""What the list of campaigns tells of each: language pairs and own rank, by a constant number of statements."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from analysis.leaderboard.board import position_of_metric
from campaigns.leaderboards.choice import current_test_sets
from models.corpus.phases import deadline_at, next_phase
from models.results.entries import are_ranked, standing_entries
from models.results.leaderboard import ranked, read_measured_entries
from models.schema.campaigns import CampaignProtocol
from models.schema.column_types import UNREADABLE, readable
from models.schema.corpus import Protocol, TestSet
from models.schema.results import Score

if TYPE_CHECKING:
    from campaigns.permissions import CampaignAccess
    from models.corpus.phases import PhaseInfo


@dataclass(frozen=True, slots=True)
class OwnRank:
    """The best rank of the user's systems on one leaderboard of a campaign."""

    system: str
    test_set: str
    rank: int
    of: int
    """Ranked systems with a score."""


@dataclass(frozen=True, slots=True)
class CampaignOverview:
    """A campaign in a list."""

    access: CampaignAccess
    pairs: tuple[tuple[str, str], ...] = ()
    """Source and target languages of its visible test sets, each pair once; "" if unknown."""
    segments: int = 0
    """Of its visible test sets together."""
    own: OwnRank | None = None
    """None if none of the user's systems is ranked, or the leaderboard is hidden."""

    @property
    def deadline(self) -> float | None:
        """The deadline of the current phase."""
        return deadline_at(self.access.phases, self.access.at)

    @property
    def coming(self) -> PhaseInfo | None:
        """The next phase."""
        return next_phase(self.access.phases, self.access.at)

    @property
    def counts_down_to(self) -> float | None:
        """The deadline of an open campaign, or when the next phase of another one begins; None without either."""
        if self.status != "open":
            return self.coming.starts_at if self.coming else None
        return self.deadline if self.deadline is not None and self.access.at < self.deadline else None

    @property
    def status(self) -> str:
        """Whether it is "open", still "coming" or being set up, "over" with results, or "closed" without them."""
        access = self.access
        if access.published:
            return "over"
        if access.takes_submissions and self.pairs:
            return "open"
        return "coming" if self.coming or not self.pairs else "closed"


def overviews(connection: Connection, accesses: Sequence[CampaignAccess]) -> list[CampaignOverview]:
    """Return what a list tells of these campaigns, in their order."""
    wanted = {access.campaign_id: current_test_sets(access) for access in accesses}
    known = {
        row.id: row
        for row in connection.execute(
            select(TestSet.id, TestSet.source_language, TestSet.target_language, TestSet.segments).where(
                TestSet.id.in_({each for ids in wanted.values() for each in ids})
            )
        )
    }
    own = _own_ranks(connection, [each for each in accesses if each.own_teams and each.sees_board], wanted)
    found = []
    for access in accesses:
        # In the campaign's order, as its own page lists them.
        rows = [known[each] for each in access.test_sets if each in known and each in wanted[access.campaign_id]]
        pairs = dict.fromkeys((row.source_language or "", row.target_language or "") for row in rows)
        segments = sum(row.segments for row in rows)
        found.append(CampaignOverview(access, tuple(pairs), segments, own.get(access.campaign_id)))
    return found


def _own_ranks(
    connection: Connection, accesses: Sequence[CampaignAccess], wanted: dict[int, list[int]]
) -> dict[int, OwnRank]:
    """Return the best own rank in each campaign, on the test set that counts and against most references."""
    # Without campaigns, the statements are made all the same: their number does not tell what is there.
    protocols = _leading_protocols(connection, {each.campaign_id: wanted[each.campaign_id][:1] for each in accesses})
    rows: defaultdict[tuple[int, int], list[Any]] = defaultdict(list)
    for row in read_measured_entries(connection, [each.id for each in protocols.values()]):
        rows[row.campaign_id, row.protocol_id].append(row)
    scores: defaultdict[int, dict[int, Any]] = defaultdict(dict)
    evaluations = [row.id for (campaign, number), of_board in rows.items() for row in of_board if campaign in protocols]
    columns = (Score.evaluation_id, Score.metric, Score.score, Score.higher_is_better)
    for score in connection.execute(select(*columns).where(Score.evaluation_id.in_(evaluations))):
        scores[score.evaluation_id][score.metric] = score
    found = {}
    for access in accesses:
        protocol = protocols.get(access.campaign_id)
        if protocol is None:
            continue
        metric = position_of_metric(readable(protocol.metrics, UNREADABLE), access.ranked_by or None) or 0
        own = _best_own(access, rows[access.campaign_id, protocol.id], scores, metric)
        if own is not None:
            system, rank, of = own
            found[access.campaign_id] = OwnRank(system, access.test_sets[protocol.test_set_id].name, rank, of)
    return found


def _leading_protocols(connection: Connection, wanted: dict[int, list[int]]) -> dict[int, Any]:
    """Return the protocol with most references, the newest of these, on one test set of each campaign."""
    rows = connection.execute(
        select(CampaignProtocol.campaign_id, Protocol.id, Protocol.test_set_id, Protocol.metrics)
        .add_columns(Protocol.reference_labels)
        .join(Protocol, Protocol.id == CampaignProtocol.protocol_id)
        .where(CampaignProtocol.campaign_id.in_(wanted), ~Protocol.sweep)
        .order_by(Protocol.id)
    )
    found: dict[int, Any] = {}
    for row in rows:
        if row.test_set_id in wanted[row.campaign_id]:
            known = found.get(row.campaign_id)
            if known is None or len(readable(row.reference_labels, UNREADABLE)) >= len(
                readable(known.reference_labels, UNREADABLE)
            ):
                found[row.campaign_id] = row
    return found


def _best_own(
    access: CampaignAccess, rows: Sequence[Any], scores: dict[int, dict[int, Any]], metric: int
) -> tuple[str, int, int] | None:
    """Return name and rank of the best own system, and the number of ranked ones. Runs count by their mean."""
    standing = standing_entries(rows)
    means: dict[int, float] = {}
    higher = True
    for number, (entry, is_ranked) in enumerate(zip(standing, are_ranked(standing), strict=True)):
        of_runs = [each for run in entry.runs if (each := scores[run.id].get(metric)) is not None]
        values = [each.score for each in of_runs if each.score is not None]
        if is_ranked and len(values) == len(entry.runs):
            means[number] = sum(values) / len(values)
            higher = all(each.higher_is_better for each in of_runs)
    ranks = ranked(means, higher)
    own = [number for number in ranks if standing[number].team in access.own_teams]
    if not own:
        return None
    best = min(own, key=lambda number: ranks[number])
    return str(standing[best].runs[0].name), ranks[best], len(ranks)
