"""Three real shared tasks in one campaign: the scores, human ranks and clusters that WMT published."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest

from tests.acceptance.commands import steelyard_here

SETS = ("wmt21.en-cs", "wmt22.en-cs", "wmt22.de-en")
JUDGED = {"wmt21.en-cs": 12, "wmt22.de-en": 10}
"""Test set -> how many systems people ranked officially, human translations among them."""


def rows(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file, delimiter="\t"))


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """A folder with the database of the campaign "wmt" in it."""
    place = tmp_path_factory.mktemp("published")
    real = request.getfixturevalue("real_data")
    for name in SETS:
        shutil.copytree(real / name, place / "all" / name)
    ended = steelyard_here(
        *("evaluate", "all", "--name", "wmt", "-m", "bleu", "chrf", "--confidence", "100"),
        *("--database", "sqlite:///wmt.db"),
        cwd=place,
    )
    assert ended.returncode == 0, ended.stderr
    return place


def asked(place: Path, *words: str) -> object:
    ended = steelyard_here(*words, "--database", "sqlite:///wmt.db", "-f", "json", cwd=place)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def test_every_score_is_the_published_one(campaign: Path, real_data: Path) -> None:
    boards = asked(campaign, "leaderboard", "wmt", "--all")
    assert isinstance(boards, list)
    found = {
        (board["test_set"], "+".join(board["references"]), system["system"], score["metric"].partition(":")[0]): score[
            "score"
        ]
        for board in boards
        for system in board["systems"]
        for score in system["scores"]
    }
    compared = 0
    for name in SETS:
        labels = {key[1] for key in found if key[0] == name}
        together = max(labels, key=len)
        for row in rows(real_data / name / "automatic-scores.tsv"):
            metric, _, label = row["metric"].partition("-")
            ours = found.get((name, together if label == "all" else label, row["system"], metric))
            if ours is None:
                continue
            digits = len(row["score"].partition(".")[2])
            assert ours == pytest.approx(float(row["score"]), rel=1e-12, abs=0.5 * 10**-digits), (name, row)
            compared += 1
    assert compared >= 2 * 3 * (9 + 10 + 9)


@pytest.mark.parametrize("name", JUDGED)
def test_human_ranks_wins_and_clusters_are_the_published_ones(campaign: Path, real_data: Path, name: str) -> None:
    shown = asked(campaign, "judgments", "show", "human", "--test-set", name)
    assert isinstance(shown, dict)
    ours = {each["system"]: each for each in shown["systems"]}
    published = rows(real_data / name / "human.sys.tsv")
    assert len(published) == len(ours) == JUDGED[name]
    for place, row in enumerate(published, 1):
        known = ours[row["system"]]
        assert (known["rank"], known["wins"], known["cluster"]) == (place, int(row["wins"]), int(row["cluster"])), row
        assert f"{known['cluster_first']}-{known['cluster_last']}" == row["rank"], row
        assert known["score"] == pytest.approx(float(row["score"]), abs=5e-7)


def test_metrics_agree_with_people_as_published(campaign: Path, real_data: Path) -> None:
    """The agreement of BLEU and chrF with people, for which both halves of the campaign are put together."""
    shown = asked(campaign, "campaign", "correlate", "wmt")
    assert isinstance(shown, list)
    ours = {
        (each["test_set"], "+".join(each["references"]), metric["metric"].partition(":")[0], statistic["statistic"]): (
            statistic["value"],
            statistic["n"],
        )
        for each in shown
        if each["level"] == "system"
        for metric in each["metrics"]
        for statistic in metric["statistics"]
    }
    names = {"kendall_tau_b": "kendall", "pairwise_accuracy": "pairwise"}
    compared = 0
    for row in rows(real_data / "expected_correlations.tsv"):
        statistic = names.get(row["statistic"], row["statistic"])
        key = (row["dataset"], row["refs"].replace(",", "+"), row["metric"].lower().removesuffix("2"), statistic)
        if row["level"] == "system" and key in ours:
            assert ours[key][0] == pytest.approx(float(row["value"]), abs=5e-7), row
            compared += 1
    assert compared == 2 * 3 * 2 * 4, "two test sets, three lists of references, two metrics, four statistics"
