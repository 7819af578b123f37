"""`compare` and `leaderboard` on a small database: what is printed, what is stored, what is refused."""

import csv
import json

import numpy as np
import pytest
from sqlalchemy import select, update

from cli.main import main
from models.database.session import make_engine, reading, writing
from models.schema.results import Randomization, Score, SystemRuns
from models.storage.arrays import pack
from scheduler.ingest.campaigns import NewSubmission
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from steelyard.resampling.interval import bca_interval
from steelyard.resampling.jackknife import leave_one_out
from steelyard.resampling.paired import paired_bootstrap, paired_randomization
from tests.cli import latex_reader
from tests.cli.leaderboards.port import (
    BARGE,
    FERRY,
    LATER,
    METRICS,
    RAFT,
    REFERENCE,
    REPLICATES,
    SEED,
    SEGMENTS,
    SUBMISSIONS,
    TUG,
    refused,
    shown,
    submit,
)


@pytest.fixture(scope="module")
def measured():
    """The same systems by the functions of `score`, in the order of the leaderboard by BLEU."""
    texts = {"tug": TUG, "barge": BARGE, "raft": RAFT, "copy": BARGE, **FERRY}
    metrics = [parse_metric(each) for each in METRICS]

    def of(*names: str):
        return score_systems(
            Segments(references=[REFERENCE], hypotheses=[texts[name] for name in names]),
            metrics,
            replicates=REPLICATES,
            seed=SEED,
            keep_statistics=True,
        )

    return of


def pairs(document: dict) -> dict[tuple[str, str, str], dict]:
    return {(each["a"], each["b"], each["metric"]): each for each in document["paired"]}


def options_of(paired: str, trials: int) -> tuple[str, ...]:
    """The options of a test; only randomization has trials."""
    return ("--test", paired, *(("--trials", str(trials)) if paired == "randomization" else ()))


def test_the_same_numbers_as_score_has(database, measured, capsys):
    for paired, kind in (("bootstrap", "percentile"), ("randomization", "bca")):
        out = shown(capsys, "compare", "--systems", "tug", "raft", "barge", "-f", "json", "--interval", kind,
                    "--correction", "holm",
                    *options_of(paired, 200))  # fmt: skip
        (document,) = json.loads(out)
        names = [system["system"] for system in document["systems"]]
        assert sorted(names[:2]) == ["barge", "tug"]
        assert names[2] == "raft"
        function = {"bootstrap": paired_bootstrap, "randomization": paired_randomization}[paired]
        more = {"trials": 200, "seed": SEED} if paired == "randomization" else {}
        expected = function(measured(*names), None, kind=kind, **more)
        found = pairs(document)
        assert len(found) == len(expected) == 6
        for each in expected:
            result = found[names[each.a], names[each.b], METRICS[each.metric]]
            assert (result["difference"], result["p"], result["p_corrected"]) == (
                each.difference,
                each.p,
                each.p_corrected,
            )
            assert (result["interval"]["low"], result["interval"]["high"]) == each.interval
            assert (result["test"], result["interval"]["kind"], result["correction"]) == (paired, kind, "holm")
        assert all(system["scores"][0]["score"] is not None for system in document["systems"])


def test_runs_are_tested_together(database, measured, capsys):
    (document,) = json.loads(
        shown(capsys, "compare", "port", "--systems", "tug", "ferry", "-f", "json", "--test", "randomization",
              "--trials", "100", "--interval", "bca")
    )  # fmt: skip
    names = [system["system"] for system in document["systems"]]
    of_ferry = next(system for system in document["systems"] if system["system"] == "ferry")
    assert (of_ferry["name"], of_ferry["runs"]) == ("ferry (3 runs)", ["x", "y", "z"])
    outputs = {"tug": ["tug"], "ferry": list(FERRY)}
    runs = [len(outputs[name]) for name in names]
    measurements = measured(*(output for name in names for output in outputs[name]))
    expected = paired_randomization(measurements, None, runs=runs, trials=100, seed=SEED, kind="bca")
    for each, result in zip(expected, document["paired"], strict=True):
        assert (result["difference"], result["p"]) == (each.difference, each.p)
        assert (result["interval"]["low"], result["interval"]["high"]) == each.interval
    bleu = of_ferry["scores"][0]
    assert bleu["score"] == pytest.approx(np.mean(bleu["runs"]))
    assert bleu["s_opt"] == pytest.approx(np.std(bleu["runs"], ddof=1))
    assert bleu["s_sel"] > 0
    text = shown(capsys, "compare", "port", "--systems", "tug", "ferry")
    assert "Score of each run" in text
    assert "s_opt is unknown" in text, "tug has one run"
    cells = next(line for line in text.splitlines() if line.startswith("ferry (3 runs)  BLEU")).split()[4:7]
    assert cells == [f"{bleu[each]:.1f}" for each in ("score", "s_sel", "s_opt")]
    assert len(set(cells)) == 3


