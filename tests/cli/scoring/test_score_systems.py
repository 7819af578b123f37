"""Several runs of one system in `steelyard score`."""

import json
import statistics

import numpy as np
import pytest

from cli.main import main
from steelyard.metrics.registry import parse_metrics
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from steelyard.resampling.interval import percentile_interval
from steelyard.resampling.paired import paired_randomization

REFERENCE = [f"the boat number {number} leaves the harbour at {number % 12} and comes back" for number in range(40)]
OUTPUTS = {
    f"{system}{run}": [
        line.replace("harbour", f"haven{run}" * system.count("a") or "port") if number % (run + 1) == 0 else line
        for number, line in enumerate(REFERENCE)
    ]
    for system, runs in (("a", (1, 2, 3)), ("b", (2, 4)), ("c", (5,)))
    for run in runs
}


@pytest.fixture
def files(tmp_path):
    """Paths of a reference, three runs of a, two of b, one of c."""
    for name, lines in {"ref": REFERENCE, **OUTPUTS}.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {name: str(tmp_path / f"{name}.txt") for name in ("ref", *OUTPUTS)}


@pytest.fixture
def given(files):
    """The options for systems given in one string: `a` for all its runs, `a2` for that file alone."""

    def options(names):
        words = []
        for name in names.split():
            runs = [files[output] for output in OUTPUTS if output.startswith(name)]
            words += ["-i", files[name]] if name in files else ["--system", name, *runs]
        return words

    return options


@pytest.fixture
def run_json(files, given, capsys):
    """Runs `score` on these systems and gives its JSON."""

    def run(names, *more):
        assert main(["score", files["ref"], *given(names), "-m", "bleu", "ter", "-f", "json", *more]) == 0
        return json.loads(capsys.readouterr().out)

    return run


def test_the_score_is_the_mean_of_the_runs(run_json):
    result = run_json("a b")
    single = run_json("a1 a2 a3 b2 b4")
    assert [(system["system"], len(system["runs"])) for system in result["systems"]] == [("a", 3), ("b", 2)]
    by_name = {system["system"]: [score["score"] for score in system["scores"]] for system in single["systems"]}
    for system in result["systems"]:
        assert "hash" not in system
        for metric, score in enumerate(system["scores"]):
            runs = [by_name[run["run"]][metric] for run in system["runs"]]
            assert runs == [run["scores"][metric]["score"] for run in system["runs"]]
            assert score["score"] == pytest.approx(statistics.fmean(runs), rel=1e-14)
            assert score["s_opt"] == pytest.approx(statistics.stdev(runs), rel=1e-12)
            assert score["s_sel"] is None
    hashes = {run["run"]: run["hash"] for system in result["systems"] for run in system["runs"]}
    assert hashes == {system["system"]: system["hash"] for system in single["systems"]}


def test_intervals_and_s_sel_come_from_the_replicates(run_json):
    result = run_json("a c5 b", "--confidence", "300")
    texts = ["\n".join(OUTPUTS[name]).encode() for name in ("a1", "a2", "a3")]
    measured = score_systems(
        Segments(references=["\n".join(REFERENCE).encode()], hypotheses=texts),
        parse_metrics(["bleu", "ter"]),
        replicates=300,
    )
    for score, measurement in zip(result["systems"][0]["scores"], measured, strict=True):
        low, high = percentile_interval(measurement.replicate_scores.mean(axis=0), 0.95)
        assert (score["interval"]["low"], score["interval"]["high"]) == pytest.approx((low, high), rel=1e-12)
        spread = np.std(measurement.replicate_scores, axis=1, ddof=1).mean()
        assert score["s_sel"] == pytest.approx(spread, rel=1e-12)
    assert [system["system"] for system in result["systems"]] == ["a", "c5", "b"], "the order of the command line"
    assert "runs" not in result["systems"][1]


def test_what_is_said_of_a_system_does_not_depend_on_those_beside_it(run_json):
    more = ("--confidence", "2000", "--interval", "bca", "--seed", "5")
    together = run_json("a b c5", *more)["systems"]
    alone = [run_json(name, *more)["systems"][0] for name in ("a", "b", "c5")]
    assert [each["scores"] for each in together] == [each["scores"] for each in alone]
    assert together[0]["scores"][0]["s_sel"] != together[1]["scores"][0]["s_sel"]


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_one_run_is_a_system_like_any_other_and_labelled(run_json, files, given, capsys, test):
    more = ("--paired", test, "--confidence", "200", "--interval", "bca")
    labelled, plain = run_json("c a2 b4", *more), run_json("c5 a2 b4", *more)
    assert labelled["systems"][0]["runs"][0]["run"] == "c5"
    for one, other in zip(labelled["systems"][0]["scores"], plain["systems"][0]["scores"], strict=True):
        assert (one["score"], one["interval"], one["signature"]) == (
            other["score"],
            other["interval"],
            other["signature"],
        )
        assert one["s_opt"] is None
    for one, other in zip(labelled["paired"], plain["paired"], strict=True):
        assert one | {"a": ""} == other | {"a": ""}
    assert main(["score", files["ref"], *given("c"), "-m", "bleu"]) == 0
    text = capsys.readouterr().out
    assert "c (1 run)" in text
    assert "For a system with one run s_opt is unknown" in text
    assert "s_sel needs bootstrap replicates" in text


