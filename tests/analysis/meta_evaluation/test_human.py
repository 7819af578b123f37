"""Human scores as other conclusions need them."""

import math

import numpy as np
import pytest
from sqlalchemy import Connection, Engine

from analysis.meta_evaluation.human import HumanScores, is_reference, read_annotation, read_human
from models.database.session import make_engine, reading, writing
from models.errors import NotFound
from scheduler.ingest.campaigns import store_campaign
from scheduler.ingest.judgments import ingest_judgments
from scheduler.ingest.test_sets import NewTestSet, store_test_set
from steelyard.meta_evaluation.human.agreement import Agreement
from steelyard.meta_evaluation.human.reading import Reading, read_judgments


@pytest.fixture
def engine(sqlite_url: str) -> Engine:
    return make_engine(sqlite_url)


@pytest.fixture
def test_set(engine: Engine) -> int:
    with writing(engine) as connection:
        return store_test_set(
            connection, store_campaign(connection, "c"), NewTestSet("t", {"A": b"x\ny\nz", "long": b"x\ny\nu"})
        )


def take_in(engine: Engine, test_set: int, *rows: str, name: str = "da") -> None:
    text = "".join(row.replace(" ", "\t") + "\n" for row in rows)
    ingest_judgments(engine, 1, test_set, name, read_judgments([text.encode()], Reading(3)))


def test_scores_are_aligned_with_the_segments(engine: Engine, test_set: int) -> None:
    header = "system segment score raw"
    take_in(engine, test_set, header, "b 2 0.5 70", "a 0 1 80", "a 2 -1 20", "HUMAN-A 2 3 99", "long 2 0 1")
    with reading(engine) as connection:
        human = read_human(connection, 1, test_set)
    assert (human.name, human.version, human.title, human.kind, human.n_segments) == ("da", 1, "da@1", "scores", 3)
    assert human.method == {"system_scores": "means"}
    assert list(human.segments) == ["HUMAN-A", "a", "b", "long"]
    np.testing.assert_array_equal(human.segments["a"], [1.0, np.nan, -1.0])
    np.testing.assert_array_equal(human.raw_segments["a"], [80.0, np.nan, 20.0])
    np.testing.assert_array_equal(human.segments["b"], [np.nan, np.nan, 0.5])
    assert human.systems == {"HUMAN-A": 3.0, "b": 0.5, "a": 0.0, "long": 0.0}
    assert list(human.systems) == ["HUMAN-A", "b", "a", "long"]
    matched = human.matched(["a", "c"])
    assert matched.systems == ("a",)
    assert matched.references == ("HUMAN-A", "long")
    assert matched.unknown == ("b",)
    assert matched.not_judged == ("c",)
    # Whoever submits under such a name is a system.
    assert human.matched(["HUMAN-A", "a"]).systems == ("HUMAN-A", "a")


def test_missing_raw_scores_are_nan(engine: Engine, test_set: int) -> None:
    take_in(engine, test_set, "system segment score", "a 0 1")
    with reading(engine) as connection:
        assert np.isnan(read_human(connection, 1, test_set).raw_segments["a"]).all()


@pytest.mark.parametrize("name", ["HUMAN", "HUMAN-B", "Human-A.0", "refA", "ref-A", "ref.B", "_ref", "translator-B"])
def test_names_of_human_translations(name: str) -> None:
    assert is_reference(name)


@pytest.mark.parametrize(
    "name", ["Humane", "reference-free", "Online-A", "refined", "translators", "CUNI-ref", "", "A"]
)
def test_names_of_systems(name: str) -> None:
    assert not is_reference(name)


def test_systems_are_ranked_by_their_segments(engine: Engine, test_set: int) -> None:
    with writing(engine) as connection:
        long = store_test_set(connection, 1, NewTestSet("u", {"A": b"\n".join(b"w%d" % n for n in range(30))}))
    rows = [f"{system} {segment} {base + segment % 3}" for system, base in (("a", 0), ("b", 9), ("c", 9))
            for segment in range(30)]  # fmt: skip
    text = "\n".join(["system segment score", *rows]).replace(" ", "\t")
    ingest_judgments(engine, 1, long, "da", read_judgments([text.encode()], Reading(30)))
    with reading(engine) as connection:
        human = read_human(connection, 1, long)
    places = human.ranks()
    assert [(name, place.rank, place.low, place.high, place.cluster, place.wins) for name, place in places.items()] == [
        ("b", 1, 1, 2, 1, 1),
        ("c", 1, 1, 2, 1, 1),
        ("a", 3, 3, 3, 2, 0),
    ]
    assert human.ranks(shared=True) == places
    assert human.test() == "one-sided Mann-Whitney test on all judged segments"
    assert human.ranks(alpha=1e-30)["a"].low == 1


