"""What comes in with a campaign, test set by test set: the same for a preview and for what was stored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analysis.meta_evaluation.human import is_reference
from steelyard_client.documents.campaigns.campaign_imports import (
    CampaignImportedResponse,
    ImportedJudgments,
    ImportedScoresOfMetric,
    ImportedTestSet,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.meta_evaluation.human import Matched
    from campaigns.campaign_imports.content import CampaignContent, ReadTestSet
    from models.corpus.judgments import NewJudgments
    from steelyard.meta_evaluation.human.judgments import Judged


@dataclass(slots=True)
class ImportOverview:
    """Collects what is stored beside the texts; `document` puts it together with them."""

    content: CampaignContent
    judgments: dict[str, list[ImportedJudgments]] = field(default_factory=dict)
    """By test set."""
    scores: dict[str, list[ImportedScoresOfMetric]] = field(default_factory=dict)
    """By test set."""

    def add_judged(self, test_set: str, name: str, judged: Judged, matched: Matched) -> None:
        """Add judgments whose systems were matched with outputs."""
        segments = {each.segment for rows in (judged.segments, judged.judgments, judged.spans) for each in rows}
        self._add_judgments(
            test_set, name, len(segments), matched.systems, matched.unknown, matched.references, matched.not_judged
        )

    def add_stored(self, test_set: str, judgments: NewJudgments) -> None:
        """Add judgments of an export, whose systems were matched where they come from."""
        there = {name: full for full in self._systems(test_set) for name in (full.rpartition("/")[2], full)}
        names = sorted({each.system for rows in (judgments.systems, judgments.segments) for each in rows})
        judged = {there[each] for each in names if each in there}
        segments = {each.segment for rows in (judgments.segments, judgments.ratings, judgments.spans) for each in rows}
        others = [each for each in names if each not in there]
        self._add_judgments(
            test_set,
            judgments.name,
            len(segments),
            sorted(judged),
            [each for each in others if not is_reference(each)],
            [each for each in others if is_reference(each)],
            sorted(set(there.values()) - judged),
        )

    def _add_judgments(self, test_set: str, name: str, segments: int, *names: Sequence[str]) -> None:
        matched, unknown, references, not_judged = map(list, names)
        self.judgments.setdefault(test_set, []).append(
            ImportedJudgments(
                name=name, segments=segments, matched=matched, unknown=unknown, references=references,
                not_judged=not_judged,
            )
        )  # fmt: skip

    def add_scores(self, test_set: str, metric: str, version: str, level: str, systems: int) -> None:
        """Add the scores of a metric."""
        self.scores.setdefault(test_set, []).append(
            ImportedScoresOfMetric(metric=metric, version=version, level=level, systems=systems)
        )

    def document(self, name: str, notices: Sequence[str]) -> CampaignImportedResponse:
        """All that came in, under the name of the campaign here."""
        everywhere = {system for each in self.content.test_sets for system in self._systems(each.title)}
        columns = {each.metric for columns in self.scores.values() for each in columns}
        return CampaignImportedResponse(
            name=name,
            stored=True,
            test_sets=len(self.content.test_sets),
            submissions=len(self.content.submissions),
            judgments=sum(map(len, self.judgments.values())),
            imported=len(columns),
            by_test_set=[self._test_set(each, everywhere) for each in self.content.test_sets],
            notices=list(notices),
        )

    def _test_set(self, test_set: ReadTestSet, everywhere: set[str]) -> ImportedTestSet:
        folder, systems = test_set.folder, self._systems(test_set.title)
        documents = folder.documents or ()
        return ImportedTestSet(
            test_set=test_set.title,
            pair="-".join(each for each in (folder.source_language, folder.target_language) if each),
            spelt=[*dict.fromkeys([*folder.spelt, *self.content.spelt.get(test_set.title, ())])],
            segments=test_set.segments,
            documents=len({each.doc_id for each in documents}),
            domains=list(dict.fromkeys(each.domain for each in documents if each.domain)),
            references=list(folder.references),
            systems=systems,
            missing=sorted(everywhere - set(systems)),
            judgments=self.judgments.get(test_set.title, []),
            scores=self.scores.get(test_set.title, []),
        )

    def _systems(self, test_set: str) -> list[str]:
        """Systems of a test set, each once, however many outputs it has."""
        named = (
            f"{each.team}/{each.system}" if each.team else each.system
            for each in self.content.submissions
            if each.test_set == test_set
        )
        return list(dict.fromkeys(named))
