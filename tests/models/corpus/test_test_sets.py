"""Test sets found by name in any campaign."""

import pytest
from sqlalchemy import Engine

from models.corpus.test_sets import find_test_set, list_test_sets
from models.database.session import make_engine, reading, writing
from models.errors import NotFound
from scheduler.ingest.campaigns import store_campaign
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
