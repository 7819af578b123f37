"""Submits an output: permission, test set, parsing, checks, storing and queueing. Shared by pages and API."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastapi.concurrency import run_in_threadpool
from sqlalchemy import select

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.accounts.throttle import Rate
from campaigns.checks.visible_context import read_check_context
from campaigns.errors import BadRequest, Forbidden
from campaigns.permissions import read_access
from campaigns.sandbox.fair_queue import Owner
from campaigns.sandbox.limits import limits_of
from campaigns.sandbox.processes import scratch_folder
from campaigns.submissions.admission import check_open
from campaigns.submissions.reading import ExpectedOutput, read_uploaded_output
from campaigns.submissions.submit import SubmissionInput, SubmitResult, submit
from campaigns.submissions.test_sets import choose_test_set
from models.corpus.campaign_protocols import find_test_set_protocols
from models.corpus.test_sets import document_segments
from models.database.session import reading
from models.schema.accounts import Team
from models.schema.roles import SystemOrigin
from models.schema.states import QueueClass
from steelyard.checks.check import check_output
from steelyard.checks.finding import is_fatal
from steelyard.text.names import folded
from steelyard_client.vocabulary import PriorityClass

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sqlalchemy import Connection

    from campaigns.accounts.principal import Principal
    from campaigns.permissions import CampaignAccess
    from campaigns.submissions.form import SubmissionFields
    from campaigns.submissions.upload_file import UploadedFile
    from models.corpus.test_sets import StoredTestSet
    from steelyard.checks.context import CheckContext
    from steelyard.checks.finding import Finding
    from steelyard.formats.plain import Text
    from web.state import State
    from web.uploads.request import SubmissionRequest


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
class SubmitOutcome:
    """A submission that was stored."""

    access: CampaignAccess
    system: str
    submitted: SubmitResult
    findings: tuple[Finding, ...]


async def submit_request(
    state: State, principal: Principal, campaign: str, incoming: SubmissionRequest, *, key: str | None
) -> SubmitOutcome:
    """Submit an output to a campaign.

    Raises NotFound, Forbidden, BadOutput with all findings, what `campaigns.sandbox` raises, and what
    `campaigns.submissions.submit.submit` raises; then nothing is stored.
    """
    fields = incoming.fields
    # A large text stays in its file until it is stored in the database.
    with scratch_folder() as folder:
        resolved = await run_in_threadpool(_resolve, state, principal, campaign, incoming, to_store=key is None)
        text, findings = await _read_and_check(state, principal, resolved, folder)
        if text is None or is_fatal(findings):
            raise BadOutput(findings)
        access = resolved.access
        submission = SubmissionInput(
            campaign=access.name,
            team=resolved.team,
            system=fields.system,
            text=text,
            test_set=f"{resolved.test_set.name}@{resolved.test_set.version}",
            run=fields.run,
            request_key=key,
            queue_class=QueueClass[fields.queue_class.name],
            due_at=None if fields.due_at is None else fields.due_at.timestamp(),
            account_id=principal.account_id,
            declared=fields.kind,
            constrained=fields.constrained,
            description=fields.description,
            origin=fields.origin,
            findings=[each.as_row() for each in findings],
            enforce_rules=not fields.override and fields.origin is None,
            arrived_at=access.at,
            actor=principal.email,
            address=principal.address,
        )
        submitted = await run_in_threadpool(submit, state.engine, state.settings, submission)
    return SubmitOutcome(access, fields.system, submitted, tuple(findings))


def count_check(state: State, access: CampaignAccess, team: str) -> None:
    """Count a check against the team's daily limit. Raises TooMany beyond it."""
    times = state.settings.checks_per_day
    state.throttle.hit(
        Rate("checks", times, DAY),
        f"campaign {access.campaign_id} team {team}",
        f"The team has checked {times} outputs within a day, the limit. Submit one, or run `steelyard check` locally.",
    )


async def check_request(
    state: State, principal: Principal, campaign: str, incoming: SubmissionRequest, *, counted: bool = True
) -> list[Finding]:
    """Check an output without submitting it; nothing is stored.

    Unless it is `counted`, the caller has counted it. Raises as `submit_request` except BadOutput, and TooMany beyond
    the team's daily limit.
    """
    with scratch_folder() as folder:
        resolved = await run_in_threadpool(_resolve, state, principal, campaign, incoming)
        if counted:
            count_check(state, resolved.access, resolved.team)
        return (await _read_and_check(state, principal, resolved, folder))[1]


