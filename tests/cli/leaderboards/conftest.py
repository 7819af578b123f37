"""The database of `port`, for each test anew."""

import shutil
from pathlib import Path

import pytest

from tests.cli.leaderboards.port import SUBMISSIONS, submit


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database in which everything is scored."""
    from models.database import migrate

    path = tmp_path_factory.mktemp("compare") / "port.db"
    url = f"sqlite:///{path}"
    migrate.upgrade(url)
    submit(url, SUBMISSIONS)
    return path


@pytest.fixture
def database(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    shutil.copy(template, tmp_path / "port.db")
    monkeypatch.chdir(tmp_path)
    url = f"sqlite:///{tmp_path / 'port.db'}"
    monkeypatch.setenv("STEELYARD_DATABASE_URL", url)
    return url
