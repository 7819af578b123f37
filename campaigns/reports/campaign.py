"""The report of a campaign from its stored results."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import select

from analysis.breakdown.group_scores import break_down
from analysis.breakdown.influential_segments import read_influential_segments
from analysis.breakdown.ngrams import read_ngrams, words_of
from analysis.breakdown.texts import read_board_texts, read_outputs
from analysis.leaderboard.significance import (
    ALPHA,
    CORRECTION,
    bootstrap_pairs,
    ranked_by_bootstrap,
)
from analysis.meta_evaluation.human_ranking import HumanRanking, rank_stored
from campaigns.reports import limits
from campaigns.reports.breakdowns import documents_body, groups_body, references_body
from campaigns.reports.differences import MetricPairs, differences_body
from campaigns.reports.human_rankings import human_rankings_body
from campaigns.reports.influential_segments import ExplainedPair, SegmentTexts, influential_segments_body
from campaigns.reports.leaderboard import CORRECTIONS, leaderboard_body
from campaigns.reports.method import method_body
from campaigns.reports.page import render_page
from campaigns.reports.scatters import scatters_body
from campaigns.reports.section import Section
from models.corpus.judgments import list_judgments, read_systems
from models.schema.campaigns import Campaign
from models.schema.states import JudgmentKind
from steelyard.inspection.partitions import by_document, by_domain
from steelyard.resampling.draws_needed import smallest_p
from steelyard.text.wording import of_documents
from steelyard_client.vocabulary import compared_to_leaderboard

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from markupsafe import Markup
    from sqlalchemy import Connection

    from analysis.breakdown.texts import BoardTexts
    from analysis.leaderboard.board import Board
    from steelyard.resampling.paired import PairedResult

NO_REPLICATES = "There are no bootstrap replicates (--confidence 0), so there are no intervals, tests or clusters."
OWN_RULE = "human"
"""By which people rank where the campaign has no rule."""
TOO_FEW = "A comparison needs at least two systems with scores."


@dataclass(frozen=True)
class BoardTests:
    """Significance tests of the systems of a leaderboard, and their description."""

    by_metric: Sequence[Sequence[PairedResult]]
    """For each metric of the board, with positions in its rows; empty if not tested by that metric."""
    what: str
    """Test, number of draws and correction, in words."""
    least: float
    """The smallest p-value that they can show."""
    alpha: float = ALPHA
    rule: str = compared_to_leaderboard("bootstrap", CORRECTION)
    """How they relate to those of the leaderboard."""


def render_report(
    connection: Connection,
    boards: Sequence[Board],
    *,
    title: str,
    notices: Sequence[str] = (),
    pairs: Sequence[tuple[str, str]] | None = None,
    human: Mapping[str, Mapping[str, float]] | None = None,
    show_texts: bool = True,
    show_references: bool = True,
    tests: Sequence[BoardTests] = (),
    without: Collection[str] = (),
) -> str:
    """Render the page of some leaderboards.

    Boards of the same campaign and test set are grouped; the causes of differences are shown once, against the most
    references. `pairs` names the systems whose difference is explained, by default neighbours on the board. `human` has
    scores by system under the name of the judgments, by default all that are stored for the test set. `tests` are those
    of each board, by default of all pairs by the rule of the leaderboard. `without` names systems that the scatter
    plots leave out, such as outputs that are a reference. Without `show_texts` the page has no text; without
    `show_references` no reference, and nothing that reveals one.
    """
    made = {
        (each.listed.campaign_id, each.listed.protocol_id): found for each, found in zip(boards, tests, strict=False)
    }
    groups: dict[tuple[int, str, str], list[Board]] = {}
    for board in boards[: limits.LEADERBOARDS]:
        groups.setdefault((board.listed.campaign_id, board.listed.test_set, board.listed.version), []).append(board)
    sections: list[Section] = []
    for number, group in enumerate(groups.values(), 1):
        prefix = f"t{number}-" if len(groups) > 1 else ""
        report = _TestSetReport(connection, group, prefix, pairs, human, show_texts, show_references, made, without)
        sections += report.sections()
    all_notices = [*notices, *dict.fromkeys(notice for board in boards for notice in board.notices)]
    if len(boards) > limits.LEADERBOARDS:
        all_notices.append(f"{len(boards) - limits.LEADERBOARDS} more leaderboards are not shown.")
    return render_page(title, sections, all_notices)


@dataclass
class _TestSetReport:
    """The report about the leaderboards of one test set."""

    connection: Connection
    boards: Sequence[Board]
    prefix: str
    pairs: Sequence[tuple[str, str]] | None
    human: Mapping[str, Mapping[str, float]] | None
    show_texts: bool
    show_references: bool
    made: Mapping[tuple[int, int], BoardTests]
    without: Collection[str]

    def __post_init__(self) -> None:
        self.boards = [board if board.ranking else ranked_by_bootstrap(board) for board in self.boards]
        if not self.show_references:
            self.boards = [replace(board, same_as_reference={}) for board in self.boards]
        # The leaderboard against the most references, the first of equal ones.
        self.board = max(self.boards, key=lambda board: len(board.listed.references))
        self.others = [board for board in self.boards if board is not self.board]
        self.names = [self.board.name(row) for row in self.board.rows]
        listed = self.board.listed
        self.too_large = listed.segments > limits.TEXT_SEGMENTS
        self.tests = self.made.get((listed.campaign_id, listed.protocol_id)) or self._bootstrap()

    def _bootstrap(self) -> BoardTests:
        board, replicates = self.board, self.board.listed.replicates
        found = [bootstrap_pairs(board, metric, intervals=False) for metric in range(len(board.listed.metrics))]
        # Of thousands of pairs few are shown with an interval.
        explained = {frozenset(pair) for pair in self._pairs()[: limits.PAIRS]}
        found[board.sorted_by] = [
            replace(pair, interval=board.interval_of_difference(board.sorted_by, pair.a, pair.b))
            if {pair.a, pair.b} in explained
            else pair
            for pair in found[board.sorted_by]
        ]
        drawn = f"{replicates:,} replicates{of_documents(board.listed.resample)}"
        what = f"paired bootstrap with {drawn}, two-sided, {CORRECTIONS[CORRECTION]}"
        return BoardTests(found, what, smallest_p(replicates, max(map(len, found), default=0), CORRECTION))

    def sections(self) -> list[Section]:
        """Return all sections with content, in the order of the page."""
        texts = read_board_texts(self.connection, self.board, held=not self.too_large)
        scored = any(row.scores for row in self.board.rows)
        explained = self._explained(texts)
        human = self._human(texts) if self.human is None else self.human
        found = [Section(f"{self.prefix}leaderboard", f"Leaderboard: {self.board.title}", leaderboard_body(self.board))]
        if rankings := self._human_rankings(texts):
            found.append(self._section("people", "Ranking by people", human_rankings_body(rankings)))
        found.append(self._section("differences", "Differences", self._differences(explained)))
        if self.others:
            folded = [(each.title, leaderboard_body(each)) for each in self.others]
            body = references_body([self.board, *self.others], folded)
            found.append(self._section("references", "Scores by reference", body))
        if scored:
            found += self._breakdowns(texts)
        if explained:
            languages = {"source_language": texts.source_language, "target_language": texts.target_language}
            body = influential_segments_body(explained, segments=texts.segments, **languages)
            found.append(self._section("drivers", "Influential segments and n-grams", body))
        if scored and (len(self.board.listed.metrics) > 1 or human):
            what = " and with human judgments" if human else ""
            found.append(self._section("scatters", f"Metrics compared with each other{what}", self._scatters(human)))
        body = method_body([self.board, *self.others], self._sentences())
        found.append(self._section("method", "How the scores were computed", body))
        return found

    def _section(self, name: str, title: str, body: Markup) -> Section:
        where = f"{self.board.listed.name}: " if self.prefix else ""
        return Section(self.prefix + name, where + title, body)

    def _differences(self, explained: Sequence[ExplainedPair]) -> Markup:
        board = self.board
        scores = next((row.scores for row in board.rows if row.scores), ())
        order = sorted(range(len(scores)), key=lambda metric: metric != board.sorted_by)
        metrics = [
            MetricPairs(
                board.titles[each], scores[each].higher_is_better, scores[each].scale, self.tests.by_metric[each]
            )
            for each in order
        ]
        return differences_body(
            self.names,
            metrics,
            alpha=self.tests.alpha,
            what=self.tests.what,
            least=self.tests.least,
            rule=self.tests.rule,
            links={
                (self.names.index(pair.first), self.names.index(pair.second)): f"#{pair.link}" for pair in explained
            },
            why=TOO_FEW if board.listed.replicates else NO_REPLICATES,
        )

    def _breakdowns(self, texts: BoardTexts) -> list[Section]:
        partitions = {
            "length": texts.by_length,
            "domain": by_domain(texts.documents, texts.segments),
            "document": by_document(texts.documents, texts.segments),
        }
        known = {name: partition for name, partition in partitions.items() if partition is not None}
        found = []
        for name, breakdown in zip(known, break_down(self.connection, self.board, list(known.values())), strict=True):
            if name == "document":
                body = documents_body(self.board, breakdown)
            else:
                body = groups_body(self.board, breakdown, lines=name == "length")
            title = "Scores by segment length" if name == "length" else f"Scores by {name}"
            found.append(self._section(name, title, body))
        return found

    def _explained(self, texts: BoardTexts) -> list[ExplainedPair]:
        if self.too_large:
            return []
        board, metric = self.board, self.board.sorted_by
        tests = {frozenset((pair.a, pair.b)): pair for pair in self.tests.by_metric[metric]}
        found: dict[tuple[int, int], ExplainedPair] = {}
        for first, second in self._pairs()[: limits.PAIRS]:
            drivers = read_influential_segments(self.connection, board, metric, first, second, limits.SEGMENTS)
            if drivers is None:
                continue
            rows = board.rows[first], board.rows[second]
            pair = ExplainedPair(
                link=f"{self.prefix}pair-{first + 1}-{second + 1}",
                first=self.names[first],
                second=self.names[second],
                metric=board.titles[metric],
                scale=rows[0].scores[metric].scale,
                higher_is_better=rows[0].scores[metric].higher_is_better,
                drivers=drivers,
                test=tests.get(frozenset((first, second))),
                same=drivers.identical == texts.segments and self._same_output(first, second),
            )
            if self.show_texts and not pair.same:
                pair = replace(pair, texts=self._texts(texts, pair, first, second))
            found[first, second] = pair
        if self.show_texts and self.show_references:
            found |= self._with_ngrams(texts, {places: pair for places, pair in found.items() if not pair.same})
        return list(found.values())

    def _pairs(self) -> list[tuple[int, int]]:
        """Return the requested pairs, or neighbours; positions of systems with a score, the better one first."""
        places = [
            position
            for position, row in enumerate(self.board.rows)
            if row.scores and row.scores[self.board.sorted_by].score is not None
        ]
        if self.pairs is None:
            return list(pairwise(places))
        known = {self.board.rows[position].system: position for position in places}
        known |= {self.names[position]: position for position in places}
        asked = [sorted((known[a], known[b])) for a, b in self.pairs if a in known and b in known and a != b]
        return list(dict.fromkeys((first, second) for first, second in asked))

    def _same_output(self, first: int, second: int) -> bool:
        same, rows = self.board.same_output, self.board.rows
        origins = [same.get(rows[position].evaluations, self.names[position]) for position in (first, second)]
        return origins[0] == origins[1]

    def _texts(self, texts: BoardTexts, pair: ExplainedPair, first: int, second: int) -> dict[int, SegmentTexts]:
        rows = [self.board.rows[first], self.board.rows[second]]
        outputs = [text.decode().split("\n") for text in read_outputs(self.connection, rows, texts.segments)]
        source = texts.source.decode().split("\n") if texts.source is not None else None
        references = {
            label: text.decode().split("\n")
            for label, text in zip(self.board.listed.references, texts.references, strict=True)
            if self.show_references
        }
        found = {}
        for driver in (*pair.drivers.for_first, *pair.drivers.for_second):
            at = driver.segment
            found[at] = SegmentTexts(
                document=next(
                    (each.name for each in texts.documents if each.first <= at < each.first + each.segments), ""
                ),
                source=source[at] if source else None,
                references=[
                    (label, lines[at])
                    for label, lines in references.items()
                    if lines[at] or not texts.variable_references
                ],
                first=outputs[0][at],
                second=outputs[1][at],
            )
        return found

    def _with_ngrams(
        self, texts: BoardTexts, pairs: Mapping[tuple[int, int], ExplainedPair]
    ) -> dict[tuple[int, int], ExplainedPair]:
        """Add the n-grams of each pair: neighbours share a system, so all are counted together."""
        found = read_ngrams(self.connection, self.board, texts, list(pairs), limits.NGRAMS) if pairs else []
        return {
            (first, second): replace(
                pair,
                ngrams=[
                    (self.names[system], [each for of_order in lists.values() for each in of_order[side]])
                    for side, system in enumerate((first, second))
                ],
            )
            for ((first, second), pair), lists in zip(pairs.items(), found, strict=True)
        }

    def _human_rankings(self, texts: BoardTexts) -> list[HumanRanking]:
        """Return the official ranking of the test set; without one by our own rule, of all judgments that can rank."""
        if self.human is not None:
            return []
        campaign = self.board.listed.campaign_id
        rule, chosen = self.connection.execute(
            select(Campaign.human_rule, Campaign.human_judgments).where(Campaign.id == campaign)
        ).one()
        stored = list_judgments(self.connection, campaign, texts.test_set_id)
        newest = {each.name: each for each in reversed(stored)}
        if rule:
            official = next((each for each in stored if chosen in (each.name, each.title)), None)
            return [rank_stored(self.connection, rule, texts.test_set_id, official)] if official else []
        found = [
            rank_stored(self.connection, OWN_RULE, texts.test_set_id, each)
            for each in sorted(newest.values(), key=lambda each: each.name)
            if each.kind != JudgmentKind.RANKINGS
        ]
        return [each for each in found if each.board][: limits.HUMAN_RANKINGS]

    def _human(self, texts: BoardTexts) -> dict[str, dict[str, float]]:
        """Return the newest version of all judgments of systems, for the systems of the board."""
        stored = {
            each.name: each
            for each in reversed(list_judgments(self.connection, self.board.listed.campaign_id, texts.test_set_id))
        }
        systems = {row.system for row in self.board.rows}
        found = {}
        for name in sorted(stored):
            scores = {row.system: row.score for row in read_systems(self.connection, stored[name].id)}
            found[f"human: {stored[name].title}"] = {name: score for name, score in scores.items() if name in systems}
        return {title: scores for title, scores in found.items() if scores}

    def _scatters(self, human: Mapping[str, Mapping[str, float]]) -> Markup:
        board = self.board.excluding(self.without)
        metrics = {}
        for metric, title in enumerate(board.titles):
            scores = [row.scores[metric].score if row.scores else None for row in board.rows]
            metrics[title] = [np.nan if score is None else score for score in scores]
        people = {name: [scores.get(row.system, np.nan) for row in board.rows] for name, scores in human.items()}
        left_out = [f"Left out, as asked: {', '.join(board.without)}."] if board.without else []
        return scatters_body([board.name(row) for row in board.rows], metrics, people, left_out)

    def _sentences(self) -> list[str]:
        listed, found = self.board.listed, []
        if listed.replicates:
            kind = {"percentile": "percentiles", "bca": "bias-corrected and accelerated (BCa),"}[
                self.board.interval_kind
            ]
            found.append(
                f"Intervals: {kind} at {100 * self.board.level:g} % of {listed.replicates:,} bootstrap replicates"
                f"{of_documents(listed.resample)} with seed {listed.seed}, with the same draws for all systems."
            )
        else:
            found.append(NO_REPLICATES)
        if any(self.tests.by_metric):
            found.append(
                f"Differences: {self.tests.what}; {self.tests.alpha:g} is the level. Rank ranges and clusters follow "
                "WMT's rule; the leaderboard says by which test."
            )
        found.append(
            "The score of a part of the test set is the metric's formula applied to the summed statistics of its "
            "segments."
        )
        if self.too_large:
            found.append(
                f"Influential segments and n-grams are omitted: the test set has "
                f"{listed.segments:,} segments, and they are shown for up to {limits.TEXT_SEGMENTS:,}."
            )
        elif self.show_texts and self.show_references:
            tokenizer, case = words_of(self.board.listed.metrics)
            found.append(f"N-grams are of words by the tokenizer {tokenizer}, case {case}.")
        if any(len(row.runs) > 1 for row in self.board.rows):
            found.append(
                "Scores of a system with several runs are their means; the texts shown are those of its first run."
            )
        return found
