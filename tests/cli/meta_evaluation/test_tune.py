"""`steelyard tune` as users type it."""

import csv
import io
import json
import random
import sqlite3
import xml.etree.ElementTree as ElementTree
from contextlib import closing

import numpy as np
import pytest
from scipy.stats import pearsonr

from cli.commands import Options
from cli.main import main
from cli.meta_evaluation.tune import requested_sweeps
from cli.meta_evaluation.tune_output import sparkline
from tests.acceptance.commands import steelyard, steelyard_here

WORDS = ["lodě", "loď", "lodí", "přístav", "přístavu", "v", "do", "stará", "starou", "kotva", "kotvu", "moře"]
SEGMENTS = 60
TWO_SETS = ("tune", "tbleu", "eps", "port", "quay", "--values", "0,0.4,1", "--replicates", "60")


def campaign(folder, seed: int, systems: int = 4) -> None:
    """Systems that are the worse the later in the alphabet they are called."""
    draw = random.Random(seed)
    reference = [draw.choices(WORDS, k=draw.randint(4, 9)) for _ in range(SEGMENTS)]
    texts = {"refs/A.txt": reference, "refs/B.txt": [[*line[1:], line[0]] for line in reference]}
    for system in range(systems):
        share = 0.9 - 0.15 * system
        texts[f"systems/s{system}.txt"] = [
            [word if draw.random() < share else draw.choice(WORDS) for word in line] for line in reference
        ]
    for name, lines in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("".join(" ".join(line) + "\n" for line in lines), encoding="utf-8")
    rows = [f"{segment}\td{segment // 10}\t{segment % 10 + 1}\tnews" for segment in range(SEGMENTS)]
    (folder / "docs.tsv").write_text("\n".join(["segment\tdoc_id\tseg_in_doc\tdomain", *rows]) + "\n")