def test_systems_may_be_tested_on_the_segments_that_both_have(engine: Engine, test_set: int) -> None:
    """Where one was judged on further segments, which were easy, only those say that it is better."""
    with writing(engine) as connection:
        long = store_test_set(connection, 1, NewTestSet("u", {"A": b"\n".join(b"w%d" % n for n in range(30))}))
    rows = [f"a {segment} {segment % 3 if segment < 10 else 9}" for segment in range(30)]
    rows += [f"b {segment} {segment % 3}" for segment in range(10)]
    text = "\n".join(["system segment score", *rows]).replace(" ", "\t")
    ingest_judgments(engine, 1, long, "da", read_judgments([text.encode()], Reading(30)))
    with reading(engine) as connection:
        human = read_human(connection, 1, long)
    assert {name: place.wins for name, place in human.ranks().items()} == {"a": 1, "b": 0}
    assert {name: place.wins for name, place in human.ranks(shared=True).items()} == {"a": 0, "b": 0}


def agreed(connection: Connection, human: HumanScores) -> Agreement:
    found = read_annotation(connection, human.stored)
    assert found is not None
    return found.agreement


def test_annotators_are_described_by_what_they_gave_to_outputs(engine: Engine, test_set: int) -> None:
    errors = ["r s 0 c Major", "r s 0 c Minor", "r t 0 c Minor", "q s 0 c Minor", "q t 0 c Major", "q t 1 c no-error"]
    take_in(engine, test_set, "rater system segment category severity", *errors, name="mqm")
    rows = [f"a{n} 0 r {system} {rank}" for n in range(2) for system, rank in (("p", 1), ("q", 2))]
    take_in(engine, test_set, "annotator segment ranking system rank", *rows, name="ranks")
    with reading(engine) as connection:
        mqm = read_annotation(connection, read_human(connection, 1, test_set, "mqm").stored)
        ranks = read_annotation(connection, read_human(connection, 1, test_set, "ranks").stored)
    assert mqm is not None
    assert mqm.reliability is not None
    # On s -6 and -1, on t -1 and -5: the sums of the penalties.
    told = [(each.name, each.judgments, each.outputs, each.mean, each.shared) for each in mqm.annotators]
    assert told == [("q", 3, 3, -2.0, 2), ("r", 3, 2, -3.5, 2)]
    every = [-6.0, -1.0, -1.0, -5.0]
    chance = sum((a - b) ** 2 for a in every for b in every) / 3
    assert mqm.reliability.alpha == pytest.approx(1 - 2 * (25 + 16) / chance)
    assert ranks is not None
    assert ranks.reliability is None
    assert [(each.judgments, each.outputs) for each in ranks.annotators] == [(2, 0), (2, 0)]


def test_rankings_are_tested_on_their_comparisons(engine: Engine, test_set: int) -> None:
    rows = [f"{n % 3} a{n} r {system} {rank}" for n in range(12) for system, rank in (("p", 1), ("q", 2))]
    take_in(engine, test_set, "segment annotator ranking system rank", *rows)
    with reading(engine) as connection:
        human = read_human(connection, 1, test_set)
        agreement = agreed(connection, human)
    assert human.systems == {"p": 1.0, "q": 0.0}
    assert [(place.cluster, place.wins) for place in human.ranks().values()] == [(1, 1), (2, 0)]
    assert human.test() == "one-sided sign test on direct comparisons"
    # Three segments with four annotators each: six pairs of them, who all agree.
    assert (agreement.comparisons, agreement.share, agreement.kappa) == (18, 1.0, 1.0)


