"""Paired tests of `steelyard score`, against a baseline and of all pairs."""

import json
import math
from itertools import combinations

import pytest

from cli.main import main
from steelyard.metrics.registry import parse_metrics
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from steelyard.resampling.bootstrap_p import bootstrap_p
from steelyard.resampling.correction import corrected
from steelyard.resampling.paired import paired_randomization
from tests.cli.status import status_of

REFERENCE = [f"the boat number {number} leaves the harbour at {number % 12} and comes back" for number in range(40)]


def spoiled(every, by):
    """The reference with a word replaced in some segments."""
    return [line.replace("harbour", by) if number % every == 0 else line for number, line in enumerate(REFERENCE)]


SYSTEMS = {"first": spoiled(2, "haven"), "second": spoiled(3, "port of call"), "third": spoiled(5, "quay")}


@pytest.fixture
def files(tmp_path):
    """Paths of a reference, three systems, and a twin of the first."""
    texts = {"ref": REFERENCE, **SYSTEMS, "twin": SYSTEMS["first"]}
    for name, lines in texts.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {name: str(tmp_path / f"{name}.txt") for name in texts}


@pytest.fixture
def paired(files, capsys):
    """Runs `score` on systems named in one string and gives its JSON."""

    def run(names, *more):
        systems = [files[name] for name in names.split()]
        assert main(["score", files["ref"], "-i", *systems, "-m", "bleu", "ter", "-f", "json", *more]) == 0
        return json.loads(capsys.readouterr().out)["paired"]

    return run


def measured():
    """Measurements of the three systems, with what the tests need."""
    texts = ["\n".join(lines).encode() for lines in SYSTEMS.values()]
    reference = ["\n".join(REFERENCE).encode()]
    return score_systems(
        Segments(references=reference, hypotheses=texts),
        parse_metrics(["bleu", "ter"]),
        replicates=1000,
        keep_statistics=True,
    )


def test_bootstrap_against_the_first_system(paired):
    """p, correction and interval made anew from the replicates."""
    found = paired("first second third", "--paired", "bootstrap")
    expected = []
    for name, measurement in zip(("bleu", "ter"), measured(), strict=True):
        replicates = measurement.replicate_scores
        differences = [float(score - measurement.scores[0]) for score in measurement.scores[1:]]
        p = [bootstrap_p(d, replicates[b] - replicates[0]) for b, d in enumerate(differences, 1)]
        for b, (difference, one, after) in enumerate(zip(differences, p, corrected(p, "holm"), strict=True), 1):
            ends = sorted(replicates[b] - replicates[0])
            expected.append((("second", "third")[b - 1], name, difference, one, after, ends[25], ends[-26]))
    assert [
        (
            each["b"],
            each["metric"],
            each["difference"],
            each["p"],
            each["p_corrected"],
            *map(each["interval"].get, ("low", "high")),
        )
        for each in found
    ] == expected
    assert {(each["a"], each["test"], each["n"], each["correction"]) for each in found} == {
        ("first", "bootstrap", 1000, "holm")
    }


def test_randomization_of_all_pairs(paired):
    found = paired("first second third", "--paired", "randomization", "--trials", "500", "--all-pairs")
    expected = paired_randomization(measured(), None, trials=500)
    assert [(each["p"], each["p_corrected"], each["difference"]) for each in found] == [
        (each.p, each.p_corrected, each.difference) for each in expected
    ]
    assert [(each["a"], each["b"]) for each in found] == list(combinations(SYSTEMS, 2)) * 2
    # The intervals come from the bootstrap, whatever the test.
    assert [(each["interval"]["low"], each["interval"]["high"]) for each in found] == [
        each.interval for each in expected
    ]
    assert {each["interval"]["n"] for each in found} == {1000}
    assert found == paired("first second third", "--paired", "randomization", "--trials", "500", "--baseline", "none")


def test_ten_thousand_trials_unless_said_otherwise(paired):
    assert {each["n"] for each in paired("first second", "--paired", "randomization")} == {10_000}


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_the_same_output_has_p_1(paired, files, capsys, test):
    for each in paired("first twin", "--paired", test):
        assert (each["p"], each["p_corrected"], each["difference"]) == (1.0, 1.0, 0.0)
        assert (each["same_output"], each["direction"]) == (True, "equal")
        assert (each["interval"]["low"], each["interval"]["high"]) == (0.0, 0.0)
    assert main(["score", files["ref"], "-i", files["first"], files["twin"], "--paired", test]) == 0
    assert capsys.readouterr().out.count("same output") == 3


