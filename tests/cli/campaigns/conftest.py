"""What tests of `steelyard campaign` share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cli.campaigns.commands import REFERENCE
from tests.service.service import Service


@pytest.fixture
def service(sqlite_url: str) -> Iterator[Service]:
    """Accounts and teams, in the database of the commands."""
    with ExitStack() as stack:
        yield Service.start(sqlite_url, stack)


@pytest.fixture
def news(sqlite_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder of a test set, and an output `out.txt` beside it, where commands are run."""
    monkeypatch.setenv("STEELYARD_DATABASE_URL", sqlite_url)
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "news"
    (folder / "refs").mkdir(parents=True)
    (folder / "refs" / "A.txt").write_text(REFERENCE)
    (folder / "source.txt").write_text("one\ntwo\nthree\n")
    (tmp_path / "out.txt").write_text(REFERENCE.replace("over", "up"))
    return folder
