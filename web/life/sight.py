"""What somebody may see and do in a campaign: the one place where that is decided.

Every route asks here, and nothing that a sight does not allow is read from the database in the first place.

| | organisers | teams of it | viewers | others, where it is public |
|---|---|---|---|---|
| that it exists, its phases and rules | yes | yes | yes | yes |
| sources of a test set | yes | once its phase has begun | same | same |
| references, and whatever tells what is in one (segment scores, marks, n-grams) | yes | once released | same | same |
| scores of others | yes | in open and published phases | same | same |
| own scores | | by the feedback of the phase | | |
| names of other teams | yes | unless anonymous, or once published | same | same |
| outputs of others | yes | once published | same | same |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row, select

from models.base import now
from models.campaign import Campaign, CampaignMember, CampaignTestSet, Participation
from models.phases import KnownPhase, phase_at, read_phases
from models.roles import CampaignRole, Feedback, Joining, PhaseKind, Scope, TeamRole, Visibility
from models.team import Team
from web.access.principal import COMMAND_LINE, Principal
from web.errors import Forbidden, NotThere


@dataclass(frozen=True, slots=True)
class SeenTestSet:
    """A test set of a campaign, as far as its organisers have let it be seen."""

    id: int
    phase_id: int | None
    released_at: float | None
    replaced_by: int | None


@dataclass(frozen=True, slots=True)
class SeenTeam:
    """A team of a campaign."""

    name: str
    publication_name: str
    number: int


@dataclass(frozen=True, slots=True)
class Sight:
    """One account, or nobody, before one campaign, at one moment."""

    principal: Principal
    campaign_id: int
    name: str
    title: str
    description: str
    time_zone: str
    visibility: Visibility
    joining: Joining
    anonymous: bool
    verified_only: bool
    ranked_by: str
    frozen_at: float | None
    at: float
    """The moment, by the database's clock."""
    organises: bool
    views: bool
    """Whether it was invited to look."""
    phases: Sequence[KnownPhase]
    test_sets: Mapping[int, SeenTestSet] = field(default_factory=dict)
    """By their ids. A campaign that was set up by the command line alone may have none here."""
    teams: Mapping[str, SeenTeam] = field(default_factory=dict)
    """All teams of the campaign, by name: whose name is shown is asked of `name_of`."""

    @property
    def own_teams(self) -> tuple[str, ...]:
        """The teams of the campaign that this account is in."""
        return tuple(name for name in self.teams if name in self.principal.teams)

    @property
    def phase(self) -> KnownPhase | None:
        """The phase that holds now."""
        return phase_at(self.phases, self.at)

    @property
    def takes_submissions(self) -> bool:
        """Whether teams can hand in now."""
        if self.frozen_at is not None:
            return False
        return not self.phases or (self.phase is not None and self.phase.takes(self.at))

    @property
    def seeing_phase(self) -> KnownPhase | None:
        """The phase whose kind says what is seen: a closed one leaves it as it was before."""
        begun = [each for each in self.phases if each.starts_at <= self.at and each.kind != PhaseKind.CLOSED]
        return max(begun, key=lambda each: each.starts_at, default=None)

    @property
    def published(self) -> bool:
        """Whether the results are out."""
        phase = self.seeing_phase
        return phase is not None and phase.kind == PhaseKind.PUBLISHED

    @property
    def sees_board(self) -> bool:
        """Whether the scores of all are shown. Campaigns without phases hide nothing from those who see them."""
        if self.organises or not self.phases:
            return True
        phase = self.seeing_phase
        return phase is not None and phase.kind in (PhaseKind.OPEN, PhaseKind.PUBLISHED)

    @property
    def sees_names(self) -> bool:
        """Whether teams stand under their names."""
        return self.organises or not self.anonymous or self.published

    def sees_source(self, test_set_id: int) -> bool:
        """Whether the source of a test set may be had."""
        if self.organises:
            return True
        seen = self.test_sets.get(test_set_id)
        if seen is None or seen.phase_id is None:
            return True
        return any(phase.id == seen.phase_id and phase.starts_at <= self.at for phase in self.phases)

    def sees_references(self, test_set_id: int) -> bool:
        """Whether references, and what tells of them, may be shown."""
        seen = self.test_sets.get(test_set_id)
        return self.organises or (seen is not None and seen.released_at is not None)

    def sees_output(self, team: str) -> bool:
        """Whether the outputs of a team may be shown."""
        return self.organises or team in self.own_teams or self.published or not self.phases

    @property
    def sees_segments(self) -> bool:
        """Whether there is any output, or any reference, of which single segments may be shown."""
        return bool(
            self.organises
            or self.own_teams
            or self.published
            or not self.phases
            or any(each.released_at is not None for each in self.test_sets.values())
        )

    def feedback(self, team: str) -> Feedback:
        """What is told of the scores of a team's submissions."""
        if self.sees_board:
            return Feedback.FULL
        phase = self.seeing_phase
        if phase is None or team not in self.own_teams:
            return Feedback.NONE
        return phase.feedback

    def name_of(self, team: str) -> str:
        """What a team is called before these eyes: its publication name, or "Team 7"; "" where there is none."""
        known = self.teams.get(team)
        if self.sees_names or team in self.own_teams or not team:
            return (known.publication_name if known else "") or team
        # One for which organisers have handed in from the command line has joined nothing, and has no number.
        return f"Team {known.number}" if known else "Another team"

    def system_name_of(self, team: str, system: str) -> str:
        """What a system is called: that of an anonymous team would tell who it is."""
        return system if self.sees_names or team in self.own_teams or not team else ""

    def require_organiser(self) -> None:
        """Raises Forbidden, and NotSignedIn, unless the account organises this campaign."""
        if self.principal is COMMAND_LINE:
            return
        self.principal.require(Scope.ORGANISE)
        if not self.organises:
            raise Forbidden("Only organisers of this campaign may do that.")

    def require_team(self, team: str, role: TeamRole = TeamRole.MEMBER) -> None:
        """Raises Forbidden, and NotSignedIn, unless the account may act for this team in this campaign."""
        self.principal.require(Scope.SUBMIT)
        have = self.principal.teams.get(team)
        if have is None or team not in self.teams or (role == TeamRole.LEAD and have != TeamRole.LEAD):
            raise Forbidden("Only members of the team that are allowed to may do that.")


