"""A leaderboard: the systems of one protocol with their scores and intervals."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from analysis.leaderboard.column_notices import column_notices
from models.results.boards import documents_of_board, output_of
from models.results.equal_outputs import read_equal_references
from models.results.leaderboard import read_leaderboard
from models.results.statistics import read_statistics
from steelyard.errors import MetricsError
from steelyard.metrics.registry import installed_metrics, parse_metric
from steelyard.metrics.segmentation import unsegmented
from steelyard.metrics.without_texts.imported import Imported, plain_name
from steelyard.ranking.autorank import NEWEST, VERSIONS
from steelyard.ranking.autorank_column import AutoRank
from steelyard.ranking.power import metric_power
from steelyard.resampling.interval import interval
from steelyard.resampling.jackknife import leave_one_out
from steelyard.resampling.paired import percentile_intervals_of_pairs
from steelyard.resampling.power import ALPHA
from steelyard.resampling.runs import RunSpread, mean_over_runs, run_spread
from steelyard.tables.titles import distinct_titles, with_distinct_titles
from steelyard.text.wording import with_references
from steelyard_client.vocabulary import remark

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray
    from sqlalchemy import Connection

    Interval = tuple[float, float]

    from models.results.boards import BoardSummary
    from models.results.leaderboard import LeaderboardRow, LeaderboardScore
    from steelyard.metrics.metric import Metric
    from steelyard.ranking.clusters import SystemRank
    from steelyard.ranking.power import MetricPower
    from steelyard.ranking.tested_ranking import Ranking


@dataclass(frozen=True)
class Board:
    """The systems of one protocol, best first by the metric they are sorted by."""

    listed: BoardSummary
    """Campaign, test set and protocol."""
    level: float
    sorted_by: int
    """Position of a metric."""
    rows: Sequence[LeaderboardRow]
    same_output: Mapping[tuple[int, ...], str]
    """A row's evaluations -> the system above it whose output is the very same."""
    ranking: Ranking | None = None
    """Rank ranges and clusters, where requested."""
    interval_kind: str = "percentile"
    """One of steelyard.resampling.interval.INTERVALS."""
    numbered: bool = False
    """Whether names of systems include submission numbers, because a system may have several rows."""
    not_ranked: int = 0
    """The number of unranked systems, whether they are among the rows or not."""
    more_replicates: Mapping[LeaderboardScore, NDArray[np.float64]] = field(default_factory=dict)
    """Replicates for tests whose correction needs more draws than are stored (`analysis.leaderboard.more_replicates`):
    all of them, the stored ones first."""
    left_out: Mapping[LeaderboardScore, NDArray[np.float64]] = field(default_factory=dict)
    """For BCa intervals: (segments,), the score without each segment; (documents,) where these are resampled."""

    same_as_reference: Mapping[tuple[int, ...], str] = field(default_factory=dict)
    """A row's evaluations -> the reference with the same text. Reveals references: not for teams while those are
    hidden."""
    column_notices: Sequence[str] = ()
    """Sentences about columns that still wait for a model or a program (`analysis.leaderboard.column_notices`)."""
    without: tuple[str, ...] = ()
    """Names of systems that were left out on request, sorted."""

    @property
    def title(self) -> str:
        """Test set and references."""
        return with_references(self.listed.name, self.listed.references)

    @property
    def titles(self) -> list[str]:
        """The metrics' display names, with an arrow where lower is better."""
        for row in self.rows:
            if row.scores:
                return [score.title + ("" if score.higher_is_better else " ↓") for score in row.scores]
        return list(self.listed.metrics)

    @property
    def notices(self) -> list[str]:
        """What it still lacks, and warnings about the scores (`board_notices`)."""
        return [*self.column_notices, *board_notices(self.listed)]

    def interval(self, score: LeaderboardScore) -> tuple[float, float] | None:
        """The interval at the board's level; None without replicates or where one of them is undefined."""
        if score.score is None or not len(score.replicate_scores):
            return None
        return interval(self.interval_kind, score.replicate_scores, self.level, score.score, self.left_out.get(score))

    def interval_of_difference(self, metric: int, a: int, b: int) -> tuple[float, float] | None:
        """The interval of the score of row b minus that of row a; None where one of them has none.

        It uses the stored replicates, as the intervals of the scores do, however many draws the tests use.
        """
        first, second = (self.rows[row].scores[metric] for row in (a, b))
        if first.score is None or second.score is None or not self.listed.replicates:
            return None
        left_out = self.left_out[second] - self.left_out[first] if self.left_out else None
        differences = second.replicate_scores - first.replicate_scores
        return interval(self.interval_kind, differences, self.level, second.score - first.score, left_out)

    def intervals_of_differences(self, metric: int, pairs: Sequence[tuple[int, int]]) -> list[Interval | None]:
        """As `interval_of_difference`, of each pair of rows."""
        if self.interval_kind != "percentile" or not self.listed.replicates:
            return [self.interval_of_difference(metric, a, b) for a, b in pairs]
        replicates = self._replicates(metric, {})
        replicates[np.isnan(self.scores(metric))] = np.nan
        return percentile_intervals_of_pairs(replicates, pairs, self.level)

    def scores(self, metric: int) -> NDArray[np.float64]:
        """The scores of all rows by one of the metrics.

        Returns
        -------
        ndarray of float64, shape (rows,)
            NaN for rows without a score.
        """
        found = [row.scores[metric].score if row.scores else None for row in self.rows]
        return np.array([np.nan if score is None else score for score in found], dtype=np.float64)

    def higher_is_better(self, metric: int) -> bool:
        """Whether more is better by one of the metrics."""
        return all(row.scores[metric].higher_is_better for row in self.rows if row.scores)

    def name(self, row: LeaderboardRow) -> str:
        """Team and system, with the number of runs where runs have names."""
        name = f"{row.team}/{row.system}" if row.team else row.system
        if any(row.runs):
            alone = len(row.runs) == 1
            name += f" (run {row.runs[0]})" if alone and self.numbered else f" ({len(row.runs)} run{'s'[alone:]})"
        return f"{name} #{','.join(map(str, row.submissions))}" if self.numbered or row.twice else name

    def remark(self, row: LeaderboardRow) -> str:
        """A remark beside the scores: same output, not ranked, late; for a row without scores its state."""
        if row.scores:
            same = self.same_output.get(row.evaluations, "")
            said = remark(same, row.kind, ranked=row.ranked, late=row.late_seconds > 0)
            reference = self.same_as_reference.get(row.evaluations)
            return ", ".join(filter(None, (f"same as reference {reference}" if reference else "", said)))
        state = f"{row.state.value}: {row.reason}" if row.reason else row.state.value
        return f"{row.runs_done} of {len(row.runs)} runs done; {state}" if len(row.runs) > 1 else state

    def tested_replicates(self, metric: int) -> NDArray[np.float64]:
        """The replicates for bootstrap tests by a metric.

        Returns
        -------
        ndarray of float64, shape (rows, draws)
            NaN for rows without scores.
        """
        return self._replicates(metric, self.more_replicates)

    def power(self, metric: int, segments: int, *, alpha: float = ALPHA) -> MetricPower:
        """The statistical power of the board's test set of so many segments by a metric, from stored replicates."""
        return metric_power(
            self.scores(metric),
            self._replicates(metric, {}),
            segments,
            higher_is_better=self.higher_is_better(metric),
            alpha=alpha,
        )

    def _replicates(self, metric: int, more: Mapping[LeaderboardScore, NDArray[np.float64]]) -> NDArray[np.float64]:
        scores = [row.scores[metric] if row.scores else None for row in self.rows]
        known = [more.get(each, each.replicate_scores) for each in scores if each]
        undefined = np.full(len(known[0]) if known else self.listed.replicates, np.nan)
        found = iter(known)
        return np.stack([undefined if each is None else next(found) for each in scores])

    @property
    def ranked_rows(self) -> list[int]:
        """Positions of the ranked rows."""
        return [position for position, row in enumerate(self.rows) if row.ranked]

    @property
    def draws(self) -> int:
        """The number of replicates of the bootstrap tests."""
        return max((len(each) for each in self.more_replicates.values()), default=self.listed.replicates)

    def only(self, rows: Sequence[int]) -> Board:
        """The board with some of its rows, in its order and without a ranking; ranks by score stay."""
        return replace(self, rows=[self.rows[row] for row in sorted(rows)], ranking=None)

    def excluding(self, names: Collection[str]) -> Board:
        """The board without the systems of these names, each SYSTEM or TEAM/SYSTEM."""
        full = [f"{row.team}/{row.system}" if row.team else row.system for row in self.rows]
        gone = {row for row, each in enumerate(self.rows) if {full[row], each.system, self.name(each)} & set(names)}
        without = tuple(sorted({*self.without, *(full[row] for row in gone)}))
        return replace(self.only([row for row in range(len(full)) if row not in gone]), without=without)

    def rank_of(self, row: int, metric: int) -> SystemRank | None:
        """The rank of a row's system by a metric; None where nothing was tested or it has no score."""
        return self.ranking.ranks[metric][row] if self.ranking and self.ranking.ranks else None


