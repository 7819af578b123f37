"""A campaign's rules: those of one of its test sets, found by name, and their locks: many may rely on them at once,
and one changes them alone."""

from collections.abc import Callable

import pytest
from sqlalchemy import Connection, insert

from models.corpus.campaign_protocols import (
    find_campaign,
    find_test_set_protocols,
    lock_campaign,
    lock_campaign_shared,
)
from models.database.session import make_engine, reading, writing
from models.errors import NotFound, RowsHeld
from models.schema.campaigns import CampaignProtocol
from scheduler.ingest.campaigns import (
    NewProtocol,
    NewSubmission,
    ingest_campaign,
    store_campaign,
    store_protocols,
)
from scheduler.ingest.test_sets import NewTestSet, store_test_set
from steelyard.metrics.registry import parse_metric
from tests.scheduler.jobs import one_block_shards

Lock = Callable[[Connection, int], None]


@pytest.mark.parametrize(
    ("first", "second", "waits"),
    [
        (lock_campaign_shared, lock_campaign_shared, False),
        (lock_campaign_shared, lock_campaign, True),
        (lock_campaign, lock_campaign_shared, True),
        (lock_campaign, lock_campaign, True),
    ],
)
def test_who_changes_rules_waits_for_those_who_rely_on_them(
    postgres_url: str, first: Lock, second: Lock, *, waits: bool
) -> None:
    engine = make_engine(postgres_url)
    with writing(engine) as connection:
        spring, autumn = (store_campaign(connection, name) for name in ("spring", "autumn"))
    with writing(engine) as holder:
        first(holder, spring)
        with writing(engine, lock_seconds=60.0) as other:
            second(other, autumn)
        if waits:
            with pytest.raises(RowsHeld), writing(engine, lock_seconds=0.05) as other:
                second(other, spring)
        else:
            with writing(engine, lock_seconds=60.0) as other:
                second(other, spring)
    engine.dispose()


def test_the_protocols_of_one_test_set_are_found_by_its_name(sqlite_url: str) -> None:
    """What the campaign measures or has decided to measure, of that test set alone, and nothing of other campaigns."""
    engine, settings = make_engine(sqlite_url), one_block_shards(sqlite_url)
    for campaign in ("spring", "autumn"):
        with reading(engine) as connection, pytest.raises(NotFound) as none:
            find_campaign(connection, campaign)
        there = "There are: spring." if campaign == "autumn" else "Create one with `steelyard evaluate`."
        assert str(none.value) == f"There is no campaign '{campaign}'. {there}"
        with writing(engine) as connection:
            assert store_campaign(connection, campaign) == find_campaign(connection, campaign)
    bleu, chrf, ter = (NewProtocol(["A"], [parse_metric(name)]) for name in ("bleu", "chrf", "ter"))
    quay, later, pier = (
        NewTestSet(name, {"A": text}, target_language=language)
        for name, text, language in (("quay", b"x\ny", "cs"), ("quay", b"x\nz", "sk"), ("pier", b"x", "de"))
    )
    # The protocols are stored in another order than test sets.
    jobs = [
        ingest_campaign(
            *(engine, settings), campaign=campaign, test_set=test_set, protocols=protocols,
            submissions=[NewSubmission("tug", b"\n" * (test_set is not pier))],
        )
        for campaign, test_set, protocols in (
            ("spring", pier, [ter]), ("spring", quay, [bleu]), ("autumn", quay, [chrf]), ("spring", later, [chrf]),
        )
    ]  # fmt: skip
    with writing(engine) as connection:
        decided = store_protocols(connection, jobs[1].test_set_id, [ter])
        connection.execute(insert(CampaignProtocol), [{"campaign_id": jobs[0].campaign_id, "protocol_id": decided[0]}])
        for name, place, language, expected in (
            ("quay@1", 1, "cs", [*jobs[1].protocols, *decided]),
            ("quay@2", 3, "sk", jobs[3].protocols),
            ("pier", 0, "de", jobs[0].protocols),
        ):
            found = find_test_set_protocols(connection, "spring", name)
            assert (found.test_set.id, found.target_language) == (jobs[place].test_set_id, language)
            assert [each.id for each in found.protocols] == list(expected)
            assert (found.campaign_id, found.campaign) == (jobs[0].campaign_id, "spring")
        (only,) = find_test_set_protocols(connection, "autumn").protocols
        assert (only.id, [each.partition(":")[0] for each in only.metrics]) == (jobs[2].protocols[0], ["chrf"])
        store_test_set(connection, jobs[2].campaign_id, pier)
        there = "pier@1, quay@1, quay@2"
        for asked, told in (
            (("spring",), f"has several test sets: {there}. Choose one with --test-set."),
            (("spring", "quay"), f"has several test sets: {there}. Choose one with --test-set."),
            (("spring", "dock"), f"has no test set 'dock'. There are: {there}."),
            (("autumn", "pier"), "has no test set 'pier'. There are: quay@1."),
        ):
            with pytest.raises(NotFound) as error:
                find_test_set_protocols(connection, *asked)
            assert str(error.value) == f"The campaign '{asked[0]}' {told}"
    engine.dispose()