def test_agreement_of_ratings_and_errors(engine: Engine, test_set: int) -> None:
    ratings = ["r s 0 10", "r t 0 20", "q s 0 30", "q t 0 40", "q t 1 10"]
    take_in(engine, test_set, "annotator system segment score", *ratings)
    errors = ["r s 0 c Major", "r s 0 c Minor", "r t 0 c Minor", "q s 0 c Minor", "q t 0 c Major"]
    take_in(engine, test_set, "rater system segment category severity", *errors, name="mqm")
    # Three small errors are worse than one, as one large error is: only the sum of the penalties says so.
    errors = [f"r s 0 {category} Minor" for category in "cde"] + ["r t 0 c Minor", "q s 0 c Major", "q t 0 c Minor"]
    take_in(engine, test_set, "rater system segment category severity", *errors, name="counted")
    take_in(engine, test_set, "system score", "s 1", name="given")
    with reading(engine) as connection:
        agreement = agreed(connection, read_human(connection, 1, test_set, "da"))
        assert (agreement.comparisons, agreement.share) == (1, 1.0)
        agreement = agreed(connection, read_human(connection, 1, test_set, "mqm"))
        assert (agreement.comparisons, agreement.share) == (1, 0.0)
        agreement = agreed(connection, read_human(connection, 1, test_set, "counted"))
        assert (agreement.comparisons, agreement.share) == (1, 1.0)
        assert read_annotation(connection, read_human(connection, 1, test_set, "given").stored) is None


def test_without_segments_there_are_ranks_or_published_wins(engine: Engine, test_set: int) -> None:
    take_in(engine, test_set, "system score", "a 1", "b 2", "c 1")
    take_in(engine, test_set, "system score wins", "a 1 0", "b 2 2", "c 1 0", name="won")
    take_in(engine, test_set, "system segment score", "a 0 1", "b 1 2", name="apart")
    with reading(engine) as connection:
        plain = read_human(connection, 1, test_set, "da")
        assert {name: place.rank for name, place in plain.ranks().items()} == {"b": 1, "a": 2, "c": 2}
        assert all(place.cluster is None for place in plain.ranks().values())
        assert plain.test() is None
        assert plain.segments == {}
        won = read_human(connection, 1, test_set, "won").ranks()
        assert [place.cluster_ranks for place in won.values()] == [(1, 1), (2, 3), (2, 3)]
        apart = read_human(connection, 1, test_set, "apart")
        assert (apart.systems, apart.ranks(), apart.judged) == ({}, {}, ["a", "b"])


def test_versions_and_names(engine: Engine, test_set: int) -> None:
    take_in(engine, test_set, "system score", "a 1")
    take_in(engine, test_set, "system score", "a 2")
    with reading(engine) as connection:
        assert (
            read_human(connection, 1, test_set).systems
            == read_human(connection, 1, test_set, "da").systems
            == {"a": 2.0}
        )
        assert read_human(connection, 1, test_set, "da@1").systems == {"a": 1.0}
        with pytest.raises(NotFound, match=r"'mqm' of this test set\. There are: da@2, da@1"):
            read_human(connection, 1, test_set, "mqm")
        with pytest.raises(NotFound, match="no test set"):
            read_human(connection, 1, test_set + 1)


def test_the_official_ranking_comes_out_of_the_database(real_data, engine: Engine) -> None:
    lines = (real_data / "wmt22.de-en" / "refs" / "A.txt").read_bytes().rstrip(b"\n")
    with writing(engine) as connection:
        test_set = store_test_set(connection, store_campaign(connection, "c"), NewTestSet("de-en", {"A": lines}))
    files = [real_data / "wmt22.de-en" / f"human.{level}.tsv" for level in ("seg", "sys")]
    ingest_judgments(engine, 1, test_set, "da", read_judgments(files, Reading(1984)))
    with reading(engine) as connection:
        human = read_human(connection, 1, test_set)
    published = [line.split("\t") for line in files[1].read_text().splitlines()[1:]]
    places = human.ranks()
    assert list(places) == [row[0] for row in published]
    assert ["{}-{}".format(*place.cluster_ranks) for place in places.values()] == [row[7] for row in published]
    assert [str(place.wins) for place in places.values()] == [row[6] for row in published]
    assert sum(int((~np.isnan(array)).sum()) for array in human.segments.values()) == 17204
    assert math.isclose(human.raw_segments["HUMAN-B"][0], 97.0)