def read_board(
    connection: Connection,
    listed: BoardSummary,
    level: float,
    sort: str | None = None,
    *,
    interval_kind: str = "percentile",
    ranked_only: bool = False,
    all_submissions: bool = False,
    submissions: Sequence[int] | None = None,
) -> Board | None:
    """A leaderboard sorted by the named metric; None where it has no such metric.

    `ranked_only` leaves out unranked rows (`models.results.entries`); `all_submissions` includes replaced ones.
    `submissions` restricts the board to these submissions, of any campaign, each with a row of its own.
    """
    position = position_of_metric(listed.metrics, sort)
    if position is None:
        return None
    rows = read_leaderboard(
        connection,
        listed.protocol_id,
        campaign_id=listed.campaign_id if submissions is None else None,
        sort_metric=position,
        all_submissions=all_submissions,
        submissions=submissions,
    )
    rows = [replace(row, scores=tuple(with_distinct_titles(row.scores))) for row in rows]
    not_ranked = sum(not row.ranked for row in rows)
    if ranked_only:
        rows = [row for row in rows if row.ranked]
    board = Board(
        listed=listed,
        level=level,
        sorted_by=position,
        rows=rows,
        same_output={},
        interval_kind=interval_kind,
        numbered=all_submissions or submissions is not None,
        not_ranked=not_ranked,
        column_notices=column_notices(connection, listed.metrics, [each for row in rows for each in row.evaluations]),
        left_out=left_out_of(connection, listed, rows) if interval_kind == "bca" and listed.replicates else {},
    )
    texts = output_of(connection, [submission for row in rows for submission in row.submissions])
    first: dict[tuple[int, ...], str] = {}
    same: dict[tuple[int, ...], str] = {}
    for row in rows:
        outputs = tuple(texts[submission] for submission in row.submissions)
        if outputs in first:
            same[row.evaluations] = first[outputs]
        else:
            first[outputs] = board.name(row)
    equal = read_equal_references(connection, [submission for row in rows for submission in row.submissions])
    references = {
        row.evaluations: " and ".join(dict.fromkeys(label for each in row.submissions for label in equal.get(each, ())))
        for row in rows
    }
    return replace(
        board, same_output=same, same_as_reference={key: labels for key, labels in references.items() if labels}
    )


