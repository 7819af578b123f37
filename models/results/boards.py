"""The leaderboards that exist: one for each protocol and campaign."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, FromClause, bindparam, select, union

from models.corpus.documents import resampled_documents
from models.corpus.test_sets import titled_board
from models.schema.campaigns import Campaign, CampaignProtocol, CampaignTestSet, is_campaign_test_set
from models.schema.column_types import readable_rows
from models.schema.corpus import Protocol, Submission, TestSet
from models.schema.queue import Evaluation
from models.schema.states import EvaluationState, ResamplingUnit

if TYPE_CHECKING:
    from steelyard.resampling.documents import Documents


@dataclass(frozen=True, slots=True)
class BoardSummary:
    """What a leaderboard measures, and for which campaign."""

    protocol_id: int
    campaign_id: int
    campaign: str
    test_set: str
    version: str
    references: tuple[str, ...]
    metrics: tuple[str, ...]
    replicates: int
    seed: int
    segments: int
    """Of the test set."""
    test_set_id: int = 0
    target_language: str = ""
    """Of the test set; "" if unknown."""
    resample: ResamplingUnit = ResamplingUnit.SEGMENT
    """What its replicates draw and its randomization tests exchange."""

    @property
    def name(self) -> str:
        """Campaign and test set; each is named only if it adds information."""
        return titled_board(self.campaign, self.test_set, self.version)


def list_boards(
    connection: Connection,
    *,
    protocols: Sequence[int] | None = None,
    campaign_id: int | None = None,
    name: str | None = None,
    references: Sequence[str] | None = None,
    planned: bool = False,
) -> list[BoardSummary]:
    """The leaderboards with evaluations, in the order of their protocols' creation; filtered by the arguments.

    Parameter sweeps are included only if their `protocols` are given.

    `name` is that of a test set or a campaign; `references` selects exactly these labels, in any order. With `planned`,
    empty leaderboards are included.
    """
    given = {"protocols": None if protocols is None else list(protocols), "campaign_id": campaign_id, "name": name}
    filters = {key: value for key, value in given.items() if value is not None}
    wanted = _boards_statement(frozenset(filters), planned)

    def listed(row: Any) -> BoardSummary:
        return BoardSummary(
            protocol_id=row.id,
            campaign_id=row.campaign_id,
            campaign=row.campaign,
            test_set=row.name,
            version=row.version,
            references=tuple(row.reference_labels),
            metrics=tuple(row.metrics),
            replicates=row.replicates,
            seed=row.seed,
            segments=row.segments,
            test_set_id=row.test_set_id,
            target_language=row.target_language,
            resample=row.resample,
        )

    boards = readable_rows(connection.execute(wanted, filters), listed)
    return [each for each in boards if references is None or sorted(each.references) == sorted(references)]


@cache
def _boards_statement(filters: frozenset[str], planned: bool) -> Any:
    """Built once for each set of filters: building it takes as long as executing it."""
    protocols: Any = bindparam("protocols", expanding=True)
    campaign_id: Any = bindparam("campaign_id")
    name: Any = bindparam("name")
    measured = (
        select(Submission.campaign_id, Evaluation.protocol_id)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .distinct()
    )
    if "campaign_id" in filters:
        measured = measured.where(Submission.campaign_id == campaign_id)
    if "protocols" in filters:
        measured = measured.where(Evaluation.protocol_id.in_(protocols))
    there: FromClause = measured.subquery()
    if planned:
        # `union` removes duplicates.
        there = union(measured, select(CampaignProtocol.campaign_id, CampaignProtocol.protocol_id)).subquery()
    wanted = (
        select(Protocol, CampaignTestSet.name, CampaignTestSet.version, TestSet.segments, TestSet.target_language)
        .add_columns(Campaign.id.label("campaign_id"), Campaign.name.label("campaign"))
        .join(there, there.c.protocol_id == Protocol.id)
        .join(Campaign, Campaign.id == there.c.campaign_id)
        .join(TestSet, TestSet.id == Protocol.test_set_id)
        .join(CampaignTestSet, is_campaign_test_set(Campaign.id, Protocol.test_set_id))
        .where(Protocol.id.in_(protocols) if "protocols" in filters else ~Protocol.sweep)
        .order_by(Campaign.id, Protocol.id)
    )
    if "campaign_id" in filters:
        wanted = wanted.where(Campaign.id == campaign_id)
    if "name" in filters:
        wanted = wanted.where((CampaignTestSet.name == name) | (Campaign.name == name))
    return wanted


def documents_of_board(connection: Connection, board: BoardSummary) -> Documents | None:
    """The documents that a leaderboard's replicates draw; None where they draw segments."""
    return resampled_documents(connection, board.test_set_id, board.segments, board.resample)


def superseded_boards(connection: Connection, boards: Sequence[BoardSummary]) -> set[BoardSummary]:
    """The boards superseded by a newer one with the same references, all of its metrics and all of its submissions.

    They remain when a campaign grows: another metric, or more replicates.
    """
    alike: dict[tuple[int, int, tuple[str, ...]], list[BoardSummary]] = {}
    for board in boards:
        alike.setdefault((board.campaign_id, board.test_set_id, board.references), []).append(board)
    several = [sorted(group, key=lambda board: board.protocol_id) for group in alike.values() if len(group) > 1]
    if not several:
        return set()
    rows = connection.execute(
        select(Evaluation.protocol_id, Submission.campaign_id, Evaluation.submission_id, Evaluation.state)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .where(Evaluation.protocol_id.in_({board.protocol_id for group in several for board in group}))
    )
    measured: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    done: defaultdict[int, set[int]] = defaultdict(set)
    for row in rows:
        measured[row.protocol_id, row.campaign_id].add(row.submission_id)
        if row.state == EvaluationState.DONE:
            done[row.protocol_id].add(row.submission_id)

    def covers(newer: BoardSummary, older: BoardSummary) -> bool:
        if not set(older.metrics) <= set(newer.metrics) or (older.replicates and not newer.replicates):
            return False
        # Intervals by document are the more careful ones: those by segment do not replace them.
        if ResamplingUnit.DOCUMENT == older.resample != newer.resample:
            return False
        return measured[older.protocol_id, older.campaign_id] <= done[newer.protocol_id]

    return {
        older
        for group in several
        for number, older in enumerate(group)
        if any(covers(newer, older) for newer in group[number + 1 :])
    }


def output_of(connection: Connection, submissions: Sequence[int]) -> dict[int, int]:
    """Submission -> text id: submissions with the same text have identical outputs."""
    rows = connection.execute(select(Submission.id, Submission.text_id).where(Submission.id.in_(submissions)))
    return {row.id: row.text_id for row in rows}
