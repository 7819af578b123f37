"""Ingests human judgments: atomically, and each only once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.meta_evaluation.human import match_system_names
from models.corpus.judgments import BadJudgments, NewJudgments, RatingRow, SegmentRow, SystemRow, store_judgments
from models.corpus.test_sets import submitted_systems
from models.database.session import writing
from models.schema.states import JudgmentKind
from scheduler.ingest.error_spans import placed_spans
from steelyard.text.names import printable
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from analysis.meta_evaluation.human import Matched
    from models.corpus.judgments import StoredJudgments
    from steelyard.meta_evaluation.human.judgments import Judged


class NothingMatched(BadJudgments):
    """None of the judged systems has a submission."""


@dataclass(frozen=True, slots=True)
class IngestedJudgments:
    """Stored judgments."""

    stored: StoredJudgments
    new: bool
    """Whether they are new."""
    matched: Matched
    """The match of their systems with submissions."""
    notices: tuple[str, ...] = ()
    """What was left out of error spans."""
    error_spans: int = 0
    """That are stored."""


def ingest_judgments(
    engine: Engine, campaign_id: int, test_set_id: int, name: str, judged: Judged
) -> IngestedJudgments:
    """Store judgments of a test set in a campaign in one transaction; see `store_matched_judgments`."""
    with writing(engine, durable=True) as connection:
        return store_matched_judgments(connection, campaign_id, test_set_id, name, judged)


def store_matched_judgments(
    connection: Connection, campaign_id: int, test_set_id: int, name: str, judged: Judged
) -> IngestedJudgments:
    """Store judgments, with the names of systems changed to those of their submissions in the campaign.

    `analysis.meta_evaluation.human.match_system_names` matches them. Without any submissions, names are unchanged.

    Raises
    ------
    NothingMatched
        If there are submissions, but none of a judged system.
    BadJudgments
        As `store_judgments`.
    """
    submitted = submitted_systems(connection, campaign_id, test_set_id)
    judged, matched = match_system_names(judged, submitted)
    if submitted and not matched.systems:
        raise NothingMatched(
            "None of the judged systems has a submission here, and nothing was stored. "
            f"Judged: {_listed(*matched.unknown, *matched.references)}. Submitted: {_listed(*matched.not_judged)}. "
            "Use the leaderboard's names of systems, with or without teams, or rename them: OLD=NEW."
        )
    spans, notices = placed_spans(connection, campaign_id, test_set_id, judged)
    new = NewJudgments(
        name,
        JudgmentKind(judged.kind),
        judged.method,
        [SystemRow(*score) for score in judged.systems],
        [SegmentRow(*score) for score in judged.segments],
        [RatingRow(*judgment) for judgment in judged.judgments],
        spans,
    )
    return IngestedJudgments(
        *store_judgments(connection, campaign_id, test_set_id, new), matched, tuple(notices), len(spans)
    )


def _listed(*names: str) -> str:
    return listed([printable(name) for name in names])
