"""Marked errors taken in: placed in the outputs that a campaign has, or left out or refused with their places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from sqlalchemy import Connection

from models.corpus.judgments import BadJudgments
from models.database.session import make_engine, writing
from scheduler.ingest.campaigns import NewSubmission, store_campaign, store_submissions
from scheduler.ingest.error_spans import placed_spans
from scheduler.ingest.test_sets import NewTestSet, store_test_set
from steelyard.meta_evaluation.human.judgments import CODE_POINTS, TRIMMED_UTF16, Judged, JudgedSpan, SystemScore

World = tuple[Connection, int, int]


@pytest.fixture
def world(database_url: str) -> Iterator[World]:
    """A campaign with a test set and an earlier and a later output of one system, and others' later ones."""
    with writing(make_engine(database_url)) as connection:
        store_campaign(connection, "before")
        campaign, theirs = store_campaign(connection, "bay"), store_campaign(connection, "theirs")
        test_set = store_test_set(connection, campaign, NewTestSet("news", {"A": b"a ship\nsails"}))
        for lines in (b"x\ny", b" \xf0\x9f\x98\x80 ahoj\nplyne"):
            store_submissions(connection, campaign, test_set, [NewSubmission("dive", lines, "gulls")])
        another = store_test_set(connection, campaign, NewTestSet("talks", {"A": b"a boat\nsails", "B": b"x\ny"}))
        for place in ((theirs, test_set), (campaign, another)):
            store_submissions(connection, *place, [NewSubmission(each, b"z\nz", "gulls") for each in ("dive", "swim")])
        yield connection, campaign, test_set


def span(segment: int, start: int, end: int, system: str = "dive", **others: bool) -> JudgedSpan:
    return JudgedSpan(
        "u1", system, segment, start, end, "minor", "", **{"missing": False, "in_source": False, **others}
    )


def placed(
    world: World, *spans: JudgedSpan, units: str = CODE_POINTS, texts: Mapping[tuple[str, int], str] | None = None
) -> tuple[list[tuple[str, int, int, int]], list[str]]:
    """System, segment, beginning and end of what is found; and what is said of the rest."""
    connection, campaign, test_set = world
    judged = Judged("errors", {}, [SystemScore("dive", 1.0)], spans=spans, units=units, texts=texts or {})
    found, notices = placed_spans(connection, campaign, test_set, judged)
    return [(each.system, each.segment, each.begins, each.ends) for each in found], notices


def test_they_lie_in_the_newest_output_and_end_with_it(world: World) -> None:
    assert placed(world, span(1, 0, 5), span(1, 4, 90), span(0, 3, 7)) == (
        [("dive", 1, 0, 5), ("dive", 1, 4, 5), ("dive", 0, 3, 7)],
        [],
    )
    assert placed(world, span(0, 3, 7), units=TRIMMED_UTF16) == ([("dive", 0, 3, 7)], []), "one code point is two units"
    assert placed(world) == ([], [])


def test_references_are_marked_by_their_labels(world: World) -> None:
    assert placed(world, span(0, 2, 99, "A")) == ([("A", 0, 2, 6)], [])


def test_what_is_missing_or_in_the_source_has_no_place_in_the_output(world: World) -> None:
    assert placed(world, span(1, 0, 0, missing=True), span(1, 70, 80, in_source=True)) == (
        [("dive", 1, 0, 0), ("dive", 1, 70, 80)],
        [],
    )


def test_those_in_another_text_than_the_output_are_left_out_and_counted_by_segment(world: World) -> None:
    texts = {("dive", 0): "x", ("dive", 1): "y", ("A", 0): "a ship"}
    spans = [span(1, 0, 1), span(1, 0, 1), span(0, 0, 1), span(0, 0, 1, "A")]
    assert placed(world, *spans, texts=texts) == (
        [("A", 0, 0, 1)],
        ["Error spans left out: 2 judged segments had another text than the output here, such as segment 1 of 'dive'."],
    )


def test_those_of_systems_without_an_output_lie_in_what_was_judged_or_are_left_out(world: World) -> None:
    spans = [span(0, 0, 1, "soar"), span(1, 0, 1, "soar"), span(0, 0, 9, "swim"), span(0, 0, 1, "wade")]
    assert placed(world, *spans, texts={("swim", 0): "judged"}) == (
        [("swim", 0, 0, 6)],
        ["Error spans left out, for there is no output to mark them in: 3 of 2 systems."],
    )


@pytest.mark.parametrize(
    ("units", "says"),
    [
        (CODE_POINTS, "an error is marked from position 5, but the translation has 5."),
        (TRIMMED_UTF16, None),
    ],
)
def test_those_behind_the_text_are_refused_with_the_first_places(world: World, units: str, says: str | None) -> None:
    with pytest.raises(BadJudgments) as refused:
        placed(world, *(span(1, 5 + number, 9 + number) for number in range(7)), units=units)
    message = str(refused.value)
    assert message.startswith("news: errors are marked where there is no text. Segment 2 of 'dive': ")
    assert message.endswith(" And 2 more.")
    assert message.count("Segment 2 of 'dive': ") == 5
    if says:
        assert says in message
    with pytest.raises(BadJudgments) as five:
        placed(world, *[span(1, 5, 9)] * 5, units=units)
    assert "more." not in str(five.value)
