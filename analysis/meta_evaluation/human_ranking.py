"""The systems of a test set ranked by stored human judgments."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlalchemy import select

from models.corpus.judgments import read_ratings, read_segments
from models.schema.corpus import Document
from models.schema.states import JudgmentKind
from steelyard.errors import MetricsError
from steelyard.meta_evaluation.human.assessment_formats.assessment import Assessment
from steelyard.meta_evaluation.human.assessments import assessed_pairs
from steelyard.ranking.human_boards import human_board, parse_human_rule
from steelyard.ranking.human_intervals import REPLICATES, human_intervals
from steelyard.ranking.human_rules import MICRO

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from models.corpus.judgments import StoredJudgments
    from steelyard.ranking.human_boards import HumanBoard
    from steelyard.ranking.human_rules import RankedSystem

LEVEL = 0.95
"""Of the intervals."""


@dataclass(frozen=True, eq=False)
class HumanRanking:
    """The systems of a test set, ranked by a rule for human judgments."""

    rule: str
    """As `steelyard rank --by` takes it."""
    judgments: StoredJudgments
    board: HumanBoard | None
    """None where nothing could be ranked."""
    intervals: Mapping[str, tuple[float, float] | None] = field(default_factory=dict)
    """By system."""
    fault: str = ""
    """Why there is no board."""
    level: float = LEVEL
    replicates: int = REPLICATES

    @property
    def version(self) -> tuple[object, ...]:
        """Changes with everything that it shows."""
        return self.judgments.id, self.judgments.created_at, self.judgments.title, self.rule

    @property
    def systems(self) -> Mapping[str, RankedSystem]:
        """By name, best first."""
        return dict(self.board.systems) if self.board else {}

    @property
    def ranks(self) -> Mapping[str, int]:
        """By name; equal scores share one."""
        scores = [each.score for each in self.systems.values()]
        return {name: 1 + sum(other > each.score for other in scores) for name, each in self.systems.items()}


def rank_stored(connection: Connection, rule: str, test_set_id: int, stored: StoredJudgments) -> HumanRanking:
    """Rank the systems of stored judgments by a rule."""
    try:
        parsed = parse_human_rule(rule)
        (judged,) = assessed_pairs(stored_assessments(connection, test_set_id, stored))
        board = human_board(judged, parsed)
    except MetricsError as error:
        return HumanRanking(rule, stored, None, fault=str(error))
    average = MICRO if parsed.name == "wmt25" else parsed.average
    found = human_intervals(judged.scores, judged.domains, judged.documents, average=average, level=LEVEL)
    return HumanRanking(rule, stored, board, dict(zip(judged.systems, found, strict=True)))


def stored_assessments(connection: Connection, test_set_id: int, stored: StoredJudgments) -> list[Assessment]:
    """Return stored judgments as rules take them, with annotators as numbers: their names leave the database nowhere.

    Empty for rankings and for scores of systems alone.
    """
    documents: dict[int, tuple[str, str]] = {}
    for row in connection.execute(select(Document).where(Document.test_set_id == test_set_id)):
        for segment in range(row.first_segment, row.first_segment + row.segments):
            documents[segment] = row.name, row.domain

    def assessment(
        system: str, segment: int, annotator: str, wave: int, score: float, seconds: float | None
    ) -> Assessment:
        document, domain = documents.get(segment, ("", ""))
        return Assessment(
            "", system, document, str(segment), domain, annotator, wave, score, 0.0, stored.title, seconds=seconds
        )

    if stored.kind == JudgmentKind.SCORES:
        rows = read_segments(connection, stored.id)
        return [assessment(each.system, each.segment, "", 0, each.score, None) for each in rows]
    ratings = read_ratings(connection, stored.id) if stored.kind != JudgmentKind.RANKINGS else []
    called = numbered_annotators(each.annotator for each in ratings)
    ratings = [each._replace(annotator=called[each.annotator]) for each in ratings]
    if stored.kind == JudgmentKind.RATINGS:
        return [
            assessment(each.system, each.segment, each.annotator, each.wave, each.value, each.seconds)
            for each in ratings
        ]
    errors: dict[tuple[str, int, str, int], list[float]] = {}
    seconds: dict[tuple[str, int, str, int], float | None] = {}
    for each in ratings:
        cell = each.system, each.segment, each.annotator, each.wave
        errors.setdefault(cell, []).append(each.value)
        seconds[cell] = each.seconds
    return [assessment(*cell, 0.0 - math.fsum(values), seconds[cell]) for cell, values in errors.items()]


def numbered_annotators(names: Iterable[str]) -> dict[str, str]:
    """Return "annotator 1" and so on for names; "" stays.

    Of ten and more, numbers have zeros in front. So their order is that of the names, and who is numbered again, as in
    what was exported and imported, keeps the number.
    """
    known = sorted({*names} - {""})
    digits = len(str(len(known)))
    return {"": "", **{name: f"annotator {number:0{digits}}" for number, name in enumerate(known, 1)}}
