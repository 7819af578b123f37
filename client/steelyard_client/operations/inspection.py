"""Operations on parts of test sets: documents, domains, n-grams and segments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard_client.documents.leaderboards.breakdowns import BreakdownResponse
from steelyard_client.documents.leaderboards.ngrams import NgramsResponse
from steelyard_client.documents.leaderboards.segments import SegmentsResponse
from steelyard_client.operations.leaderboards import board_filters
from steelyard_client.requests import Requests
from steelyard_client.steps import operation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard_client.steps import Steps


class InspectionOperations(Requests):
    """Documents, domains, n-grams and segments."""

    @operation
    def read_campaign_breakdown(
        self,
        campaign: str,
        *,
        test_set: str = "",
        references: Sequence[str] = (),
        metric: str = "",
        shown: str = "ranked",
        constrained: str = "",
        board: int | None = None,
        by: str = "domain",
        average: str = "micro",
        system: Sequence[int] = (),
    ) -> Steps[BreakdownResponse]:
        """The scores of a leaderboard's systems on each document or domain, by one metric.

        Parameters
        ----------
        campaign
            Name of the campaign.
        test_set, references, metric, shown, constrained, board
            As in `read_leaderboard`.
        by
            "document", "domain" or "length".
        average
            What ranks: "micro", the whole test set, or "macro", the plain mean of all groups.
        system
            Only these submissions; default all that the leaderboard shows.
        """
        return self._get(
            BreakdownResponse, "campaigns", campaign, "breakdown", **board_filters(test_set, references, metric, board),
            shown=shown, constrained=constrained or None, by=by, average=average, system=list(system) or None,
        )  # fmt: skip

    @operation
    def read_campaign_ngrams(
        self, campaign: str, *, test_set: str = "", system: Sequence[str] = ()
    ) -> Steps[NgramsResponse]:
        """The n-grams of the references that one of two systems has more often than the other.

        Parameters
        ----------
        campaign
            Name of the campaign.
        test_set
            NAME or NAME@VERSION; default the first.
        system
            Two outputs, by submission number or displayed name; default the best two.
        """
        return self._get(
            NgramsResponse, "campaigns", campaign, "ngrams", test_set=test_set or None, system=list(system) or None
        )

    @operation
    def list_segments(
        self,
        campaign: str,
        *,
        test_set: str = "",
        references: Sequence[str] = (),
        metric: str = "",
        system: Sequence[str] = (),
        order: str = "number",
        document: str = "",
        domain: str = "",
        test_suite: str = "",
        shortest: int | None = None,
        longest: int | None = None,
        text: str = "",
        segment: int | None = None,
        context: int = 0,
        human: str = "",
        limit: int = 50,
        after: str = "",
    ) -> Steps[SegmentsResponse]:
        """A page of segments with the source, references, outputs, scores and marks that the account may see.

        Parameters
        ----------
        campaign
            Name of the campaign.
        test_set, references, metric
            As in `read_leaderboard`.
        system
            Up to 12 outputs, by submission number or displayed name.
        order
            "number", "difference", "first-better", "second-better", "worst" or "best".
        document, domain, test_suite, text, segment
            Only segments of these; `text` is searched in all texts shown.
        context
            With `segment`: how many segments of its document to list before it, and after it.
        human
            Human judgments whose marked errors to show, by default the newest with any.
        shortest, longest
            Words of the source, or characters for languages written without spaces.
        limit, after
            Segments of a page, and the `next` of the previous page.
        """
        return self._get(
            SegmentsResponse, "campaigns", campaign, "segments", **board_filters(test_set, references, metric, None),
            system=list(system) or None, order=order, document=document or None, domain=domain or None,
            test_suite=test_suite or None, shortest=shortest, longest=longest, text=text or None, segment=segment,
            context=context or None, human=human or None, limit=limit, after=after or None,
        )  # fmt: skip
