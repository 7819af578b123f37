"""One output of a system handed in by its team: against quotas, once for each request, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, func, insert, select

from campaigns.quotas.ledger import lock_account, read_entries, read_request, write_entry
from campaigns.quotas.quotas import check_quotas, read_clock, standings_of
from campaigns.quotas.usage import Standing
from campaigns.submissions.admission import Admission, admit
from campaigns.submissions.declarations import Said, declare, write_findings
from campaigns.submissions.errors import ReusedKey
from metrics import parse_metric
from metrics.text.languages import same_language
from metrics.text.layers import FORMATS_WITH, describe_layers
from metrics.text.names import fault_of_name
from metrics.text.plain import Text
from metrics.text.wording import number_of
from models.audit import COMMAND_LINE, write_audit
from models.corpus.campaign_protocols import Measures, find_campaign, find_measures, hold_campaign
from models.corpus.phases import read_phase
from models.database.session import reading, writing
from models.queue.evaluation_end import lock_evaluations
from models.schema.campaigns import Declaration, QuotaAccount, SubmissionRequest
from models.schema.corpus import Submission, System
from models.schema.corpus import Text as StoredText
from models.schema.queue import Evaluation
from models.schema.roles import DeclaredKind
from models.schema.states import OPEN, EvaluationState, QueueClass
from runtime.settings import Settings
from scheduler.enqueue.evaluations import queue_submissions
from scheduler.errors import BadIntake
from scheduler.ingest.campaigns import NewSubmission, store_submissions
from scheduler.ingest.texts import NewText

LONGEST_KEY = 200
"""Characters of a request's key."""

LONGEST_DESCRIPTION = 5_000
"""Characters of what a team says about a submission."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a team hands in."""

    campaign: str
    team: str
    system: str
    text: Text
    test_set: str | None = None
    """NAME or NAME@VERSION; None where the campaign has only one."""
    run: str = ""
    """Which of several runs of the system this is; "" where it has one."""
    request_key: str | None = None
    """Sent again with the same key, it is not done again."""
    queue_class: QueueClass = QueueClass.INTERACTIVE
    due_at: float | None = None
    """When somebody wants it done, by the database's clock."""
    account_id: int | None = None
    """Who hands it in; None for the command line."""
    declared: DeclaredKind = DeclaredKind.UNDECLARED
    constrained: bool | None = None
    description: str = ""
    findings: Sequence[Mapping[str, Any]] | None = None
    """What was noticed about the text; None where nobody looked."""
    by_the_rules: bool = True
    """Whether the phases of the campaign say if it is taken in; organisers may hand in at any time."""
    arrived_at: float | None = None
    """When it was here in full, by the database's clock; without it, the moment at which it is stored counts."""
    actor: str = COMMAND_LINE
    """Who hands it in, as the audit log calls them."""
    address: str = ""
    """From which network address."""


@dataclass(frozen=True, slots=True)
class Submitted:
    """What came of an attempt."""

    submission: int
    evaluations: tuple[int, ...]
    """One for each of the campaign's protocols, in their order; fewer where the request was sent again later."""
    protocols: tuple[int, ...]
    measures: Measures
    stored: bool
    """False where the very same submission was there already."""
    queued: bool
    """Whether something was queued for it."""
    standings: tuple[Standing, ...]
    """How the team stands now, one for each kind of quota."""
    phase: str = ""
    """The phase of the campaign for which it counts."""
    late_seconds: float = 0.0
    """How long after the deadline it came; 0 where it was in time."""
    kind: DeclaredKind = DeclaredKind.UNDECLARED


