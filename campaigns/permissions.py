"""What a principal may see and do in a campaign: the one place where that is decided.

Every route asks here, and nothing that is not allowed is read from the database.

| | organisers | teams of it | viewers | others, where it is public |
|---|---|---|---|---|
| that it exists, its phases and rules | yes | yes | yes | yes |
| that a test set exists, its source, and what depends on it | yes | once its phase has begun | same | same |
| references, and what reveals them (segment scores, marks, n-grams) | yes | once released | same | same |
| scores of others | yes | in open and published phases | same | same |
| own scores | | by the feedback of the phase | | |
| names of other teams | yes | unless anonymous, or once published | same | same |
| outputs of others | yes | once published, what is ranked or declared contrastive | same | same |

`campaigns.visibility` decides which submissions are visible, and what of each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Integer, bindparam, select

from campaigns.accounts.principal import COMMAND_LINE, Principal
from campaigns.errors import Forbidden, NotFound
from campaigns.fields.times import check_zone
from campaigns.known_campaigns import Anybody, has_role, may_know, may_organise, values_of
from models.corpus.phases import PhaseInfo, phase_at, read_phases_of
from models.errors import UnreadableRow
from models.schema.accounts import Team
from models.schema.base import now
from models.schema.campaigns import Campaign, CampaignTestSet, Participation
from models.schema.column_types import known
from models.schema.roles import CampaignRole, DeclaredKind, Feedback, Joining, PhaseKind, Scope, TeamRole, Visibility
from scheduler.errors import BadSchedule

NOT_A_MEMBER = "Only members of the team can do that."


@dataclass(frozen=True, slots=True)
class CampaignTestSetView:
    """A test set of a campaign, with what decides who sees it."""

    id: int
    phase_id: int | None
    released_at: float | None
    replaced_by: int | None
    name: str = ""
    """Its name in the campaign."""
    version: str = "1"


class TeamView(NamedTuple):
    """A team of a campaign."""

    name: str
    publication_name: str
    number: int


@dataclass(frozen=True, slots=True)
class CampaignAccess:
    """The access of one account, or of nobody, to one campaign at one time."""

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
    """The time, by the database's clock."""
    organises: bool
    views: bool
    """Whether it was invited as a viewer."""
    phases: Sequence[PhaseInfo]
    test_sets: Mapping[int, CampaignTestSetView] = field(default_factory=dict)
    """By id."""
    teams: Mapping[str, TeamView] = field(default_factory=dict)
    """All teams of the campaign, by real name; `name_of` gives the name to show."""
    human_rule: str = ""
    """The rule by which human judgments rank officially."""
    human_judgments: str = ""
    """Which judgments, NAME or NAME@VERSION."""
    embeddable: bool = False
    """Whether other sites may show its leaderboard in a frame."""

    @property
    def own_teams(self) -> tuple[str, ...]:
        """The teams of the campaign that this account is in, sorted."""
        # An account has few teams, and a campaign may have thousands.
        return tuple(sorted(name for name in self.principal.teams if name in self.teams))

    @property
    def phase(self) -> PhaseInfo | None:
        """The current phase."""
        return phase_at(self.phases, self.at)

    def phase_status(self, phase: PhaseInfo) -> str:
        """Whether a phase is `ahead`, `now` or `past`. One that was closed early is past, even if none follows."""
        current = self.phase
        replaced = current is not None and current.id != phase.id and phase.starts_at <= self.at
        return "past" if replaced else phase.standing(self.at)

    @property
    def takes_submissions(self) -> bool:
        """Whether teams can submit now."""
        if self.frozen_at is not None:
            return False
        return not self.phases or (self.phase is not None and self.phase.takes(self.at))

    @property
    def seeing_phase(self) -> PhaseInfo | None:
        """The phase whose kind decides what is visible: a closed phase keeps what was visible before."""
        begun = [each for each in self.phases if each.starts_at <= self.at and each.kind != PhaseKind.CLOSED]
        return max(begun, key=lambda each: each.starts_at, default=None)

    @property
    def published(self) -> bool:
        """Whether the results are published."""
        phase = self.seeing_phase
        return phase is not None and phase.kind == PhaseKind.PUBLISHED

    @property
    def sees_board(self) -> bool:
        """Whether everybody's scores are visible. Campaigns without phases hide no scores."""
        if self.organises or not self.phases:
            return True
        phase = self.seeing_phase
        return phase is not None and phase.kind in (PhaseKind.OPEN, PhaseKind.PUBLISHED)

    @property
    def sees_names(self) -> bool:
        """Whether the names of teams are visible."""
        return self.organises or not self.anonymous or self.published

    def sees_source(self, test_set_id: int) -> bool:
        """Whether a test set and its source are visible."""
        if self.organises:
            return True
        seen = self.test_sets.get(test_set_id)
        if seen is None or seen.phase_id is None:
            return True
        return any(phase.id == seen.phase_id and phase.starts_at <= self.at for phase in self.phases)

    def sees_references(self, test_set_id: int) -> bool:
        """Whether references, and what reveals them, are visible."""
        seen = self.test_sets.get(test_set_id)
        released = seen is not None and seen.released_at is not None
        return self.organises or (released and self.sees_source(test_set_id))

    @property
    def sees_outputs(self) -> bool:
        """Whether outputs of all teams are visible."""
        return self.organises or self.published or not self.phases

    @property
    def hidden_test_sets(self) -> frozenset[int]:
        """Those whose phase has not begun: only organisers may know that they exist."""
        return frozenset(each for each in self.test_sets if not self.sees_source(each))

    def sees_output(self, team: str, kind: DeclaredKind = DeclaredKind.UNDECLARED, *, ranked: bool = True) -> bool:
        """Whether the output of a leaderboard's entry is visible: of other teams what is ranked or contrastive."""
        if self.organises or not self.phases or team in self.own_teams:
            return True
        return self.published and (ranked or kind == DeclaredKind.CONTRASTIVE)

    @property
    def sees_segments(self) -> bool:
        """Whether there is any output, or any reference, of which segments are visible."""
        return bool(
            self.organises
            or self.own_teams
            or self.published
            or not self.phases
            or any(each.released_at is not None for each in self.test_sets.values())
        )

    def feedback(self, team: str) -> Feedback:
        """What feedback is given on the scores of a team's submissions."""
        if self.sees_board:
            return Feedback.FULL
        phase = self.seeing_phase
        if phase is None or team not in self.own_teams:
            return Feedback.NONE
        return phase.feedback

    def name_of(self, team: str) -> str:
        """The name to show for a team: its publication name, or "Team 7" if anonymous; "" for no team."""
        known = self.teams.get(team)
        if self.sees_names or team in self.own_teams or not team:
            return (known.publication_name if known else "") or team
        # A team for which organisers have submitted by the command line has not joined, and has no number.
        return f"Team {known.number}" if known else "Another team"

    def system_name_of(self, team: str, system: str) -> str:
        """The name to show for a system; "" if its team is anonymous, since it could reveal the team."""
        return system if self.sees_names or team in self.own_teams or not team else ""

    def require_organiser(self) -> None:
        """Raise Forbidden or NotSignedIn unless the account organises this campaign."""
        if self.principal is COMMAND_LINE:
            return
        self.principal.require(Scope.ORGANISE)
        if not self.organises:
            raise Forbidden("Only organisers of this campaign can do that.")

    def require_team(self, team: str, role: TeamRole = TeamRole.MEMBER) -> None:
        """Raise Forbidden or NotSignedIn unless the account may act for this team in this campaign."""
        self.principal.require(Scope.SUBMIT)
        have = self.principal.teams.get(team)
        if have is None:
            raise Forbidden(NOT_A_MEMBER)
        if team not in self.teams:
            raise Forbidden(
                f"The team {team} does not take part in this campaign. A lead of the team can add it, on the page "
                f"of the campaign or by `steelyard team join {team} {self.name}`."
            )
        if role == TeamRole.LEAD and have != TeamRole.LEAD:
            raise Forbidden("Only leads of the team can do that.")


