"""A check, or a submission's findings, must not tell what is in a text that its reader may not see."""

from __future__ import annotations

import random
from contextlib import ExitStack
from typing import Any

import pytest
from sqlalchemy import update

from campaigns.accounts.principal import Principal
from campaigns.checks.visible_context import read_check_context
from campaigns.permissions import read_access
from models.database.session import reading, writing
from models.schema.base import now
from models.schema.campaigns import CampaignTestSet
from models.schema.roles import Feedback, PhaseKind
from steelyard.checks.check import check_output
from steelyard.checks.context import CheckContext
from steelyard.formats.plain import Text
from tests.scheduler.jobs import some_text
from tests.service.campaigns import found, given, submit_output, with_test_set
from tests.service.port import ADDRESS, Port, output
from tests.service.service import Service

GUESSES = 1000
SEGMENTS = 24
TRUE, FALSE, SOURCE, OURS = (
    [f"{line.decode()} {number}" for number, line in enumerate(some_text(SEGMENTS, seed).split(b"\n"))]
    for seed in (1, 2, 3, 4)
)
DAY = 86400.0


def joined(lines: list[str]) -> bytes:
    return "\n".join(lines).encode()


class World:
    """A blind campaign whose references, and whose other team's output, are such lines."""

    def __init__(self, service: Service, hidden: list[str], name: str, **phase: Any) -> None:
        self.service, self.name = service, name
        self.mary = service.account(f"mary.{name}")
        service.team(f"harbour.{name}", self.mary)
        found(service.engine, name, visibility="public")
        reference = joined(hidden) + b"\n"
        self.test_set = with_test_set(service.engine, name, given(reference, joined(SOURCE) + b"\n"), name=name)
        submit_output(service.engine, name, "guests", "tent", reference)
        with reading(service.engine) as connection:
            self.campaign = read_access(connection, Principal(), name).campaign_id
        self.phase = service.phase(self.campaign, "test", PhaseKind.BLIND, feedback=Feedback.NONE, **phase)

    def standard(self, text: Text) -> CheckContext:
        with reading(self.service.engine) as connection:
            access = read_access(connection, Principal(account_id=self.mary, teams={"harbour": "lead"}), self.name)
            return read_check_context(connection, access, self.test_set, text, team="harbour", system="mast")

    def told(self, lines: list[str]) -> list[dict[str, Any]]:
        """The findings of an upload."""
        text = Text("out.txt", joined(lines), len(lines))
        return [each.as_row() for each in check_output(text, self.standard(text))]


@pytest.mark.long
def test_a_thousand_guesses_half_of_them_true_tell_nothing_of_references_and_outputs(service: Service) -> None:
    one, two = World(service, TRUE, "one"), World(service, FALSE, "two")
    draw = random.Random(7)
    for number in range(GUESSES):
        place = draw.randrange(SEGMENTS)
        # Sentences alone and runs of them, in their places and in others: one world's truth is the other's error.
        guess = (TRUE if number % 2 else FALSE)[place : place + draw.choice((1, 1, 3, 8, SEGMENTS))]
        at = draw.choice((place, 0, 1))
        lines = [*OURS[:at], *guess, *OURS][: SEGMENTS - (number % 5 == 0)]
        assert one.told(lines) == two.told(lines), lines


def test_a_source_that_is_not_out_tells_nothing(service: Service) -> None:
    world = World(service, TRUE, "one", starts_at=now() + DAY)
    copied = [each["code"] for each in world.told(SOURCE)]
    assert "copied" in copied
    with writing(service.engine) as connection:
        connection.execute(update(CampaignTestSet).values(phase_id=world.phase))
    assert world.standard(Text("out.txt", joined(SOURCE), SEGMENTS)).source is None
    assert "copied" not in [each["code"] for each in world.told(SOURCE)]


def test_what_is_released_is_looked_at(service: Service) -> None:
    world = World(service, TRUE, "one")
    text = Text("out.txt", joined(OURS), SEGMENTS)
    assert world.standard(text).references == []
    with writing(service.engine) as connection:
        connection.execute(update(CampaignTestSet).values(references_released_at=now()))
    assert world.standard(text).references == [joined(TRUE)]


def test_checks_of_a_team_are_limited_per_day(service_url: str) -> None:
    with ExitStack() as stack:
        port = Port.opened(Service.start(service_url, stack, checks_per_day=2))
        sent = {"params": {"system": "mast"}, "content": output()}
        answers = [port.program("mary").post(f"{ADDRESS}/checks", **sent) for _ in range(3)]
        assert [each.status_code for each in answers] == [200, 200, 429]
        assert "has checked 2 outputs within a day" in answers[-1].json()["error"]["message"]
        assert port.program("zoe").post(f"{ADDRESS}/checks", **sent).status_code == 200
        assert port.submit(port.program("mary")).status_code == 201