def submit(engine: Engine, settings: Settings, attempt: Attempt, *, processes: int | None = None) -> Submitted:
    """Store a submission and queue it by all protocols of its campaign, in one transaction.

    One after the other for each team and campaign, so that no two pass a quota that has room for one. The very same
    submission again finds what is there: what is done or open is left alone and costs nothing; what has failed or was
    cancelled is queued again, and what the team says about it now replaces what it said before. `processes` says over
    how many pool processes the work may be spread.
    Raises NotFound, BadIntake, PhaseClosed, NotTakingPart, QuotaUsedUp and ReusedKey; then nothing is stored.
    """
    _check_names(attempt)
    with writing(engine, durable=True) as connection:
        # Before anything is read: its test set could be replaced by a corrected one meanwhile.
        hold_campaign(connection, find_campaign(connection, attempt.campaign))
        measures = find_measures(connection, attempt.campaign, attempt.test_set)
        _check_text(attempt.text, measures)
        # The same request again finds what came of it, also when the campaign is closed meanwhile.
        found = _known_request(connection, measures.campaign_id, attempt)
        admission = _admitted(connection, measures, attempt) if found is None else None
        # Whoever else submits for the team waits here, and then sees what we have done.
        account = lock_account(connection, measures.campaign_id, attempt.team)
        new = NewSubmission(attempt.system, attempt.text, attempt.team, attempt.text.layers, attempt.run)
        known = _find_submission(connection, measures, new)
        repeated = _repeated(connection, account, attempt, known)
        if admission is None and not repeated:
            raise ReusedKey
        submission = known
        queued = submission is None or (not repeated and _is_to_be_queued(connection, submission, measures))
        phase = read_phase(connection, measures.campaign_id) if admission is None else admission.phase
        whose = measures.campaign_id, attempt.team
        entries = read_entries(connection, *whose)
        if queued:
            at = read_clock(connection)
            mine = [each for each in entries if each.submission_id == known]
            entries = [each for each in entries if each.submission_id != known]
            counts_already = any(each.given_back_at is None for each in mine)
            standings = standings_of(connection, *whose, entries, phase=phase, at=at)
            check_quotas(standings, attempt.team, new=not counts_already)
            (submission,) = store_submissions(connection, measures.campaign_id, measures.test_set.id, [new])
            # Those that are there already, in the order in which all lock them: they are queued protocol by protocol.
            there = list(_evaluations(connection, submission, measures).values())
            lock_evaluations(connection, there, list(EvaluationState))
            for protocol in measures.protocols:
                queue_submissions(
                    connection,
                    settings,
                    protocol.id,
                    [submission],
                    queue_class=attempt.queue_class,
                    team=attempt.team,
                    processes=processes,
                    due_at=attempt.due_at,
                )
            write_entry(connection, account, submission, phase, at=None if counts_already else at)
            entries += read_entries(connection, *whose, submission)
            entries.sort(key=lambda each: (each.created_at, each.submission_id))
        assert submission is not None
        if admission is not None and not repeated:
            _declare(connection, measures, attempt, submission, admission, stored=known is None, queued=queued)
        if attempt.request_key is not None and not repeated:
            row = {"account_id": account, "request_key": attempt.request_key, "submission_id": submission}
            connection.execute(insert(SubmissionRequest).values(**row))
        evaluations = _evaluations(connection, submission, measures)
        declared = connection.execute(
            select(Declaration.phase, Declaration.late_seconds, Declaration.kind).where(
                Declaration.submission_id == submission
            )
        ).one_or_none()
        standings = standings_of(connection, *whose, entries, phase=phase, at=read_clock(connection))
    return Submitted(
        submission,
        tuple(evaluations.values()),
        tuple(evaluations),
        measures,
        known is None,
        queued,
        tuple(standings),
        *((declared.phase, declared.late_seconds, DeclaredKind(declared.kind)) if declared else ()),
    )


def submissions_ahead(engine: Engine, submitted: Submitted, queue_class: QueueClass) -> int:
    """How many other submissions of this class, or of a more urgent one, are open that were queued before.

    It is not strictly their number that is waited for, since teams take turns.
    """
    before = (
        select(func.count(Evaluation.submission_id.distinct()))
        .where(Evaluation.state.in_(OPEN), Evaluation.queue_class <= int(queue_class))
        .where(Evaluation.id < min(submitted.evaluations), Evaluation.submission_id != submitted.submission)
    )
    with reading(engine) as connection:
        return int(connection.execute(before).scalar_one())


def _known_request(connection: Connection, campaign_id: int, attempt: Attempt) -> int | None:
    """The submission that came of the request with this key of the team; None where there was none."""
    if attempt.request_key is None:
        return None
    return connection.scalar(
        select(SubmissionRequest.submission_id)
        .join(QuotaAccount, QuotaAccount.id == SubmissionRequest.account_id)
        .where(
            QuotaAccount.campaign_id == campaign_id,
            QuotaAccount.team == attempt.team,
            SubmissionRequest.request_key == attempt.request_key,
        )
    )


def _admitted(connection: Connection, measures: Measures, attempt: Attempt) -> Admission:
    return admit(
        connection,
        measures.campaign_id,
        measures.test_set,
        attempt.team,
        account_id=attempt.account_id,
        arrived_at=attempt.arrived_at,
        by_the_rules=attempt.by_the_rules,
    )


