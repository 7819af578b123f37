"""Submits one output of a system: within quotas, once for each request, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, insert, select

from campaigns.quotas.quotas import check_quotas, quota_usage_of
from campaigns.quotas.usage import QuotaUsage
from campaigns.quotas.usage_log import lock_quota_account, read_request, read_usage_entries, record_usage
from campaigns.submissions.admission import Admission, admit
from campaigns.submissions.declarations import DeclarationInput, store_declaration, write_findings
from campaigns.submissions.errors import ReusedKey
from campaigns.systems.submitted import describe_submitted
from models.audit import COMMAND_LINE, write_audit
from models.corpus.campaign_protocols import (
    CampaignProtocols,
    find_campaign,
    find_test_set_protocols,
    lock_campaign_shared,
)
from models.corpus.phases import read_phase
from models.database.session import writing
from models.queue.evaluation_end import lock_evaluations
from models.schema.base import database_time
from models.schema.campaigns import Declaration, QuotaAccount, SubmissionRequest
from models.schema.corpus import Submission, System
from models.schema.corpus import Text as StoredText
from models.schema.queue import Evaluation
from models.schema.roles import DeclaredKind, SystemOrigin
from models.schema.states import OPEN, EvaluationState, QueueClass
from runtime.settings import Settings
from scheduler.enqueue.evaluations import enqueue_submissions
from scheduler.errors import BadIngest
from scheduler.ingest.campaigns import NewSubmission, store_submissions
from scheduler.ingest.texts import NewText
from steelyard.formats.layers import describe_layers
from steelyard.formats.plain import Text
from steelyard.formats.registry import formats_with
from steelyard.metrics.registry import parse_metric
from steelyard.text.languages import same_language
from steelyard.text.names import fault_of_name
from steelyard.text.wording import number_of

MAX_KEY_LENGTH = 200
"""Characters of a request's key."""

MAX_DESCRIPTION_LENGTH = 5_000
"""Characters of the description of a submission."""


@dataclass(frozen=True, slots=True)
class SubmissionInput:
    """What a team submits."""

    campaign: str
    team: str
    system: str
    text: Text
    test_set: str | None = None
    """NAME or NAME@VERSION; None where the campaign has only one."""
    run: str = ""
    """Which of several runs of the system this is; "" for the only one."""
    request_key: str | None = None
    """Idempotency key: a request repeated with the same key has no further effect."""
    queue_class: QueueClass = QueueClass.INTERACTIVE
    due_at: float | None = None
    """When it should be done, by the database's clock."""
    account_id: int | None = None
    """The submitting account; None for the command line."""
    declared: DeclaredKind = DeclaredKind.UNDECLARED
    constrained: bool | None = None
    description: str = ""
    origin: SystemOrigin | None = None
    """For a system that organisers submit for no team, whose name is "": a baseline, or an online system."""
    findings: Sequence[Mapping[str, Any]] | None = None
    """Findings of the checks of the text; None if it was not checked."""
    enforce_rules: bool = True
    """Whether the phases of the campaign apply; organisers may submit at any time."""
    arrived_at: float | None = None
    """When it had arrived in full, by the database's clock; by default the time when it is stored."""
    actor: str = COMMAND_LINE
    """The submitter's name in the audit log."""
    address: str = ""
    """The submitter's network address."""


@dataclass(frozen=True, slots=True)
class SubmitResult:
    """The result of submitting."""

    submission: int
    evaluations: tuple[int, ...]
    """One for each of the campaign's protocols, in their order; fewer for a request repeated later."""
    protocols: tuple[int, ...]
    measures: CampaignProtocols
    stored: bool
    """False if the same submission existed already."""
    queued: bool
    """Whether any evaluation was queued."""
    usage: tuple[QuotaUsage, ...]
    """The team's usage of each kind of quota after it."""
    phase: str = ""
    """The phase of the campaign that it counts for."""
    late_seconds: float = 0.0
    """How long after the deadline it came; 0 if in time."""
    kind: DeclaredKind = DeclaredKind.UNDECLARED


