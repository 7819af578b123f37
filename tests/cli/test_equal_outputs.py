"""An output that is a reference, on the command line: told, and left out of correlations and charts."""

import json
import random

import pytest

from tests.acceptance.commands import steelyard_here

WORDS = ["quay", "tide", "mast", "rope", "crane", "gull", "the", "a", "old", "blue"]
SEGMENTS = 40


@pytest.fixture(scope="module")
def harbour(tmp_path_factory):
    """A judged campaign, of whose systems one is the reference; evaluated with it left out of the report's charts."""
    draw = random.Random(1)
    reference = [[draw.choice(WORDS) for _ in range(8)] for _ in range(SEGMENTS)]
    folder = tmp_path_factory.mktemp("equal")
    texts = {"refs/A": reference, "systems/oracle": reference}
    for number, name in enumerate(("tug", "barge", "ferry")):
        texts[f"systems/{name}"] = [
            [word if draw.random() < 0.9 - 0.2 * number else draw.choice(WORDS) for word in line] for line in reference
        ]
    for name, lines in texts.items():
        path = folder / "port" / f"{name}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(" ".join(line) + "\n" for line in lines))
    human = "system\tscore\ntug\t0.1\nbarge\t0.3\nferry\t0.2\noracle\t0.9\n"
    (folder / "port" / "human.sys.tsv").write_text(human)
    options = ("-m", "bleu", "chrf", "--confidence", "20", "--processes", "1", "--leave-out", "oracle")
    ended = steelyard_here("evaluate", "port", *options, cwd=folder)
    assert ended.returncode == 0, ended.stderr
    return folder


def correlate(harbour, *arguments):
    return steelyard_here("campaign", "correlate", "--granularity", "system", "--trials", "0", *arguments, cwd=harbour)


def test_a_leaderboard_says_which_output_is_a_reference(harbour):
    ended = steelyard_here("leaderboard", cwd=harbour)
    assert next(line for line in ended.stdout.splitlines() if "oracle" in line).endswith("same as reference A")
    assert ended.stdout.count("same as reference") == 1
    (board,) = json.loads(steelyard_here("leaderboard", "-f", "json", cwd=harbour).stdout)
    found = {system["system"]: system["same_as_reference"] for system in board["systems"]}
    assert found == {"oracle": "A", "tug": None, "barge": None, "ferry": None}


def test_correlations_tell_of_it_and_leave_it_out(harbour):
    whole = correlate(harbour, "-f", "json")
    assert (
        "note: oracle: the output is reference A, which makes correlations too high; --leave-out oracle" in whole.stderr
    )
    part = correlate(harbour, "-f", "json", "--leave-out", "oracle")
    assert "note:" not in part.stderr
    (with_it,), (without,) = json.loads(whole.stdout), json.loads(part.stdout)
    assert with_it["systems"] == ["oracle", *without["systems"]]
    assert without["left_out"]["as_asked"] == ["oracle"]
    assert without["left_out"]["unknown"] == []
    values = [each["metrics"][0]["statistics"][0]["value"] for each in (with_it, without)]
    assert values[0] > 0.5
    assert values[1] < 0
    assert "Left out, as asked: oracle." in correlate(harbour, "--leave-out", "oracle").stdout
    page = harbour / "page.html"
    correlate(harbour, "--leave-out", "oracle", "--report", str(page))
    assert "<title>oracle" not in page.read_text()
    refused = correlate(harbour, "--leave-out", "orakel")
    assert (refused.returncode, "There are: barge, ferry, oracle, tug." in refused.stderr) == (2, True)


def test_the_report_draws_charts_without_it_and_says_so(harbour):
    page = (harbour / "port-report" / "report.html").read_text()
    assert "Left out, as asked: oracle." in page
    assert "same as reference A" in page
    charts = page[page.index('id="scatters') :]
    assert "tug" in charts
    assert "oracle" not in charts.replace("Left out, as asked: oracle.", "").partition("</section>")[0]
