"""Finds out what has happened in campaigns that people want to hear of, and writes it down once.

Everything is read from the tables, so that nothing is lost by a process that dies, and a scheduler that was down for a
while tells what happened meanwhile, up to a day. Two of them that plan at once write one notice: keys are unique.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from sqlalchemy import Connection, Subquery, func, select, union_all

from models.corpus.campaign_protocols import lock_campaign
from models.corpus.phases import TAKING
from models.notices.notify import NewNotice, notify
from models.results.learned_columns import read_failed_metrics
from models.schema.accounts import Team
from models.schema.base import database_time
from models.schema.campaigns import (
    Campaign,
    CampaignTestSet,
    Correction,
    Declaration,
    Participation,
    Phase,
    is_campaign_test_set,
)
from models.schema.corpus import Protocol, Submission, System
from models.schema.learned import LearnedColumn
from models.schema.notices import Notice
from models.schema.queue import Evaluation
from models.schema.roles import PhaseKind
from models.schema.states import OPEN, ColumnState, EvaluationState
from steelyard.tables.formatting import date_time
from steelyard.text.wording import listed, number_of
from steelyard_client.vocabulary import NoticeKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DAY = 86400.0
"""How long before a deadline people are reminded, and how long after something has happened it is still told."""
MOST_NAMED = 20
"""Submissions that a notice names."""
ONLY_METRICS = (
    "The model or program behind such a metric failed; the scores by all other metrics stand. The organisers see the "
    "reason and can have it tried again."
)
OF_A_TEAM = (NoticeKind.SCORED, NoticeKind.FAILED)
ON_LEADERBOARDS = Evaluation.protocol_id.not_in(select(Protocol.id).where(Protocol.sweep))
"""Parameter sweeps are the organisers' own: teams see nothing of them."""


def plan_notices(connection: Connection, *, mails: bool) -> int:
    """Write notices of what has happened; how many. `mails` as for `models.notices.notify.notify`."""
    at = database_time(connection)
    found = [*_phases(connection, at), *_deadlines(connection, at), *_corrections(connection, at)]
    written = sum(notify(connection, each, mails=mails) is not None for each in found if not _told(connection, each))
    for campaign_id, team in _teams_with_ends(connection, at):
        # Whoever plans at the same time waits here, and then sees what was told.
        lock_campaign(connection, campaign_id)
        for each in _ended(connection, campaign_id, team, at):
            written += notify(connection, each, mails=mails) is not None
    return written


def _told(connection: Connection, new: NewNotice) -> bool:
    known = select(Notice.id).where(Notice.campaign_id == new.campaign_id, Notice.key == new.key)
    return connection.scalar(known) is not None


def _phases(connection: Connection, at: float) -> Iterator[NewNotice]:
    begun = select(Phase, Campaign.name.label("campaign"), Campaign.title).join(
        Campaign, Campaign.id == Phase.campaign_id
    )
    for row in connection.execute(begun.where(Phase.starts_at <= at, Phase.starts_at > at - DAY).order_by(Phase.id)):
        path, title = _page(row.campaign), row.title or row.campaign
        if row.kind == PhaseKind.PUBLISHED:
            said = f"{title}: the results are published"
            yield NewNotice(row.campaign_id, f"phase-{row.id}", NoticeKind.RESULTS, said, f"{said}.", path)
        else:
            said = f'{title}: the phase "{row.name}" has begun'
            yield NewNotice(row.campaign_id, f"phase-{row.id}", NoticeKind.PHASE, said, f"{said}.", path)


def _deadlines(connection: Connection, at: float) -> Iterator[NewNotice]:
    ending = select(Phase, Campaign.name.label("campaign"), Campaign.title, Campaign.time_zone).join(
        Campaign, Campaign.id == Phase.campaign_id
    )
    soon = Phase.ends_at > at, Phase.ends_at <= at + DAY, Phase.starts_at <= at, Phase.kind.in_(TAKING)
    for row in connection.execute(ending.where(*soon, Campaign.frozen_at.is_(None)).order_by(Phase.id)):
        title = row.title or row.campaign
        when = date_time(row.ends_at, row.time_zone)
        said = f'The deadline of the phase "{row.name}" is {when}. Until then outputs can be submitted.'
        # An extended deadline is another one.
        key = f"deadline-{row.id}-{row.ends_at:.0f}"
        headline = f"{title}: the deadline is in less than 24 hours"
        yield NewNotice(row.campaign_id, key, NoticeKind.DEADLINE, headline, said, _page(row.campaign))


