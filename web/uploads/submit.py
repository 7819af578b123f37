"""Hands an output in: who may, for which test set, read, looked at, stored and queued. Pages and API share it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastapi.concurrency import run_in_threadpool
from sqlalchemy import select

from campaigns.accounts.throttle import Rate
from campaigns.checks.context import read_standard
from campaigns.checks.diagnose import diagnose
from campaigns.checks.finding import is_fatal
from campaigns.errors import BadRequest, Forbidden
from campaigns.permissions import read_sight
from campaigns.sandbox.fair_queue import Owner
from campaigns.sandbox.limits import limits_of
from campaigns.sandbox.processes import scratch_folder
from campaigns.submissions.admission import check_open
from campaigns.submissions.reading import ExpectedOutput, read_sent
from campaigns.submissions.submit import Attempt, Submitted, submit
from campaigns.submissions.test_sets import choose_test_set
from metrics.text.names import folded
from models.corpus.campaign_protocols import find_measures
from models.corpus.test_sets import segments_of_documents
from models.database.session import reading
from models.schema.accounts import Team
from models.schema.states import QueueClass

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sqlalchemy import Connection

    from campaigns.accounts.principal import Principal
    from campaigns.checks.finding import Finding
    from campaigns.checks.standard import Standard
    from campaigns.permissions import Sight
    from campaigns.submissions.form import SubmissionFields
    from campaigns.submissions.upload_file import Received
    from metrics.text.plain import Text
    from models.corpus.test_sets import KnownTestSet
    from web.state import State
    from web.uploads.request import Incoming


DAY = 86_400


class NoOutput(BadRequest):
    """There is no file. Choose one with one segment per line."""


class BadOutput(BadRequest):
    """The output cannot be scored; nothing was stored."""

    code = "bad_output"

    def __init__(self, findings: Sequence[Finding]) -> None:
        super().__init__(
            "The output cannot be scored, and nothing was stored.",
            details=[f"{each.severity}: {each.message}" for each in findings],
        )
        self.findings = tuple(findings)


@dataclass(frozen=True, slots=True)
class HandedIn:
    """What came of it."""

    sight: Sight
    submitted: Submitted
    findings: tuple[Finding, ...]


async def hand_in(
    state: State, principal: Principal, campaign: str, incoming: Incoming, *, key: str | None
) -> HandedIn:
    """Hand an output in to a campaign.

    Raises NotThere, Forbidden, BadOutput with all that was noticed, what `campaigns.sandbox` raises, and what
    `campaigns.submissions.submit.submit` raises; then nothing is stored.
    """
    fields = incoming.fields
    # A large text stays in its file until it is stored.
    with scratch_folder() as folder:
        meant = await run_in_threadpool(_meant, state, principal, campaign, incoming, to_store=key is None)
        text, findings = await _examined(state, principal, meant, folder)
        if text is None or is_fatal(findings):
            raise BadOutput(findings)
        sight = meant.sight
        attempt = Attempt(
            campaign=sight.name,
            team=meant.team,
            system=fields.system,
            text=text,
            test_set=f"{meant.test_set.name}@{meant.test_set.version}",
            run=fields.run,
            request_key=key,
            queue_class=QueueClass.INTERACTIVE,
            account_id=principal.account_id,
            declared=fields.kind,
            constrained=fields.constrained,
            description=fields.description,
            findings=[each.as_row() for each in findings],
            by_the_rules=not fields.override,
            arrived_at=sight.at,
            actor=principal.email,
            address=principal.address,
        )
        submitted = await run_in_threadpool(submit, state.engine, state.settings, attempt)
    return HandedIn(sight, submitted, tuple(findings))


async def examine(state: State, principal: Principal, campaign: str, incoming: Incoming) -> list[Finding]:
    """What would be noticed about an output; nothing is stored.

    Raises as `hand_in`, but for BadOutput, and TooMany where the team has done so too often.
    """
    with scratch_folder() as folder:
        meant = await run_in_threadpool(_meant, state, principal, campaign, incoming)
        times = state.settings.diagnoses_per_day
        state.throttle.spend(
            Rate("diagnosis", times, DAY),
            f"campaign {meant.sight.campaign_id} team {meant.team}",
            f"The team has had {times} outputs looked at within a day, as many as there may be. Submit one, or try "
            "`steelyard diagnose` at home.",
        )
        return (await _examined(state, principal, meant, folder))[1]


@dataclass(frozen=True, slots=True)
class _Meant:
    """A file, and what it is meant to be."""

    sight: Sight
    team: str
    test_set: KnownTestSet
    fields: SubmissionFields
    file: Received
    expected: ExpectedOutput


def _meant(state: State, principal: Principal, campaign: str, incoming: Incoming, *, to_store: bool = False) -> _Meant:
    """Raises NotThere, Forbidden, NoOutput, and PhaseClosed where it is to be stored and nothing is taken."""
    fields = incoming.fields
    with reading(state.engine) as connection:
        sight = read_sight(connection, principal, campaign)
        team = may_hand_in(connection, sight, fields)
        chosen = choose_test_set(connection, sight, fields.test_set)
        measures = find_measures(connection, sight.name, f"{chosen.name}@{chosen.version}")
        test_set = measures.test_set
        places = segments_of_documents(connection, test_set.id)
    file = _received(incoming)
    if to_store and sight.phases and not fields.override:
        # The rules are looked at again where it is stored; this spares us reading what comes much too late.
        check_open(sight.phases, sight.at, sight.time_zone)
    expected = ExpectedOutput(
        fields.system,
        measures.target_language,
        test_set,
        places,
        metrics=frozenset(each for protocol in measures.protocols for each in protocol.metrics),
    )
    return _Meant(sight, team, test_set, fields, file, expected)


async def _examined(
    state: State, principal: Principal, meant: _Meant, folder: Path
) -> tuple[Text | None, list[Finding]]:
    """The text, where it could be read, and what is odd about it."""
    async with state.sandbox.turn(Owner(principal.account_id, meant.team)) as turn:
        limits, file = limits_of(state.settings), meant.file
        text = await turn.run(read_sent, file.path, folder, file.name, limits, meant.expected)
        if isinstance(text, list):
            return None, text
        standard = await run_in_threadpool(_standard, state, meant, text)
        return text, await turn.run(diagnose, text, standard)


def _standard(state: State, meant: _Meant, text: Text) -> Standard:
    """What the text is held against."""
    with reading(state.engine) as connection:
        return read_standard(
            connection,
            meant.sight,
            meant.test_set.id,
            text,
            team=meant.team,
            system=meant.fields.system,
            run=meant.fields.run,
        )


def may_hand_in(connection: Connection, sight: Sight, fields: SubmissionFields) -> str:
    """The team for which somebody hands in. Raises Forbidden, NotSignedIn, BadRequest.

    Organisers may for the teams of their campaign, and under names that no team has, such as that of their baselines.
    """
    if fields.override:
        sight.require_organiser()
        if not fields.team:
            raise BadRequest("Name the team for which you hand this in.")
        stranger = fields.team not in sight.teams
        if stranger and connection.scalar(select(Team.id).where(Team.folded_name == folded(fields.team))) is not None:
            raise Forbidden(f"The team {fields.team} does not take part in this campaign. Invite it first.")
        return fields.team
    team = fields.team
    if not team and len(sight.own_teams) == 1:
        (team,) = sight.own_teams
    if not team and sight.own_teams:
        raise BadRequest(f"You are in several teams: {', '.join(sight.own_teams)}. Name one.")
    sight.require_team(team)
    return team


def _received(incoming: Incoming) -> Received:
    """The file that was sent. Raises NoOutput."""
    if incoming.file is None:
        raise NoOutput
    if not incoming.file.size:
        raise NoOutput(f"{incoming.file.name}: is empty (0 bytes). Give one line for each segment.")
    return incoming.file