def board_notices(listed: BoardSummary) -> list[str]:
    """Warnings about metrics whose tokenizer does not fit the target language."""
    return unsegmented(installed_metrics(listed.metrics), listed.target_language)


def same_output_pairs(connection: Connection, board: Board) -> set[tuple[int, int]]:
    """The pairs of rows, in both orders, with identical outputs."""
    texts = output_of(connection, [submission for row in board.rows for submission in row.submissions])
    outputs = [tuple(texts[submission] for submission in row.submissions) for row in board.rows]
    rows = range(len(outputs))
    return {(a, b) for a in rows for b in rows if a != b and outputs[a] == outputs[b]}


def spread_of_runs(score: LeaderboardScore) -> RunSpread | None:
    """The standard deviations of a score over test sets and over runs; None where a run has no score."""
    if score.score is None:
        return None
    return run_spread(np.array(score.run_scores, dtype=np.float64), score.run_replicate_scores)


def left_out_of(
    connection: Connection, listed: BoardSummary, rows: Sequence[LeaderboardRow]
) -> dict[LeaderboardScore, NDArray[np.float64]]:
    """Every score of the rows without each segment or document, for bias-corrected and accelerated intervals."""
    documents = documents_of_board(connection, listed)
    found = {}
    for row in rows:
        for metric, score in enumerate(row.scores):
            statistics = read_statistics(connection, row.evaluations, metric)
            of_units = statistics if documents is None else documents.added_up(statistics)
            of_runs = leave_one_out(parse_metric(score.specification), of_units)
            found[score] = mean_over_runs(of_runs, [len(row.runs)])[0]
    return found


def position_of_metric(metrics: Sequence[str], wanted: str | None) -> int | None:
    """The position of the metric with that specification, title or name; 0 for None; None without a match.

    Distinct titles, as boards show them (`steelyard.tables.titles`), match before titles that several metrics share.
    """
    if wanted is None:
        return 0
    if wanted in metrics:
        return metrics.index(wanted)
    meant, parsed = _known_metric(wanted), [_known_metric(specification) for specification in metrics]
    if meant in parsed and meant is not None:
        return parsed.index(meant)
    if isinstance(meant, AutoRank) and not meant.of:
        rules = [each.rule if isinstance(each, AutoRank) else None for each in parsed]
        wanted_rules = [meant.rule] if meant.rule else [NEWEST, *VERSIONS]
        return next((rules.index(rule) for rule in wanted_rules if rule in rules), None)
    plain = [metric.title if metric else each for metric, each in zip(parsed, metrics, strict=True)]
    imported = [plain_name(each.metric) if isinstance(each, Imported) else "" for each in parsed]
    for titles in (distinct_titles(plain, metrics), plain, imported):
        for position, title in enumerate(titles):
            if title.lower() == wanted.lower():
                return position
    for position, specification in enumerate(metrics):
        if specification.partition(":")[0] == wanted.lower():
            return position
    return None


def _known_metric(specification: str) -> Metric | None:
    """The metric; None where it is not installed (any more): stored scores can be shown without it."""
    try:
        return parse_metric(specification)
    except MetricsError:
        return None
