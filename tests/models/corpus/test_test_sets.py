"""Test sets found by name in any campaign."""

import pytest
from sqlalchemy import Engine, insert, update

from models.corpus.test_sets import (
    StoredTestSet,
    SubmittedSystem,
    find_test_set,
    is_exact_name,
    list_test_sets,
    match_test_set,
    submitted_systems,
)
from models.database.session import make_engine, reading, writing
from models.errors import NotFound
from models.schema.accounts import Team
from models.schema.corpus import System
from scheduler.ingest.campaigns import NewSubmission, store_campaign, store_submissions
from scheduler.ingest.test_sets import NewTestSet, store_test_set

QUAY = NewTestSet("quay", {"A": b"x\ny"})


@pytest.fixture
def engine(sqlite_url: str) -> Engine:
    return make_engine(sqlite_url)


def stored(engine: Engine, campaign: str, test_set: NewTestSet) -> int:
    with writing(engine) as connection:
        return store_test_set(connection, store_campaign(connection, campaign), test_set)


def refused(engine: Engine, *asked: str | None) -> str:
    with reading(engine) as connection, pytest.raises(NotFound) as error:
        find_test_set(connection, *asked)
    return str(error.value)


def test_the_only_one_needs_no_name(engine: Engine) -> None:
    assert refused(engine, None) == "The database has no test set. `steelyard evaluate` stores them."
    number = stored(engine, "spring", QUAY)
    assert stored(engine, "autumn", QUAY) == number
    with reading(engine) as connection:
        for name in (None, "quay", "quay@1", "spring: quay", "autumn: quay@1"):
            assert find_test_set(connection, name).id == number
    assert refused(engine, "pier") == "There is no test set 'pier'. There are: quay."
    assert refused(engine, "summer: quay") == "There is no test set 'summer: quay'. There are: quay."


def test_one_of_several_is_named(engine: Engine) -> None:
    numbers = [stored(engine, "spring", each) for each in (QUAY, NewTestSet("pier", {"A": b"x"}))]
    assert refused(engine, None) == "There are several test sets: quay, pier. Choose one with --test-set."
    numbers.append(stored(engine, "spring", NewTestSet("quay", {"A": b"x\nz"})))
    assert refused(engine, "quay") == "There are several test sets: quay@1, quay@2. Choose one with --test-set."
    assert refused(engine, "quay@3") == "There is no test set 'quay@3'. There are: quay@1, pier@1, quay@2."
    with reading(engine) as connection:
        found = [find_test_set(connection, name).id for name in ("quay@1", "pier", "quay@2")]
        assert found == numbers
        assert [each.id for each in list_test_sets(connection)] == numbers


def test_one_name_for_different_test_sets_takes_the_campaign(engine: Engine) -> None:
    ours, theirs = stored(engine, "spring", QUAY), stored(engine, "autumn", NewTestSet("quay", {"A": b"other"}))
    stored(engine, "spring", NewTestSet("pier", {"A": b"x"}))
    assert refused(engine, "quay") == (
        "Several campaigns have a test set 'quay', and not the same: spring: quay, autumn: quay. Name one."
    )
    with reading(engine) as connection:
        assert find_test_set(connection, "autumn: quay").id == theirs
        assert find_test_set(connection, "quay", "spring").id == ours
        assert find_test_set(connection, "quay@1", "autumn").id == theirs


def test_a_name_of_one_version_goes_before_the_name_of_all() -> None:
    """A name may look like the id, or like the version, of another test set."""
    old, new, nine, odd = (
        StoredTestSet(*each, segments=1)
        for each in ((7, "quay", "1"), (9, "quay", "2"), (3, "9", "1"), (4, "quay@2", "1"))
    )
    for wanted, found in {
        "7": old,
        "9": new,
        "3": nine,
        "9@1": nine,
        "quay@1": old,
        "quay@2": new,
        "quay@2@1": odd,
        "quay (version 1)": old,
        "quay (version 2)": new,
        "9 (version 1)": nine,
        "quay": old,
    }.items():
        assert match_test_set([old, nine, odd, new], wanted) == found
        assert [each for each in (old, new, nine, odd) if is_exact_name(each, wanted)] == [found] * (wanted != "quay")
    assert match_test_set([new, old], "quay") == new, "the first of that name"
    for wanted in ("", "qua", "quay@3", "quay (version 3)", "quay (version 1", "@1", "8"):
        assert match_test_set([old, nine, odd, new], wanted) is None


def test_those_of_a_campaign_are_listed(engine: Engine) -> None:
    pier = NewTestSet("pier", {"A": b"x"})
    numbers = [stored(engine, *each) for each in (("spring", QUAY), ("autumn", pier), ("autumn", QUAY))]
    with writing(engine) as connection:
        spring, autumn, winter = (store_campaign(connection, name) for name in ("spring", "autumn", "winter"))
        for campaign, expected in ((spring, numbers[:1]), (autumn, numbers[:2]), (winter, []), (None, numbers[:2])):
            assert [each.id for each in list_test_sets(connection, campaign)] == expected


def test_systems_of_a_campaign_and_test_set_have_the_names_of_their_teams(engine: Engine) -> None:
    """Each is listed once, whatever the number of its outputs."""
    pier, quay = stored(engine, "spring", NewTestSet("pier", {"A": b"x\nz"})), stored(engine, "autumn", QUAY)
    with writing(engine) as connection:
        spring, autumn = (store_campaign(connection, name) for name in ("spring", "autumn"))
        connection.execute(insert(Team), [{"name": "guild", "folded_name": "guild", "publication_name": "The Guild"}])
        outputs = [NewSubmission(*each) for each in (("tug", b"a\nb"), ("tug", b"a\nb", "guild"), ("ark", b"a\nc"))]
        store_submissions(connection, spring, pier, outputs)
        store_submissions(connection, spring, pier, [NewSubmission("tug", b"c\nd", "guild")])
        store_submissions(connection, spring, quay, [NewSubmission("raft", b"c\nd")])
        store_submissions(connection, autumn, pier, [NewSubmission("punt", b"c\nd")])
        listed = [
            SubmittedSystem("", "ark"),
            SubmittedSystem("", "tug"),
            SubmittedSystem("guild", "tug", "The Guild"),
        ]
        assert submitted_systems(connection, spring, pier) == listed
        assert submitted_systems(connection, autumn, pier) == [SubmittedSystem("", "punt")]
        assert submitted_systems(connection, autumn, quay) == []
        connection.execute(update(System).where(System.team == "").values(team="others"))
        assert [each.team for each in submitted_systems(connection, spring, pier)] == ["guild", "others", "others"]
