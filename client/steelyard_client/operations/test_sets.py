"""Operations on test sets, their corrections, and human judgments of outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard_client.addresses import path_of
from steelyard_client.core import Core
from steelyard_client.documents.corrections import CorrectionDetailsResponse, CorrectionResponse
from steelyard_client.documents.judgments import CorrelationsResponse, HumanScoresCreatedResponse, HumanScoresResponse
from steelyard_client.documents.test_sets import TestSetCreatedResponse, TestSetResponse
from steelyard_client.files import read_file
from steelyard_client.operations.campaigns import matching
from steelyard_client.steps import listing, operation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from steelyard_client.documents.test_sets import MeasuresCreate, TestSetUpdate
    from steelyard_client.steps import Items, Steps


class TestSetOperations(Core):
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
        self, name: str, files: Mapping[str, Path | bytes], *, test_set: str = "", called: str = ""
    ) -> Steps[HumanScoresCreatedResponse]:
        """Add human judgments: file name -> table. For organisers."""
        sent = [("files", read_file(content, title)) for title, content in files.items()]
        return self._change(
            HumanScoresCreatedResponse, "POST", "campaigns", name, "human-scores",
            data={"test_set": test_set, "called": called}, files=sent,
        )  # fmt: skip

    @operation
    def delete_human_scores(self, name: str, title: str, *, test_set: str = "") -> Steps[None]:
        """Delete one version of human judgments, NAME@VERSION. For organisers."""
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
    ) -> Steps[CorrelationsResponse]:
        """Correlations of metrics with human judgments; `without` leaves submissions out."""
        return self._get(
            CorrelationsResponse, "campaigns", name, "correlations",
            test_set=test_set or None, references=",".join(references) or None, human=human or None,
            without=list(without) or None,
        )  # fmt: skip