def _corrections(connection: Connection, at: float) -> Iterator[NewNotice]:
    made = (
        select(Correction, Campaign.name.label("campaign"), Campaign.title, CampaignTestSet.name.label("test_set"))
        .join(Campaign, Campaign.id == Correction.campaign_id)
        .join(CampaignTestSet, is_campaign_test_set(Correction.campaign_id, Correction.new_test_set_id))
        .where(Correction.made_at > at - DAY, _is_seen(at))
        .order_by(Correction.id)
    )
    for row in connection.execute(made):
        headline = f"{row.title or row.campaign}: the references of {row.test_set} were corrected"
        text = f"{row.reason}\n\nEverything is scored again with the corrected references."
        path = _page(row.campaign)
        yield NewNotice(row.campaign_id, f"correction-{row.id}", NoticeKind.CORRECTION, headline, text, path)


def _is_seen(at: float) -> Any:
    """Condition: the phase of a test set has begun, before which only organisers may know that it exists."""
    begun = select(Phase.id).where(Phase.starts_at <= at)
    return CampaignTestSet.phase_id.is_(None) | CampaignTestSet.phase_id.in_(begun)


def _ends(since: float) -> Subquery:
    """What ended since then: evaluations, and learned metrics that failed, which may be long after the others."""
    evaluations = select(Evaluation.id, Evaluation.submission_id, Evaluation.finished_at).where(
        Evaluation.finished_at > since, Evaluation.state.in_((EvaluationState.DONE, EvaluationState.FAILED))
    )
    columns = (
        select(Evaluation.id, Evaluation.submission_id, LearnedColumn.finished_at)
        .join(LearnedColumn, LearnedColumn.evaluation_id == Evaluation.id)
        .where(LearnedColumn.finished_at > since, LearnedColumn.state == ColumnState.FAILED)
        .where(Evaluation.state == EvaluationState.DONE)
    )
    return union_all(evaluations.where(ON_LEADERBOARDS), columns.where(ON_LEADERBOARDS)).subquery()


def _teams_with_ends(connection: Connection, at: float) -> list[tuple[int, Any]]:
    """The campaigns and teams of which something ended since they were last told."""
    ends = _ends(at - DAY)
    last = (
        select(Notice.campaign_id, Notice.team_id, func.max(Notice.until).label("until"))
        .where(Notice.kind.in_(OF_A_TEAM))
        .group_by(Notice.campaign_id, Notice.team_id)
        .subquery()
    )
    ended = (
        select(Declaration.campaign_id, Team.id, Team.name)
        .select_from(ends)
        .join(Declaration, Declaration.submission_id == ends.c.submission_id)
        .join(Team, Team.name == Declaration.team)
        # Outputs that came with another server's export may be of a team that only has the same name.
        .join(
            Participation,
            (Participation.team_id == Team.id) & (Participation.campaign_id == Declaration.campaign_id),
        )
        .outerjoin(last, (last.c.campaign_id == Declaration.campaign_id) & (last.c.team_id == Team.id))
        .group_by(Declaration.campaign_id, Team.id, Team.name, last.c.until)
        .having(func.max(ends.c.finished_at) > func.coalesce(last.c.until, 0.0))
        .order_by(Declaration.campaign_id, Team.id)
    )
    return [(row.campaign_id, row) for row in connection.execute(ended)]


@dataclass
class _Ends:
    """The last end of evaluations of a submission, whether all are done, and the metrics that failed in these."""

    label: str
    failed: bool = False
    at: float = 0.0
    metrics: dict[str, None] = field(default_factory=dict)


