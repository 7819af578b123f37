"""Human judgments in the database: versions, order, what is refused."""

import math
import random
import struct
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine, func, select

from models.corpus.judgments import (
    BadJudgments,
    NewJudgments,
    RatingRow,
    SegmentRow,
    SpanRow,
    SystemRow,
    copy_judgments,
    delete_judgments,
    find_judgments,
    list_annotators,
    list_judgments,
    read_ratings,
    read_segments,
    read_spans,
    read_systems,
    rename_judgments,
    store_judgments,
)
from models.database.session import make_engine, reading, writing
from models.errors import NotFound
from models.schema.human import HumanSegmentScore, Judgments, Rating
from models.schema.states import JudgmentKind
from scheduler.ingest.campaigns import store_campaign
from scheduler.ingest.test_sets import NewTestSet, store_test_set

SYSTEMS = [SystemRow("anna", 0.1 + 0.2, 70.5, 2, 4), SystemRow("bert", -1e-300, None, None, None, 3)]
SEGMENTS = [
    SegmentRow("anna", 0, math.pi, 33.0, 2),
    SegmentRow("anna", 2, 5e-324),
    SegmentRow("Žofie", 1, -0.5, 1.0, 1),
]
RATINGS = [RatingRow("a1", "anna", 0, 33.0), RatingRow("a2", "anna", 0, 34.0), RatingRow("a1", "Žofie", 1, 1.0, "r1")]


def new(name: str = "da", **changed) -> NewJudgments:
    content = {"systems": SYSTEMS, "segments": SEGMENTS, "ratings": RATINGS, "kind": JudgmentKind.RATINGS, "method": {}}
    return NewJudgments(name, **{**content, **changed})


@pytest.fixture
def engine(database_url: str) -> Engine:
    return make_engine(database_url)


@pytest.fixture
def test_set(engine: Engine) -> tuple[int, int]:
    """Of a campaign, whose id is another number than the test set's: one must not be taken for the other."""
    with writing(engine) as connection:
        store_campaign(connection, "before")
        campaign = store_campaign(connection, "c")
        return campaign, store_test_set(connection, campaign, NewTestSet("t", {"A": b"x\ny\nz"}))


def store(engine: Engine, test_set: tuple[int, int], judgments: NewJudgments):
    with writing(engine) as connection:
        return store_judgments(connection, *test_set, judgments)


def bits(rows) -> list:
    return [tuple(struct.pack("<d", cell) if isinstance(cell, float) else cell for cell in row) for row in rows]


def test_everything_comes_back_to_the_bit(engine: Engine, test_set: tuple[int, int]) -> None:
    stored, fresh = store(engine, test_set, new(method={"weights": {"major": 5.0}}))
    assert fresh
    assert (stored.name, stored.version, stored.title, stored.kind) == ("da", 1, "da@1", "ratings")
    with reading(engine) as connection:
        assert find_judgments(connection, *test_set) == stored
        assert stored.method == {"weights": {"major": 5.0}}
        assert stored.created_at > 1.7e9
        assert bits(read_systems(connection, stored.id)) == bits(SYSTEMS)
        assert bits(read_segments(connection, stored.id)) == bits(SEGMENTS)
        assert read_ratings(connection, stored.id) == sorted(RATINGS)
        assert list_annotators(connection, stored.id) == sorted({each.annotator for each in RATINGS})


def test_the_best_system_by_its_score_comes_first(engine: Engine, test_set: tuple[int, int]) -> None:
    """Whatever the raw mean says; equal ones by name."""
    systems = [
        SystemRow("carl", 0.5, 90.0),
        SystemRow("anna", 0.5, 10.0),
        SystemRow("bert", 0.75, 50.0),
        SystemRow("dora", -0.25, 95.0),
    ]
    stored, _ = store(engine, test_set, new(systems=systems))
    with reading(engine) as connection:
        assert [row.system for row in read_systems(connection, stored.id)] == ["bert", "anna", "carl", "dora"]


def test_spans_waves_and_times_come_back_and_make_another_version(engine: Engine, test_set: tuple[int, int]) -> None:
    plain, _ = store(engine, test_set, new())
    spans = [
        SpanRow("eva", "Žofie", 0, 3, 9, "minor", "Accuracy", missing=False, in_source=False),
        SpanRow("eva", "Žofie", 0, 0, 0, "major", "", missing=True, in_source=False, wave=1),
    ]
    ratings = [RatingRow(*each[:5], 1, 2.5) for each in RATINGS]
    marked, fresh = store(engine, test_set, new(ratings=ratings, spans=spans))
    assert (fresh, marked.version) == (True, 2)
    assert store(engine, test_set, new(ratings=ratings[::-1], spans=spans[::-1])) == (marked, False)
    assert store(engine, test_set, new()) == (plain, False)
    with reading(engine) as connection:
        assert sorted(read_spans(connection, marked.id)) == sorted(spans)
        assert read_spans(connection, marked.id, [0], ["Žofie"]) == read_spans(connection, marked.id)
        assert read_spans(connection, marked.id, [1], ["Žofie"]) == []
        assert [each.seconds for each in read_ratings(connection, marked.id)] == [2.5] * len(RATINGS)
        assert read_spans(connection, plain.id) == []


