"""Operations on scores that were made elsewhere, and on AutoRank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard_client.addresses import path_of
from steelyard_client.documents.leaderboards.imported_scores import (
    AutoRankResponse,
    ImportedScoresResponse,
    ScoresImportedResponse,
)
from steelyard_client.files import read_file
from steelyard_client.operations.campaigns import matching
from steelyard_client.requests import Requests
from steelyard_client.steps import listing, operation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from steelyard_client.documents.leaderboards.imported_scores import AutoRankUpdate
    from steelyard_client.steps import Items, Steps


class ImportedScoresOperations(Requests):
    """Imported scores and AutoRank. Files are paths, or their content as bytes."""

    @listing
    def list_imported_scores(self, name: str) -> Items[ImportedScoresResponse]:
        """The imported scores of a campaign by test set, all versions."""
        return self._pages(ImportedScoresResponse, "campaigns", name, "scores")

    @operation
    def import_scores(
        self,
        name: str,
        files: Mapping[str, Path | bytes],
        *,
        test_set: str = "",
        pairs: Sequence[str] = (),
        metric: str = "",
        lower_is_better: Sequence[str] = (),
        create: bool = False,
        preview: bool = False,
        if_match: str | None = None,
    ) -> Steps[ScoresImportedResponse]:
        """Import scores as columns of leaderboards. For organisers.

        Parameters
        ----------
        name
            The campaign.
        files
            File name -> file, in a format of `steelyard rank`. Names say the system or metric in some formats.
        test_set
            The test set that the scores are of; by default that of each pair's name or languages.
        pairs
            Only these language pairs.
        metric
            NAME or NAME@VERSION: one of the metrics in the files, or the name for their only one.
        lower_is_better
            Metrics of which a lower score is better.
        create
            Create test sets without texts for pairs that the campaign lacks, and the campaign where there is none.
        preview
            Only say what would be stored.
        if_match
            As in all changes of campaigns.
        """
        fields: dict[str, Any] = {
            "test_set": test_set,
            "pairs": list(pairs),
            "metric": metric,
            "lower_is_better": list(lower_is_better),
            "create": "true" if create else "false",
            "preview": "true" if preview else "false",
        }
        sent = [("files", read_file(content, title)) for title, content in files.items()]
        return self._change(
            ScoresImportedResponse, "POST", "campaigns", name, "scores", data=fields, files=sent,
            headers=matching(if_match),
        )  # fmt: skip

    @operation
    def choose_imported_scores(
        self, name: str, title: str, *, test_set: str = "", if_match: str | None = None
    ) -> Steps[None]:
        """Show a version, NAME@VERSION, on the leaderboards instead of the others of its metric. For organisers."""
        address = path_of("campaigns", name, "scores", title, "choose")
        yield from self._send("POST", address, params={"test_set": test_set}, headers=matching(if_match))

    @operation
    def delete_imported_scores(
        self, name: str, title: str, *, test_set: str = "", if_match: str | None = None
    ) -> Steps[None]:
        """Delete a version, NAME@VERSION, or all versions of a metric, NAME, with its column. For organisers."""
        address = path_of("campaigns", name, "scores", title)
        yield from self._send("DELETE", address, params={"test_set": test_set}, headers=matching(if_match))

    @operation
    def rank_campaign_by_autorank(
        self, name: str, new: AutoRankUpdate, *, if_match: str | None = None
    ) -> Steps[AutoRankResponse]:
        """Rank a campaign by AutoRank, with a column of it on the leaderboards of its test sets. For organisers."""
        return self._change(
            AutoRankResponse, "PUT", "campaigns", name, "autorank", body=new, headers=matching(if_match)
        )
