"""Stored judgments as rules for human rankings take them: every kind, every field, and the ranking that comes out."""

from __future__ import annotations

from itertools import product

import pytest

from analysis.meta_evaluation.human_ranking import HumanRanking, numbered_annotators, rank_stored, stored_assessments
from models.corpus.judgments import NewJudgments, RatingRow, SegmentRow, StoredJudgments, SystemRow, store_judgments
from models.database.session import make_engine, reading, writing
from models.schema.states import JudgmentKind
from scheduler.ingest.campaigns import store_campaign
from scheduler.ingest.test_sets import NewTestSet, store_test_set
from steelyard.meta_evaluation.human.assessment_formats.assessment import Assessment
from steelyard.meta_evaluation.human.assessments import assessed_pairs
from steelyard.ranking.human_boards import HumanBoard, HumanRule, human_board, parse_human_rule
from steelyard.ranking.human_intervals import human_intervals
from steelyard.ranking.human_rules import RankedSystem

DOCUMENTS = [
    *(("quay", "news", ""), ("deck", "talk", ""), ("deck", "talk", ""), ("pier", "", "")),
    *((name, "news", "") for name in ("mole", "lock", "dock", "weir")),
]
RATINGS = [
    RatingRow("zoe", "tug", 0, 70.0, seconds=2.5),
    RatingRow("ann", "tug", 0, 50.0, seconds=None),
    RatingRow("zoe", "raft", 1, 10.0, wave=1, seconds=4.0),
    RatingRow("", "raft", 3, 5.0),
]
ERRORS = [
    RatingRow("zoe", "tug", 0, 5.0, "Major", seconds=9.0),
    RatingRow("zoe", "tug", 0, 1.0, "Minor", seconds=9.0),
    RatingRow("zoe", "tug", 0, 1.0, "Minor", wave=1, seconds=3.0),
    RatingRow("ann", "tug", 2, 0.0, "no-error"),
]


def stored(
    url: str, kind: JudgmentKind, **given: object
) -> tuple[StoredJudgments, list[Assessment], list[HumanRanking]]:
    """Judgments of some segments, as they are read, and ranked by three rules."""
    with writing(make_engine(url)) as connection:
        campaign = store_campaign(connection, "bay")
        texts = {"A": b"a\nb\nc\nd\ne\nf\ng\nh"}
        test_set = store_test_set(connection, campaign, NewTestSet("bay", texts, documents=DOCUMENTS))
        # Another one, whose documents are not those of the first.
        store_test_set(connection, campaign, NewTestSet("cove", {"A": b"a\nb"}, documents=[("x", "y", "")] * 2))
        kept, _ = store_judgments(connection, campaign, test_set, NewJudgments("esa", kind, {}, **given))  # type: ignore[arg-type]
    with reading(make_engine(url)) as connection:
        rules = ("human", "human:wmt24", "human:wmt25")
        rankings = [rank_stored(connection, rule, test_set, kept) for rule in rules]
        return kept, stored_assessments(connection, test_set, kept), rankings


def assessed(system: str, segment: int, annotator: str, wave: int, score: float, seconds: float | None) -> Assessment:
    document, domain, _ = DOCUMENTS[segment]
    return Assessment("", system, document, str(segment), domain, annotator, wave, score, 0.0, "esa@1", seconds=seconds)


def test_ratings_keep_everything_but_the_names_of_annotators(sqlite_url: str) -> None:
    _, found, _ = stored(sqlite_url, JudgmentKind.RATINGS, systems=[SystemRow("tug", 60.0)], ratings=RATINGS)
    assert sorted(found) == sorted(
        [
            assessed("tug", 0, "annotator 2", 0, 70.0, 2.5),
            assessed("tug", 0, "annotator 1", 0, 50.0, None),
            assessed("raft", 1, "annotator 2", 1, 10.0, 4.0),
            assessed("raft", 3, "", 0, 5.0, None),
        ]
    )


def test_errors_are_added_up_for_each_segment_annotator_and_wave(sqlite_url: str) -> None:
    _, found, _ = stored(sqlite_url, JudgmentKind.ERRORS, systems=[SystemRow("tug", 1.0)], ratings=ERRORS)
    assert sorted(found) == sorted(
        [
            assessed("tug", 0, "annotator 2", 0, -6.0, 9.0),
            assessed("tug", 0, "annotator 2", 1, -1.0, 3.0),
            assessed("tug", 2, "annotator 1", 0, 0.0, None),
        ]
    )
    assert str(next(each.score for each in found if each.segment == "2")) == "0.0", "no minus before nothing"


