"""The test sets of a campaign for which outputs are accepted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select

from campaigns.errors import BadRequest
from models.corpus.test_sets import StoredTestSet, is_exact_name
from models.schema.campaigns import CampaignProtocol
from models.schema.corpus import Protocol, Submission, TestSet
from models.schema.queue import Evaluation

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from campaigns.permissions import CampaignAccess


@dataclass(frozen=True, slots=True)
class OfferedTestSet:
    """A test set of a campaign for which outputs are accepted, now or at another time."""

    id: int
    name: str
    version: str
    segments: int
    source_language: str
    target_language: str
    phase: str
    """The only phase in which they are accepted; "" for any."""

    @property
    def value(self) -> str:
        """Its unique name."""
        return f"{self.name}@{self.version}"

    @property
    def title(self) -> str:
        """Its name for people."""
        return StoredTestSet(self.id, self.name, self.version, self.segments).title


def offered_test_sets(connection: Connection, access: CampaignAccess) -> list[OfferedTestSet]:
    """Return the visible test sets that the campaign scores, without replaced ones."""
    measured = (
        select(Evaluation.protocol_id)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .where(Submission.campaign_id == access.campaign_id)
        .union(
            select(CampaignProtocol.protocol_id).where(CampaignProtocol.campaign_id == access.campaign_id),
        )
    )
    rows = connection.execute(
        select(TestSet)
        .where(TestSet.id.in_(select(Protocol.test_set_id).where(Protocol.id.in_(measured), Protocol.sweep.is_(False))))
        .order_by(TestSet.id)
    ).all()
    phases = {phase.id: phase.name for phase in access.phases}
    offered = []
    for row in rows:
        seen = access.test_sets[row.id]
        if seen.replaced_by is not None or not access.sees_source(row.id):
            continue
        phase = phases.get(seen.phase_id, "") if seen.phase_id is not None else ""
        languages = row.source_language, row.target_language
        offered.append(OfferedTestSet(row.id, seen.name, seen.version, row.segments, *languages, phase))
    order = list(access.test_sets)
    return sorted(offered, key=lambda each: order.index(each.id))


def choose_test_set(connection: Connection, access: CampaignAccess, named: str) -> OfferedTestSet:
    """Return the test set with that name, or the only one.

    Raises
    ------
    BadRequest
        If there is no such test set; the message lists the existing names.
    """
    offered = offered_test_sets(connection, access)
    there = ", ".join(each.value for each in offered) or "none so far"
    exact = [each for each in offered if is_exact_name(each, named)]
    found = exact or [each for each in offered if named in ("", each.name)]
    if not found:
        raise BadRequest(
            f"The campaign accepts no outputs for a test set {named!r}. There are: {there}."
            if named
            else "The campaign has no test set yet. Its organisers must add one first."
        )
    if len(found) > 1:
        raise BadRequest(f"There are several test sets: {there}. Name one.")
    return found[0]
