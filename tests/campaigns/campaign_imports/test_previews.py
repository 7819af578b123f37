"""Previews of whole campaigns: what they say is what an import then stores, and nothing is left behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from campaigns.previews import writing_unless_preview
from models.database.session import reading
from models.schema.base import Base
from models.schema.roles import SiteRole
from tests.campaigns.campaign_imports.zips import exported, taken_in, zipped
from tests.service.service import Service

TEXTS = ("sources/en-cs.txt", "references/en-cs.refA.txt", "system-outputs/eng-ces/mast.txt")


def folder() -> dict[str, bytes]:
    """Two pairs, one of them spelt in four ways, with documents, judgments and scores of a metric."""
    files = dict.fromkeys(
        [*TEXTS, *(each.replace("eng-ces", "en-de").replace("en-cs", "en-de") for each in TEXTS)], b"a\nb\n"
    )
    return files | {
        "system-outputs/en-de/keel.txt": b"a\nc\n",
        "documents/en-cs_CZ.docs": b"news\td\ntalk\te\n",
        "human-scores/en-ces.esa.seg.score": b"mast\t1\nmast\tNone\nrefA\t3\nrefA\t2\nhull\t1\nhull\t1\n",
        "human-scores/de-en.esa.seg.score": b"mast\t1\nmast\t2\n",
        "metric-scores/eng_Latn---ces_Latn/X-refA.seg.score": b"mast\t0.5\nmast\t0.25\n",
    }


def rows(service: Service) -> dict[str, int]:
    """How many rows each table has."""
    with reading(service.engine) as connection:
        return {
            name: connection.scalar(select(func.count()).select_from(table)) or 0
            for name, table in Base.metadata.tables.items()
        }


def sent(service: Service, content: bytes, **fields: str) -> Any:
    olga = service.browser(service.account("olga", SiteRole.ORGANISER))
    before = rows(service)
    files = {"file": ("bay.zip", content, "application/zip")}
    answer = olga.post("/api/v1/campaigns/bay/import", data={"preview": "true", **fields}, files=files)
    assert rows(service) == before, "nothing is left behind, in any table"
    return olga, answer


def test_a_preview_says_what_the_import_then_stores(service: Service) -> None:
    olga, answer = sent(service, zipped(folder()))
    assert answer.status_code == 200, answer.text
    said = answer.json()
    assert (said["name"], said["stored"]) == ("bay", False)
    assert (said["test_sets"], said["submissions"], said["judgments"], said["imported"]) == (2, 3, 1, 1)
    first, second = said["by_test_set"]
    assert (first["test_set"], first["pair"], first["segments"], first["documents"]) == ("en-cs", "en-cs", 2, 2)
    assert sorted(first["spelt"]) == ["en-ces", "en-cs_CZ", "eng-ces", "eng_Latn---ces_Latn"]
    assert (first["domains"], first["references"]) == (["news", "talk"], ["refA"])
    assert (first["systems"], first["missing"]) == (["mast"], ["keel"])
    (judged,) = first["judgments"]
    assert (judged["name"], judged["segments"], judged["matched"]) == ("esa", 2, ["mast"])
    assert (judged["unknown"], judged["references"], judged["not_judged"]) == (["hull"], ["refA"], [])
    (scores,) = first["scores"]
    assert (scores["metric"], scores["level"], scores["systems"]) == ("X-refA", "segment", 1)
    assert (second["systems"], second["judgments"], second["scores"]) == (["keel", "mast"], [], [])
    told = " ".join(said["notices"])
    assert "human-scores: not used, for there is no such pair: de-en.esa.seg.score." in told
    files = {"file": ("bay.zip", zipped(folder()), "application/zip")}
    stored = olga.post("/api/v1/campaigns/bay/import", files=files)
    assert stored.status_code == 201
    assert stored.json() == {**said, "stored": True}


def test_a_preview_refuses_what_the_import_refuses(service: Service) -> None:
    damaged = {**folder(), "system-outputs/en-de/keel.txt": b"a\n"}
    _, answer = sent(service, zipped(damaged))
    assert (answer.status_code, "system-outputs/en-de/keel.txt" in answer.text) == (422, True), answer.text


def test_a_preview_of_an_export(port: Service, tmp_path: Path) -> None:
    content = exported(port, "port")
    _, answer = sent(port, content)
    assert answer.status_code == 200, answer.text
    said = answer.json()
    found = taken_in(port, content, tmp_path, "bay")
    assert said == {**found.model_dump(mode="json"), "stored": False}
    assert any(each["judgments"] and each["judgments"][0]["matched"] for each in said["by_test_set"])


def test_others_than_organisers_see_no_preview(service: Service) -> None:
    mary = service.browser(service.account("mary"))
    files = {"file": ("bay.zip", zipped(folder()), "application/zip")}
    assert mary.post("/api/v1/campaigns/bay/import", data={"preview": "true"}, files=files).status_code == 403


def test_an_error_in_a_preview_is_raised(service: Service) -> None:
    for preview in (True, False):
        with pytest.raises(KeyError), writing_unless_preview(service.engine, preview=preview):
            raise KeyError