def test_all_versions_get_another_name(engine: Engine, test_set: tuple[int, int]) -> None:
    store(engine, test_set, new())
    store(engine, test_set, new(systems=SYSTEMS[:1]))
    with writing(engine) as connection:
        rename_judgments(connection, *test_set, "da", "esa")
        assert [each.title for each in list_judgments(connection, *test_set)] == ["esa@2", "esa@1"]
        with pytest.raises(NotFound, match="no human judgments 'da' of this test set"):
            rename_judgments(connection, *test_set, "da", "x")
        for bad in ("", "a@b", "a\nb", "x" * 101):
            with pytest.raises(BadJudgments, match="cannot be the name"):
                rename_judgments(connection, *test_set, "esa", bad)
    store(engine, test_set, new())
    with writing(engine) as connection, pytest.raises(BadJudgments, match="already"):
        rename_judgments(connection, *test_set, "da", "esa")


def test_only_those_of_that_name_campaign_and_test_set_are_renamed(engine: Engine, test_set: tuple[int, int]) -> None:
    with writing(engine) as connection:
        other = test_set[0], store_test_set(connection, test_set[0], NewTestSet("u", {"A": b"x\ny\nzz"}))
        theirs = store_campaign(connection, "theirs"), test_set[1]
    for place in (test_set, other, theirs):
        for name in ("da", "mqm"):
            store(engine, place, new(name))
    with writing(engine) as connection:
        rename_judgments(connection, *test_set, "da", "esa")
        titles = [[each.title for each in list_judgments(connection, *place)] for place in (test_set, other, theirs)]
    assert titles == [["esa@1", "mqm@1"], ["da@1", "mqm@1"], ["da@1", "mqm@1"]]


def test_lists_are_by_name_and_a_part_of_a_name_names_nothing(engine: Engine, test_set: tuple[int, int]) -> None:
    for name, systems in (("mqm", SYSTEMS), ("esa", SYSTEMS), ("esa", SYSTEMS[:1]), ("mqm", SYSTEMS[:1])):
        store(engine, test_set, new(name, systems=systems))
    with reading(engine) as connection:
        titles = [each.title for each in list_judgments(connection, *test_set)]
        assert titles == ["esa@2", "esa@1", "mqm@2", "mqm@1"]
        for title in titles:
            assert find_judgments(connection, *test_set, title).title == title
        for part in ("e", "sa", "esa@", "mqm@1 ", "@1", ""):
            with pytest.raises(NotFound, match="no human judgments"):
                find_judgments(connection, *test_set, part)


def test_the_same_content_is_stored_once_in_whatever_order(engine: Engine, test_set: tuple[int, int]) -> None:
    first, _ = store(engine, test_set, new(method={"a": 1, "b": {"minor": 1.0, "major": 5.0}}))
    shuffler = random.Random(7)
    for _ in range(3):
        parts = {"systems": list(SYSTEMS), "segments": list(SEGMENTS), "ratings": list(RATINGS)}
        for rows in parts.values():
            shuffler.shuffle(rows)
        assert store(engine, test_set, new(method={"b": {"major": 5.0, "minor": 1.0}, "a": 1}, **parts)) == (
            first,
            False,
        )
    with reading(engine) as connection:
        assert connection.scalar(select(func.count()).select_from(Rating)) == len(RATINGS)


def test_other_content_is_the_next_version_and_old_ones_stay(engine: Engine, test_set: tuple[int, int]) -> None:
    first, _ = store(engine, test_set, new())
    changes = [
        {"systems": SYSTEMS[:1]},
        {"segments": [*SEGMENTS[:2], SegmentRow("Žofie", 1, -0.25, 1.0, 1)]},
        {"ratings": RATINGS[:2]},
        {"kind": JudgmentKind.ERRORS},
        {"method": {"standardised": True}},
    ]
    later = [store(engine, test_set, new(**change)) for change in changes]
    assert [(stored.version, fresh) for stored, fresh in later] == [(version, True) for version in range(2, 7)]
    assert store(engine, test_set, new()) == (first, False)
    with reading(engine) as connection:
        assert find_judgments(connection, *test_set, "da") == later[-1][0]
        assert find_judgments(connection, *test_set, "da@1") == first
        assert read_segments(connection, first.id) == SEGMENTS
        assert [stored.version for stored in list_judgments(connection, *test_set)] == [6, 5, 4, 3, 2, 1]


def test_campaigns_with_one_test_set_are_apart(engine: Engine, test_set: tuple[int, int]) -> None:
    with writing(engine) as connection:
        theirs = store_campaign(connection, "theirs"), test_set[1]
        with pytest.raises(NotFound, match=r"no human judgments\. Import some"):
            find_judgments(connection, *theirs)
    store(engine, test_set, new(systems=SYSTEMS[:1]))
    ours = store(engine, test_set, new())[0]
    same, fresh = store(engine, theirs, new())
    assert (ours.version, same.version, fresh) == (2, 1, True)
    with writing(engine) as connection:
        delete_judgments(connection, ours.id)
        assert [each.title for each in list_judgments(connection, *test_set)] == ["da@1"]
        assert list_judgments(connection, *theirs) == [same]
        assert read_systems(connection, same.id) == SYSTEMS


