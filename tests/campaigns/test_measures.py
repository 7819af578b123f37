"""What two campaigns measure on test sets that they share: asked for in any order, against the rule said once more."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import insert, select, update

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.changes import lock_for_change
from campaigns.corrections.corrections import correct_test_set
from campaigns.errors import BadRequest
from campaigns.measures import MAX_REPLICATES, MeasureRequest, add_measures, protocols_on, standing_submissions
from campaigns.permissions import read_access
from campaigns.test_sets.files import NamedContent
from campaigns.test_sets.stored import find_campaign_test_set
from models.database.session import make_engine, reading, writing
from models.schema.base import now
from models.schema.campaigns import CampaignProtocol, Declaration
from models.schema.corpus import Protocol
from models.schema.queue import Evaluation
from models.schema.states import ResamplingUnit
from runtime.settings import Settings
from steelyard.formats.plain import Text
from tests.service.campaigns import REFERENCE, found, given, submit_output, with_test_set

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

METRICS = ("bleu", "chrf", "ter")
LISTS: tuple[tuple[str, ...], ...] = (("A",), ("B",), ("A", "B"))
Measured = dict[tuple[str, ...], tuple[list[str], int, int, str]]
"""References -> metrics, replicates, seed and what is resampled."""


@pytest.fixture
def engine(sqlite_url: str) -> Engine:
    """Two campaigns with the same two test sets, the first of which has documents, and outputs of two teams for it."""
    engine = make_engine(sqlite_url)
    documents = NamedContent("docs.tsv", b"segment\tdoc_id\n0\ta\n1\ta\n2\tb\n")
    references = [NamedContent("A.txt", REFERENCE), NamedContent("B.txt", b"kote\npsisko\nbarak\n")]
    for campaign in ("bay", "port"):
        found(engine, campaign)
        with_test_set(engine, campaign, given(references=references, documents=documents), metrics=("bleu",))
        with_test_set(engine, campaign, given(b"x\ny\nz\n"), name="talks", metrics=("ter",))
        for team in ("harbour", "guests"):
            submit_output(engine, campaign, team, "mast", f"{campaign}\n{team}\nx\n".encode(), test_set="news")
    return engine


def measured(connection: Connection, campaign: str, test_set: str = "news") -> Measured:
    """The newest protocol of each list of references."""
    access = read_access(connection, COMMAND_LINE, campaign)
    number = find_campaign_test_set(connection, access, test_set).id
    return {
        each.references: (
            [metric.partition(":")[0] for metric in each.metrics], each.replicates, each.seed, each.resample.value
        )
        for each in protocols_on(connection, access.campaign_id, number)
    }  # fmt: skip


def test_what_is_asked_for_is_added_to_what_is_measured_on_the_same_references(engine: Engine) -> None:
    draw = Random(3)
    with reading(engine) as connection:
        expected = {campaign: measured(connection, campaign) for campaign in ("bay", "port")}
        others = {campaign: measured(connection, campaign, "talks") for campaign in ("bay", "port")}
    assert {*expected["bay"]} == {*LISTS}
    for _ in range(12):
        campaign = draw.choice(("bay", "port"))
        lists = draw.sample(LISTS, draw.randrange(3))
        metrics = tuple(draw.sample(METRICS, draw.randrange(1, 3)))
        resample = draw.choice((None, None, *ResamplingUnit))
        asked = MeasureRequest(metrics, lists, draw.choice((0, 7, 20)), draw.randrange(100), resample)
        with writing(engine) as connection:
            access = lock_for_change(connection, COMMAND_LINE, campaign)
            news = find_campaign_test_set(connection, access, "news").id
            add_measures(connection, Settings(), access, news, asked)
        of_campaign = expected[campaign]
        for references in lists or LISTS:
            before, replicates, seed, unit = of_campaign[references]
            together = [*before, *(metric for metric in metrics if metric not in before)]
            unit = resample.value if resample else unit
            of_campaign[references] = together, max(replicates, asked.replicates), seed, unit
        with reading(engine) as connection:
            for name, wanted in expected.items():
                assert measured(connection, name) == wanted
                assert measured(connection, name, "talks") == others[name]
    with writing(engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "bay")
        whole = find_campaign_test_set(connection, access, "news")
        asked = MeasureRequest(("bleu",), [("A",)], 0, 0, ResamplingUnit.DOCUMENT)
        add_measures(connection, Settings(), access, whole.id, asked)
        before, replicates, seed, _ = expected["bay"]["A",]
        expected["bay"]["A",] = before, replicates, seed, "document"
        assert measured(connection, "bay") == expected["bay"]
        corrected = {"A": Text("A.txt", b"kocka\npes\nchata", 3)}
        correct_test_set(connection, Settings(), access, whole, corrected, "A house is no barn")
        assert measured(connection, "bay") == expected["bay"], "the corrected one is measured in the same way"
        assert measured(connection, "port") == expected["port"]
    with writing(engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "port")
        for wrong in (-1, MAX_REPLICATES + 1):
            with pytest.raises(BadRequest, match="replicates"):
                add_measures(connection, Settings(), access, whole.id, MeasureRequest(replicates=wrong))
    engine.dispose()


def test_so_many_metrics_and_lists_are_computed_together(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("campaigns.measures.MAX_METRICS", 2)
    monkeypatch.setattr("campaigns.measures.MAX_LISTS", 2)
    with writing(engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "bay")
        news = find_campaign_test_set(connection, access, "news").id
        before = measured(connection, "bay")
        for asked in (MeasureRequest(METRICS, LISTS[:2]), MeasureRequest(METRICS[:2], LISTS)):
            with pytest.raises(BadRequest) as refused:
                add_measures(connection, Settings(), access, news, asked)
            assert str(refused.value) == "At most 2 metrics and 2 lists of references can be computed together."
        assert measured(connection, "bay") == before
        add_measures(connection, Settings(), access, news, MeasureRequest(METRICS[:2], LISTS[:2]))
        assert measured(connection, "bay")["B",][0] == ["bleu", "chrf"]
    engine.dispose()


def test_what_stands_is_of_one_campaign_and_test_set_and_not_withdrawn(engine: Engine) -> None:
    with writing(engine) as connection:
        rows = connection.execute(select(Declaration.submission_id, Declaration.campaign_id, Declaration.team)).all()
        (withdrawn,) = [each for each in rows if (each.campaign_id, each.team) == (1, "guests")]
        mine = Declaration.submission_id == withdrawn.submission_id
        connection.execute(update(Declaration).where(mine).values(withdrawn_at=now()))
        for campaign in (1, 2):
            news, talks = read_access(connection, COMMAND_LINE, ("bay", "port")[campaign - 1]).test_sets
            wanted = {
                each.submission_id: each.team
                for each in rows
                if each.campaign_id == campaign and each.submission_id != withdrawn.submission_id
            }
            assert standing_submissions(connection, campaign, news) == wanted
            assert standing_submissions(connection, campaign, talks) == {}
    engine.dispose()


def test_a_campaign_has_the_protocols_it_was_given_and_those_its_outputs_were_scored_by(engine: Engine) -> None:
    with writing(engine) as connection:
        every = {row.id: row for row in connection.execute(select(Protocol))}
        first, second = sorted(every)[:2]
        assert [each.id for each in protocols_on(connection, 1)] == [each.id for each in protocols_on(connection, 2)]
        connection.execute(CampaignProtocol.__table__.delete().where(CampaignProtocol.campaign_id == 2))
        of_two = [each.id for each in protocols_on(connection, 2)]
        assert of_two == [key for key in sorted(every) if every[key].metrics[0].startswith("bleu")], "of its outputs"
        connection.execute(Evaluation.__table__.delete().where(Evaluation.protocol_id == first))
        assert first not in [each.id for each in protocols_on(connection, 2)]
        assert first in [each.id for each in protocols_on(connection, 1)]
        connection.execute(insert(CampaignProtocol).values(campaign_id=2, protocol_id=first))
        assert [each.id for each in protocols_on(connection, 2)] == of_two
        connection.execute(update(Protocol).where(Protocol.id == second).values(sweep=True))
        assert [each.id for each in protocols_on(connection, 2)] == [each for each in of_two if each != second]
    engine.dispose()
