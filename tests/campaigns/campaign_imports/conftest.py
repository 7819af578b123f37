"""A campaign with everything that an export has."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.changes import lock_for_change
from campaigns.corrections.corrections import correct_test_set
from campaigns.rules import Rules, set_rules
from campaigns.test_sets.stored import find_campaign_test_set
from models.database.session import writing
from models.schema.roles import PhaseKind
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.judgments import ingest_judgments
from scheduler.ingest.test_sets import NewTestSet
from steelyard.formats.plain import Text as PlainText
from steelyard.meta_evaluation.human.judgments import Judged, JudgedSpan, Judgment, SegmentScore, SystemScore
from steelyard.metrics.registry import parse_metric
from tests.campaigns.score_imports.scores import take_in
from tests.scheduler.jobs import work_off
from tests.service.campaigns import submit_output
from tests.service.service import DAY, Service

DOCUMENTS = [("one", "news", ""), ("one", "news", ""), ("two", "talk", "names")]
LANGUAGES = {"source_language": "en", "target_language": "cs"}


@pytest.fixture
def port(service: Service, tmp_path: Path) -> Service:
    """Two pairs, a correction, declarations, judgments with errors, imported scores, a phase, odd names."""
    mary = service.account("mary")
    campaign = service.campaign("port", teams=(service.team("harbour", mary),), title="Ports", description="=sum")
    metrics = [parse_metric(each) for each in ("chrf", "ter")]
    for name, source, references in (
        ("news", b"a cat\nruns\nhome", {"A": b"kocka\nbezi\ndomu", "B": b"cica\nutika\ndom"}),
        ("en-de", None, {"ref": b"die Katze\n\nheim"}),
    ):
        ingest_campaign(
            service.engine,
            service.settings,
            campaign="port",
            test_set=NewTestSet(
                name, references, source, **LANGUAGES, documents=DOCUMENTS, segment_ids=["1", "2", "x"],
                variable_references=name == "news",
            ),
            submissions=[NewSubmission("=lamp", b"kocka\nx\ndom"), NewSubmission("oar", b"pes\nbezi\ndomu", run="2")],
            protocols=[NewProtocol([*references], metrics, 20, seed=7)],
        )  # fmt: skip
    submit_output(
        service.engine, "port", "harbour", "mast", b"kocka\nbezi\ndum\n", description="@ours", test_set="news"
    )
    work_off(service.settings)
    with writing(service.engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "port")
        known = find_campaign_test_set(connection, access, "news")
        corrected = {"B": PlainText("B.txt", b"cica\nutika\ndomek", 3)}
        correct_test_set(connection, service.settings, access, known, corrected, "A slip\nof the pen")
        access = lock_for_change(connection, COMMAND_LINE, "port")
        newest = find_campaign_test_set(connection, access, "news@2").id
    work_off(service.settings)
    judgments = [Judgment("Zoe Secret", "mast", 0, 80.0, seconds=2.5), Judgment("Adam", "mast", 2, 60.0, wave=1)]
    spans = [
        JudgedSpan("Adam", "mast", 2, 0, 2, "minor", "Style", missing=False, in_source=False),
        JudgedSpan("Adam", "mast", 2, 1, 3, "major", "Omission", missing=False, in_source=True, wave=1),
        JudgedSpan("Adam", "mast", 0, 1, 1, "major", "Omission", missing=True, in_source=False),
    ]
    judged = Judged(
        "ratings", {"standardised": False}, [SystemScore("mast", 70.0, None, 2, 2)],
        [SegmentScore("mast", 0, 80.0), SegmentScore("mast", 2, 60.0, 60.0, 1)], judgments, spans=spans,
    )  # fmt: skip
    ingest_judgments(service.engine, access.campaign_id, newest, "esa", judged)
    folder = tmp_path / "scores" / "en-cs"
    folder.mkdir(parents=True)
    (folder / "XCOMET.seg.score").write_text("".join(f"harbour/mast {each}\n" for each in (0.1, "nan", 0.7)))
    take_in(service.engine, "port", folder / "XCOMET.seg.score", test_set="news@2")
    service.phase(campaign, "test", PhaseKind.OPEN, ends=DAY)
    with writing(service.engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "port")
        set_rules(connection, access, Rules(ranked_by="ter", human_rule="human", human_judgments="esa"))
    return service