def test_judgments_are_copied_with_all_that_belongs_to_them(engine: Engine, test_set: tuple[int, int]) -> None:
    """For another test set of the campaign: those of other campaigns stay where they are, and what is there stays."""
    campaign, old = test_set
    with writing(engine) as connection:
        corrected = store_test_set(connection, campaign, NewTestSet("t", {"A": b"x\nY\nz"}))
        theirs = store_campaign(connection, "theirs"), old
    store(engine, theirs, new("elsewhere"))
    store(engine, test_set, new(systems=SYSTEMS[:1]))
    spans = [SpanRow("eva", "Žofie", 1, 0, 1, "minor", "Accuracy", missing=False, in_source=False)]
    ours = store(engine, test_set, new(spans=spans))[0]
    there = store(engine, (campaign, corrected), new(segments=SEGMENTS[:1], ratings=()))[0]
    with writing(engine) as connection:
        (carried,) = copy_judgments(connection, campaign, old, corrected)
        assert (carried.title, carried.kind, carried.created_at) == ("da@2", ours.kind, ours.created_at)
        contents = (
            (read_systems, SYSTEMS),
            (read_segments, SEGMENTS),
            (read_ratings, sorted(RATINGS)),
            (read_spans, spans),
        )
        for read, rows in contents:
            assert read(connection, carried.id) == read(connection, ours.id) == rows
        assert read_segments(connection, there.id) == SEGMENTS[:1]
        assert [each.id for each in list_judgments(connection, campaign, corrected)] == [carried.id, there.id]
        assert copy_judgments(connection, campaign, old, corrected) == []


def test_names_and_test_sets_are_apart(engine: Engine, test_set: tuple[int, int]) -> None:
    with writing(engine) as connection:
        other = test_set[0], store_test_set(connection, test_set[0], NewTestSet("u", {"A": b"x\ny\nzz"}))
        with pytest.raises(NotFound, match=r"no human judgments\. Import some"):
            find_judgments(connection, *other)
    assert store(engine, test_set, new())[0].version == store(engine, test_set, new("mqm"))[0].version == 1
    assert store(engine, other, new()) != store(engine, test_set, new())
    with reading(engine) as connection:
        with pytest.raises(NotFound, match=r"several human judgments: da, mqm\. Choose one"):
            find_judgments(connection, *test_set)
        with pytest.raises(NotFound, match=r"no human judgments 'da@2' of this test set\. There are: da@1, mqm@1"):
            find_judgments(connection, *test_set, "da@2")
        assert find_judgments(connection, *other).name == "da"


REFUSED = [
    (new("a@1"), "cannot be the name"),
    (new(""), "cannot be the name"),
    (new("n" * 101), "cannot be the name"),
    (new(systems=[], segments=[], ratings=[]), "hold no score"),
    (new(systems=[SYSTEMS[0]] * 2), "one system or segment two scores"),
    (new(segments=[SEGMENTS[0], SegmentRow("anna", 0, 1.0)]), "one system or segment two scores"),
    (new(segments=[SegmentRow("anna", 3, 1.0)]), "judges segment 3, the test set has 3"),
    (new(ratings=[RatingRow("a", "anna", -1, 1.0)]), "judges segment -1"),
    (
        new(spans=[SpanRow("a", "anna", 3, 0, 1, "minor", "", missing=False, in_source=False)]),
        "judges segment 3, the test set has 3",
    ),
]


def test_what_is_refused_leaves_nothing_behind(engine: Engine, test_set: tuple[int, int]) -> None:
    for judgments, message in REFUSED:
        with pytest.raises(BadJudgments, match=message):
            store(engine, test_set, judgments)
    for number in (math.nan, math.inf):
        with pytest.raises(ValueError, match="not JSON compliant"):
            store(engine, test_set, new(segments=[SegmentRow("anna", 0, number)]))
    with reading(engine) as connection:
        assert connection.scalar(select(func.count()).select_from(Judgments)) == 0
        assert connection.scalar(select(func.count()).select_from(HumanSegmentScore)) == 0


def test_an_unknown_test_set(engine: Engine, test_set: tuple[int, int]) -> None:
    with pytest.raises(NotFound, match="no test set"):
        store(engine, (test_set[0], test_set[1] + 1), new())


def test_two_imports_at_once_are_two_versions(engine: Engine, test_set: tuple[int, int]) -> None:
    contents = [new(systems=[SystemRow("anna", float(number))]) for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        stored = list(pool.map(lambda judgments: store(engine, test_set, judgments), contents))
        again = list(pool.map(lambda judgments: store(engine, test_set, judgments), contents))
    assert sorted(each.version for each, _ in stored) == [1, 2, 3, 4]
    assert again == [(each, False) for each, _ in stored]
