"""What is asked of human judgments by the API reaches what reads them."""

from __future__ import annotations

from typing import Any

import pytest

from campaigns.errors import BadRequest
from models.schema.states import JudgmentKind
from tests.service.port import ADDRESS, Port
from web.uploads.judgments import JudgmentsForm


def test_every_field_reaches_its_place(port: Port, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[JudgmentsForm] = []

    async def add(_state: Any, _access: Any, form: JudgmentsForm, _files: Any) -> None:
        asked.append(form)
        raise BadRequest("That is all.")

    monkeypatch.setattr("web.api.campaigns.judgments.add_judgments", add)
    given: dict[str, Any] = {
        "test_set": "quay",
        "pair": "en-cs",
        "rename": ["a=b", "c=d"],
        "kind": JudgmentKind.ERRORS,
        "by_document": True,
        "first_segment": 1,
        "weights": ["major=7"],
        "standardise": True,
        "aggregation": "wins",
    }
    for more in ({}, {"preview": True, "by_document": False, "standardise": False}):
        data = {"called": "esa", **given, **more}
        file = {"files": ("judged.tsv", b"x")}
        assert port.program("ann").post(f"{ADDRESS}/human-scores", data=data, files=file).status_code == 422
        assert asked[-1] == JudgmentsForm(name="esa", **{**given, **more})
