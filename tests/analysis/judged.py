"""A small campaign in a database, scored and judged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sqlalchemy import Engine, select

from analysis.leaderboard.board import Board, read_board
from analysis.meta_evaluation.human import HumanScores
from analysis.meta_evaluation.metrics_and_human import JudgedBoard, read_judged
from models.corpus.judgments import NewJudgments, SegmentRow, StoredJudgments, SystemRow, store_judgments
from models.database.session import make_engine, reading, writing
from models.results.boards import BoardSummary, list_boards
from models.schema.campaigns import Campaign
from models.schema.corpus import TestSet
from models.schema.states import JudgmentKind
from tests.library.meta_evaluation.judged_scores import SEED, of_arrays
from tests.scheduler.jobs import one_block_shards, queue_job, work_off

SYSTEMS, SEGMENTS = 6, 60
METRICS = ("bleu", "ter", "chrf")


def scored_campaign(url: str, **others) -> Engine:
    """Systems system0 to system5 by three metrics with 80 replicates."""
    engine, settings = make_engine(url), one_block_shards(url)
    queue_job(engine, settings, segments=SEGMENTS, systems=SYSTEMS, metrics=METRICS, replicates=80, **others)
    work_off(settings)
    return engine


def human_scores(seed: int = 1) -> np.ndarray:
    """(systems, segments) from 0 to 100, about a third unjudged; the first systems are better."""
    draw = np.random.default_rng(seed)
    scores = (80 - 6 * np.arange(SYSTEMS)[:, None] + 20 * draw.normal(size=(SYSTEMS, SEGMENTS))).clip(0, 100).round(1)
    scores[draw.random(scores.shape) < 0.3] = np.nan
    return scores


def judge(
    engine: Engine,
    scores: np.ndarray,
    *,
    systems: bool = True,
    segments: bool = True,
    name: str = "da",
    kind: JudgmentKind = JudgmentKind.RATINGS,
) -> None:
    """Store human scores of all systems but the last, of a reference and of somebody unknown."""
    named = {f"system{number}": row for number, row in enumerate(scores[:-1])}
    named |= {"HUMAN-A": scores[-1], "stranger": scores[-1]}
    system_rows = [SystemRow(system, float(np.nanmean(row))) for system, row in named.items()]
    segment_rows = [
        SegmentRow(system, int(segment), float(row[segment]), float(row[segment]), 1)
        for system, row in named.items()
        for segment in np.flatnonzero(~np.isnan(row))
    ]
    new = NewJudgments(name, kind, {}, system_rows if systems else [], segment_rows if segments else [])
    with writing(engine) as connection:
        campaign, test_set = connection.scalar(select(Campaign.id)), connection.scalar(select(TestSet.id))
        store_judgments(connection, campaign, test_set, new)


def read(engine: Engine, **others) -> JudgedBoard:
    """The campaign's only board, judged."""
    with reading(engine) as connection:
        (listed,) = list_boards(connection)
        return read_judged(connection, read_board(connection, listed, 0.95), **others)


def made_judged(
    people: np.ndarray,
    metrics: dict[str, np.ndarray],
    *,
    raw: np.ndarray | None = None,
    replicates: int = 40,
    **others: object,
) -> JudgedBoard:
    """Made by hand: human scores and those of metrics, (systems, segments) each; scores of systems are their means."""
    arrays = of_arrays(people, metrics, raw, replicates)
    names, segments = arrays["systems"], people.shape[1]
    listed = BoardSummary(1, 1, "port", "port", "1", ("A",), tuple(metrics), replicates, SEED, segments)
    stored = StoredJudgments(1, "da", 1, JudgmentKind.SCORES, {}, 0.0)
    by_system = dict(zip(names, people, strict=True))
    human = HumanScores(stored, segments, {}, (), segments=by_system, raw_segments={}, labels=frozenset("A"))
    made = JudgedBoard(
        board=Board(listed=listed, level=0.95, sorted_by=0, rows=(), same_output={}),
        human=human,
        matched=human.matched(names),
        unscored=(),
        **arrays,
    )
    return replace(made, **others)