def submit(
    engine: Engine, settings: Settings, request: SubmissionInput, *, processes: int | None = None
) -> SubmitResult:
    """Store a submission and queue it under all protocols of its campaign, in one transaction.

    Serialized for each team and campaign, so that concurrent submissions cannot exceed a quota. Submitting the same
    output again finds the existing submission: what is done or open stays and costs nothing; what has failed or was
    cancelled is queued again, and the new declaration replaces the old one. `processes` is the number of pool processes
    over which the work may be spread. After an exception, nothing is stored.

    Raises
    ------
    NotFound
        If the campaign or the test set does not exist or is not visible.
    BadIngest
        If the output does not fit the test set.
    PhaseClosed
        If the phase is not open.
    NotTakingPart
        If the team does not take part.
    QuotaUsedUp
        If the team has used up a quota.
    ReusedKey
        If the idempotency key was used for a request with other content.
    """
    _check_names(request)
    with writing(engine, durable=True) as connection:
        # Locked before anything is read: a correction could replace its test set in between.
        lock_campaign_shared(connection, find_campaign(connection, request.campaign))
        measures = find_test_set_protocols(connection, request.campaign, request.test_set)
        _check_text(request.text, measures)
        # A repeated request finds its result even if the campaign has been closed since.
        found = _find_request(connection, measures.campaign_id, request)
        admission = _admit(connection, measures, request) if found is None else None
        # Another submission of the team waits here, and then sees the effect of this one.
        account = lock_quota_account(connection, measures.campaign_id, request.team)
        new = NewSubmission(request.system, request.text, request.team, request.text.layers, request.run)
        known = _find_submission(connection, measures, new)
        repeated = _is_repeated(connection, account, request, known)
        if admission is None and not repeated:
            raise ReusedKey
        submission = known
        queued = submission is None or (not repeated and _needs_evaluation(connection, submission, measures))
        phase = read_phase(connection, measures.campaign_id) if admission is None else admission.phase
        whose = measures.campaign_id, request.team
        entries = read_usage_entries(connection, *whose)
        if queued:
            at = database_time(connection)
            mine = [each for each in entries if each.submission_id == known]
            entries = [each for each in entries if each.submission_id != known]
            counts_already = any(each.given_back_at is None for each in mine)
            usage = quota_usage_of(connection, *whose, entries, phase=phase, at=at)
            if request.team:
                check_quotas(usage, request.team, new=not counts_already)
            (submission,) = store_submissions(connection, measures.campaign_id, measures.test_set.id, [new])
            # Existing evaluations, in the global order of locks, before they are queued protocol by protocol.
            there = list(_evaluations(connection, submission, measures).values())
            lock_evaluations(connection, there, list(EvaluationState))
            for protocol in measures.protocols:
                enqueue_submissions(
                    connection,
                    settings,
                    protocol.id,
                    [submission],
                    queue_class=request.queue_class,
                    team=request.team,
                    processes=processes,
                    due_at=request.due_at,
                )
            record_usage(connection, account, submission, phase, at=None if counts_already else at)
            entries += read_usage_entries(connection, *whose, submission)
            entries.sort(key=lambda each: (each.created_at, each.submission_id))
        assert submission is not None
        if admission is not None and not repeated:
            _declare(connection, measures, request, submission, admission, stored=known is None, queued=queued)
        if request.request_key is not None and not repeated:
            row = {"account_id": account, "request_key": request.request_key, "submission_id": submission}
            connection.execute(insert(SubmissionRequest).values(**row))
        evaluations = _evaluations(connection, submission, measures)
        declared = connection.execute(
            select(Declaration.phase, Declaration.late_seconds, Declaration.kind).where(
                Declaration.submission_id == submission
            )
        ).one_or_none()
        usage = quota_usage_of(connection, *whose, entries, phase=phase, at=database_time(connection))
    return SubmitResult(
        submission,
        tuple(evaluations.values()),
        tuple(evaluations),
        measures,
        known is None,
        queued,
        tuple(usage),
        *((declared.phase, declared.late_seconds, declared.kind) if declared else ()),
    )


def _find_request(connection: Connection, campaign_id: int, request: SubmissionInput) -> int | None:
    """Return the submission created by the team's request with this key; None if there was none."""
    if request.request_key is None:
        return None
    return connection.scalar(
        select(SubmissionRequest.submission_id)
        .join(QuotaAccount, QuotaAccount.id == SubmissionRequest.account_id)
        .where(
            QuotaAccount.campaign_id == campaign_id,
            QuotaAccount.team == request.team,
            SubmissionRequest.request_key == request.request_key,
        )
    )


def _admit(connection: Connection, measures: CampaignProtocols, request: SubmissionInput) -> Admission:
    return admit(
        connection,
        measures.campaign_id,
        measures.test_set,
        request.team,
        account_id=request.account_id,
        arrived_at=request.arrived_at,
        enforce_rules=request.enforce_rules,
    )


def _declare(
    connection: Connection,
    measures: CampaignProtocols,
    request: SubmissionInput,
    submission: int,
    admission: Admission,
    *,
    stored: bool,
    queued: bool,
) -> None:
    """Store the declaration and findings, and write the audit log.

    A system of no team has no declaration, and so is ranked; what is said of it is a description.
    """
    changed: dict[str, Any] = {}
    if request.origin is not None:
        changed = describe_submitted(
            *(connection, measures.campaign_id, submission, request.origin, request.constrained, request.description)
        )
    else:
        changed = store_declaration(
            connection,
            submission,
            DeclarationInput(request.declared, request.constrained, request.description),
            campaign_id=measures.campaign_id,
            test_set_id=measures.test_set.id,
            team=request.team,
            account_id=request.account_id,
            phase=admission.phase,
            late_seconds=admission.late_seconds,
        )
    if request.findings is not None:
        write_findings(connection, submission, request.findings)
    if stored or queued or changed:
        write_audit(
            connection,
            actor=request.actor,
            account_id=request.account_id,
            address=request.address,
            action="submission.submit" if stored or queued else "submission.declare",
            subject=f"submission {submission}",
            campaign_id=measures.campaign_id,
            team=request.team,
            system=request.system,
            **({} if request.enforce_rules else {"override": True}),
            **changed,
        )