@dataclass(frozen=True, slots=True)
class _Resolved:
    """A file, with the team and test set that it is for."""

    access: CampaignAccess
    team: str
    test_set: StoredTestSet
    fields: SubmissionFields
    file: UploadedFile
    expected: ExpectedOutput


def _resolve(
    state: State, principal: Principal, campaign: str, incoming: SubmissionRequest, *, to_store: bool = False
) -> _Resolved:
    """Raises NotFound, Forbidden, NoOutput, and PhaseClosed if it is to be stored while submissions are closed."""
    fields = incoming.fields
    with reading(state.engine) as connection:
        access = read_access(connection, principal, campaign)
        team = submitting_team(connection, access, fields)
        if (fields.queue_class, fields.due_at) != (PriorityClass.INTERACTIVE, None):
            # Either may let it go before the work of others.
            access.require_organiser()
        chosen = choose_test_set(connection, access, fields.test_set)
        measures = find_test_set_protocols(connection, access.name, f"{chosen.name}@{chosen.version}")
        test_set = measures.test_set
        documents = document_segments(connection, test_set.id)
    file = _sent_file(incoming)
    if to_store and access.phases and not fields.override and fields.origin is None:
        # Storing checks the rules again; checking here avoids parsing outputs that are much too late.
        check_open(access.phases, access.at, access.time_zone)
    expected = ExpectedOutput(
        fields.system,
        measures.target_language,
        test_set,
        documents,
        metrics=frozenset(each for protocol in measures.protocols for each in protocol.metrics),
        pair=f"{chosen.source_language}-{chosen.target_language}",
        input_format=fields.input_format,
        part=fields.part,
    )
    return _Resolved(access, team, test_set, fields, file, expected)


async def _read_and_check(
    state: State, principal: Principal, resolved: _Resolved, folder: Path
) -> tuple[Text | None, list[Finding]]:
    """The text (None if it could not be parsed), and the findings about it."""
    async with state.sandbox.turn(Owner(principal.account_id, resolved.team)) as turn:
        limits, file = limits_of(state.settings), resolved.file
        text = await turn.run(read_uploaded_output, file.path, folder, file.name, limits, resolved.expected)
        if isinstance(text, list):
            return None, text
        context = await run_in_threadpool(_check_context, state, resolved, text)
        return text, await turn.run(check_output, text, context)


def _check_context(state: State, resolved: _Resolved, text: Text) -> CheckContext:
    """What the checks compare the text with."""
    with reading(state.engine) as connection:
        return read_check_context(
            connection,
            resolved.access,
            resolved.test_set.id,
            text,
            team=resolved.team,
            system=resolved.fields.system,
            run=resolved.fields.run,
        )


def submitting_team(connection: Connection, access: CampaignAccess, fields: SubmissionFields) -> str:
    """The team that a submission is for. Raises Forbidden, NotSignedIn, BadRequest.

    Organisers may submit for teams of their campaign, and under names that no team has, such as those of baselines.
    """
    if fields.origin is not None:
        access.require_organiser()
        if fields.origin is SystemOrigin.TEAM or fields.team:
            raise BadRequest("A baseline or an online system is of no team. Leave out the team, or what it is.")
        return ""
    if fields.override or access.principal is COMMAND_LINE:
        access.require_organiser()
        if not fields.team:
            raise BadRequest("Name the team that you submit for.")
        if access.principal is COMMAND_LINE:
            # Storing checks whether it takes part; where no team has joined, any does.
            return fields.team
        unknown = fields.team not in access.teams
        if unknown and connection.scalar(select(Team.id).where(Team.folded_name == folded(fields.team))) is not None:
            raise Forbidden(f"The team {fields.team} does not participate in this campaign. Invite it first.")
        return fields.team
    team = fields.team
    if not team and len(access.own_teams) == 1:
        (team,) = access.own_teams
    if not team and access.own_teams:
        raise BadRequest(f"You are in several teams: {', '.join(access.own_teams)}. Name one.")
    access.require_team(team)
    return team


def _sent_file(incoming: SubmissionRequest) -> UploadedFile:
    """The file of the request. Raises NoOutput."""
    if incoming.file is None:
        raise NoOutput
    if not incoming.file.size:
        raise NoOutput(f"{incoming.file.name}: is empty (0 bytes). Give one line for each segment.")
    return incoming.file
