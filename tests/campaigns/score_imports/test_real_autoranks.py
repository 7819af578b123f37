"""The published tables of WMT24 and WMT25 come out of campaigns that their scores were imported into."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.changes import lock_for_change
from campaigns.score_imports.autorank import rank_by_autorank
from models.database.session import make_engine, writing
from runtime.settings import Settings
from tests.campaigns.score_imports.scores import boards, table, take_in
from tests.scheduler.jobs import work_off
from tests.service.campaigns import found


def rows_of(path: Path) -> dict[str, list[dict[str, str]]]:
    by_pair: dict[str, list[dict[str, str]]] = defaultdict(list)
    with path.open(newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            by_pair[row["pair"]].append(row)
    return by_pair


def test_the_printed_table_of_wmt25(sqlite_url: str, real_data: Path) -> None:
    expected = rows_of(real_data / "wmt25" / "expected_autorank.tsv")
    engine = make_engine(sqlite_url)
    found(engine, "wmt25")
    take_in(engine, "wmt25", real_data / "wmt25" / "automatic_scores", create=True)
    counted = {
        pair: [name for name in rows[0] if name[:3] not in ("pai", "sys", "Aut", "hum") and rows[0][name]]
        for pair, rows in expected.items()
    }
    settings = Settings(database_url=sqlite_url)
    with writing(engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "wmt25")
        rank_by_autorank(connection, settings, access, metrics=counted)
    work_off(settings)
    shown = boards(engine, "wmt25")
    assert shown.keys() == expected.keys()
    for pair, rows in expected.items():
        metrics, systems = shown[pair]
        assert systems.keys() == {row["system"] for row in rows}
        position = next(n for n, each in enumerate(metrics) if each.startswith("autorank"))
        for row in rows:
            scores = systems[row["system"]].scores
            assert f"{scores[position].score:.1f}" == row["AutoRank"], (pair, row["system"])
            assert len(scores[position].replicate_scores) == 1000
            by_title = {score.title.removesuffix(" (imported)"): score.score for score in scores}
            for name in counted[pair]:
                digits = len(row[name].partition(".")[2])
                # Trailing zeros were not printed.
                assert round(by_title[name], max(digits, 1)) == float(row[name]), (pair, row["system"], name)


def test_all_digits_of_wmt24_from_scores_of_systems(sqlite_url: str, real_data: Path, tmp_path: Path) -> None:
    expected = rows_of(real_data / "wmt24" / "expected_autorank24.tsv")
    scores = [
        (pair, row["system"], metric, row[metric])
        for pair, rows in expected.items()
        for row in rows
        for metric in ("metricx", "cometkiwi")
    ]
    file = table(tmp_path / "wmt24.tsv", scores, "pair system metric score")
    engine = make_engine(sqlite_url)
    found(engine, "wmt24")
    take_in(engine, "wmt24", file, create=True, lower_is_better=["metricx"])
    settings = Settings(database_url=sqlite_url)
    with writing(engine) as connection:
        rank_by_autorank(connection, settings, lock_for_change(connection, COMMAND_LINE, "wmt24"), rule="wmt24")
    work_off(settings)
    shown = boards(engine, "wmt24")
    for pair, rows in expected.items():
        _, systems = shown[pair]
        for row in rows:
            metricx, cometkiwi, autorank = systems[row["system"]].scores
            assert (metricx.score, cometkiwi.score) == (float(row["metricx"]), float(row["cometkiwi"]))
            assert f"{autorank.score:.16g}" == row["AutoRank"]
            assert not len(autorank.replicate_scores)
