"""A campaign to which teams submit, for tests."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from sqlalchemy import Engine, func, select

from campaigns.quotas.errors import QuotaUsedUp
from campaigns.quotas.quotas import read_team_quotas, set_quotas
from campaigns.quotas.rules import QuotaScope
from campaigns.quotas.usage import QuotaUsage
from campaigns.submissions.submit import SubmissionInput, SubmitResult, submit
from models.corpus.campaign_protocols import find_campaign
from models.database.session import reading, writing
from models.queue.evaluation_end import fail_evaluations
from models.schema.campaigns import UsageLogEntry
from models.schema.corpus import Submission, Text
from models.schema.queue import Evaluation
from models.schema.states import Fault, QuotaKind
from runtime.settings import Settings
from steelyard.formats.plain import Text as Output
from tests.scheduler.jobs import queue_job, some_text, work_off

SEGMENTS = 6
CAMPAIGN = "trial"
IN_FLIGHT, PER_DAY, PER_PHASE = QuotaKind

one_kind = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
"""Where databases cannot differ."""


def open_campaign(engine: Engine, settings: Settings, *, done: bool = False, **others: object) -> None:
    """One system is there, whose evaluation says how all are measured."""
    queue_job(engine, settings, segments=SEGMENTS, systems=1, replicates=5, **others)
    if done:
        work_off(settings)


def attempt(
    seed: int, *, team: str = "harbour", system: str = "mast", segments: int = SEGMENTS, **others: object
) -> SubmissionInput:
    """An output drawn from a seed."""
    output = Output("out.txt", some_text(segments, 100 + seed), segments)
    return SubmissionInput(CAMPAIGN, team, system, output, **others)


def limit(
    engine: Engine,
    amounts: Mapping[QuotaKind, int | None],
    *,
    team: str = "",
    phase: str = "",
    campaign: str | None = CAMPAIGN,
    time_zone: str | None = None,
) -> None:
    """Set quotas."""
    with writing(engine) as connection:
        campaign_id = None if campaign is None else find_campaign(connection, campaign)
        set_quotas(connection, QuotaScope(campaign_id, team, phase), amounts, time_zone)


def standings(engine: Engine, team: str = "harbour") -> dict[QuotaKind, QuotaUsage]:
    """How a team stands in the campaign."""
    with reading(engine) as connection:
        (account,) = read_team_quotas(connection, team, CAMPAIGN)
    return {each.kind: each for each in account.usage}


def used(engine: Engine, team: str = "harbour") -> tuple[int, ...]:
    """How many are in flight, of today, of the phase."""
    return tuple(each.used for each in standings(engine, team).values())


def count(engine: Engine, table: type) -> int:
    with reading(engine) as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


def refused(engine: Engine, settings: Settings, seed: int, **others: object) -> str:
    before = [count(engine, table) for table in (Submission, Text, Evaluation, UsageLogEntry)]
    with pytest.raises(QuotaUsedUp) as error:
        submit(engine, settings, attempt(seed, **others))
    assert [count(engine, table) for table in (Submission, Text, Evaluation, UsageLogEntry)] == before
    return str(error.value)


def fail(engine: Engine, submitted: SubmitResult, fault: Fault) -> None:
    with writing(engine) as connection:
        failed = fail_evaluations(connection, submitted.evaluations, "The disk is full.", fault=fault)
    assert failed == list(submitted.evaluations)
