"""Scores of segments: of evaluations that are done, by the metric and the references that are asked for."""

from __future__ import annotations

import pytest
from sqlalchemy import insert, select, update

from campaigns.errors import NotFound
from campaigns.inspection.segment_scores import Measure, find_measure, read_measures, segment_scores
from models.database.session import reading, writing
from models.schema.corpus import Protocol
from models.schema.queue import Evaluation
from models.schema.states import EvaluationState
from scheduler.ingest.campaigns import NewProtocol, ingest_campaign
from steelyard.metrics.registry import parse_metric
from tests.scheduler.jobs import work_off
from tests.service.inspected_campaign import Looked, bay_test_set, look_at
from tests.service.service import Service


@pytest.fixture
def bay(service: Service) -> Looked:
    """See `look_at`."""
    return look_at(service)


@pytest.mark.parametrize("state", [each for each in EvaluationState if each is not EvaluationState.DONE])
def test_an_evaluation_that_is_not_done_has_none(bay: Looked, state: EvaluationState) -> None:
    dive, soar = bay.submissions["dive"], bay.submissions["soar"]
    with writing(bay.service.engine) as connection:
        mine = update(Evaluation).where(Evaluation.submission_id == dive)
        connection.execute(mine.values(state=state))
    with reading(bay.service.engine) as connection:
        measures = read_measures(connection, bay.campaign, bay.test_set)
        for measure in measures:
            assert list(segment_scores(connection, measure, [dive, soar])) == [soar]
            assert list(segment_scores(connection, measure, [dive])) == []


def test_measures_are_those_of_the_campaign_the_most_references_first(bay: Looked) -> None:
    engine = bay.service.engine
    for label, metric in (("B", "ter"), ("A", "chrf")):
        ingest_campaign(
            engine,
            bay.service.settings,
            campaign="bay",
            test_set=bay_test_set(),
            submissions=[],
            protocols=[NewProtocol([label], [parse_metric(metric)], 20)],
        )
    work_off(bay.service.settings)
    with reading(engine) as connection:
        asked = [each.key for each in read_measures(connection, bay.campaign, bay.test_set)]
        assert asked == ["bleu@A,B", "ter@A,B"], "nobody has been measured by the others"
    with writing(engine) as connection:
        for protocol in connection.scalars(select(Protocol.id).where(Protocol.id > 1)).all():
            row = {"protocol_id": protocol, "submission_id": bay.submissions["dive"], "state": "done"}
            connection.execute(insert(Evaluation).values(**row))
    with reading(engine) as connection:
        measures = read_measures(connection, bay.campaign, bay.test_set)
        assert [each.key for each in measures] == ["bleu@A,B", "ter@A,B", "chrf@A", "ter@B"]
        assert read_measures(connection, bay.campaign + 1, bay.test_set) == []
        for metric, references, found in (
            ("", "", "bleu@A,B"),
            ("ter", "", "ter@A,B"),
            ("TER", "B", "ter@B"),
            ("ter", "B,A", "ter@A,B"),
            ("", "A", "chrf@A"),
            ("bleu", "A,B", "bleu@A,B"),
        ):
            chosen = find_measure(measures, metric, references)
            assert chosen is not None
            assert chosen.key == found
        for metric, references in (("bleu", "A"), ("nist", ""), ("chrf", "A,B")):
            with pytest.raises(NotFound, match=r"There are: BLEU against A\+B, TER against A\+B, chrF"):
                find_measure(measures, metric, references)
        assert find_measure([], "ter") is None
    # A sweep is for whoever tunes, not for who reads segments.
    with writing(engine) as connection:
        connection.execute(update(Protocol).where(Protocol.id == 1).values(sweep=True))
    with reading(engine) as connection:
        measures = read_measures(connection, bay.campaign, bay.test_set)
        assert [each.key for each in measures] == ["chrf@A", "ter@B"]


def test_references_are_asked_for_in_any_order() -> None:
    measures = [Measure(1, 0, "ter", "TER", labels, False, 100.0) for labels in (("B", "A"), ("B",), ("A", "C"))]
    for asked, place in (("A,B", 0), ("B,A", 0), ("B", 1), ("B,", 1), ("C,A", 2), ("", 0)):
        assert find_measure(measures, "ter", asked) is measures[place]
    for asked in ("A", "A,B,C", "b"):
        with pytest.raises(NotFound):
            find_measure(measures, "ter", asked)
