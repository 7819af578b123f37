"""Files of scores taken into campaigns, as organisers do it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.changes import lock_for_change
from campaigns.score_imports.importing import ImportResult, ScoreRequest, import_scores
from campaigns.score_imports.versions import ScoreFile
from models.database.session import writing
from models.results.boards import list_boards
from models.results.leaderboard import LeaderboardRow, read_leaderboard
from runtime.settings import Settings
from steelyard.formats.scores.reading import read_scores
from tests.scheduler.jobs import work_off


def table(path: Path, rows: Sequence[Sequence[object]], header: str = "system metric segment score") -> Path:
    """Our table of scores."""
    lines = ["\t".join(header.split()), *("\t".join(map(str, row)) for row in rows)]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def comet(path: Path, scores: Mapping[str, Sequence[float | None]]) -> Path:
    """COMET's `--to_json`."""
    found = {
        f"out/{system}.txt": [{"src": "x", "mt": "y", "COMET": each} for each in own] for system, own in scores.items()
    }
    path.write_text(json.dumps(found))
    return path


def take_in(
    engine: Engine, campaign: str, *paths: Path, lower_is_better: Sequence[str] = (), work: bool = True, **asked: Any
) -> ImportResult:
    """Import the files, and do what then waits."""
    settings = Settings(database_url=engine.url.render_as_string(hide_password=False))
    scores = read_scores(paths, lower_is_better=lower_is_better)
    files = [ScoreFile(path.name, "0" * 64) for path in paths]
    with writing(engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, campaign)
        found = import_scores(connection, settings, access, ScoreRequest(scores, files, **asked))
    if work:
        work_off(settings)
    return found


def boards(engine: Engine, campaign: str) -> dict[str, tuple[tuple[str, ...], dict[str, LeaderboardRow]]]:
    """Of each leaderboard that is shown its metrics and its rows by system; by test set."""
    with writing(engine) as connection:
        shown = {}
        for each in list_boards(connection, name=campaign):
            rows = read_leaderboard(connection, each.protocol_id, campaign_id=each.campaign_id)
            shown[each.test_set] = each.metrics, {row.system: row for row in rows}
        return shown