def read_access(connection: Connection, principal: Principal, campaign: str) -> CampaignAccess:
    """Return the principal's access to the campaign of that name.

    Raises
    ------
    NotFound
        If it does not exist or is not visible, with the same message.
    """
    found = _read_accesses(connection, principal, {"name": campaign})
    if not found:
        raise NotFound(f"There is no campaign {campaign[:200]!r} that you may see.")
    return found[0]


def read_access_by_id(connection: Connection, principal: Principal, campaign_id: int) -> CampaignAccess:
    """As `read_access`, by the campaign's id."""
    found = _read_accesses(connection, principal, {"id": campaign_id})
    if not found:
        raise NotFound
    return found[0]


@dataclass(frozen=True, slots=True)
class UnreadableCampaign:
    """A campaign of which a stored row is invalid."""

    id: int
    name: str
    reason: str
    """For its organisers; "" for others."""


def visible_campaigns(
    connection: Connection,
    principal: Principal,
    *,
    before: int | None = None,
    limit: int | None = None,
    unreadable: list[UnreadableCampaign] | None = None,
) -> list[CampaignAccess]:
    """Return the visible campaigns, newest first: all, or `limit` with ids below `before`.

    Those that cannot be read are left out and added to `unreadable`: one must not hide the others.
    """
    found: list[CampaignAccess] = []
    while True:
        older = {} if before is None else {"before": before}
        odd: list[UnreadableCampaign] = []
        rest = None if limit is None else limit - len(found)
        found += _read_accesses(connection, principal, older, limit=rest, unreadable=odd)
        if unreadable is not None:
            unreadable += odd
        # If some were left out, there may be more to fill the page.
        if rest is None or not odd or len(found) == limit:
            return found
        before = min([each.id for each in odd] + [each.campaign_id for each in found])


