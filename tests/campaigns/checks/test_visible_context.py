"""What is read from the database, as far as the asker may have it."""

import pytest
from sqlalchemy import insert, select, update

from campaigns.accounts.principal import COMMAND_LINE, Principal
from campaigns.checks.visible_context import read_check_context
from campaigns.permissions import read_access
from campaigns.submissions.submit import submit
from models.database.session import make_engine, reading, writing
from models.schema.base import now
from models.schema.campaigns import Campaign, CampaignTestSet
from models.schema.corpus import TestSet
from runtime.settings import Settings
from steelyard.checks.check import check_output
from steelyard.formats.plain import Text
from tests.campaigns.quotas.quotas import SEGMENTS, attempt, open_campaign


@pytest.fixture
def engine(database_url):
    settings = Settings(database_url=database_url)
    engine = make_engine(database_url)
    open_campaign(engine, settings)
    for seed, team, system in ((1, "harbour", "mast"), (2, "island", "sail"), (3, "harbour", "keel")):
        submit(engine, settings, attempt(seed, team=team, system=system))
    with writing(engine) as connection:
        connection.execute(update(Campaign).values(visibility="public"))
    yield engine
    engine.dispose()


def read(engine, text: Text, *, known: bool = True, system: str = "mast"):
    with reading(engine) as connection:
        access = read_access(connection, Principal() if known else COMMAND_LINE, "trial")
        return read_check_context(
            connection, access, connection.scalar(select(TestSet.id)), text, team="harbour", system=system
        )


def test_references_that_are_released_are_compared_and_others_are_not(engine):
    text = attempt(9).text
    assert [read(engine, text, known=known).references for known in (True, False)] == [[], []]
    with writing(engine) as connection:
        connection.execute(update(CampaignTestSet).values(references_released_at=now()))
    standard = read(engine, text)
    assert (len(standard.references), standard.segments) == (1, SEGMENTS)


def test_the_same_output_is_found_whosever_it_is(engine):
    named = {seed: [each.called for each in read(engine, attempt(seed).text).others] for seed in (1, 2, 3, 9)}
    # The first is the very system that is submitted: an older output of it is no surprise.
    assert named == {1: [], 2: ["sail of island"], 3: ["keel of the same team"], 9: []}
    (finding,) = (
        each for each in check_output(attempt(2).text, read(engine, attempt(2).text)) if each.count == SEGMENTS
    )
    assert finding.code == "same_output"


def test_an_output_that_the_team_may_not_see_is_not_looked_at(engine):
    from models.schema.campaigns import Phase

    with writing(engine) as connection:
        campaign = connection.scalar(select(Campaign.id))
        row = {"campaign_id": campaign, "name": "test", "kind": "blind", "starts_at": now() - 10}
        connection.execute(insert(Phase).values(**row))
    # What a command of an organiser finds is kept for the team, too.
    for known in (True, False):
        assert read(engine, attempt(2).text, known=known).others == []
        assert [each.called for each in read(engine, attempt(3).text, known=known).others] == ["keel of the same team"]


def test_a_campaign_that_commands_alone_have_set_up_keeps_nothing_back(engine):
    with writing(engine) as connection:
        connection.execute(update(Campaign).values(visibility="private"))
    standard = read(engine, attempt(2).text, known=False)
    assert len(standard.references) == 1
    assert [each.called for each in standard.others] == ["sail of island"]


def test_an_output_of_another_length_is_no_twin(engine):
    standard = read(engine, Text("out.txt", b"a", 1))
    assert standard.others == []
    assert [each.code for each in check_output(Text("out.txt", b"a", 1), standard)] == ["count"]
