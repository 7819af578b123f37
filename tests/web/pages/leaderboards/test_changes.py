"""What a correction of references changed, beside each system on the leaderboard."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import select, update

from models.database.session import writing
from models.schema.corpus import Protocol
from models.schema.queue import Evaluation
from models.schema.results import Score
from tests.scheduler.jobs import work_off
from tests.service.campaigns import submit_output
from tests.service.inspected_campaign import OUTPUTS, REFERENCES, Looked, look_at
from tests.service.service import Service

PAGE, API = "/campaigns/bay/leaderboard", "/api/v1/campaigns/bay/leaderboard"


@pytest.fixture
def corrected(service: Service) -> Looked:
    """See `look_at`; after a correction all of it is scored again."""
    bay = look_at(service)
    correct(bay, ["the blue ship", *REFERENCES["A"][1:]])
    return bay


def correct(bay: Looked, lines: list[str]) -> None:
    """Let the first reference be another, and everything be scored again."""
    answer = bay.service.program(bay.organiser).post(
        "/api/v1/campaigns/bay/corrections",
        files={"references": ("A.txt", "\n".join(lines).encode())},
        data={"test_set": bay.test_set, "reason": "a typing error"},
    )
    assert answer.status_code == 201, answer.text
    work_off(bay.service.settings)


def turn_round(bay: Looked, protocol: int) -> None:
    """Let a leaderboard have its metrics in the other order."""
    with writing(bay.service.engine) as connection:
        metrics = connection.scalars(select(Protocol.metrics).where(Protocol.id == protocol)).one()
        assert len(metrics) == 2
        connection.execute(update(Protocol).where(Protocol.id == protocol).values(metrics=metrics[::-1]))
        there = select(Evaluation.id).where(Evaluation.protocol_id == protocol)
        for old, new in ((0, 2), (1, 0), (2, 1)):
            ours = Score.evaluation_id.in_(there), Score.metric == old
            connection.execute(update(Score).where(*ours).values(metric=new))
        # What is kept of a leaderboard is as old as its evaluations.
        connection.execute(
            update(Evaluation).where(Evaluation.protocol_id == protocol).values(finished_at=Evaluation.finished_at + 1)
        )


def test_a_change_is_of_the_metric_that_ranks_wherever_it_stood(corrected: Looked) -> None:
    client = corrected.service.browser(corrected.organiser)

    def score(test_set: str, metric: str) -> dict[str, float]:
        rows = client.get(API, params={"test_set": test_set, "metric": metric}).json()["items"]
        return {
            each["name"]: score["score"]
            for each in rows
            for score in each["scores"]
            if score["metric"].startswith(metric)
        }

    def changes(metric: str) -> dict[str, str]:
        page = client.get(PAGE, params={"test_set": "bay@2", "metric": metric}).text
        assert ">Change</th>" in page
        found = re.findall(r'<th scope="row".*?<bdi>(.*?)</bdi>.*?data-title="Change">(.*?)</td>', page, re.DOTALL)
        return {name: cell.split("<")[0].strip().replace("−", "-") for name, cell in found}

    def expected(metric: str) -> dict[str, str]:
        old, new = score("bay@1", metric), score("bay@2", metric)
        assert len(old) == 2
        assert old != new
        return {name.split("/")[-1]: f"{new[name] - old[name]:+.1f}".replace("+0.0", "0.0") for name in new}

    before = {metric: expected(metric) for metric in ("bleu", "ter")}
    assert before["bleu"] != before["ter"]
    assert {metric: changes(metric) for metric in before} == before
    protocol = client.get(API, params={"test_set": "bay@1"}).json()["board"]
    turn_round(corrected, protocol)
    assert {metric: expected(metric) for metric in before} == before
    assert {metric: changes(metric) for metric in before} == before


def test_ranks_gained_and_lost_are_those_among_the_systems_on_both(service: Service) -> None:
    """What came in since is new, and takes no rank from the others."""
    bay = look_at(service)
    client = service.browser(bay.organiser)

    def cells(test_set: str) -> dict[str, str]:
        page = client.get(PAGE, params={"test_set": test_set, "metric": "bleu"}).text
        found = re.findall(r'<th scope="row".*?<bdi>(.*?)</bdi>.*?data-title="Change">(.*?)</td>', page, re.DOTALL)
        return {name: " ".join(re.sub("<[^>]*>", " ", cell).split()) for name, cell in found}

    better, worse = (each["system"] for each in client.get(API, params={"metric": "bleu"}).json()["items"])
    assert cells("bay") == {}, "nothing was corrected yet"
    (text,) = (lines for (_, system), lines in OUTPUTS.items() if system == worse)
    correct(bay, text)
    best = "".join(f"{line}\n" for line in text).encode()
    submit_output(service.engine, "bay", "gulls", "late", best, test_set="bay@2")
    work_off(service.settings)
    changed = cells("bay@2")
    assert changed["late"] == "new"
    assert changed[worse].endswith(" ▲ up 1"), changed
    assert changed[better].endswith(" ▼ down 1"), changed
    assert cells("bay@1") == {}
