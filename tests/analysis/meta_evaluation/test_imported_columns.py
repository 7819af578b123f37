"""Imported scores beside computed ones: compared with people, and marked in the report."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from analysis.leaderboard.board import read_board
from analysis.meta_evaluation.metrics_and_human import read_judged
from campaigns.reports.campaign import render_report
from models.database.session import reading
from models.results.boards import list_boards
from tests.analysis.judged import METRICS, SEGMENTS, SYSTEMS, human_scores, judge, scored_campaign
from tests.campaigns.reports.pages import checked
from tests.campaigns.score_imports.scores import table, take_in

UNSCORED = "system2"


def test_imported_columns_are_compared_with_people_and_marked_in_the_report(database_url: str, tmp_path: Path) -> None:
    engine = scored_campaign(database_url)
    judge(engine, human_scores())
    draws = np.random.default_rng(3)
    given = {f"system{each}": draws.normal(each, 1.0, SEGMENTS).round(3) for each in range(SYSTEMS)}
    rows = [
        (system, "Judge", place, score)
        for system, scores in given.items()
        if system != UNSCORED
        for place, score in enumerate(scores.tolist(), 1)
    ]
    take_in(engine, "trial", table(tmp_path / "judge.tsv", rows))

    with reading(engine) as connection:
        (listed,) = [
            each
            for each in list_boards(connection, name="trial")
            if any(metric.startswith("imported:") for metric in each.metrics)
        ]
        board = read_board(connection, listed, 0.95)
        judged = read_judged(connection, board)
        page = checked(render_report(connection, [board], title="trial"))
    (imported,) = [each for each in judged.metrics if "Judge" in each.title]
    assert len(judged.metrics) == len(METRICS) + 1
    assert imported.title == "Judge (imported)"
    for system, score in zip(judged.systems, imported.systems.tolist(), strict=True):
        if system == UNSCORED:
            assert np.isnan(score), "never 0"
        else:
            assert score == pytest.approx(given[system].mean(), abs=1e-6)

    assert any("Judge (imported)" in each for each in page.text("th"))
    assert "n/a" in page.text("td")
