"""Hands an output in: who may, for which test set, read, looked at, stored and queued. Pages and API share it."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from metrics.errors import MetricsError
from metrics.text.limits import OverLimit
from models.campaign_protocols import Measures, find_measures
from models.session import reading, writing
from models.states import QueueClass
from models.test_set import Reference
from models.text import Text as StoredText
from scheduler.admission import check_open
from scheduler.errors import SchedulerError
from scheduler.submitted_text import lined_up, read_output
from scheduler.submitting import Attempt, Submitted, submit
from web.diagnosis.context import read_standard
from web.diagnosis.diagnose import diagnose, refusal
from web.diagnosis.finding import is_fatal
from web.errors import BadRequest
from web.life.sight import read_sight
from web.submissions.received import limits_of
from web.submissions.test_sets import choose_test_set
from web.submissions.uploads import delete_upload

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metrics.text.plain import Text
    from web.access.principal import Principal
    from web.diagnosis.finding import Finding
    from web.life.sight import Sight
    from web.state import State
    from web.submissions.fields import SubmissionFields
    from web.submissions.received import Received
    from web.submissions.receiving import Incoming


ALWAYS_TAKEN = 16 << 20
"""Bytes of a text of whatever test set."""
LONGEST = 50
"""How many times as long as a reference an output may be, beyond that."""


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


def hand_in(state: State, principal: Principal, campaign: str, incoming: Incoming, *, key: str | None) -> HandedIn:
    """Hand an output in to a campaign.

    Raises NotThere, Forbidden, BadOutput with all that was noticed, and what `scheduler.submitting.submit` raises; then
    nothing is stored.
    """
    fields = incoming.fields
    with reading(state.engine) as connection:
        sight = read_sight(connection, principal, campaign)
        team = may_hand_in(sight, fields)
        test_set = choose_test_set(connection, sight, fields.test_set)
        measures = find_measures(connection, sight.name, f"{test_set.name}@{test_set.version}")
    file = _received(incoming)
    if sight.phases and not fields.override and key is None:
        # The rules are looked at again where it is stored; this spares us reading what comes much too late.
        check_open(sight.phases, sight.at, sight.time_zone)
    # The text may stay in its file until it is stored.
    with ExitStack() as stack:
        with state.examining:
            try:
                text = _read(stack, state, measures, file, fields.system)
            except (MetricsError, SchedulerError) as error:
                raise BadOutput(refusal(error)) from error
            findings = _looked_at(state, sight, measures, text, fields, team)
        if is_fatal(findings):
            raise BadOutput(findings)
        submitted = submit(
            state.engine,
            state.settings,
            Attempt(
                campaign=sight.name,
                team=team,
                system=fields.system,
                text=text,
                test_set=f"{test_set.name}@{test_set.version}",
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
            ),
        )
    if incoming.upload and principal.account_id is not None:
        with writing(state.engine) as connection:
            delete_upload(connection, principal.account_id, incoming.upload)
    return HandedIn(sight, submitted, tuple(findings))


def examine(state: State, principal: Principal, campaign: str, incoming: Incoming) -> list[Finding]:
    """What would be noticed about an output; nothing is stored."""
    fields = incoming.fields
    with reading(state.engine) as connection:
        sight = read_sight(connection, principal, campaign)
        team = may_hand_in(sight, fields)
        test_set = choose_test_set(connection, sight, fields.test_set)
        measures = find_measures(connection, sight.name, f"{test_set.name}@{test_set.version}")
    file = _received(incoming)
    with state.examining, ExitStack() as stack:
        try:
            text = _read(stack, state, measures, file, fields.system)
        except (MetricsError, SchedulerError) as error:
            return refusal(error)
        return _looked_at(state, sight, measures, text, fields, team)


def may_hand_in(sight: Sight, fields: SubmissionFields) -> str:
    """The team for which somebody hands in. Raises Forbidden, NotSignedIn, BadRequest."""
    if fields.override:
        sight.require_organiser()
        if not fields.team:
            raise BadRequest("Name the team for which you hand this in.")
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


def _read(stack: ExitStack, state: State, measures: Measures, file: Received, system: str) -> Text:
    """The text with one line for each segment; it is good as long as the stack is open."""
    contents = stack.enter_context(file.opened())
    output = read_output(contents, system=system, limits=limits_of(state.settings), language=measures.target_language)
    with reading(state.engine) as connection:
        text = lined_up(connection, output, measures.test_set)
        expected = connection.scalar(
            select(func.max(StoredText.bytes))
            .join(Reference, Reference.text_id == StoredText.id)
            .where(Reference.test_set_id == measures.test_set.id)
        )
    if text.size > max(ALWAYS_TAKEN, LONGEST * (expected or 0)):
        # It would cost the memory and the time of everybody.
        raise OverLimit(
            f"{text.name}: {text.size:,} bytes of text. No translation of the test set is that long: look whether "
            "something was joined or repeated."
        )
    return text


def _looked_at(
    state: State, sight: Sight, measures: Measures, text: Text, fields: SubmissionFields, team: str
) -> list[Finding]:
    with reading(state.engine) as connection:
        standard = read_standard(
            connection,
            sight.campaign_id,
            measures.test_set.id,
            text,
            team=team,
            system=fields.system,
            run=fields.run,
            sight=sight,
        )
    return diagnose(text, standard)
