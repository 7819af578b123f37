"""`steelyard judgments import`: what it is told is what it asks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.main import main
from models.database.session import make_engine, writing
from scheduler.ingest.campaigns import store_campaign
from scheduler.ingest.test_sets import NewTestSet, store_test_set
from steelyard.commands.errors import CommandError
from steelyard_client import Client


@pytest.mark.parametrize("first", [None, 0, 1])
def test_what_an_import_is_told_is_sent(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, first: int | None
) -> None:
    monkeypatch.setenv("STEELYARD_DATABASE_URL", sqlite_url)
    with writing(make_engine(sqlite_url)) as connection:
        campaign = store_campaign(connection, "harbour")
        store_test_set(connection, campaign, NewTestSet("quay", {"A": b"x"}))
    (tmp_path / "da.tsv").write_text("system\tscore\n")
    sent: dict[str, object] = {}

    def add(_client: object, campaign: str, _files: object, **asked: object) -> None:
        sent.update(asked)
        raise CommandError("Nothing more is asked.")

    monkeypatch.setattr(Client, "add_human_scores", add)
    words = ["--name", "esa", "--kind", "ratings", "--pair", "en-cs", "--rename", "a=b", "--by-document", "--weights"]
    words += ["major=7", "--no-standardise", "--system-scores", "auto", "--preview"]
    words += [] if first is None else ["--first-segment", str(first)]
    assert main(["judgments", "import", str(tmp_path / "da.tsv"), *words]) == 1
    assert sent == {
        "test_set": "quay@1", "called": "esa", "kind": "ratings", "pair": "en-cs", "rename": {"a": "b"},
        "by_document": True, "weights": ("major=7",), "standardise": False, "aggregation": "auto", "preview": True,
        "first_segment": first,
    }  # fmt: skip
