"""People who manage a campaign by the API."""

from __future__ import annotations

from typing import Any

from fastapi.testclient import TestClient
from sqlalchemy import select

from models.database.session import reading
from models.schema.accounts import AuditEntry
from models.schema.roles import SiteRole
from tests.service.campaigns import REFERENCE, SOURCE
from tests.service.service import Service

SITE = "/api/v1/campaigns"
HERE = f"{SITE}/wmt"


def error(answer: Any) -> tuple[int, str]:
    """Status and code of an answer that refuses."""
    return answer.status_code, answer.json()["error"]["code"]


class People:
    """People with programs: an organiser, the lead of a team, and somebody else."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.olga = service.account("olga", SiteRole.ORGANISER)
        self.mary, self.eve = service.account("mary"), service.account("eve")
        service.team("harbour", self.mary)
        service.team("guests", self.eve)
        self.organiser = service.program(self.olga)
        self.lead = service.program(self.mary)
        self.stranger = service.program(self.eve)
        self.nobody = service.client()

    def found(self, **rules: Any) -> TestClient:
        answer = self.organiser.post(SITE, json={"name": "wmt", **rules})
        assert answer.status_code == 201, answer.text
        return self.organiser

    def upload(self, name: str = "news", **form: Any) -> dict[str, Any]:
        files = [
            ("references", ("A.txt", REFERENCE)),
            ("references", ("B.txt.gz", b"kocour\npes\nbarak\n")),
            ("source", ("whatever.txt", SOURCE)),
        ]
        form = {"name": name, "target_language": "cs", "metrics": ["bleu", "chrf"], "replicates": "0", **form}
        answer = self.organiser.post(f"{HERE}/test-sets", data=form, files=files)
        assert answer.status_code == 201, answer.text
        return dict(answer.json())

    def log(self) -> list[str]:
        with reading(self.service.engine) as connection:
            return list(connection.scalars(select(AuditEntry.action).order_by(AuditEntry.id)))