def read_sight(connection: Connection, principal: Principal, campaign: str) -> Sight:
    """What somebody may see of the campaign of that name.

    Raises NotThere where there is none, and in the very same words where he may not know of it.
    """
    row = connection.execute(select(Campaign).where(Campaign.name == campaign)).one_or_none()
    found = None if row is None else _sight(connection, principal, row)
    if found is None:
        raise NotThere(f"There is no campaign {campaign[:200]!r} that you may see.")
    return found


def read_sight_by_id(connection: Connection, principal: Principal, campaign_id: int) -> Sight:
    """As `read_sight`, of the campaign with that id."""
    row = connection.execute(select(Campaign).where(Campaign.id == campaign_id)).one_or_none()
    found = None if row is None else _sight(connection, principal, row)
    if found is None:
        raise NotThere
    return found


def visible_campaigns(connection: Connection, principal: Principal) -> list[Sight]:
    """All campaigns that somebody may know of, the newest first."""
    rows = connection.execute(select(Campaign).order_by(Campaign.id.desc())).all()
    sights = (_sight(connection, principal, row) for row in rows)
    return [sight for sight in sights if sight is not None]


def _sight(connection: Connection, principal: Principal, campaign: Row[Any]) -> Sight | None:
    campaign_id: int = campaign.id
    role = connection.scalar(
        select(CampaignMember.role).where(
            CampaignMember.campaign_id == campaign_id, CampaignMember.account_id == principal.account_id
        )
    )
    teams = {
        each.name: SeenTeam(each.name, each.publication_name, each.number)
        for each in connection.execute(
            select(Team.name, Team.publication_name, Participation.number)
            .join(Participation, Participation.team_id == Team.id)
            .where(Participation.campaign_id == campaign_id)
            .order_by(Team.name)
        )
    }
    test_sets = {
        each.test_set_id: SeenTestSet(each.test_set_id, each.phase_id, each.references_released_at, each.replaced_by)
        for each in connection.execute(
            select(CampaignTestSet)
            .where(CampaignTestSet.campaign_id == campaign_id)
            .order_by(CampaignTestSet.position, CampaignTestSet.test_set_id)
        )
    }
    organises = principal.administrates or role == CampaignRole.ORGANISER
    views = role == CampaignRole.VIEWER
    known = campaign.visibility == Visibility.PUBLIC or organises or views
    if not known and not any(name in principal.teams for name in teams):
        return None
    return Sight(
        principal=principal,
        campaign_id=campaign_id,
        name=campaign.name,
        title=campaign.title or campaign.name,
        description=campaign.description,
        time_zone=campaign.time_zone,
        visibility=Visibility(campaign.visibility),
        joining=Joining(campaign.joining),
        anonymous=campaign.anonymous,
        verified_only=campaign.verified_only,
        ranked_by=campaign.ranked_by,
        frozen_at=campaign.frozen_at,
        at=float(connection.execute(select(now())).scalar_one()),
        organises=organises,
        views=views,
        phases=read_phases(connection, campaign_id),
        test_sets=test_sets,
        teams=teams,
    )