def judge(folder, seed: int, *, segments: bool, systems: int = 4) -> dict[str, float]:
    """Files with human scores; those of systems are the means of those of segments, where there are some."""
    draw = random.Random(seed)
    scores = {f"s{number}": -number + draw.random() for number in range(systems)}
    if segments:
        cells = {(name, n): round(draw.gauss(scores[name], 1), 4) for name in scores for n in range(0, SEGMENTS, 2)}
        rows = [f"{name}\t{segment}\t{score}" for (name, segment), score in cells.items()]
        (folder / "human.seg.tsv").write_text("\n".join(["system\tsegment\tscore", *rows]) + "\n")
        for name in scores:
            scores[name] = sum(score for (system, _), score in cells.items() if system == name) / (SEGMENTS // 2)
    rows = [f"{name}\t{score!r}" for name, score in scores.items()]
    (folder / "human.sys.tsv").write_text("\n".join(["system\tscore", *rows]) + "\n")
    return scores


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Two judged test sets, the second without judgments of segments; the first command of the tests stores them."""
    folder = tmp_path_factory.mktemp("tune")
    for number, name in enumerate(("port", "quay")):
        campaign(folder / name, number)
        judge(folder / name, number, segments=name == "port")
    ended = steelyard_here("evaluate", "port", "-m", "bleu", "--references", "A", "--confidence", "0", cwd=folder)
    assert ended.returncode == 0, ended.stderr
    ended = steelyard_here(*TWO_SETS, "-f", "json", "--plot", "curves.svg", cwd=folder)
    assert ended.returncode == 0, ended.stderr
    (folder / "found.json").write_text(ended.stdout)
    return folder


def shards(folder) -> int:
    with sqlite3.connect(folder / "steelyard.db") as connection:
        (count,) = connection.execute("SELECT count(*) FROM shard").fetchone()
    connection.close()
    return count


def test_two_sets_both_ways_and_nothing_twice(stored, capsys):
    found = json.loads((stored / "found.json").read_text())
    assert (found["metric"], found["parameter"], found["values"]) == ("tbleu", "eps", ["0", "0.4", "1"])
    assert found["rivals"] == ["tbleu", "bleu"]
    (variant,) = found["variants"]
    places = [(each["test_set"], "+".join(each["references"]), each["level"]) for each in variant["curves"]]
    assert places[:6] == [(name, labels, "system") for name in ("port", "quay") for labels in ("A", "B", "A+B")]
    assert {place[0] for place in places[6:]} == {"port"}, "nobody judged segments of the other"
    for curve in variant["curves"]:
        assert curve["points"][0]["observed"] == curve["rivals"][1]["observed"], "eps=0 is BLEU"
        assert curve["points"][0]["metric"] == "tbleu:eps=0"
        best = max(curve["points"], key=lambda point: point["observed"])
        assert curve["best"] == best["value"]
        for point in (*curve["points"], *curve["rivals"]):
            # Of four systems a replicate may draw one alone: then there is no correlation, and no interval.
            assert curve["resampled"] == ("segments" if curve["test_set"] == "port" else "systems")
            if point["interval"] is not None:
                assert point["interval"]["low"] <= point["interval"]["high"]
        assert curve["test_set"] == "quay" or curve["points"][0]["interval"] is not None
    choices = [(each["chosen_on"]["test_set"], each["reported_on"]["test_set"]) for each in variant["choices"]]
    assert choices == [("quay", "port")] * 3 + [("port", "quay")] * 3
    chosen = {(each["test_set"], *each["references"]): each["best"] for each in variant["curves"][:6]}
    for choice in variant["choices"]:
        assert choice["value"] == chosen[choice["chosen_on"]["test_set"], *choice["chosen_on"]["references"]]
        assert choice["reported_on"]["references"] == choice["chosen_on"]["references"]
        assert not choice["same_data"]
    assert len(variant["cross_fits"]) == 2 * 3, "both statistics of segments, three choices of references"
    assert all(fit["documents"] == [2, 1, 1, 1, 1] for fit in variant["cross_fits"])
    chart = ElementTree.parse(stored / "curves.svg")
    assert "quay sys Pearson" in "".join(chart.getroot().itertext())

    before = shards(stored)
    again = steelyard(*TWO_SETS, "-f", "json", cwd=stored)
    assert json.loads(again.stdout) == found
    assert shards(stored) == before, "everything was stored"
    more = ("--statistics", "kendall", "acc", "soft-pairwise", "--granularity", "both")
    other = steelyard_here(*TWO_SETS, *more, cwd=stored)
    assert other.returncode == 0
    assert shards(stored) == before

    capsys.readouterr()
    assert main(["leaderboard", "-f", "json", "--database", f"sqlite:///{stored / 'steelyard.db'}"]) == 0
    boards = json.loads(capsys.readouterr().out)
    assert {tuple(board["metrics"]) for board in boards} == {("bleu",)}, "sweeps are no leaderboards"


def test_the_curve_is_the_correlation_of_the_scores_that_score_prints(stored, tmp_path):
    command = ("tune", "chrf", "beta", "quay", "--values", "1", "3", "--references", "all", "--replicates", "0")
    ended = steelyard_here(*command, "--against", "ter", "-f", "tsv", cwd=stored)
    assert ended.returncode == 0, ended.stderr
    rows = list(csv.DictReader(io.StringIO(ended.stdout), delimiter="\t"))
    assert [(row["value"], row["metric"]) for row in rows] == [("1", "chrf:beta=1"), ("3", "chrf:beta=3"), ("", "ter")]
    assert {row["low"] for row in rows} == {""}
    with closing(sqlite3.connect(stored / "steelyard.db")) as connection:
        replicates = "SELECT DISTINCT replicates FROM protocol WHERE sweep AND metrics LIKE '%chrf:beta=1%'"
        assert connection.execute(replicates).fetchall() == [(0,)]
    systems = [f"quay/systems/s{number}.txt" for number in range(4)]
    files = ("quay/refs/A.txt", "quay/refs/B.txt", "-i", *systems, "-f", "json", "-m")
    scored = json.loads(steelyard_here("score", *files, "chrf:beta=1", "chrf:beta=3", "ter", cwd=stored).stdout)
    people = list(judge(tmp_path, 1, segments=False).values())
    for position, row in enumerate(rows):
        metric = np.array([system["scores"][position]["score"] for system in scored["systems"]])
        expected = pearsonr(people, -metric if row["metric"] == "ter" else metric).statistic
        assert float(row["observed"]) == pytest.approx(expected, abs=1e-12)


def test_one_set_without_judged_segments_is_reported_on_itself_and_loudly(stored):
    ended = steelyard_here("tune", "tbleu", "eps", "quay", "--values", "0,1", "--references", "A", "B,A", cwd=stored)
    assert ended.returncode == 0, ended.stderr
    assert "WARNING: chosen and reported on the same data." in ended.stdout
    assert "Only 4 systems" in ended.stdout
    assert "quay: too few human judgments for pearson at the segment level." in ended.stderr
    assert "quay, system level: Pearson with human scores, 4 systems" in ended.stdout
    assert "B+A" in ended.stdout


def test_a_folder_and_a_metric_with_vectors(stored):
    (stored / "toy.vec").write_text("4 2\nlodě 1 0\nloď 0.9 0.1\nkotva 0 1\nkotvu 0.2 0.8\n", encoding="utf-8")
    (stored / "other.vec").write_text("2 2\nlodě 1 0\nkotva 0 1\n", encoding="utf-8")
    command = ("tune", "bleu_modif:order=1,2", "gamma", "port", "--values", "0,0.9", "--replicates", "20")
    vectors = ("--with", "vectors=toy", "--with", "vectors=other", "--resource", "toy=toy.vec", "other=other.vec")
    ended = steelyard_here(*command, *vectors, "--references", "A", "-f", "json", cwd=stored)
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert [variant["variant"] for variant in found["variants"]] == ["vectors=toy", "vectors=other"]
    points = [curve["points"][0]["metric"] for variant in found["variants"] for curve in variant["curves"][:1]]
    assert [point.split("@")[0] for point in points] == [
        "bleu_modif:order=1-2:vectors=toy",
        "bleu_modif:order=1-2:vectors=other",
    ]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("tbleu", "eps"), 2, "No test set is given"),
        (("tbleu", "order", "port"), 2, "No paper says which values of tbleu's order"),
        (("tbleu", "epsilon", "port"), 2, 'tbleu has no parameter "epsilon"'),
        (("tblue", "eps", "port"), 2, "tblue"),
        (("tbleu", "epsilon", "port", "--values", "0,1"), 2, 'no parameter "epsilon"'),
        (("tbleu", "eps", "port", "--values", "0,7"), 2, "from 0 to 1"),
        (("tbleu", "eps", "port", "--from", "0", "--to", "1"), 2, "all of --from, --to and --steps"),
        (("tbleu", "eps", "port", "--with", "order"), 2, "write KEY=VALUE"),
        (("tbleu", "eps", "port", "--statistics", "magic"), 2, 'no statistic "magic"'),
        (("tbleu", "eps", "port", "--granularity", "system", "--statistics", "acc"), 2, 'no statistic "acc"'),
        (("tbleu", "eps", "nowhere"), 1, 'no campaign or test set called "nowhere". There are: port, quay.'),
        (("tbleu", "eps", "port", "--references", "X"), 1, "port has none of these references. It has A, B."),
        (("tbleu", "eps", "port", "--human", "mqm"), 1, "mqm"),
        (("bleu_modif", "gamma", "port", "--with", "vectors=none-such"), 1, 'no vectors called "none-such"'),
    ],
)
def test_what_is_refused(stored, tmp_path, capfd, monkeypatch, arguments, status, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEELYARD_DATABASE_URL", f"sqlite:///{stored / 'steelyard.db'}")
    before = shards(stored)
    assert main(["tune", *arguments]) == status
    error = capfd.readouterr().err
    assert message in error
    assert "Traceback" not in error
    assert shards(stored) == before


def test_sparklines():
    assert sparkline([0.0, 3.0, 7.0]) == "▁▄█"
    assert sparkline([2.0, 2.0]) == "▁▁"
    assert sparkline([float("nan"), 1.0, 2.0]) == " ▁█"
    assert sparkline([float("nan")]) == ""


def test_on_real_data_bleu_has_its_published_correlation(real_data, tmp_path):
    """As `expected_correlations.tsv` has it; tBLEU with eps=0 is BLEU."""
    (tmp_path / "wmt21.en-cs").symlink_to(real_data / "wmt21.en-cs")
    ended = steelyard_here(
        *("tune", "tbleu", "eps", "wmt21.en-cs", "--values", "0,0.5", "--references", "A", "B", "all"),
        *("--granularity", "system", "--replicates", "0", "-f", "json"),
        cwd=tmp_path,
    )
    assert ended.returncode == 0, ended.stderr
    curves = json.loads(ended.stdout)["variants"][0]["curves"]
    with (real_data / "expected_correlations.tsv").open() as file:
        expected = {
            row["refs"]: row["value"]
            for row in csv.DictReader(file, delimiter="\t")
            if (row["dataset"], row["metric"], row["statistic"]) == ("wmt21.en-cs", "BLEU", "pearson")
        }
    assert {",".join(curve["references"]): f"{curve['points'][0]['observed']:.6f}" for curve in curves} == expected


@pytest.mark.parametrize(
    ("given", "values"),
    [
        ({"values": ["0,0.5,1"]}, ("0", "0.5", "1")),
        ({"values": ["0", "0.5", "1"]}, ("0", "0.5", "1")),
        ({"first": 0.0, "last": 1.0, "steps": 5}, ("0", "0.25", "0.5", "0.75", "1")),
    ],
)
def test_values_are_listed_or_evenly_spaced(given, values):
    usual = {"metric": "tbleu", "parameter": "eps", "values": [], "first": None, "last": None, "steps": None}
    (found,) = requested_sweeps(Options(**usual | {"fixed": [], "against": None} | given)).values()
    assert found.values == values
    assert [metric.eps for metric in found.metrics] == [float(each) for each in values]


def test_too_few_judgments_for_what_was_asked(stored):
    ended = steelyard_here("tune", "tbleu", "eps", "quay", "--values", "0,1", "--granularity", "segment", cwd=stored)
    assert ended.returncode == 1
    assert ended.stderr.endswith(
        "note: quay: too few human judgments for kendall-wmt14 at the segment level.\n"
        "note: quay: too few human judgments for pearson at the segment level.\n"
        "steelyard: There are too few human judgments for this. Try --granularity both.\n"
    )
