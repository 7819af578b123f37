"""A leaderboard's systems on parts of the test set: scores by document, domain and length, from stored statistics."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import select

from analysis.breakdown.group_scores import scores_of_groups
from analysis.breakdown.texts import read_by_length
from campaigns.errors import BadRequest, Forbidden, NotFound
from campaigns.leaderboards.names import display_name
from campaigns.leaderboards.rounding import finite_scale
from models.corpus.protocols import read_protocol
from models.errors import NotFound as RecordNotFound
from models.results.autoranks import autorank_columns
from models.results.leaderboard import ranked
from models.schema.corpus import Document, TestSet
from steelyard.errors import MetricsError
from steelyard.inspection.partitions import Partition, Passage, by_document, by_domain
from steelyard_client.documents.leaderboards.breakdowns import BreakdownGroup, BreakdownResponse, BreakdownSystem
from steelyard_client.vocabulary import Average, Grouping
from worker.computing.scoring import cached_metric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from sqlalchemy import Connection

    from campaigns.leaderboards.cache import LeaderboardCache
    from campaigns.leaderboards.view import BoardLine, BoardView
    from campaigns.permissions import CampaignAccess
    from models.results.boards import BoardSummary

MOST_SCORES = 200_000
"""Systems times groups in one response."""


@dataclass(frozen=True, slots=True)
class BreakdownQuery:
    """What to show of a leaderboard's parts."""

    by: Grouping = Grouping.DOMAIN
    average: Average = Average.MICRO
    systems: Sequence[int] = ()
    """Submissions; by default all that the leaderboard shows."""


def read_breakdown(
    connection: Connection, memory: LeaderboardCache, access: CampaignAccess, view: BoardView, query: BreakdownQuery
) -> BreakdownResponse:
    """Return the scores of a leaderboard's systems on each document, on each domain, or on segments of each length.

    A score is what the metric's formula gives for the group's segments alone; of a system of several runs the mean of
    theirs. Like scores of segments, they are shown together with the references, of outputs that may be seen.

    Raises
    ------
    Forbidden
        While the references are hidden.
    NotFound
        For a test set without documents or domains, systems that are not on the leaderboard, and a metric whose scores
        have no parts.
    BadRequest
        For more scores than one response holds.
    """
    listed, metric = view.listed, view.query.metric
    if not access.sees_references(listed.test_set_id):
        raise Forbidden("Scores of parts are shown once the references are released, as those of segments are.")
    groups, partition = _groups(connection, memory, listed, query.by)
    lines = _chosen(access, view, query.systems)
    if len(lines) * len(groups) > MOST_SCORES:
        raise BadRequest(
            f"{len(lines):,} systems on {len(groups):,} {query.by}s are too many at once. Choose some with `system`."
        )
    scores = _scores(connection, memory, view, lines, partition)
    known = next((line.entry.scores[metric] for line in lines if line.entry.scores), None)
    higher = known is None or known.higher_is_better
    systems = [
        _system(access, line, metric, [None if math.isnan(each) else float(each) for each in of_system])
        for line, of_system in zip(lines, scores, strict=True)
    ]
    averages = {
        place: value for place, each in enumerate(systems) if (value := _average(each, query.average)) is not None
    }
    ranks = ranked({place: value for place, value in averages.items() if lines[place].entry.ranked}, higher)
    in_order = sorted(averages, key=lambda place: ((-1 if higher else 1) * averages[place], place))
    in_order += [place for place in range(len(systems)) if place not in averages]
    return BreakdownResponse(
        campaign=access.name,
        test_set=listed.test_set,
        version=listed.version,
        board=listed.protocol_id,
        references=list(listed.references),
        metric=listed.metrics[metric],
        title=view.titles[metric].removesuffix(" ↓"),
        signature=known.signature if known else "",
        higher_is_better=higher,
        scale=finite_scale(known.scale) if known else None,
        by=query.by,
        unit=partition.what.split()[0] if query.by is Grouping.LENGTH else "",
        average=query.average,
        shown=view.query.shown,
        constrained=view.query.constrained,
        groups=groups,
        systems=[systems[place].model_copy(update={"rank": ranks.get(place)}) for place in in_order],
    )


