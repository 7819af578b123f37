"""A campaign that takes submissions, and two teams, for tests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select

from models.database.session import reading, writing
from models.schema.base import now
from models.schema.learned import LearnedColumn
from models.schema.queue import Evaluation
from models.schema.roles import PhaseKind, SiteRole
from models.schema.states import ColumnState
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.metrics.registry import parse_metric
from tests.scheduler.jobs import one_block_shards, similar_text, some_text, work_off

if TYPE_CHECKING:
    from fastapi.testclient import TestClient
    from httpx import Response

    from tests.service.service import Service

SEGMENTS = 300
NAME = "port 1"
ADDRESS = "/api/v1/campaigns/port%201"
REFERENCE = some_text(SEGMENTS, 1)


def output(seed: int = 1, segments: int = SEGMENTS) -> bytes:
    """What a system might have made of it, with a line feed at the end."""
    return b"\n".join(similar_text(REFERENCE, seed).split(b"\n")[:segments]) + b"\n"


@dataclass
class Port:
    """The campaign "port 1" with an open phase. ann organises it; mary is in the team harbour, zoe in guests."""

    service: Service
    campaign: int = 0
    test_set: int = 0
    phase: int = 0
    accounts: dict[str, int] = field(default_factory=dict)

    @classmethod
    def opened(
        cls, service: Service, kind: PhaseKind = PhaseKind.OPEN, reference: bytes = REFERENCE, **phase: Any
    ) -> Port:
        """With one system of the organisers, whose evaluation waits."""
        intake = ingest_campaign(
            service.engine,
            one_block_shards(service.settings.database_url),
            campaign=NAME,
            test_set=NewTestSet("quay", {"A": reference}, source=some_text(SEGMENTS, 9)),
            submissions=[NewSubmission("anchor", similar_text(REFERENCE, 99), "")],
            protocols=[NewProtocol(["A"], [parse_metric("bleu"), parse_metric("chrf")], 20)],
        )
        port = cls(service, test_set=intake.test_set_id)
        for name in ("ann", "mary", "zoe"):
            role = SiteRole.ORGANISER if name == "ann" else SiteRole.PARTICIPANT
            port.accounts[name] = service.account(name, role)
        teams = tuple(service.team(team, port.accounts[who]) for team, who in (("harbour", "mary"), ("guests", "zoe")))
        port.campaign = service.campaign(NAME, organisers=(port.accounts["ann"],), teams=teams)
        port.phase = service.phase(port.campaign, "first", kind, **phase)
        return port

    def program(self, who: str, *scopes: Any) -> TestClient:
        """Somebody's program."""
        return self.service.program(self.accounts[who], *scopes)

    def browser(self, who: str) -> TestClient:
        """Somebody's browser."""
        return self.service.browser(self.accounts[who])

    def submit(self, client: TestClient, content: bytes | None = None, *, key: str = "", **fields: Any) -> Response:
        """Hand an output in by a form."""
        return client.post(
            f"{ADDRESS}/submissions",
            data={"system": "mast", **fields},
            files={"file": ("out.txt", output() if content is None else content)},
            headers={"Idempotency-Key": key} if key else {},
        )

    def work_off(self) -> None:
        """Let a worker do all that waits."""
        work_off(one_block_shards(self.service.settings.database_url))

    def fail_metric(self, submission: int, reason: str, metric: int = 1) -> None:
        """Let a metric of all evaluations of a submission fail just now, as those of models and programs may."""
        failed = {"metric": metric, "state": ColumnState.FAILED, "remaining": 0, "reason": reason, "finished_at": now()}
        with writing(self.service.engine) as connection:
            for evaluation in connection.scalars(
                select(Evaluation.id).where(Evaluation.submission_id == submission)
            ).all():
                connection.execute(insert(LearnedColumn).values(evaluation_id=evaluation, **failed))

    def count(self, table: Any) -> int:
        """Rows of a table."""
        with reading(self.service.engine) as connection:
            return len(connection.execute(select(table)).all())
