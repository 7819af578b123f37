"""Wherever scores are shown, two metrics that people know by one name are distinguished."""

from __future__ import annotations

from analysis.leaderboard.board import position_of_metric, read_board
from analysis.nightly.entries import apart
from campaigns.accounts.principal import COMMAND_LINE
from campaigns.corrections.comparison import _compare_metric
from campaigns.inspection.segment_scores import find_measure, read_measures
from campaigns.leaderboards.feedback import read_feedback
from campaigns.leaderboards.view import BoardQuery, Boards
from campaigns.measures import protocols_on
from campaigns.permissions import read_access
from models.database.session import reading
from models.nightly.scores import read_nightly_scores
from models.results.boards import list_boards
from models.schema.roles import SiteRole
from tests.service.campaigns import found, submit_output, with_test_set
from tests.service.scored_campaigns import Scored
from tests.service.service import Service

TITLES = ["BLEU", "BLEU (tok=zh)"]


def test_two_of_one_name_are_distinguished_everywhere(service: Service) -> None:
    scored = Scored(service, metrics=("bleu", "bleu:tok=zh"))
    submission = scored.add("", "lamp", 30.0)
    scored.add("", "mast", 20.0)
    with reading(service.engine) as connection:
        (listed,) = list_boards(connection)
        board = read_board(connection, listed, 0.95)
        view = Boards(service.engine, 1 << 20).view(connection, listed, BoardQuery(0))
        measures = read_measures(connection, scored.campaign_id, scored.test_set)
        (measure,) = protocols_on(connection, scored.campaign_id)
        access = read_access(connection, COMMAND_LINE, "port")
        of_run = apart(read_nightly_scores(connection, list(scored.evaluations.values())))
    assert board is not None
    assert board.titles == view.titles == TITLES
    assert [[each.title for each in row.scores] for row in board.rows] == [TITLES, TITLES]
    assert [each.title for each in measures] == TITLES
    assert find_measure(measures, "BLEU (tok=zh)") is measures[1]
    assert [_compare_metric(measure, place, {}, {}).title for place in (0, 1)] == TITLES
    assert [of_run[key].title for key in sorted(of_run)] == TITLES * 2
    (told,) = read_feedback(service.engine, access, [submission])[submission]
    assert [each.title for each in told.scores] == TITLES
    root = service.program(service.account("root", SiteRole.ADMINISTRATOR))
    shown = root.get("/api/v1/campaigns/port/leaderboard").json()["items"]
    assert [each["title"] for each in shown[0]["scores"]] == TITLES
    compared = service.browser(service.account("other", SiteRole.ADMINISTRATOR)).get("/campaigns/port/compare").text
    assert "BLEU (tok=zh)" in compared


def test_columns_have_titles_before_anything_is_scored(service: Service) -> None:
    found(service.engine, "wmt")
    with_test_set(service.engine, "wmt", metrics=("ter", "bleu", "bleu:tok=zh"))
    submit_output(service.engine, "wmt", "ants", "ant", b"a\nb\nc\n")
    with reading(service.engine) as connection:
        (listed,) = list_boards(connection, name="wmt")
        view = Boards(service.engine, 1 << 20).view(connection, listed, BoardQuery(0))
    assert view.titles == ["TER ↓", "BLEU", "BLEU (tok=zh)"]
    assert not any(line.entry.scores for line in view.lines)


def test_a_metric_is_found_by_the_title_that_is_shown() -> None:
    metrics = ["bleu:tok=zh", "bleu", "bleu:tok=char"]
    for wanted, position in (
        ("BLEU (tok=zh)", 0),
        ("bleu (TOK=char)", 2),
        ("BLEU", 1),
        ("bleu", 1),
        ("bleu:tok=zh", 0),
    ):
        assert position_of_metric(metrics, wanted) == position