def test_scores_of_segments_have_no_annotators(sqlite_url: str) -> None:
    segments = [SegmentRow("tug", 2, 1.5, 40.0, 2), SegmentRow("raft", 0, -0.5)]
    _, found, _ = stored(sqlite_url, JudgmentKind.SCORES, systems=[SystemRow("tug", 1.5)], segments=segments)
    assert sorted(found) == [assessed("raft", 0, "", 0, -0.5, None), assessed("tug", 2, "", 0, 1.5, None)]


def test_rankings_are_no_assessments(sqlite_url: str) -> None:
    ranks = [RatingRow("zoe", "tug", 0, 1.0, "r"), RatingRow("zoe", "raft", 0, 2.0, "r")]
    _, found, rankings = stored(sqlite_url, JudgmentKind.RANKINGS, systems=[SystemRow("tug", 1.0)], ratings=ranks)
    assert found == []
    for each in rankings:
        assert (each.board, each.systems, each.ranks, each.intervals) == (None, {}, {}, {})
        assert each.fault == "There is no judgment of a translation in these files."


def test_a_stored_ranking_is_that_of_the_library(sqlite_url: str) -> None:
    """With intervals of the mean that the rule takes: over all judgments by WMT25's, over domains by the others."""
    ratings = [
        RatingRow(annotator, system, segment, 30.0 * place + segment * 37 % 23 + len(annotator))
        for annotator, (place, system), segment in product(("ann", "zoe m"), enumerate(("tug", "raft")), range(8))
    ]
    kept, found, rankings = stored(sqlite_url, JudgmentKind.RATINGS, systems=[SystemRow("tug", 60.0)], ratings=ratings)
    (judged,) = assessed_pairs(found)
    by_average = {
        average: dict(
            zip(
                judged.systems,
                human_intervals(judged.scores, judged.domains, judged.documents, average=average, level=0.95),
                strict=True,
            )
        )
        for average in ("macro", "micro")
    }
    assert by_average["macro"] != by_average["micro"]
    for rule, ranking in zip(("human", "human:wmt24", "human:wmt25"), rankings, strict=True):
        assert (ranking.rule, ranking.judgments, ranking.fault) == (rule, kept, "")
        assert ranking.board == human_board(judged, parse_human_rule(rule))
        assert ranking.intervals == by_average["micro" if rule == "human:wmt25" else "macro"]
        assert list(ranking.systems) == ["raft", "tug"]
        assert (ranking.level, ranking.replicates) == (0.95, 1000)


@pytest.mark.parametrize("scores", list(product((1.0, 2.0, 3.0), repeat=3)))
def test_equal_scores_share_a_rank(scores: tuple[float, ...]) -> None:
    systems = [
        (name, RankedSystem(n, score, 1, 1, 1, 0, 0, 1))
        for n, (name, score) in enumerate(zip("abc", scores, strict=True))
    ]
    board = HumanBoard("", 1, HumanRule("steelyard"), tuple(systems))
    judgments = StoredJudgments(3, "esa", 2, JudgmentKind.RATINGS, {}, 5.0)
    ranking = HumanRanking("human", judgments, board)
    order = sorted(scores, reverse=True)
    assert ranking.ranks == {name: order.index(score) + 1 for name, score in zip("abc", scores, strict=True)}
    assert ranking.version == (3, 5.0, "esa@2", "human")


def test_annotators_are_numbered_by_their_names() -> None:
    assert numbered_annotators(["zoe", "", "ann", "zoe"]) == {"": "", "ann": "annotator 1", "zoe": "annotator 2"}
    assert numbered_annotators([]) == {"": ""}


@pytest.mark.parametrize("count", [9, 10, 61, 100])
def test_annotators_that_are_numbered_again_keep_their_numbers(count: int) -> None:
    numbered = [name for name in numbered_annotators(f"user {each}" for each in range(count)).values() if name]
    assert numbered == sorted(numbered)
    assert numbered_annotators(numbered) == {"": "", **{name: name for name in numbered}}
