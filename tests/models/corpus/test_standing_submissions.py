"""What was submitted for a test set in a campaign, found by name."""

import pytest
from sqlalchemy import Engine, select

from models.corpus.standing_submissions import find_standing_submissions, read_standing_submissions
from models.corpus.test_sets import References, read_references
from models.database.session import make_engine, reading, writing
from models.errors import NotFound
from models.schema.corpus import Submission
from scheduler.ingest.campaigns import NewSubmission, store_campaign, store_submissions
from scheduler.ingest.test_sets import NewTestSet, store_test_set

QUAY = NewTestSet("quay", {"B": b"x\ny", "A": b"x\nz"}, target_language="cs")


@pytest.fixture
def engine(sqlite_url: str) -> Engine:
    return make_engine(sqlite_url)


def submit(engine: Engine, campaign: str, test_set: NewTestSet, *submissions: NewSubmission) -> list[int]:
    with writing(engine) as connection:
        campaign_id = store_campaign(connection, campaign)
        stored = store_test_set(connection, campaign_id, test_set)
        return store_submissions(connection, campaign_id, stored, submissions)


def test_the_last_submission_of_each_run_stands(engine: Engine) -> None:
    _, other = submit(engine, "spring", QUAY, NewSubmission("tug", b"a\nb"), NewSubmission("ferry", b"a\nb", run="1"))
    tug, ferry = submit(engine, "spring", QUAY, NewSubmission("tug", b"c\nd"), NewSubmission("ferry", b"e\nf", run="2"))
    rafts = submit(engine, "spring", QUAY, NewSubmission("raft", b"c\nd"), NewSubmission("raft", b"e\nf", run="2"))
    # A later one for another test set replaces none.
    submit(engine, "autumn", NewTestSet("pier", {"A": b"x"}), NewSubmission("tug", b"a"))
    with reading(engine) as connection:
        found = find_standing_submissions(connection, "quay")
        assert found == find_standing_submissions(connection, "spring")
        assert found == read_standing_submissions(connection, found.campaign_id, found.test_set_id)
    assert (found.name, found.references, found.target_language) == ("spring: quay", ("B", "A"), "cs")
    assert found.submissions == tuple(sorted((other, tug, ferry, *rafts)))
    assert found.layers == frozenset()


def test_other_test_sets_and_other_campaigns_are_apart(engine: Engine) -> None:
    (ours,) = submit(engine, "spring", QUAY, NewSubmission("tug", b"a\nb"))
    submit(engine, "spring", NewTestSet("pier", {"A": b"x"}), NewSubmission("tug", b"a"))
    submit(engine, "autumn", QUAY, NewSubmission("tug", b"c\nd"))
    with reading(engine) as connection:
        of_ours = select(Submission.campaign_id, Submission.test_set_id).where(Submission.id == ours)
        campaign, test_set = connection.execute(of_ours).one()
        assert read_standing_submissions(connection, campaign, test_set).submissions == (ours,)


LEMMA, BOTH = {"lemma": b"a\nb"}, {"lemma": b"a\nb", "sempos": b"n\nn"}


@pytest.mark.parametrize(
    ("first", "second", "output", "common"),
    [
        (BOTH, BOTH, LEMMA, {"lemma"}),
        (BOTH, LEMMA, BOTH, {"lemma"}),
        (BOTH, BOTH, BOTH, {"lemma", "sempos"}),
        (BOTH, BOTH, {}, set()),
        ({}, BOTH, BOTH, set()),
        (BOTH, {}, BOTH, set()),
    ],
)
def test_layers_that_all_texts_have(
    engine: Engine, first: dict[str, bytes], second: dict[str, bytes], output: dict[str, bytes], common: set[str]
) -> None:
    """Of two references and two outputs, of which one has all layers."""
    layered = NewTestSet("pier", {"A": b"x\ny", "B": b"u\nv"}, layers={"A": first, "B": second})
    outputs = NewSubmission("tug", b"a\nb", layers=output), NewSubmission("ferry", b"c\nd", layers=BOTH)
    submit(engine, "pier", layered, *outputs)
    with reading(engine) as connection:
        found = find_standing_submissions(connection, "pier")
        assert found.layers == common
        references = read_references(connection, found.test_set_id)
    assert references == References(("A", "B"), "", frozenset(first) & frozenset(second))


def test_the_newest_version_is_meant(engine: Engine) -> None:
    submit(engine, "quay", QUAY, NewSubmission("tug", b"a\nb"))
    submit(engine, "quay", NewTestSet("quay", {"A": b"other\nwords"}), NewSubmission("tug", b"a\nb"))
    with reading(engine) as connection:
        assert find_standing_submissions(connection, "quay").name == "quay (version 2)"


def test_names_that_are_not_there_or_say_too_little(engine: Engine) -> None:
    with reading(engine) as connection, pytest.raises(NotFound, match="Nothing was evaluated here yet"):
        find_standing_submissions(connection, "quay")
    submit(engine, "spring", QUAY, NewSubmission("tug", b"a\nb"))
    submit(engine, "autumn", QUAY, NewSubmission("tug", b"a\nb"))
    submit(engine, "autumn", NewTestSet("pier", {"A": b"x"}), NewSubmission("tug", b"a"))
    with reading(engine) as connection:
        assert find_standing_submissions(connection, "spring").name == "spring: quay"
        for name, message in (
            ("quay", 'Several campaigns have the test set "quay". Name one of them: autumn, spring'),
            ("autumn", 'The campaign "autumn" has several test sets. Name one of them: pier, quay'),
            ("dock", "There are: autumn, pier, quay, spring"),
        ):
            with pytest.raises(NotFound, match=message):
                find_standing_submissions(connection, name)
        with pytest.raises(NotFound):
            read_standing_submissions(connection, 99, 99)


def test_a_test_set_without_texts_has_no_references(engine: Engine) -> None:
    with writing(engine) as connection:
        new = NewTestSet("scores", {}, segments=3, target_language="cs")
        stored = store_test_set(connection, store_campaign(connection, "spring"), new)
        assert read_references(connection, stored) == References((), "cs", frozenset())