def _is_repeated(connection: Connection, account: int, request: SubmissionInput, known: int | None) -> bool:
    """Return whether the same request was processed before.

    Raises
    ------
    ReusedKey
        If it had other content.
    """
    if request.request_key is None:
        return False
    before = read_request(connection, account, request.request_key)
    if before is not None and before != known:
        raise ReusedKey(
            f'The key "{request.request_key}" was already used for submission {before} of team '
            f"{request.team}, whose text, system, run or test set differs. Use a new key for each request."
        )
    return before is not None


def _find_submission(connection: Connection, measures: CampaignProtocols, new: NewSubmission) -> int | None:
    """Return the same submission, if it is stored already."""
    return connection.scalar(
        select(Submission.id)
        .join(System, System.id == Submission.system_id)
        .join(StoredText, StoredText.id == Submission.text_id)
        .where(
            Submission.campaign_id == measures.campaign_id,
            Submission.test_set_id == measures.test_set.id,
            Submission.run == new.run,
            System.team == new.team,
            System.name == new.system,
            StoredText.sha256 == NewText(new.text, new.layers).sha256,
        )
    )


def _needs_evaluation(connection: Connection, submission: int, measures: CampaignProtocols) -> bool:
    """Return whether one of the campaign's protocols has no finished or open evaluation of it."""
    states = connection.scalars(
        select(Evaluation.state).where(
            Evaluation.submission_id == submission,
            Evaluation.protocol_id.in_([each.id for each in measures.protocols]),
        )
    )
    there = [state for state in states if state in (*OPEN, EvaluationState.DONE)]
    return len(there) < len(measures.protocols)


def _evaluations(connection: Connection, submission: int, measures: CampaignProtocols) -> dict[int, int]:
    """Return protocol -> evaluation, in the order of the protocols."""
    rows = connection.execute(
        select(Evaluation.protocol_id, Evaluation.id)
        .where(
            Evaluation.submission_id == submission,
            Evaluation.protocol_id.in_([each.id for each in measures.protocols]),
        )
        .order_by(Evaluation.protocol_id)
    )
    return {row.protocol_id: row.id for row in rows}


def _check_names(request: SubmissionInput) -> None:
    named = {"system": request.system, **({"run": request.run} if request.run else {})}
    if request.origin is None:
        named = {"team": request.team, **named}
    elif request.team:
        raise BadIngest("A baseline or an online system is of no team. Leave out the team, or what it is.")
    for what, name in named.items():
        if fault := fault_of_name(name):
            raise BadIngest(f'"{name[:MAX_KEY_LENGTH]}" cannot be the name of a {what}: {fault}.')
    key = request.request_key
    if key is not None and (not key or len(key) > MAX_KEY_LENGTH or "\0" in key):
        raise BadIngest(f"{key[:50]!r} cannot be the key of a request: give 1 to {MAX_KEY_LENGTH} characters.")
    if "\0" in request.description:
        raise BadIngest("The description contains a NUL character. Remove it.")
    if len(request.description) > MAX_DESCRIPTION_LENGTH:
        raise BadIngest(f"The description is too long: give up to {MAX_DESCRIPTION_LENGTH:,} characters.")


def _check_text(text: Text, measures: CampaignProtocols) -> None:
    """Raise BadIngest unless the text fits the test set and has what all metrics need."""
    test_set = measures.test_set
    if text.segments != test_set.segments:
        raise BadIngest(
            f"{text.name}: has {number_of(text.segments, text.unit)}, but the test set {test_set.title} has "
            f"{number_of(test_set.segments, 'segment')}. Give one {text.unit} per segment, in its order."
        )
    if text.language and measures.target_language and not same_language(text.language, measures.target_language):
        raise BadIngest(
            f"{text.name}: is in {text.language!r}, but the references of {test_set.title} are in "
            f"{measures.target_language!r}."
        )
    for specification in dict.fromkeys(metric for each in measures.protocols for metric in each.metrics):
        for layer in parse_metric(specification).layers:
            if layer not in text.layers:
                raise BadIngest(
                    f"{text.name}: misses the layer {describe_layers([layer])}, which {specification} needs in "
                    f"{measures.campaign}. Formats that have it: {formats_with(layer)}."
                )
