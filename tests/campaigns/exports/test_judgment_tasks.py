"""Tasks for people: of which test sets, with which outputs beside each other, and where each segment stands."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.exports.judgment_tasks import WantedTasks, export_judgment_tasks, names_to_judge
from campaigns.permissions import read_access
from models.database.session import reading
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.metrics.registry import parse_metric
from steelyard_client.vocabulary import AnnotationProtocol, AnnotationTool, TaskAssignment
from tests.service.service import Service

SYSTEMS = ("mast", "keel", "oar", "sail")
SEGMENTS = 8
DOCUMENTS = [(name, "news", "") for name in "aabaabba"]
"""Each in several pieces."""


@pytest.fixture
def site(service: Service) -> Service:
    """Two test sets with outputs, one of them without a source, and one without outputs."""
    service.campaign("wmt")
    for name, source in (("en-cs", True), ("bare", False), ("unused", True)):
        ingest_campaign(
            service.engine,
            service.settings,
            campaign="wmt",
            test_set=NewTestSet(
                *(name, {"A": lines(f"{name} reference")}),
                source=lines(f"{name} source") if source else None,
                source_language="en",
                target_language="cs",
                documents=DOCUMENTS,
            ),
            submissions=[NewSubmission(each, lines(f"{each} of {name}")) for each in SYSTEMS]
            if name != "unused"
            else [],
            protocols=[NewProtocol(["A"], [parse_metric("chrf")], 0)],
        )
    return service


def lines(mark: str) -> bytes:
    return "\n".join(f"the {mark} says number {number} of all" for number in range(SEGMENTS)).encode()


def tasks(site: Service, tool: AnnotationTool = AnnotationTool.PEARMUT, **wanted: Any) -> dict[str, Any]:
    """What each file of the zip holds."""
    asked = WantedTasks(**{"tool": tool, "protocol": AnnotationProtocol.ESA, **wanted})
    content = b"".join(export_judgment_tasks(site.engine, COMMAND_LINE, "wmt", asked))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: json.loads(archive.read(name)) for name in archive.namelist()}


def pearmut(site: Service, **wanted: Any) -> dict[str, Any]:
    return dict(tasks(site, **wanted)["en-cs.json"])


def test_what_has_a_source_and_outputs_can_be_judged(site: Service) -> None:
    with reading(site.engine) as connection:
        test_sets, systems = names_to_judge(connection, read_access(connection, COMMAND_LINE, "wmt"))
    assert (test_sets, systems) == (["en-cs"], sorted(SYSTEMS))
    found = tasks(site)
    assert set(found) == {"en-cs.json", "names.json"}
    assert sorted(found["names.json"]["left_out"]) == ["bare", "unused"]


def test_each_segment_has_its_place_in_its_document_however_many_pieces_that_has(site: Service) -> None:
    seen: dict[str, int] = {"a": 0, "b": 0}
    expected = {}
    for number, (name, domain, _) in enumerate(DOCUMENTS):
        expected[f"the en-cs source says number {number} of all"] = f"{domain}_###_{name}_###_{seen[name]}"
        seen[name] += 1
    items = [item for document in pearmut(site)["data"] for item in document]
    assert {item["src"]: item["item_id"] for item in items} == expected
    for item in items:
        number = item["src"].split()[-3]
        assert item["tgt"] == {each: f"the {each} of en-cs says number {number} of all" for each in SYSTEMS}


@pytest.mark.parametrize("together", [1, 2, 4])
def test_so_many_outputs_stand_beside_each_other(site: Service, together: int) -> None:
    found = pearmut(site, assignment=TaskAssignment.TASK_BASED, annotators=2, together=together)
    assert found["info"]["assignment"] == "task-based"
    assert len(found["data"]) == 2
    assert {len(item["tgt"]) for task in found["data"] for document in task for item in document} == {together}
    assert pearmut(site, together=together)["info"]["dynamic_models"] == together


def test_there_are_so_many_checks_and_none_if_none_are_wanted(site: Service) -> None:
    assert "data_random" not in pearmut(site, checks=0)
    assert len(pearmut(site, checks=3)["data_random"]) == 3
    assert len(pearmut(site)["data_random"]) > 3


def test_what_is_chosen_for_appraise_is_what_its_tasks_have(site: Service) -> None:
    def batches(**wanted: Any) -> Any:
        return tasks(site, AnnotationTool.APPRAISE, **wanted)["en-cs.batches.json"]

    def kinds(found: Any) -> set[str]:
        return {item["itemType"] for batch in found for item in batch["items"]}

    assert kinds(batches(checks=0)) == {"TGT"}
    assert kinds(batches(checks=12)) > {"TGT"}
    assert batches(seed=1) == batches(seed=1) != batches(seed=2)
    beside = [batches(protocol=AnnotationProtocol.CESA, together=number) for number in (1, 2, 3)]
    assert beside[0] != beside[1] != beside[2]
