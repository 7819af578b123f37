"""A sweep of a parameter, as `tune` makes it, is not how a campaign measures: nobody who looks at it sees one."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.inspection.segment_scores import read_measures
from campaigns.measures import protocols_on
from campaigns.permissions import read_access
from campaigns.submissions.test_sets import offered_test_sets
from campaigns.submissions.views import find_submission
from models.corpus.campaign_protocols import find_test_set_protocols
from models.database.session import reading
from runtime.settings import Settings
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.metrics.registry import parse_metric
from tests.service.campaigns import REFERENCE, SOURCE, submit_output, with_test_set
from tests.service.service import Service

OUTPUT = b"kocka\npsi\ndum\n"


def looked_at(engine: Engine) -> list[Any]:
    """What is read of a campaign on pages, by programs, and where outputs are submitted."""
    with reading(engine) as connection:
        access = read_access(connection, COMMAND_LINE, "wmt")
        _, submission = find_submission(connection, COMMAND_LINE, 1, 60.0)
        return [
            protocols_on(connection, access.campaign_id),
            offered_test_sets(connection, access),
            find_test_set_protocols(connection, "wmt"),
            submission.evaluations,
            submission.progress,
            read_measures(connection, access.campaign_id, 1),
        ]


def test_nobody_who_looks_at_a_campaign_sees_a_sweep(service: Service) -> None:
    service.campaign("wmt")
    with_test_set(service.engine, "wmt", name="news")
    submit_output(service.engine, "wmt", "ants", "mast", OUTPUT)
    before = looked_at(service.engine)
    assert all(before)
    swept = NewProtocol(["A"], [parse_metric(f"chrf:beta={beta}") for beta in (1, 3)], 0, sweep=True)
    # On the test set of the campaign, and on one that it does not measure otherwise.
    for name, reference in (("news", REFERENCE), ("talks", b"x\ny\nz\n")):
        ingest_campaign(
            service.engine,
            Settings(),
            campaign="wmt",
            test_set=NewTestSet(
                name, {"A": reference.rstrip()}, SOURCE.rstrip(), source_language="en", target_language="cs"
            ),
            submissions=[NewSubmission("mast", OUTPUT.rstrip(), "ants")],
            protocols=[swept],
        )
    assert looked_at(service.engine) == before
