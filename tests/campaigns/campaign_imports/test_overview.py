"""What an import says of judgments that an export brings along, whose systems were matched where it was made."""

from __future__ import annotations

from campaigns.campaign_imports.content import CampaignContent, ReadSubmission
from campaigns.campaign_imports.overview import ImportOverview
from models.corpus.judgments import NewJudgments, RatingRow, SegmentRow, SpanRow, SystemRow
from models.schema.states import JudgmentKind
from steelyard_client.documents.campaigns.campaign_imports import ImportedJudgments


def test_judged_names_are_those_of_systems_of_references_or_unknown() -> None:
    outputs = [
        ReadSubmission(str(number), test_set, team, system, "", None)
        for number, (test_set, team, system) in enumerate(
            [("news", "harbour", "mast"), ("news", "", "oar"), ("news", "", "keel"), ("talks", "", "hull")]
        )
    ]
    overview = ImportOverview(CampaignContent("bay", [], outputs))
    judgments = NewJudgments(
        "esa",
        JudgmentKind.RATINGS,
        {},
        [SystemRow(name, 1.0) for name in ("refA", "mast", "hull", "oar")],
        [SegmentRow(name, 0, 1.0) for name in ("mast", "refB", "ghost")],
        [RatingRow("ann", "mast", 1, 1.0)],
        [SpanRow("ann", "mast", 3, 0, 1, "minor", "Style", missing=False, in_source=False)],
    )
    overview.add_stored("news", judgments)
    # A segment is judged where it has a score, a rating or an error.
    assert overview.judgments == {
        "news": [
            ImportedJudgments(
                name="esa",
                segments=3,
                matched=["harbour/mast", "oar"],
                unknown=["ghost", "hull"],
                references=["refA", "refB"],
                not_judged=["keel"],
            )
        ]
    }
