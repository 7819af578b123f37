"""The same output before a correction and after it, whatever else its system has."""

from __future__ import annotations

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.changes import lock_for_change
from campaigns.corrections.corrections import correct_test_set
from campaigns.permissions import read_access
from campaigns.submissions.views import across_corrections, find_submission
from campaigns.test_sets.stored import find_campaign_test_set
from models.database.session import reading, writing
from steelyard.formats.plain import Text
from tests.service.campaigns import submit_output, with_test_set
from tests.service.service import Service


def test_each_output_leads_to_itself(service: Service) -> None:
    engine = service.engine
    for name in ("wmt", "other"):
        service.campaign(name, teams=tuple(service.team(f"{team}-{name}") for team in ("ants", "bees")))
        with_test_set(engine, name, name="news")
    outputs = [
        ("wmt", "ants", "mast", b"1\ny\nz\n", ""), ("wmt", "ants", "mast", b"2\ny\nz\n", ""),
        ("wmt", "ants", "mast", b"1\ny\nz\n", "again"), ("wmt", "ants", "sail", b"1\ny\nz\n", ""),
        ("wmt", "bees", "mast", b"1\ny\nz\n", ""), ("other", "ants", "mast", b"1\ny\nz\n", ""),
    ]  # fmt: skip
    for campaign, team, system, text, run in outputs:
        submit_output(engine, campaign, f"{team}-{campaign}", system, text, run=run)

    def correct(word: bytes) -> None:
        with writing(engine) as connection:
            access = lock_for_change(connection, COMMAND_LINE, "wmt")
            known = find_campaign_test_set(connection, access, "news")
            correct_test_set(connection, service.settings, access, known, {"A": Text("A", word + b"\ny\nz", 3)}, "slip")

    def around(number: int) -> tuple[int | None, int | None]:
        with reading(engine) as connection:
            access, seen = find_submission(connection, COMMAND_LINE, number, 60.0)
            return across_corrections(connection, access, seen)

    def said(number: int | None) -> tuple[object, ...]:
        assert number is not None
        with reading(engine) as connection:
            _, seen = find_submission(connection, COMMAND_LINE, number, 60.0)
            return seen.team, seen.system, seen.run, seen.sha256, seen.campaign_id

    assert [around(number) for number in range(1, 7)] == [(None, None)] * 6
    correct(b"p")
    correct(b"q")
    for number in range(1, 6):
        before, after = around(number)
        assert before is None
        assert said(after) == said(number)
        assert after is not None
        back, last = around(after)
        assert (back, said(last)) == (number, said(number))
        assert last is not None
        assert around(last) == (after, None)
    assert around(6) == (None, None)
    with reading(engine) as connection:
        assert len(read_access(connection, COMMAND_LINE, "wmt").test_sets) == 3
