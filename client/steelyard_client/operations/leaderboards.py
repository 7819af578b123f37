"""Operations on leaderboards and comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard_client.addresses import drop_none, path_of
from steelyard_client.documents.leaderboards.comparisons import ComparisonCancel, ComparisonsResponse
from steelyard_client.documents.leaderboards.human_rankings import HumanRankingResponse
from steelyard_client.documents.leaderboards.leaderboards import LeaderboardResponse, LeaderboardSummary
from steelyard_client.documents.leaderboards.matrices import MatrixResponse
from steelyard_client.documents.leaderboards.metrics_tasks import MetricsTaskResponse
from steelyard_client.errors import Conflict
from steelyard_client.reading import decode
from steelyard_client.requests import Requests, json_of
from steelyard_client.steps import Pause, listing, operation
from steelyard_client.vocabulary import IntervalKind, PValueCorrection, SignificanceTest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steelyard_client.documents.leaderboards.comparisons import TrialsProgressResponse
    from steelyard_client.steps import Items, Steps

TRIALS_POLL_SECONDS = 0.5
"""Interval between two polls of running randomization tests."""
LEVEL = 0.95
ALPHA = 0.05
"""What a server uses unless something else is asked for."""
MOST_SYSTEMS = 1000
"""Systems of a leaderboard in one response."""


class LeaderboardOperations(Requests):
    """Leaderboards and comparisons."""

    @listing
    def list_leaderboards(self, campaign: str) -> Items[LeaderboardSummary]:
        """The leaderboards of a campaign: one for each test set and list of references."""
        return self._pages(LeaderboardSummary, "campaigns", campaign, "leaderboards")

    @operation
    def read_campaign_matrix(
        self,
        campaign: str,
        *,
        metric: str = "",
        shown: str = "ranked",
        constrained: str = "",
        sort: str = "mean_rank",
        only: Sequence[str] = (),
        complete: bool = False,
    ) -> Steps[MatrixResponse]:
        """The systems of a campaign over all of its test sets, by one metric.

        Parameters
        ----------
        campaign
            Name of the campaign.
        metric
            The ranking metric; default that of the campaign.
        shown
            "ranked" or "all" systems.
        constrained
            "yes", "no", or "" for all systems.
        sort
            "mean_rank", "autorank", "system", "gaps", or the name of a test set.
        only
            Test sets; default all.
        complete
            Whether systems that lack a test set are left out.
        """
        return self._get(
            MatrixResponse, "campaigns", campaign, "matrix",
            metric=metric or None, shown=shown, constrained=constrained or None, sort=sort, only=list(only) or None,
            complete="true" if complete else None,
        )  # fmt: skip

    @operation
    def read_campaign_metrics_task(self, campaign: str, *, human: str = "") -> Steps[MetricsTaskResponse]:
        """How well metrics agree with people over all test sets of a campaign, once that is computed.

        Parameters
        ----------
        campaign
            Name of the campaign.
        human
            The judgments, by name; default the newest of each test set.
        """
        while True:
            found = yield from self._get(
                MetricsTaskResponse, "campaigns", campaign, "metrics-task", human=human or None
            )
            if not found.computing:
                return found
            yield Pause(TRIALS_POLL_SECONDS)

    @operation
    def read_human_ranking(self, campaign: str, *, test_set: str = "") -> Steps[HumanRankingResponse]:
        """The official ranking of a test set by human judgments; by default the first one."""
        path = ("campaigns", campaign, "human-ranking")
        return (yield from self._get(HumanRankingResponse, *path, test_set=test_set or None))

    @operation
    def read_leaderboard(
        self,
        campaign: str,
        *,
        test_set: str = "",
        references: Sequence[str] = (),
        metric: str = "",
        shown: str = "ranked",
        constrained: str = "",
        board: int | None = None,
        all_ranks: bool = False,
        level: float = LEVEL,
        interval: str = IntervalKind.PERCENTILE,
        test: str = SignificanceTest.BOOTSTRAP,
        trials: int | None = None,
        correction: str = PValueCorrection.NONE,
        alpha: float = ALPHA,
        all_submissions: bool = False,
        power: bool = False,
    ) -> Steps[LeaderboardResponse]:
        """A leaderboard with all its systems. An unchanged leaderboard is taken from the client's cache.

        Parameters
        ----------
        campaign
            Name of the campaign.
        test_set
            Name or NAME@VERSION; default the first one.
        references
            Labels; default the longest list.
        metric
            The ranking metric; default that of the campaign.
        shown
            "ranked", or "all" to include unranked systems (contrastive, or superseded by a later submission).
        constrained
            "yes", "no", or "" for all systems.
        board
            A number from `list_leaderboards`, to select one that is not the newest.
        all_ranks
            Whether systems have their ranks by every metric, and not by the ranking one alone.
        level, interval
            Confidence level of the intervals, and how they are computed: "percentile" or "bca". This and what follows
            is for accounts, where it differs from the default; a server computes it for up to 60 systems.
        test, trials, correction, alpha
            How systems are tested for rank ranges and clusters. `trials` of randomization tests are by default as many
            as the correction needs; `ranking.testing` says how many tests are missing, which `request_comparisons`
            asks for.
        all_submissions
            Whether replaced submissions are shown, each by itself. For organisers.
        power
            Whether to say which differences the test set can detect.

        Raises
        ------
        NotFound
            There is no such leaderboard.
        Forbidden
            The leaderboard is not shown in this phase.
        """
        filters = {
            **board_filters(test_set, references, metric, board),
            "shown": shown,
            "constrained": constrained or None,
            "limit": MOST_SYSTEMS,
            "all_ranks": "true" if all_ranks else None,
            "level": None if level == LEVEL else level,
            "interval": None if interval == IntervalKind.PERCENTILE else interval,
            "test": None if test == SignificanceTest.BOOTSTRAP else test,
            "trials": trials,
            "correction": None if correction == PValueCorrection.NONE else correction,
            "alpha": None if alpha == ALPHA else alpha,
            "all_submissions": "true" if all_submissions else None,
            "power": "true" if power else None,
        }
        found = yield from self._get_json("campaigns", campaign, "leaderboard", **filters)
        items, following = [*found["items"]], found["next"]
        while following is not None:
            page = yield from self._get_json("campaigns", campaign, "leaderboard", after=following, **filters)
            items, following = items + page["items"], page["next"]
        return decode(LeaderboardResponse, {**found, "items": items, "next": None})

    @operation
    def download_leaderboard(
        self,
        campaign: str,
        kind: str,
        *,
        test_set: str = "",
        references: Sequence[str] = (),
        metric: str = "",
        shown: str = "ranked",
        constrained: str = "",
        board: int | None = None,
    ) -> Steps[bytes]:
        """A leaderboard as a file, "csv", "tsv" or "latex"; the other parameters as in `read_leaderboard`."""
        filters = board_filters(test_set, references, metric, board)
        return self._get_bytes(
            "campaigns", campaign, "leaderboard", format=kind, shown=shown, constrained=constrained or None, **filters
        )

    @operation
    def read_comparisons(
        self,
        campaign: str,
        systems: Sequence[int] = (),
        *,
        test_set: str = "",
        references: Sequence[str] = (),
        metric: str | Sequence[str] = "",
        by: str = "",
        single: bool = False,
        test: str = "bootstrap",
        correction: str = "none",
        board: int | None = None,
        trials: int | None = None,
        level: float = LEVEL,
        interval: str = IntervalKind.PERCENTILE,
        alpha: float = ALPHA,
        baseline: int | None = None,
        comparison: int | None = None,
    ) -> Steps[ComparisonsResponse]:
        """Tests of systems, as far as they are computed; parameters as in `compare`.

        `comparison` is the number of one that `request_comparisons` started, to include its progress.
        """
        filters = _comparison(systems, test_set, references, metric, test, correction, board)
        filters |= _rule(trials, level, interval, alpha, baseline, by, single)
        address = path_of("campaigns", campaign, "comparisons")
        answer = yield from self._send("GET", address, params=drop_none({**filters, "comparison": comparison}))
        return decode(ComparisonsResponse, json_of(answer))

    @operation
    def request_comparisons(
        self,
        campaign: str,
        systems: Sequence[int] = (),
        *,
        test_set: str = "",
        references: Sequence[str] = (),
        metric: str | Sequence[str] = "",
        by: str = "",
        single: bool = False,
        correction: str = "none",
        board: int | None = None,
        trials: int | None = None,
        level: float = LEVEL,
        interval: str = IntervalKind.PERCENTILE,
        alpha: float = ALPHA,
        baseline: int | None = None,
    ) -> Steps[ComparisonsResponse]:
        """Request the missing randomization tests, for at most 20 systems; parameters as in `compare`."""
        filters = _comparison(systems, test_set, references, metric, "randomization", correction, board)
        params = filters | _rule(trials, level, interval, alpha, baseline, by, single)
        return self._change(ComparisonsResponse, "POST", "campaigns", campaign, "comparisons", params=params)

    @operation
    def cancel_comparison(self, campaign: str, comparison: int, *, reason: str = "") -> Steps[None]:
        """Cancel a running comparison; stored trials stay. For organisers."""
        body = ComparisonCancel(reason=reason)
        return self._command("POST", "campaigns", campaign, "comparisons", comparison, "cancel", body=body)

    @operation
    def compare(
        self,
        campaign: str,
        systems: Sequence[int] = (),
        *,
        test_set: str = "",
        references: Sequence[str] = (),
        metric: str | Sequence[str] = "",
        by: str = "",
        single: bool = False,
        test: str = "bootstrap",
        correction: str = "none",
        board: int | None = None,
        trials: int | None = None,
        level: float = LEVEL,
        interval: str = IntervalKind.PERCENTILE,
        alpha: float = ALPHA,
        baseline: int | None = None,
        on_progress: Callable[[TrialsProgressResponse], None] | None = None,
    ) -> Steps[ComparisonsResponse]:
        """Compare systems, in pairs or with a baseline; request what is missing, and wait for it.

        Parameters
        ----------
        campaign
            Name of the campaign.
        systems
            Submission numbers; default the best eight systems.
        test_set, references, metric, board
            As in `read_leaderboard`; `metric` may be several, and without it they are all metrics.
        by
            The metric that sorts; default the first one.
        single
            Each submission by itself, also replaced ones. For organisers.
        test
            "bootstrap", or "randomization"; missing randomization tests are requested and waited for.
        correction
            "none", "holm" or "bh".
        trials
            Of each randomization test; default as many as the correction needs.
        level, interval
            Of the confidence intervals; "percentile" or "bca".
        alpha
            p-value below which a difference is significant.
        baseline
            Submission that all others are tested against; default all pairs.
        on_progress
            Called at each poll while randomization tests run.

        Raises
        ------
        NotFound, Forbidden, BadInput
            As for a leaderboard, or the parameters are invalid.
        Conflict
            Some pairs could not be tested.
        """
        filters = _comparison(systems, test_set, references, metric, test, correction, board)
        filters |= _rule(trials, level, interval, alpha, baseline, by, single)
        address = path_of("campaigns", campaign, "comparisons")

        def ask(method: str, **more: int) -> Steps[ComparisonsResponse]:
            return decode(ComparisonsResponse, json_of((yield from self._send(method, address, params=filters | more))))

        found = yield from ask("GET")
        if test == "bootstrap" or not found.missing:
            return found
        found = yield from ask("POST")
        while found.progress is not None and found.progress.running:
            if on_progress is not None:
                on_progress(found.progress)
            yield Pause(TRIALS_POLL_SECONDS)
            found = yield from ask("GET", comparison=found.progress.comparison)
        if found.missing:
            why = found.progress.failure if found.progress is not None else ""
            raise Conflict(409, "not_tested", why or "Some pairs could not be tested.")
        return found


def board_filters(
    test_set: str, references: Sequence[str], metric: str | Sequence[str], board: int | None
) -> dict[str, Any]:
    """Query parameters that select a leaderboard, without those that are not given."""
    named = {
        "test_set": test_set or None,
        "references": ",".join(references) or None,
        "metric": (metric if isinstance(metric, str) else list(metric)) or None,
    }
    return drop_none({**named, "board": board})


def _comparison(
    systems: Sequence[int], test_set: str, references: Sequence[str], metric: str | Sequence[str], test: str,
    correction: str, board: int | None,
) -> dict[str, Any]:  # fmt: skip
    return drop_none(
        {
            "system": list(systems) or None,
            **board_filters(test_set, references, metric, board),
            "test": test,
            "correction": correction,
        }
    )


def _rule(
    trials: int | None, level: float, interval: str, alpha: float, baseline: int | None, by: str, single: bool
) -> dict[str, Any]:
    """How systems are compared, without what a server does by default."""
    return drop_none(
        {
            "trials": trials,
            "level": None if level == LEVEL else level,
            "interval": None if interval == IntervalKind.PERCENTILE else interval,
            "alpha": None if alpha == ALPHA else alpha,
            "baseline": baseline,
            "by": by or None,
            "single": "true" if single else None,
        }
    )
