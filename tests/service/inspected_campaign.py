"""A small campaign with known texts, measured, for tests of what can be seen of it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select, update

from models.database.session import reading, writing
from models.schema.base import now
from models.schema.campaigns import CampaignTestSet
from models.schema.corpus import Submission, System
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.metrics.registry import parse_metric
from tests.scheduler.jobs import work_off
from tests.service.service import Service

SOURCE = ["modrá loď", "starý přístav spí", "vítr <script>alert(1)</script>", "ryba plave"]
REFERENCES = {
    "A": ["the blue CANARY ship", "the old harbour is asleep", "the wind", "a fish swims"],
    "B": ["a blue ship", "the old port sleeps", "wind blows", "the CANARY fish is swimming"],
}
OUTPUTS = {
    ("gulls", "dive"): ["the blue ship", "sleeps the old port now", "the wind", "fish"],
    ("terns", "soar"): ["a green boat", "the old port sleeps", "wind <b>blows</b>", "a fish swims"],
}


def bay_test_set() -> NewTestSet:
    """Its test set: two documents, each of a domain of its own."""
    return NewTestSet(
        "bay",
        {label: "\n".join(lines).encode() for label, lines in REFERENCES.items()},
        source="\n".join(SOURCE).encode(),
        documents=[("quay", "news", ""), ("quay", "news", ""), ("sea", "talk", ""), ("sea", "talk", "")],
        source_language="cs",
        target_language="en",
    )


@dataclass
class Looked:
    """Its campaign, test set and people."""

    service: Service
    campaign: int
    test_set: int
    submissions: dict[str, int]
    """By system."""
    organiser: int
    gull: int
    """A member of the team "gulls"."""

    def release(self) -> None:
        """Let everybody see the references."""
        with writing(self.service.engine) as connection:
            connection.execute(
                update(CampaignTestSet)
                .where(CampaignTestSet.test_set_id == self.test_set)
                .values(references_released_at=now())
            )


def look_at(service: Service, *, work: bool = True) -> Looked:
    """A campaign "bay" of two teams and one test set with two references, none of them released; no phases.

    Measured, unless nobody is to `work`.
    """
    organiser, gull, tern = (service.account(name) for name in ("olga", "gull", "tern"))
    campaign = service.campaign(
        "bay", organisers=(organiser,), teams=(service.team("gulls", gull), service.team("terns", tern))
    )
    ingest_campaign(
        service.engine,
        service.settings,
        campaign="bay",
        test_set=bay_test_set(),
        submissions=[
            NewSubmission(system, "\n".join(lines).encode(), team) for (team, system), lines in OUTPUTS.items()
        ],
        protocols=[NewProtocol(["A", "B"], [parse_metric("bleu:smooth=exp"), parse_metric("ter")], 20)],
    )
    if work:
        work_off(service.settings)
    with reading(service.engine) as connection:
        ours = CampaignTestSet.campaign_id == campaign
        test_set = connection.scalars(select(CampaignTestSet.test_set_id).where(ours)).one()
        named = connection.execute(select(System.name, Submission.id).join(System, System.id == Submission.system_id))
        submissions = {row.name: row.id for row in named}
    return Looked(service, campaign, test_set, submissions, organiser, gull)