def _declare(
    connection: Connection,
    measures: Measures,
    attempt: Attempt,
    submission: int,
    admission: Admission,
    *,
    stored: bool,
    queued: bool,
) -> None:
    """Store what the team says, what was noticed, and that it was done."""
    changed = declare(
        connection,
        submission,
        Said(attempt.declared, attempt.constrained, attempt.description),
        campaign_id=measures.campaign_id,
        test_set_id=measures.test_set.id,
        team=attempt.team,
        account_id=attempt.account_id,
        phase=admission.phase,
        late_seconds=admission.late_seconds,
    )
    if attempt.findings is not None:
        write_findings(connection, submission, attempt.findings)
    if stored or queued or changed:
        write_audit(
            connection,
            actor=attempt.actor,
            account_id=attempt.account_id,
            address=attempt.address,
            action="submission.submit" if stored or queued else "submission.declare",
            subject=f"submission {submission}",
            campaign_id=measures.campaign_id,
            team=attempt.team,
            system=attempt.system,
            **({} if attempt.by_the_rules else {"override": True}),
            **changed,
        )


def _repeated(connection: Connection, account: int, attempt: Attempt, known: int | None) -> bool:
    """Whether the very same request was taken in before. Raises ReusedKey where it had other content."""
    if attempt.request_key is None:
        return False
    before = read_request(connection, account, attempt.request_key)
    if before is not None and before != known:
        raise ReusedKey(
            f'The key "{attempt.request_key}" was given to submission {before} of team {attempt.team}, another '
            "one whose text, system, run or test set differs. Give each request a key of its own."
        )
    return before is not None


def _find_submission(connection: Connection, measures: Measures, new: NewSubmission) -> int | None:
    """The very same submission, where it is stored already."""
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


def _is_to_be_queued(connection: Connection, submission: int, measures: Measures) -> bool:
    """Whether one of the campaign's protocols has not measured it and does not do so now."""
    states = connection.scalars(
        select(Evaluation.state).where(
            Evaluation.submission_id == submission,
            Evaluation.protocol_id.in_([each.id for each in measures.protocols]),
        )
    )
    there = [state for state in states if state in (*OPEN, EvaluationState.DONE)]
    return len(there) < len(measures.protocols)


def _evaluations(connection: Connection, submission: int, measures: Measures) -> dict[int, int]:
    """Protocol -> evaluation, in the order of the protocols."""
    rows = connection.execute(
        select(Evaluation.protocol_id, Evaluation.id)
        .where(
            Evaluation.submission_id == submission,
            Evaluation.protocol_id.in_([each.id for each in measures.protocols]),
        )
        .order_by(Evaluation.protocol_id)
    )
    return {row.protocol_id: row.id for row in rows}


def _check_names(attempt: Attempt) -> None:
    named = {"team": attempt.team, "system": attempt.system, **({"run": attempt.run} if attempt.run else {})}
    for what, name in named.items():
        if fault := fault_of_name(name):
            raise BadIntake(f'"{name[:LONGEST_KEY]}" cannot be the name of a {what}: {fault}.')
    key = attempt.request_key
    if key is not None and (not key or len(key) > LONGEST_KEY or "\0" in key):
        raise BadIntake(f"{key[:50]!r} cannot be the key of a request: give 1 to {LONGEST_KEY} characters.")
    if len(attempt.description) > LONGEST_DESCRIPTION or "\0" in attempt.description:
        raise BadIntake(f"The description is too long: give up to {LONGEST_DESCRIPTION:,} characters.")


def _check_text(text: Text, measures: Measures) -> None:
    """Raise BadIntake unless the text can be an output for the test set that all metrics can measure."""
    test_set = measures.test_set
    if text.segments != test_set.segments:
        raise BadIntake(
            f"{text.name}: has {number_of(text.segments, text.unit)}, but the test set {test_set.title} has "
            f"{number_of(test_set.segments, 'segment')}. Give one {text.unit} per segment, in its order."
        )
    if text.language and measures.target_language and not same_language(text.language, measures.target_language):
        raise BadIntake(
            f"{text.name}: is in {text.language!r}, but the references of {test_set.title} are in "
            f"{measures.target_language!r}."
        )
    for specification in dict.fromkeys(metric for each in measures.protocols for metric in each.metrics):
        for layer in parse_metric(specification).layers:
            if layer not in text.layers:
                raise BadIntake(
                    f"{text.name}: lacks the layer {describe_layers([layer])}, which {specification} needs in "
                    f"{measures.campaign}. Formats that have it: {FORMATS_WITH.get(layer, 'none that is known')}."
                )