# Built once: building them takes as long as executing them.
_TEAMS = (
    select(Participation.campaign_id, Team.name, Team.publication_name, Participation.number)
    .join(Team, Participation.team_id == Team.id)
    .where(Participation.campaign_id.in_(bindparam("campaigns", expanding=True)))
    .order_by(Team.name)
)
_TEST_SETS = (
    select(CampaignTestSet)
    .where(CampaignTestSet.campaign_id.in_(bindparam("campaigns", expanding=True)))
    .order_by(CampaignTestSet.position, CampaignTestSet.test_set_id)
)

_WHICH = {
    "name": Campaign.name == bindparam("name"),
    "id": Campaign.id == bindparam("id"),
    "before": Campaign.id < bindparam("before"),
}


@cache
def _accesses_statement(administrates: bool, which: tuple[str, ...], *, limited: bool) -> Any:
    """What `_read_accesses` reads first; for each principal, its values."""
    anybody = Anybody(administrates)
    wanted: Any = (
        select(
            Campaign,
            may_organise(anybody).label("organises"),
            has_role(anybody, CampaignRole.VIEWER).label("views"),
            now().label("at"),
        )
        .where(may_know(anybody), *(_WHICH[each] for each in which))
        .order_by(Campaign.id.desc())
    )
    return wanted.limit(bindparam("most", type_=Integer)) if limited else wanted


def _read_accesses(
    connection: Connection,
    principal: Principal,
    which: Mapping[str, Any],
    *,
    limit: int | None = None,
    unreadable: list[UnreadableCampaign] | None = None,
) -> list[CampaignAccess]:
    """Return the access to each visible one of these campaigns, newest first, by four queries for any number.

    `which` are those with this `name` or `id`, or with an id `before` one; empty for all.

    What cannot be read is added to `unreadable` if that is given.

    Raises
    ------
    UnreadableRow
        If a stored value cannot be read and `unreadable` is None.
    """
    values = {**values_of(principal), **which, "most": limit}
    wanted = _accesses_statement(principal.administrates, tuple(which), limited=limit is not None)
    campaigns = connection.execute(wanted, values).all()
    ids = [campaign.id for campaign in campaigns]
    if not ids:
        return []
    teams: dict[int, dict[str, TeamView]] = {each: {} for each in ids}
    # Every request reads all teams of its campaign.
    for campaign_id, name, publication_name, number in connection.execute(_TEAMS, {"campaigns": ids}).all():
        teams[campaign_id][name] = TeamView(name, publication_name, number)
    test_sets: dict[int, dict[int, CampaignTestSetView]] = {number: {} for number in ids}
    for each in connection.execute(_TEST_SETS, {"campaigns": ids}):
        test_sets[each.campaign_id][each.test_set_id] = CampaignTestSetView(
            id=each.test_set_id,
            name=each.name,
            version=each.version,
            phase_id=each.phase_id,
            released_at=each.references_released_at,
            replaced_by=each.replaced_by,
        )
    broken: dict[int, UnreadableRow] = {}
    phases = read_phases_of(connection, ids, broken)
    found = []
    for campaign in campaigns:
        try:
            if campaign.id in broken:
                raise broken[campaign.id]
            found.append(
                _campaign_access(principal, campaign, phases[campaign.id], test_sets[campaign.id], teams[campaign.id])
            )
        except UnreadableRow as error:
            if unreadable is None:
                raise
            unreadable.append(UnreadableCampaign(campaign.id, campaign.name, str(error) if campaign.organises else ""))
    return found


def _campaign_access(
    principal: Principal,
    campaign: Any,
    phases: list[PhaseInfo],
    test_sets: dict[int, CampaignTestSetView],
    teams: dict[str, TeamView],
) -> CampaignAccess:
    try:
        check_zone(campaign.time_zone)
    except BadSchedule as error:
        raise UnreadableRow(f"The time zone of the campaign cannot be read: {error}") from None
    return CampaignAccess(
        principal=principal,
        campaign_id=campaign.id,
        name=campaign.name,
        title=campaign.title or campaign.name,
        description=campaign.description,
        time_zone=campaign.time_zone,
        visibility=known(campaign.visibility, "The visibility of the campaign"),
        joining=known(campaign.joining, "The way that teams join the campaign"),
        anonymous=campaign.anonymous,
        verified_only=campaign.verified_only,
        ranked_by=campaign.ranked_by,
        human_rule=campaign.human_rule,
        human_judgments=campaign.human_judgments,
        embeddable=campaign.embeddable,
        frozen_at=campaign.frozen_at,
        at=float(campaign.at),
        organises=bool(campaign.organises),
        views=bool(campaign.views),
        phases=phases,
        test_sets=test_sets,
        teams=teams,
    )