def test_identical_outputs_have_p_1(database, capsys):
    for paired in ("bootstrap", "randomization"):
        arguments = ("--systems", "copy", "barge", *options_of(paired, 50), "--correction", "holm")
        (document,) = json.loads(shown(capsys, "compare", *arguments, "-f", "json"))
        for result in document["paired"]:
            assert (result["difference"], result["p"], result["p_corrected"]) == (0, 1, 1)
            assert (result["direction"], result["same_output"]) == ("equal", True)
        assert "same output" in shown(capsys, "compare", *arguments)


def test_text_has_a_matrix_a_list_and_notes(database, capsys):
    text = shown(capsys, "compare", "-m", "ter", "bleu")
    assert text.index("reference A: TER (lower is better)") < text.index("reference A: BLEU"), (
        "metrics in the order that was asked for"
    )
    assert text.startswith("port, reference A: ")
    assert "Matrix: above the diagonal" in text
    assert "raft" in text
    assert "better *" in text
    assert text.rstrip().splitlines()[-1].startswith("This is the rule of the leaderboard")
    text = shown(capsys, "compare", "--correction", "holm")
    assert text.rstrip().splitlines()[-1].startswith("This is stricter than the leaderboard")


def test_against_a_baseline(database, capsys):
    rows = shown(capsys, "compare", "--baseline", "tug", "-f", "tsv", "--correction", "bh").splitlines()
    table = list(csv.DictReader(rows, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert {row["a"] for row in table} == {"tug"}
    assert {row["b"] for row in table} == {"barge", "copy", "raft", "ferry (3 runs)"}
    assert len(table) == 8
    assert {row["direction"] for row in table if row["b"] == "raft"} == {"worse"}
    assert {(row["campaign"], row["references"], row["correction"]) for row in table} == {("port", "A", "bh")}


def test_latex(database, capsys):
    tables = latex_reader.tables(shown(capsys, "compare", "-f", "latex", "--systems", "tug", "raft", "-m", "bleu"))
    assert len(tables) == 1


def test_randomization_is_stored_once(database, capsys):
    arguments = ("compare", "--systems", "tug", "raft", "--test", "randomization", "--trials", "60", "-f", "json")
    first = shown(capsys, *arguments)
    before = stored(database)
    assert len(before) == len(METRICS)
    assert shown(capsys, *arguments) == first
    assert stored(database) == before


def stored(url: str) -> set[tuple]:
    engine = make_engine(url)
    with reading(engine) as connection:
        last = {row.id: row.evaluation_id for row in connection.execute(select(SystemRuns))}
        rows = connection.execute(select(Randomization)).all()
    engine.dispose()
    return {(last[row.a_id], last[row.b_id], *tuple(row)[2:]) for row in rows}


def test_a_new_submission_brings_its_pairs_and_touches_no_other(database_url, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEELYARD_DATABASE_URL", database_url)
    submit(database_url, SUBMISSIONS)
    database = database_url
    tests = (*options_of("randomization", 60), "-f", "json", "--correction", "none")
    boards = [json.loads(shown(capsys, "leaderboard", *tests))[0]]
    compared = [{}, {}]
    for number, kind in enumerate(("bootstrap", "randomization")):
        (document,) = json.loads(shown(capsys, "compare", *options_of(kind, 60), "-f", "json", "--correction", "none"))
        compared[number] = either_way(document)
    before = stored(database)
    assert len(before) == 10 * len(METRICS), "all pairs of five systems"
    submit(database, [NewSubmission("later", LATER)])
    boards.append(json.loads(shown(capsys, "leaderboard", *tests))[0])
    after = stored(database)
    assert before < after
    assert len(after) == 15 * len(METRICS), "and five more"
    for number, kind in enumerate(("bootstrap", "randomization")):
        (document,) = json.loads(shown(capsys, "compare", *options_of(kind, 60), "-f", "json", "--correction", "none"))
        again = either_way(document)
        assert len(again) == 30 * len(METRICS)
        assert {key: again[key] for key in compared[number]} == compared[number]
    systems = [{system["system"] for system in board["systems"]} for board in boards]
    assert systems[1] - systems[0] == {"later"}
    assert {board["ranking"]["test"] for board in boards} == {"randomization"}


def either_way(document: dict) -> dict[tuple[str, str, str], tuple[float, float, tuple[float, float]]]:
    """Every pair in both orders: which comes first depends on the order of the scores."""
    found = {}
    for each in document["paired"]:
        low, high = each["interval"]["low"], each["interval"]["high"]
        found[each["a"], each["b"], each["metric"]] = each["difference"], each["p"], (low, high)
        found[each["b"], each["a"], each["metric"]] = -each["difference"], each["p"], (-high, -low)
    return found


def test_submissions_that_were_replaced(database, capsys):
    submit(database, [NewSubmission("tug", LATER)])
    (board,) = json.loads(shown(capsys, "leaderboard", "--all-submissions", "-f", "json"))
    numbers = sorted(system["submissions"][0] for system in board["systems"] if system["system"] == "tug")
    assert len(numbers) == 2
    text = shown(capsys, "leaderboard", "--all-submissions")
    assert all(f"tug #{number} " in text for number in numbers)
    (document,) = json.loads(shown(capsys, "compare", "--submissions", *map(str, numbers), "-f", "json"))
    assert sorted(system["name"] for system in document["systems"]) == [f"tug #{number}" for number in numbers]
    assert all(result["difference"] for result in document["paired"])
    of_ferry = next(system["submissions"] for system in board["systems"] if system["system"] == "ferry")
    text = shown(
        capsys, "compare", "--submissions", *map(str, of_ferry[:2]), "--baseline", f"ferry (run x) #{of_ferry[0]}"
    )
    assert f"ferry (run y) #{of_ferry[1]}" in text


def test_submissions_of_two_campaigns(database, capsys):
    """The test set is the same; its name does not matter."""
    job = submit(database, [NewSubmission("tug", LATER)], campaign="spring")
    (document,) = json.loads(shown(capsys, "compare", "--submissions", "1", str(job.submissions[0]), "-f", "json"))
    assert {system["name"] for system in document["systems"]} == {"barge #1", f"tug #{job.submissions[0]}"}
    assert len(document["paired"]) == len(METRICS)


def test_a_metric_that_is_undefined_for_a_system(database, capsys):
    job = submit(database, [NewSubmission("tug", TUG), NewSubmission("mute", RAFT)], campaign="quiet")
    engine = make_engine(database)
    with writing(engine) as connection:
        nothing = {"score": None, "replicate_scores": pack(np.full(REPLICATES, np.nan))}
        of_mute = (Score.evaluation_id == job.evaluations[0][1]) & (Score.metric == 0)
        connection.execute(update(Score).where(of_mute).values(**nothing))
    engine.dispose()
    for kind in ("bootstrap", "randomization"):
        tests = ("compare", "quiet", *options_of(kind, 50))
        (document,) = json.loads(shown(capsys, *tests, "-f", "json"))
        assert [each["metric"] for each in document["paired"]] == ["ter"]
        assert "mute" in shown(capsys, *tests)
        assert shown(capsys, *tests, "-f", "tsv").count("\n") == 1 + len(document["paired"])
        assert "mute" in shown(capsys, *tests, "-f", "latex")
    assert "mute" in shown(capsys, "leaderboard", "quiet", "--power")


def test_intervals_by_bca(database, measured, capsys):
    (board,) = json.loads(shown(capsys, "leaderboard", "--interval", "bca", "--level", "0.9", "-f", "json"))
    (tug,) = [system for system in board["systems"] if system["system"] == "tug"]
    for score, measurement in zip(tug["scores"], measured("tug"), strict=True):
        (left_out,) = leave_one_out(measurement.metric, measurement.statistics)
        (replicates,) = measurement.replicate_scores
        interval = bca_interval(replicates, 0.9, float(measurement.scores[0]), left_out)
        assert (score["interval"]["low"], score["interval"]["high"]) == interval
        assert score["interval"]["kind"] == "bca"
    assert "90 % BCa intervals from 200" in shown(capsys, "leaderboard", "--interval", "bca", "--level", "0.9")


def test_power(database, capsys):
    text = shown(capsys, "leaderboard", "--power")
    assert f"Enough data? Of {SEGMENTS} segments, the smallest true difference found in 80 %" in text
    assert "they never differ" in text, "barge and its copy"
    (board,) = json.loads(shown(capsys, "leaderboard", "--power", "-f", "json", "--alpha", "0.01"))
    power = board["power"]
    assert (power["segments"], power["alpha"], power["power"]) == (SEGMENTS, 0.01, 0.8)
    assert [each["metric"] for each in power["metrics"]] == list(METRICS)
    for each in power["metrics"]:
        ends = each["smallest_difference"]
        assert 0 < ends["least"] <= ends["median"] <= ends["largest"]
        assert len(each["neighbours"]) == 4
        assert each["neighbours"][-1]["enough"], "raft is clearly the worst"
    assert refused(capsys, "leaderboard", "--power", "-f", "tsv")[0] == 2


def test_without_replicates_randomization_ranks(database, capsys):
    systems = [NewSubmission("tug", TUG), NewSubmission("raft", RAFT)]
    submit(database, systems, replicates=0, campaign="bare")
    status, message = refused(capsys, "compare", "bare")
    assert status == 1
    assert "no replicates were stored (--confidence 0); choose --test randomization" in message
    assert "there are no rank ranges and clusters" in shown(capsys, "leaderboard", "bare")
    assert "Unknown: no replicates were stored" in shown(capsys, "leaderboard", "bare", "--power")
    tests = ("--test", "randomization", "--trials", "200")
    (document,) = json.loads(shown(capsys, "compare", "bare", *tests, "-f", "json"))
    assert [(result["interval"], result["p"]) for result in document["paired"]] == [(None, 1 / 201)] * 2
    (board,) = json.loads(shown(capsys, "leaderboard", "bare", *tests, "-f", "json"))
    assert [system["scores"][0]["cluster"] for system in board["systems"]] == [1, 2]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (
            ("--systems", "tug", "nobody"),
            1,
            "there is no system nobody with scores; there are barge, copy, ferry, raft",
        ),
        # What all leaderboards lack is said once.
        (("--baseline", "nobody"), 1, "There is nothing to compare. port, reference A: there is no system nobody"),
        (("--baseline", "nobody"), 1, "there is no system nobody"),
        (("--systems", "tug"), 1, "fewer than two systems"),
        (("--submissions", "1", "999"), 1, "no submission 999 with scores"),
        (("--submissions", "1", "2", "--systems", "tug"), 2, "not both"),
        (("-m", "chrf"), 1, "no metric 'chrf'. There are: bleu, ter."),
        (("--by", "chrf"), 1, "no metric 'chrf'. There are: bleu, ter."),
        (("elsewhere",), 1, "There is no such leaderboard. There are: port (A)."),
        (("--test", "randomization", "--trials", "0"), 2, "at least one trial"),
        (("--test", "randomization", "--trials", "10000001"), 2, "10,000,000 is the most"),
        (("--trials", "50"), 2, "--trials goes with --test randomization"),
    ],
)
def test_what_is_refused(database, capsys, arguments, status, message):
    found, text = refused(capsys, "compare", *arguments)
    assert (found, message in text) == (status, True), text


def test_tests_that_take_long_are_made_by_processes_of_the_command(database, capsys, monkeypatch):
    arguments = ("compare", "--systems", "tug", "raft", "--test", "randomization", "--trials", "60", "-f", "json")
    at_once = json.loads(shown(capsys, *arguments))
    with writing(make_engine(database)) as connection:
        connection.execute(Randomization.__table__.delete())
    monkeypatch.setenv("STEELYARD_AT_ONCE_SECONDS", "0")
    monkeypatch.setenv("STEELYARD_CONCURRENCY", "1")
    assert main([*arguments]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out) == at_once
    assert printed.err.endswith("trials 60 of 60\n")
    with reading(make_engine(database)) as connection:
        assert len(connection.execute(select(Randomization.trials)).all()) == 2
