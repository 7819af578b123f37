"""Human judgments as documents: what they are, and how they rank systems."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from analysis.meta_evaluation.human import display_names, read_annotation, read_human
from models.corpus.test_sets import submitted_systems
from steelyard_client.documents.document import utc
from steelyard_client.documents.leaderboards.judgments import (
    AnnotatorAgreement,
    AnnotatorReliability,
    HumanScoresDetails,
    HumanScoresResponse,
    JudgedSystem,
    JudgingAnnotator,
)

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from analysis.meta_evaluation.human import Annotation, HumanScores
    from campaigns.inspection.visible import VisibleTestSet
    from campaigns.permissions import CampaignAccess
    from models.corpus.judgments import StoredJudgments
    from steelyard.meta_evaluation.human.agreement import Agreement
    from steelyard.meta_evaluation.human.annotators import Reliability
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
    annotation = read_annotation(connection, stored)
    return HumanScoresDetails(
        **judgments_response(access.name, test_set.title, stored).model_dump(),
        test=human.test(shared=shared),
        annotators=len(annotation.annotators) if annotation else None,
        agreement=_agreement(annotation.agreement) if annotation else None,
        reliability=_reliability(annotation.reliability) if annotation else None,
        by_annotator=_annotators(annotation) if annotation else [],
        systems=[_judged_system(human, name, place, submitted) for name, place in places.items()],
        references=list(matched.references),
        unknown=list(matched.unknown) if submitted else [],
        not_judged=list(matched.not_judged),
    )


def _agreement(found: Agreement) -> AnnotatorAgreement | None:
    if not found.comparisons:
        return None
    return AnnotatorAgreement(comparisons=found.comparisons, share=found.share, kappa=_defined(found.kappa))


def _reliability(found: Reliability | None) -> AnnotatorReliability | None:
    return AnnotatorReliability(alpha=_defined(found.alpha), outputs=found.outputs) if found else None


def _annotators(annotation: Annotation) -> list[JudgingAnnotator]:
    return [
        JudgingAnnotator(
            number=number,
            judgments=each.judgments,
            outputs=each.outputs,
            mean=_defined(each.mean),
            deviation=_defined(each.deviation),
            shared=each.shared,
            z=_defined(each.z),
            seconds=_defined(each.seconds),
        )
        for number, each in enumerate(annotation.annotators, 1)
    ]


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else value


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
