"""The example package of the docs, installed as its users would, in every command."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from tests.acceptance.commands import REPOSITORY, steelyard

DEMO = REPOSITORY / "demo" / "harbour"
FROM = "|version:steelyard-0.1.0|from:example-metric-1.0|letters:3"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The PYTHONPATH with the package."""
    source, target = tmp_path_factory.mktemp("source") / "example-metric", tmp_path_factory.mktemp("installed")
    # A copy: building leaves traces beside the sources.
    shutil.copytree(REPOSITORY / "docs" / "how-to" / "example-metric", source)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--no-index", "--no-build-isolation", "--target", str(target), str(source)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return os.pathsep.join([str(REPOSITORY), str(target)])


def by_hand(letters):
    """What the metric should say of each demo system, against reference A."""
    lines = (DEMO / "refs" / "A.txt").read_text().splitlines()
    scores = {}
    for path in (DEMO / "systems").iterdir():
        same = longer = 0
        for one, other in zip(path.read_text().splitlines(), lines, strict=True):
            x, y = ([word[:letters] for word in line.split()] for line in (one, other))
            same += sum(a == b for a, b in zip(x, y, strict=False))
            longer += max(len(x), len(y))
        scores[path.stem] = 100.0 * same / longer
    return scores


def test_it_is_listed_with_its_distribution(installed, tmp_path):
    ended = steelyard("metric", "list", cwd=tmp_path, PYTHONPATH=installed)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "prefix  (prefix, higher is better)" in ended.stdout
    assert "From: example-metric-1.0." in ended.stdout
    assert ended.stdout.count("From:") == 1, "the metrics of the house come from nowhere else"


def test_it_keeps_the_promises(installed, tmp_path):
    ended = steelyard("metric", "check", "prefix", "--campaigns", "60", cwd=tmp_path, PYTHONPATH=installed)
    assert ended.returncode == 0, ended.stdout
    assert "prefix:case=lc:letters=1\n" in ended.stdout
    assert ended.stdout.endswith("All promises kept.\n")


def test_it_scores(installed, tmp_path):
    systems = sorted((DEMO / "systems").iterdir())
    arguments = ("score", str(DEMO / "refs" / "A.txt"), "-i", *map(str, systems), "-f", "json", "--confidence", "100")
    ended = steelyard(*arguments, "-m", "prefix", "prefix:letters=1", "bleu", cwd=tmp_path, PYTHONPATH=installed)
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)["systems"]
    assert len(found) == len(systems)
    for path, system in zip(systems, found, strict=True):
        whole, first, bleu = system["scores"]
        assert whole["score"] == pytest.approx(by_hand(3)[path.stem], rel=1e-12)
        assert first["score"] == pytest.approx(by_hand(1)[path.stem], rel=1e-12)
        assert whole["signature"].endswith(FROM)
        assert "from:" not in bleu["signature"]


def test_it_goes_through_the_queue_and_its_results_can_be_read_without_it(installed, tmp_path):
    arguments = ("evaluate", str(DEMO), "--references", "A", "-m", "bleu", "prefix", "--by", "prefix")
    ended = steelyard(*arguments, "--processes", "2", cwd=tmp_path, PYTHONPATH=installed)
    assert ended.returncode == 0, ended.stderr
    (board,) = json.loads((tmp_path / "harbour-report" / "leaderboard.json").read_text())
    found = {system["system"]: system["scores"][1] for system in board["systems"]}
    for name, expected in by_hand(3).items():
        assert found[name]["score"] == pytest.approx(expected, rel=1e-12)
        assert found[name]["signature"].endswith(FROM)
    assert FROM in (tmp_path / "harbour-report" / "report.html").read_text()

    with_it = steelyard("leaderboard", "--by", "prefix", "-f", "json", cwd=tmp_path, PYTHONPATH=installed)
    without = steelyard("leaderboard", "--by", "prefix", "-f", "json", cwd=tmp_path)
    assert (without.returncode, without.stderr) == (0, "")
    assert json.loads(without.stdout) == json.loads(with_it.stdout) == [board]
    again = steelyard(*arguments, cwd=tmp_path)
    assert again.returncode == 2
    assert 'There is no metric "prefix"' in again.stderr