def test_tests_are_stratified(run_json):
    found = run_json("a b c", "--paired", "randomization", "--trials", "300", "--all-pairs")["paired"]
    texts = ["\n".join(lines).encode() for lines in OUTPUTS.values()]
    measured = score_systems(
        Segments(references=["\n".join(REFERENCE).encode()], hypotheses=texts),
        parse_metrics(["bleu", "ter"]),
        replicates=1000,
        keep_statistics=True,
    )
    expected = paired_randomization(measured, None, trials=300, runs=[3, 2, 1])
    assert [(each["p"], each["p_corrected"], each["difference"]) for each in found] == [
        (each.p, each.p_corrected, each.difference) for each in expected
    ]


def test_the_same_runs_in_another_order_are_the_same_output(files, run_json, capsys):
    runs = [files["a1"], files["a2"]]
    arguments = ["score", files["ref"], "--system", "x", *runs, "--system", "y", *runs[::-1], "-m", "bleu"]
    for test in ("bootstrap", "randomization"):
        assert main([*arguments, "--paired", test]) == 0
        row = next(line for line in capsys.readouterr().out.splitlines() if line.endswith("same output"))
        assert row.split()[-4:] == ["1.0000", "1.0000", "same", "output"]


def test_text_shows_the_spread(files, given, capsys):
    assert main(["score", files["ref"], *given("a"), "-m", "bleu", "-w", "2", "--confidence", "100"]) == 0
    lines = capsys.readouterr().out.splitlines()
    texts = ["\n".join(OUTPUTS[name]).encode() for name in ("a1", "a2", "a3")]
    (measured,) = score_systems(
        Segments(references=["\n".join(REFERENCE).encode()], hypotheses=texts), parse_metrics(["bleu"]), replicates=100
    )
    mean, deviation = measured.scores.mean(), np.std(measured.scores, ddof=1)
    assert lines[2].startswith(f"a (3 runs)  {mean:.2f} ± {deviation:.2f} [")
    row = next(line for line in lines if line.startswith("a ") and "BLEU" in line)
    assert row.split()[:4] == ["a", "3", "BLEU", f"{mean:.2f}"]
    assert row.endswith(", ".join(f"{score:.2f}" for score in measured.scores))


def test_tsv_has_a_row_for_each_run_and_segments_of_each(files, given, capsys):
    assert main(["score", files["ref"], *given("a c5"), "-m", "bleu", "-f", "tsv", "--segments"]) == 0
    header, *rows = (line.split("\t") for line in capsys.readouterr().out.splitlines())
    run, segment = header.index("run"), header.index("segment")
    assert {len(row) for row in rows} == {len(header)}
    assert len(rows) == 1 + 3 * (1 + 40) + 1 + 40
    scores = [float(row[3]) for row in rows if row[0] == "a" and row[run] and not row[segment]]
    (system,) = (row for row in rows if row[0] == "a" and not row[run])
    assert float(system[3]) == pytest.approx(statistics.fmean(scores))
    assert float(system[header.index("s_opt")]) == pytest.approx(statistics.stdev(scores))


def test_segments_stand_with_their_run(run_json):
    system = run_json("a", "--segments")["systems"][0]
    assert all("segments" not in score for score in system["scores"])
    assert [len(run["scores"][0]["segments"]) for run in system["runs"]] == [40, 40, 40]


def test_runs_whose_files_have_one_name_are_numbered(tmp_path, files, capsys):
    paths = []
    for seed in ("one", "two"):
        (tmp_path / seed).mkdir()
        (tmp_path / seed / "out.txt").write_text("\n".join(REFERENCE) + "\n")
        paths.append(str(tmp_path / seed / "out.txt"))
    assert main(["score", files["ref"], "--system", "x", *paths, "-m", "bleu", "-f", "json"]) == 0
    out, err = capsys.readouterr()
    assert [run["run"] for run in json.loads(out)["systems"][0]["runs"]] == ["1", "2"]
    assert 'Runs of "x" have identical output' in err


def test_a_file_that_is_given_twice_among_other_runs_is_noticed(files, capsys):
    for outputs, noticed in (("a1 a2 a1", True), ("a1 a2 a3", False)):
        paths = [files[each] for each in outputs.split()]
        assert main(["score", files["ref"], "--system", "x", *paths, "-m", "bleu"]) == 0
        assert ('Runs of "x" have identical output' in capsys.readouterr().err) == noticed


def test_what_is_no_run_is_said(files, tmp_path, capsys):
    assert main(["score", files["ref"], "--system", "x"]) == 2
    assert "--system x: give the name of a system and then the output of each of its runs" in capsys.readouterr().err
    marked = '<{0}set setid="s" srclang="cs" trglang="en"><doc docid="d" sysid="r"><seg id="1">a</seg></doc></{0}set>'
    for kind in ("ref", "tst"):
        (tmp_path / f"{kind}.sgm").write_text(marked.format(kind))
    assert main(["score", str(tmp_path / "ref.sgm"), "--system", "x", str(tmp_path / "tst.sgm")]) == 1
    assert "--system x: its files have ids" in capsys.readouterr().err


def test_an_undefined_run_makes_the_system_undefined(tmp_path, capsys):
    """Never a mean of those that are left."""
    for name, text in (("ref", "\n"), ("empty", "\n"), ("word", "other\n")):
        (tmp_path / f"{name}.txt").write_text(text)
    paths = [str(tmp_path / f"{name}.txt") for name in ("ref", "empty", "word")]
    arguments = ["score", paths[0], "--system", "x", *paths[1:], "-m", "lebleu", "--confidence", "10"]
    assert main([*arguments, "-f", "json"]) == 0
    score = json.loads(capsys.readouterr().out)["systems"][0]["scores"][0]
    assert (score["score"], score["interval"], score["s_opt"]) == (None, None, None)
    assert main(arguments) == 0
    assert "n/a" in capsys.readouterr().out.splitlines()[2]