def test_the_baseline_can_be_named(paired):
    found = paired("first second third", "--paired", "bootstrap", "--baseline", "third")
    assert [(each["a"], each["b"]) for each in found] == [("third", "first"), ("third", "second")] * 2
    assert [each["direction"] for each in found] == ["worse"] * 4
    back = paired("third first", "--paired", "bootstrap")
    assert back[0]["difference"] == found[0]["difference"]
    assert back[0]["p"] == found[0]["p"]


def test_a_system_called_none_can_be_the_baseline(files, tmp_path, paired):
    files["none"] = str(tmp_path / "none.txt")
    (tmp_path / "none.txt").write_text("\n".join(SYSTEMS["third"]) + "\n")
    found = paired("first none second", "--paired", "bootstrap", "--baseline", "none")
    assert {each["a"] for each in found} == {"none"}


def test_corrections(paired):
    by_method = {
        method: paired("first second third", "--paired", "bootstrap", "--all-pairs", "--correction", method)
        for method in ("holm", "bh", "none")
    }
    raw = [each["p"] for each in by_method["none"] if each["metric"] == "bleu"]
    for method in ("holm", "bh"):
        found = [each["p_corrected"] for each in by_method[method] if each["metric"] == "bleu"]
        assert found == corrected(raw, method).tolist()
    assert {each["p_corrected"] for each in by_method["none"]} == {None}


def test_bca_moves_the_intervals_and_nothing_else(files, capsys):
    def scores(*more):
        arguments = [
            "score",
            files["ref"],
            "-i",
            files["first"],
            files["second"],
            "--paired",
            "bootstrap",
            "-f",
            "json",
        ]
        assert main([*arguments, *more]) == 0
        return json.loads(capsys.readouterr().out)

    percentile, bca = scores(), scores("--interval", "bca")
    assert {each["interval"]["kind"] for each in bca["paired"]} == {"bca"}
    assert [each["p"] for each in bca["paired"]] == [each["p"] for each in percentile["paired"]]
    for one, other in zip(percentile["systems"], bca["systems"], strict=True):
        assert [score["score"] for score in one["scores"]] == [score["score"] for score in other["scores"]]
        assert [score["interval"] for score in one["scores"]] != [score["interval"] for score in other["scores"]]
    assert percentile == scores("--interval", "percentile")


def test_intervals_beside_a_randomization_are_of_the_kind_that_is_asked_for(paired):
    given = (
        "first second third",
        "--paired",
        "randomization",
        "--trials",
        "200",
        "--confidence",
        "1000",
        "--level",
        "0.8",
    )
    found = {}
    for kind in ("percentile", "bca"):
        expected = paired_randomization(measured(), 0, trials=200, level=0.8, kind=kind)
        found[kind] = [
            (each["interval"]["low"], each["interval"]["high"]) for each in paired(*given, "--interval", kind)
        ]
        assert found[kind] == [each.interval for each in expected]
    assert found["percentile"] != found["bca"]


def test_more_tests_take_more_trials_where_few_could_show_nothing(paired):
    """3 / 10,001 is no less than this level, and 1 / 10,001 is."""
    given = ("--paired", "randomization", "--all-pairs", "--alpha", "0.0002")
    assert {each["n"] for each in paired("first second", *given)} == {10_000}
    assert {each["n"] for each in paired("first second third", *given)} == {20_000}


def test_too_few_trials_are_said(files, capsys):
    systems = [files[name] for name in SYSTEMS]
    arguments = ["score", files["ref"], "-i", *systems, "--all-pairs", "--paired", "randomization"]
    assert main([*arguments, "--trials", "59"]) == 0
    note = "Note: 59 trials cannot give a corrected p below 0.05, so nothing can be marked: ask for at least 60."
    assert note in capsys.readouterr().out
    assert main([*arguments, "--trials", "60"]) == 0
    assert "cannot give" not in capsys.readouterr().out


