"""What `steelyard db` hands on."""

from __future__ import annotations

from typing import Any

import pytest

from cli.main import main
from models.database import migrate
from models.storage import blobs
from runtime.settings import Settings


@pytest.mark.parametrize(("force", "silent"), [([], Settings().silent_seconds), (["--force"], None)])
def test_tables_are_upgraded_under_living_workers_only_by_force(
    force: list[str], silent: float | None, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the seconds after which a worker is silent, none is asked for."""
    asked: list[tuple[str, float | None]] = []
    monkeypatch.setattr(migrate, "upgrade", lambda url, *, silent_seconds: asked.append((url, silent_seconds)))
    assert main(["db", "upgrade", *force, "--database", sqlite_url]) == 0
    assert asked == [(sqlite_url, silent)]


@pytest.mark.parametrize(
    ("words", "older", "force"),
    [([], 24 * 3600, False), (["--older", "48"], 48 * 3600, False), (["--older", "0", "--force"], 0, True)],
)
def test_objects_are_old_in_hours(
    words: list[str],
    older: int,
    force: bool,
    sqlite_url: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked: list[dict[str, Any]] = []

    def collect(_: object, url: str, **rule: Any) -> tuple[int, int]:
        asked.append({"url": url, **rule})
        return 1234, 5

    monkeypatch.setenv("STEELYARD_STATISTICS_URL", "file:///nowhere/store")
    monkeypatch.setattr(blobs, "collect_garbage", collect)
    assert main(["db", "collect", *words, "--database", sqlite_url]) == 0
    assert asked == [{"url": "file:///nowhere/store", "older_seconds": older, "force": force}]
    assert capsys.readouterr().out == "objects: 5 deleted, 1,234 kept\n"