def _groups(
    connection: Connection, memory: LeaderboardCache, listed: BoardSummary, by: Grouping
) -> tuple[list[BreakdownGroup], Partition]:
    if by is Grouping.LENGTH:
        lengths = _by_length(connection, memory, listed)
        sizes = zip(lengths.groups, lengths.sizes, strict=True)
        return [BreakdownGroup(name=name, domain="", segments=size) for name, size in sizes], lengths
    stored = select(Document.first_segment, Document.segments, Document.name, Document.domain)
    rows = connection.execute(stored.where(Document.test_set_id == listed.test_set_id).order_by(Document.first_segment))
    documents = [Passage(*row) for row in rows]
    partition = (by_document if by is Grouping.DOCUMENT else by_domain)(documents, listed.segments)
    if partition is None:
        lacks = "documents" if by is Grouping.DOCUMENT else "two domains or more"
        raise NotFound(f"Nothing says that this test set has {lacks}, so there are no scores by {by}.")
    domains = {each.name: each.domain for each in documents} if by is Grouping.DOCUMENT else {}
    groups = [
        BreakdownGroup(name=name, domain=domains.get(name, "") if domains else name, segments=size)
        for name, size in zip(partition.groups, partition.sizes, strict=True)
    ]
    return groups, partition


def _by_length(connection: Connection, memory: LeaderboardCache, listed: BoardSummary) -> Partition:
    """Return segments by the mean length of the references of a leaderboard. Read once: texts never change."""
    key = "lengths", listed.protocol_id
    known: Partition | None = memory.get(key)
    if known is None:
        texts = read_protocol(connection, listed.protocol_id).reference_texts
        if not texts:
            raise NotFound("This leaderboard has no references, so there are no scores by length.")
        stored = select(TestSet.target_language).where(TestSet.id == listed.test_set_id)
        language = str(connection.execute(stored).scalar_one())
        known = read_by_length(connection, texts, listed.segments, language)
        memory.put(key, known, known.group_of.nbytes + 1000)
    return known


def _chosen(access: CampaignAccess, view: BoardView, systems: Sequence[int]) -> Sequence[BoardLine]:
    """Those of some submissions, or all; only what the account sees the outputs of."""
    own = access.own_teams
    visible = [line for line in view.lines if access.sees_outputs or (line.entry.team and line.entry.team in own)]
    if not systems:
        return visible
    by_number = {number: line for line in visible for number in line.entry.submissions}
    if strangers := [number for number in systems if number not in by_number]:
        raise NotFound(f"Submission {strangers[0]} is not on this leaderboard.")
    return list(dict.fromkeys(by_number[number] for number in systems))


def _scores(
    connection: Connection, memory: LeaderboardCache, view: BoardView, lines: Sequence[BoardLine], partition: Partition
) -> NDArray[np.float64]:
    """(systems, groups); NaN where a system has no score. What a leaderboard shows is computed once."""
    metric = view.query.metric
    if metric in autorank_columns(view.listed.metrics):
        raise NotFound("AutoRank is of whole test sets. Choose another metric.")
    # An evaluation that is queued again ends at another time, which is part of `measured`.
    measured = tuple(line.entry.measured for line in lines)
    key = "breakdown", view.listed.protocol_id, metric, partition.what, measured
    known: NDArray[np.float64] | None = memory.get(key)
    if known is not None:
        return known
    found = np.full((len(lines), len(partition.groups)), np.nan)
    scored = [place for place, line in enumerate(lines) if line.entry.scores]
    if scored:
        try:
            computed = cached_metric(view.listed.metrics[metric])
            evaluations = [lines[place].entry.evaluations for place in scored]
            (found[scored],) = scores_of_groups(connection, evaluations, metric, computed, [partition])
        except (MetricsError, RecordNotFound) as error:
            raise NotFound(f"There are no scores by {partition.what} of this metric: {error}") from error
    memory.put(key, found, found.nbytes + 1000)
    return found


def _system(access: CampaignAccess, line: BoardLine, metric: int, scores: list[float | None]) -> BreakdownSystem:
    name = display_name(access, line.entry)
    known = [each for each in scores if each is not None]
    return BreakdownSystem(
        submission=line.entry.submission,
        name=name.title,
        own=name.own,
        rank=None,
        micro=line.entry.scores[metric].score if line.entry.scores else None,
        macro=math.fsum(known) / len(known) if known and len(known) == len(scores) else None,
        scores=scores,
    )


def _average(system: BreakdownSystem, average: Average) -> float | None:
    return system.macro if average is Average.MACRO else system.micro
