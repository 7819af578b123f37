"""Human judgments as documents: what they are, and how they rank systems."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from analysis.meta_evaluation.human import annotator_agreement, display_names, read_human
from models.corpus.judgments import count_annotators
from models.corpus.test_sets import submitted_systems
from steelyard_client.documents.document import utc
from steelyard_client.documents.judgments import (
    AnnotatorAgreement,
    HumanScoresDetails,
    HumanScoresResponse,
    JudgedSystem,
)

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from analysis.meta_evaluation.human import HumanScores
    from campaigns.inspection.visible import VisibleTestSet
    from campaigns.permissions import CampaignAccess
    from models.corpus.judgments import StoredJudgments
    from steelyard.meta_evaluation.human.agreement import Agreement
    from steelyard.ranking.human_ranks import HumanRank


def judgments_response(campaign: str, test_set: str, stored: StoredJudgments) -> HumanScoresResponse:
    """Return stored judgments as a document."""
    return HumanScoresResponse(
        campaign=campaign,
        test_set=test_set,
        name=stored.name,
        version=stored.version,
        kind=stored.kind,
        method=dict(stored.method),
        created_at=utc(stored.created_at),
    )


def read_details(
    connection: Connection,
    access: CampaignAccess,
    test_set: VisibleTestSet,
    stored: StoredJudgments,
    *,
    shared: bool = False,
) -> HumanScoresDetails:
    """Return judgments with the systems that they rank; with `shared` pairs are compared on their common segments."""
    human = read_human(connection, access.campaign_id, test_set.id, stored.title)
    places = human.ranks(shared=shared)
    submitted = frozenset(display_names(submitted_systems(connection, access.campaign_id, test_set.id)).values())
    matched = human.matched(submitted)
    return HumanScoresDetails(
        **judgments_response(access.name, test_set.title, stored).model_dump(),
        test=human.test(shared=shared),
        annotators=count_annotators(connection, stored.id) or None,
        agreement=_agreement(annotator_agreement(connection, human)),
        systems=[_judged_system(human, name, place, submitted) for name, place in places.items()],
        references=list(matched.references),
        unknown=list(matched.unknown) if submitted else [],
        not_judged=list(matched.not_judged),
    )


def _agreement(found: Agreement | None) -> AnnotatorAgreement | None:
    if found is None or not found.comparisons:
        return None
    kappa = None if math.isnan(found.kappa) else found.kappa
    return AnnotatorAgreement(comparisons=found.comparisons, share=found.share, kappa=kappa)


def _judged_system(human: HumanScores, name: str, place: HumanRank, submitted: frozenset[str]) -> JudgedSystem:
    row = human.rows[name]
    first, last = place.cluster_ranks or (None, None)
    return JudgedSystem(
        system=name,
        reference=human.is_reference(name) and name not in submitted,
        submitted=name in submitted,
        rank=place.rank,
        rank_low=place.low,
        rank_high=place.high,
        cluster=place.cluster,
        cluster_first=first,
        cluster_last=last,
        wins=place.wins,
        score=row.score,
        raw=row.raw,
        n_segments=row.segments,
        n_judgments=row.judgments,
    )