def _ended(connection: Connection, campaign_id: int, team: Any, at: float) -> Iterator[NewNotice]:
    """What is to be told a team: of all its submissions at once, when none of them is being scored any more."""
    own = Declaration.campaign_id == campaign_id, Declaration.team == team.name
    going_on = (
        select(Evaluation.id)
        .join(Declaration, Declaration.submission_id == Evaluation.submission_id)
        .where(*own, ON_LEADERBOARDS, Evaluation.state.in_(OPEN))
        .limit(1)
    )
    if connection.scalar(going_on) is not None:
        return
    told = select(func.max(Notice.until)).where(
        Notice.campaign_id == campaign_id, Notice.team_id == team.id, Notice.kind.in_(OF_A_TEAM)
    )
    since = max(connection.scalar(told) or 0.0, at - DAY)
    rows = connection.execute(
        select(
            *(Evaluation.id, Evaluation.submission_id, Evaluation.state, Evaluation.finished_at, System.name),
            *(CampaignTestSet.name.label("test_set"), Campaign.name.label("campaign"), Campaign.title),
        )
        .join(Declaration, Declaration.submission_id == Evaluation.submission_id)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .join(System, System.id == Submission.system_id)
        .join(Campaign, Campaign.id == Submission.campaign_id)
        .join(CampaignTestSet, is_campaign_test_set(Submission.campaign_id, Submission.test_set_id))
        .where(*own, Declaration.withdrawn_at.is_(None), Evaluation.id.in_(select(_ends(since).c.id)))
        .order_by(Evaluation.submission_id, Evaluation.id)
    ).all()
    failed_metrics = read_failed_metrics(connection, [row.id for row in rows if row.state == EvaluationState.DONE])
    ends: dict[int, _Ends] = {}
    for row in rows:
        known = ends.setdefault(
            row.submission_id, _Ends(f"{row.name} on {row.test_set} (submission {row.submission_id})")
        )
        known.failed |= row.state == EvaluationState.FAILED
        metrics = failed_metrics.get(row.id, [])
        known.metrics |= {each.title: None for each in metrics}
        known.at = max(known.at, row.finished_at, *(each.finished_at for each in metrics))
    until = max((each.at for each in ends.values()), default=0.0)
    for key, kind in (("failed", NoticeKind.FAILED), ("partly", NoticeKind.FAILED), ("scored", NoticeKind.SCORED)):
        chosen = {number: each for number, each in ends.items() if _key(each) == key}
        if not chosen:
            continue
        few = len(chosen) == 1
        path = f"/submissions/{next(iter(chosen))}" if few else f"{_page(rows[0].campaign)}/submissions"
        headline, text = _told_of(key, list(chosen.values()), team.name)
        headline = f"{rows[0].title or rows[0].campaign}: {headline}"
        yield NewNotice(
            campaign_id, f"{key}-{team.id}-{until!r}", kind, headline, text, path, team_id=team.id, until=until
        )


def _key(ends: _Ends) -> str:
    return "failed" if ends.failed else "partly" if ends.metrics else "scored"


def _told_of(key: str, ends: Sequence[_Ends], team: str) -> tuple[str, str]:
    """The headline and the text of a notice. Reasons are for organisers: they may quote a hidden reference."""
    submissions = f"{number_of(len(ends), 'submission')} of {team}"
    text = _listed([each.label for each in ends])
    if key == "failed":
        return f"{submissions} could not be scored", text
    if key == "scored":
        return f"{submissions} {'was' if len(ends) == 1 else 'were'} scored", text
    metrics = list(dict.fromkeys(title for each in ends for title in each.metrics))
    text = _listed([f"{each.label}: scored, but {listed(list(each.metrics))} failed" for each in ends])
    return (
        f"{listed(metrics)} failed for {submissions}",
        f"{text}\n\n{ONLY_METRICS}",
    )


def _listed(labels: Sequence[str]) -> str:
    lines = [f"- {each}" for each in labels[:MOST_NAMED]]
    if len(labels) > MOST_NAMED:
        lines.append(f"- and {len(labels) - MOST_NAMED} more")
    return "\n".join(lines)


def _page(campaign: str) -> str:
    return f"/campaigns/{quote(campaign, safe='')}"