def test_alpha_says_what_gets_a_star(files, capsys):
    systems = [files[name] for name in SYSTEMS]
    arguments = ["score", files["ref"], "-i", *systems, "-m", "bleu", "--paired", "randomization", "--trials", "200"]
    for alpha, stars in (("0.999", 2), ("0.0001", 0)):
        assert main([*arguments, "--alpha", alpha]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert sum(line.endswith((" better *", " worse *")) for line in lines) == stars
        assert any(line.endswith(f"* corrected p below {alpha}.") for line in lines)


def test_bca_alone_asks_for_replicates(files, capsys):
    assert main(["score", files["ref"], "-i", files["first"], "-m", "bleu", "--interval", "bca", "-f", "json"]) == 0
    (score,) = json.loads(capsys.readouterr().out)["systems"][0]["scores"]
    assert (score["interval"]["kind"], score["interval"]["n"]) == ("bca", 1000)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--paired compares systems: give at least two"),
        (["second", "--baseline", "second", "--all-pairs"], "--all-pairs has no baseline"),
        (["second", "--trials", "5"], "--trials goes with --paired randomization"),
        (["second", "--confidence", "100000000000"], "100,000 is the most"),
        (["second", "--width", "18"], "17 is the most"),
        (["second", "--alpha", "5"], "not a number between 0 and 1, such as 0.05"),
        (["--system", "", "second"], "give the name of a system"),
        (["second", "--trials", "0", "--paired", "randomization"], "needs at least one trial"),
    ],
)
def test_what_does_not_go_together_is_said(files, capsys, arguments, message):
    words = [files.get(word, word) if place == 0 else word for place, word in enumerate(arguments)]
    assert status_of(["score", files["ref"], "--paired", "bootstrap", "-i", files["first"], *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["second", "--baseline", "fourth"], "there is no such system. There are: first, second."),
        (["first", "--baseline", "first"], "2 systems have this name"),
    ],
)
def test_a_baseline_that_is_no_system_here_is_said(files, capsys, arguments, message):
    words = [files[arguments[0]], *arguments[1:]]
    assert main(["score", files["ref"], "--paired", "bootstrap", "-i", files["first"], *words]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "option", [["--baseline", "first"], ["--all-pairs"], ["--trials", "9"], ["--correction", "bh"]]
)
def test_options_of_a_test_ask_for_a_test(files, capsys, option):
    assert main(["score", files["ref"], "-i", files["first"], files["second"], *option]) == 2
    assert f"{option[0]} goes with a test" in capsys.readouterr().err


def test_an_undefined_score_is_not_tested(tmp_path, capsys):
    """LeBLEU of an empty output against an empty reference."""
    for name, text in (("ref", "\n"), ("a", "\n"), ("b", "other\n")):
        (tmp_path / f"{name}.txt").write_text(text)
    paths = [str(tmp_path / f"{name}.txt") for name in ("ref", "a", "b")]
    for test in ("bootstrap", "randomization"):
        arguments = ["score", paths[0], "-i", *paths[1:], "-m", "lebleu", "--paired", test]
        assert main([*arguments, "-f", "json"]) == 0
        result = json.loads(capsys.readouterr().out)
        assert [system["scores"][0]["score"] for system in result["systems"]] == [None, 0.0]
        assert {result["paired"][0][key] for key in ("difference", "p", "p_corrected", "interval", "direction")} == {
            None
        }
        for form in ("text", "latex", "html"):
            assert main([*arguments, "-f", form]) == 0
            assert "n/a" in capsys.readouterr().out


def test_shard_size_changes_no_test(real_data, capsys):
    folder = real_data / "wmt22.en-cs"
    arguments = ["score", str(folder / "refs/B.txt"), "-i", str(folder / "systems/Online-B.txt")]
    arguments += [str(folder / "systems/Online-W.txt"), "-m", "chrf", "--paired", "randomization", "--trials", "200"]
    outputs = set()
    for size in ("100000", "300"):
        assert main([*arguments, "--interval", "bca", "-f", "json", "--shard-size", size]) == 0
        outputs.add(capsys.readouterr().out)
    assert len(outputs) == 1


def test_bootstrap_agrees_with_sacrebleu(real_data, capsys):
    """Within what ten of its seeds and one of ours vary; it counts one tail of the differences, we count both."""
    folder = real_data / "wmt22.en-cs"
    expected = json.loads((real_data / "expected_paired_bs.wmt22.en-cs.json").read_text())
    names = ["Online-B", "Online-W", "CUNI-Transformer"]
    references = [str(folder / f"refs/{label}.txt") for label in expected["refs"]]
    systems = [str(folder / f"systems/{name}.txt") for name in names]
    assert main(["score", *references, "-i", *systems, "--paired", "bootstrap", "-f", "json"]) == 0
    result = json.loads(capsys.readouterr().out)
    tested = {(each["b"], each["metric"]): each for each in result["paired"]}
    for metric, theirs in (("bleu", "BLEU"), ("chrf", "chrF2"), ("ter", "TER")):
        for name in names[1:]:
            peer = expected["results"][theirs][name]
            tails = [p - 1 / 1001 for p in (peer["p_value"], *peer["p_values_seeds_1_to_9"])]
            both = 2 * sum(tails) / len(tails)
            # Ours has 1,000 draws, theirs a tenth of that variance for each of two equal tails.
            deviation = math.sqrt(max(both, 0.0) * (1 - both) * (1 + 0.2) / 1000)
            assert abs(tested[name, metric]["p"] - 1 / 1001 - both) <= 4 * deviation + 1 / 1000
