"""Operations on test sets, their corrections, and human judgments of outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard_client.addresses import path_of
from steelyard_client.documents.campaigns.corrections import CorrectionDetailsResponse, CorrectionResponse
from steelyard_client.documents.campaigns.test_sets import TestSetCreatedResponse, TestSetResponse
from steelyard_client.documents.leaderboards.correlations import CorrelationsResponse
from steelyard_client.documents.leaderboards.judgments import (
    HumanScoresCreatedResponse,
    HumanScoresDetails,
    HumanScoresResponse,
    JudgedSegment,
)
from steelyard_client.files import read_file
from steelyard_client.operations.campaigns import matching
from steelyard_client.requests import Requests
from steelyard_client.steps import listing, operation
from steelyard_client.vocabulary import ResamplingUnit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from steelyard_client.documents.campaigns.test_sets import MeasuresCreate, TestSetUpdate
    from steelyard_client.steps import Items, Steps

SEGMENTS_AT_ONCE = 10_000
"""Scores of segments in one response."""


class TestSetOperations(Requests):
    """Test sets, corrections, judgments. Files are paths, or their content as bytes."""

    __test__ = False

    @listing
    def list_test_sets(self, name: str) -> Items[TestSetResponse]:
        """The test sets of a campaign; versions replaced by a correction come last."""
        return self._pages(TestSetResponse, "campaigns", name, "test-sets")

    @operation
    def create_test_set(
        self,
        name: str,
        test_set: str,
        references: Mapping[str, Path | bytes],
        *,
        source: Path | bytes | None = None,
        documents: Path | bytes | None = None,
        source_language: str = "",
        target_language: str = "",
        variable_references: bool = False,
        phase: str = "",
        metrics: Sequence[str] = (),
        reference_lists: Sequence[Sequence[str]] = (),
        replicates: int = 1000,
        seed: int = 12345,
        resample: ResamplingUnit = ResamplingUnit.SEGMENT,
        if_match: str | None = None,
    ) -> Steps[TestSetCreatedResponse]:
        """Upload a test set, with the metrics to measure on it. For organisers.

        Parameters
        ----------
        name, test_set
            Names of the campaign and of the new test set.
        references
            File name -> file; `A.txt` is the reference A.
        source, documents
            The source, and a table with the columns segment, doc_id and optionally domain and test_suite.
        source_language, target_language
            Codes of the languages.
        variable_references
            Whether segments may have fewer references than there are.
        phase
            The only phase that accepts submissions for it; "" for all.
        metrics, reference_lists
            What is measured; by default each reference alone, then all together.
        replicates, seed
            Of the bootstrap.
        resample
            What replicates draw and randomization tests exchange: segments, or whole documents.
        if_match
            As in all changes of campaigns.
        """
        fields: dict[str, Any] = {
            "name": test_set,
            "source_language": source_language,
            "target_language": target_language,
            "variable_references": "true" if variable_references else "false",
            "phase": phase,
            "metrics": list(metrics),
            "reference_lists": [",".join(each) for each in reference_lists],
            "replicates": str(replicates),
            "seed": str(seed),
            "resample": resample.value,
        }
        files = [("references", read_file(content, title)) for title, content in references.items()]
        files += [
            (field, read_file(content, f"{field}.txt"))
            for field, content in (("source", source), ("documents", documents))
            if content is not None
        ]
        return self._change(
            TestSetCreatedResponse, "POST", "campaigns", name, "test-sets", data=fields, files=files,
            headers=matching(if_match),
        )  # fmt: skip

    @operation
    def read_test_set(self, name: str, test_set: int) -> Steps[TestSetResponse]:
        """A test set of a campaign."""
        return self._get(TestSetResponse, "campaigns", name, "test-sets", test_set)

    @operation
    def update_test_set(
        self, name: str, test_set: int, change: TestSetUpdate, *, if_match: str | None = None
    ) -> Steps[TestSetResponse]:
        """Assign a test set to a phase or to all; release its references, or hide them again."""
        path = ("campaigns", name, "test-sets", test_set)
        return self._change(TestSetResponse, "PATCH", *path, body=change, headers=matching(if_match))

    @operation
    def delete_test_set(self, name: str, test_set: int, *, if_match: str | None = None) -> Steps[None]:
        """Delete a test set without submissions."""
        return self._command("DELETE", "campaigns", name, "test-sets", test_set, headers=matching(if_match))

    @operation
    def add_test_set_measures(
        self, name: str, test_set: int, new: MeasuresCreate, *, if_match: str | None = None
    ) -> Steps[TestSetCreatedResponse]:
        """Add metrics or references to a test set; submissions are queued for them."""
        path = ("campaigns", name, "test-sets", test_set, "measures")
        return self._change(TestSetCreatedResponse, "POST", *path, body=new, headers=matching(if_match))

    @operation
    def download_source(self, name: str, test_set: int) -> Steps[bytes]:
        """The source, one segment per line, once the phase of the test set has begun."""
        return self._get_bytes("campaigns", name, "test-sets", test_set, "source")

    @operation
    def download_reference(self, name: str, test_set: int, label: str) -> Steps[bytes]:
        """A reference, one segment per line, once it is released."""
        return self._get_bytes("campaigns", name, "test-sets", test_set, "references", label)

    @listing
    def list_corrections(self, name: str) -> Items[CorrectionResponse]:
        """The corrections of a campaign, newest first."""
        return self._pages(CorrectionResponse, "campaigns", name, "corrections")

    @operation
    def create_correction(
        self,
        name: str,
        test_set: int,
        references: Mapping[str, Path | bytes],
        *,
        reason: str,
        if_match: str | None = None,
    ) -> Steps[CorrectionDetailsResponse]:
        """Replace references of a test set, each by the file named like it (`A.txt`). For organisers."""
        files = [("references", read_file(content, title)) for title, content in references.items()]
        return self._change(
            CorrectionDetailsResponse, "POST", "campaigns", name, "corrections",
            data={"test_set": str(test_set), "reason": reason}, files=files, headers=matching(if_match),
        )  # fmt: skip

    @operation
    def read_correction(self, name: str, correction: int) -> Steps[CorrectionDetailsResponse]:
        """A correction: scores and ranks of every system before and after."""
        return self._get(CorrectionDetailsResponse, "campaigns", name, "corrections", correction)

    @listing
    def list_human_scores(self, name: str) -> Items[HumanScoresResponse]:
        """The human judgments of a campaign."""
        return self._pages(HumanScoresResponse, "campaigns", name, "human-scores")

    @operation
    def add_human_scores(
        self,
        name: str,
        files: Mapping[str, Path | bytes],
        *,
        test_set: str = "",
        called: str = "",
        pair: str = "",
        rename: Mapping[str, str] = {},
        preview: bool = False,
        kind: str | None = None,
        by_document: bool = False,
        first_segment: int | None = None,
        weights: Sequence[str] = (),
        standardise: bool | None = None,
        aggregation: str = "auto",
    ) -> Steps[HumanScoresCreatedResponse]:
        """Add human judgments: file name -> file. For organisers.

        Parameters
        ----------
        name
            Name of the campaign.
        files
            Tables of judgments by their names.
        test_set
            NAME or NAME@VERSION; default the first one.
        called
            The name of the judgments; default "human".
        pair
            Which language pair, where a file has several.
        rename
            Systems that have other names in the campaign.
        preview
            Only say what would be stored.
        kind
            scores, ratings, errors or rankings; default as the columns say.
        by_document
            Find segments by document and number in it, where a file has both.
        first_segment
            0 or 1; default what is usual for the column.
        weights
            Of errors: SEVERITY[/CATEGORY]=N.
        standardise
            Whether by annotator; default for ratings in tables.
        aggregation
            auto, means, wins, better-or-equal or none: the scores of systems.

        """
        sent = [("files", read_file(content, title)) for title, content in files.items()]
        return self._change(
            HumanScoresCreatedResponse, "POST", "campaigns", name, "human-scores",
            data={
                "test_set": test_set, "called": called, "pair": pair, "preview": str(preview).lower(),
                "rename": [f"{old}={new}" for old, new in rename.items()], "kind": kind or "",
                "by_document": str(by_document).lower(), "aggregation": aggregation, "weights": list(weights),
                **({} if first_segment is None else {"first_segment": str(first_segment)}),
                **({} if standardise is None else {"standardise": str(standardise).lower()}),
            }, files=sent,
        )  # fmt: skip

    @operation
    def read_human_scores(
        self, name: str, title: str, *, test_set: str = "", shared_segments: bool = False
    ) -> Steps[HumanScoresDetails]:
        """Human judgments, NAME (the newest version) or NAME@VERSION, with ranked systems. For organisers.

        With `shared_segments` two systems are compared on the segments only that were judged of both.
        """
        return self._get(
            HumanScoresDetails, "campaigns", name, "human-scores", title,
            test_set=test_set or None, shared_segments="true" if shared_segments else None,
        )  # fmt: skip

    @listing
    def list_judged_segments(self, name: str, title: str, *, test_set: str = "") -> Items[JudgedSegment]:
        """Human scores of segments, by system and segment. For organisers."""
        return self._pages(
            JudgedSegment, "campaigns", name, "human-scores", title, "segments",
            test_set=test_set or None, limit=SEGMENTS_AT_ONCE,
        )  # fmt: skip

    @operation
    def rename_human_scores(self, name: str, title: str, to: str, *, test_set: str = "") -> Steps[None]:
        """Give human judgments, all versions of a name, another name. For organisers."""
        address = path_of("campaigns", name, "human-scores", title)
        yield from self._send("PATCH", address, params={"test_set": test_set}, json={"name": to})

    @operation
    def delete_human_scores(self, name: str, title: str, *, test_set: str = "") -> Steps[None]:
        """Delete one version of human judgments, NAME@VERSION or NAME for the newest. For organisers."""
        address = path_of("campaigns", name, "human-scores", title)
        yield from self._send("DELETE", address, params={"test_set": test_set})

    @operation
    def read_correlations(
        self,
        name: str,
        *,
        test_set: str = "",
        references: Sequence[str] = (),
        human: str = "",
        without: Sequence[int] = (),
        board: int | None = None,
        metric: Sequence[str] = (),
        granularity: str = "",
        statistic: Sequence[str] = (),
        replicates: int | None = None,
        level: float | None = None,
        trials: int | None = None,
        correction: str = "",
        baseline: str = "",
    ) -> Steps[CorrelationsResponse]:
        """Correlations of metrics with human judgments.

        Parameters
        ----------
        name
            Name of the campaign.
        test_set, references, board
            As in `read_leaderboard`.
        human
            Name of the judgments, or NAME@VERSION; default the newest.
        without
            Numbers of submissions whose systems are left out.
        metric
            Only these metrics. This and what follows is for accounts, where it differs from the default.
        granularity
            "system", "segment" or "both".
        statistic
            Statistics; the first one ranks and is tested.
        replicates, level
            Of the intervals.
        trials, correction, baseline
            Of the tests of every metric against the best one, or the `baseline`.
        """
        return self._get(
            CorrelationsResponse, "campaigns", name, "correlations",
            test_set=test_set or None, references=",".join(references) or None, human=human or None,
            without=list(without) or None, board=board, metric=list(metric) or None, granularity=granularity or None,
            statistic=list(statistic) or None, replicates=replicates, level=level, trials=trials,
            correction=correction or None, baseline=baseline or None,
        )  # fmt: skip
