"""`mtrics` as its manual has it (Kos 2008, Appendix A)."""

import json
import re
import subprocess
import sys
import time
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from cli import main as steelyard
from steelyard.commands.mtrics.command import main
from steelyard.commands.mtrics.output import rounded
from tests.acceptance.commands import environment, mtrics
from tests.cli.scoring.mtrics_output import ALL, CRANE, GOLDEN, scores_of, sections, total

pytestmark = pytest.mark.usefixtures("crane_and_winch")

OPTIONS = ["-c", "-r", "-o", "-b", "-n", "-p", "-f", "-g", "-w", "-t", "-m", "-sempos"]
OPTIONS += ["-T", "-M", "-MT", "-TMT", "-conf", "-cl", "-s", "-v", "-h"]

LONG = ["--candidate", "--reference", "--output", "--bleu", "--nist", "--per", "--fmeasure", "--gtm", "--wer", "--ter"]
LONG += ["--meteor", "--semantic-pos-overlap", "--tokenize", "--mteval-file-format", "--mteval-input"]
LONG += ["--tectomt-input", "--confidence-intervals", "--confidence-level", "--case-sensitive", "--verbose", "--help"]
"""As the synopsis (A.1) writes them."""


def printed(capsys, *arguments):
    """The sections of a run over both systems and both references."""
    assert main(["-c", "crane.txt", "winch.txt", "-r", "ref.txt", "other.txt", *arguments]) == 0
    return sections(capsys.readouterr().out)


def scored(capsys, *arguments):
    """What `steelyard score` says: of each system, the entry of the only metric."""
    command = ["score", "ref.txt", "other.txt", "-i", "crane.txt", "winch.txt", "-f", "json", *arguments]
    assert steelyard.main(command) == 0
    return [system["scores"][0] for system in json.loads(capsys.readouterr().out)["systems"]]


def test_the_output_is_that_of_the_manual(capsys, monkeypatch):
    """A.4, Example 3, to the letter: metric by metric, parts separated by tabs, no zeros at the end of a score."""
    monkeypatch.setattr(time, "time", lambda: time.mktime((2008, 5, 15, 20, 8, 45, 0, 0, -1)))
    assert main(["-c", "crane.txt", "winch.txt", "-r", "ref.txt", "-w", "-g"]) == 0
    out, err = capsys.readouterr()
    out, seconds = re.subn(r"^(Computation finished in )\d+( seconds)$", r"\g<1>2\2", out, flags=re.MULTILINE)
    assert (seconds, err) == (1, "")
    assert out == (
        "MT evaluation run on Thu May 15 20:08:45 2008\n"
        "\n"
        "Computation finished in 2 seconds\n"
        "\n"
        "Parameters: -c crane.txt winch.txt -r ref.txt -w -g\n"
        "\n"
        "Total score:\n"
        "\n"
        "crane:\tGTM:\t0.875\n"
        "winch:\tGTM:\t0.3571\n"
        "crane:\tWER:\t0.375\n"
        "winch:\tWER:\t0.6875\n"
    )


def test_every_metric_has_its_line(capsys):
    assert scores_of(capsys, "-c", "crane.txt", "-r", "ref.txt", *ALL) == GOLDEN


def test_parameters_can_be_pasted_into_a_shell(capsys):
    Path("two words.txt").write_text("\n".join(CRANE))
    assert main(["-c", "two words.txt", "-r", "ref.txt", "-p"]) == 0
    assert "\nParameters: -c 'two words.txt' -r ref.txt -p\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.73224, "0.7322"), (0.611, "0.611"), (0.61096, "0.611"), (1.0, "1"), (0.0, "0"), (10.0, "10"), (0.00004, "0")],
)
def test_scores_have_four_digits_and_no_zeros_at_the_end(value, shown):
    assert rounded(value) == shown


@pytest.mark.parametrize(
    ("arguments", "metric", "scale"),
    [
        (["-b"], "bleu:smooth=none", 100),
        (["-b", "6,1-3,7"], "bleu:order=1-3,6,7:smooth=none", 100),
        (["--bleu", "2"], "bleu:order=2:smooth=none", 100),
        (["-p"], "per", 100),
        (["--per"], "per", 100),
        (["-f"], "fmeasure", 100),
        (["-f", "2,1"], "fmeasure:p=2:r=1", 100),
        (["--fmeasure", "0.5,3"], "fmeasure:p=0.5:r=3", 100),
        (["-g"], "gtm", 100),
        (["-g", "1.5"], "gtm:e=1.5", 100),
        (["--gtm", "2"], "gtm:e=2", 100),
        (["-w"], "wer", 100),
        (["--wer"], "wer", 100),
        (["-t"], "ter", 100),
        (["--ter"], "ter", 100),
        (["-m", "-l", "cs-en"], "meteor:params=2007:lemmas=simplemma:lang=en", 100),
        (["-m", "orig", "-l", "cs-en"], "meteor:params=orig:lemmas=simplemma:lang=en", 100),
        (["--meteor", "2007", "-l", "cs-en"], "meteor:lemmas=simplemma:lang=en", 100),
    ],
)
@pytest.mark.parametrize(
    ("texts", "settings"),
    [
        ([], ":case=lc:tok=none"),
        (["-s"], ":case=mixed:tok=none"),
        (["-T", "--case-sensitive"], ":case=mixed:tok=thesis"),
        (["--tokenize"], ":case=lc:tok=thesis"),
    ],
)
def test_every_number_is_that_of_score(capsys, arguments, metric, scale, texts, settings):
    entries = scored(capsys, "-m", metric + settings)
    title = entries[0]["title"].partition("[")[0]
    expected = [rounded(entry["score"] / scale) for entry in entries]
    lines = [f"{name}:\t{title}:\t{score}" for name, score in zip(("crane", "winch"), expected, strict=True)]
    assert printed(capsys, *arguments, *texts)["Total score"] == lines


def test_case_and_tokenizer_make_a_difference(capsys):
    outputs = {tuple(printed(capsys, "-p", *texts)["Total score"]) for texts in ([], ["-s"], ["-T"], ["-s", "-T"])}
    assert len(outputs) == 4


def test_the_weights_of_the_f_measure(capsys):
    """Precision 1, recall 1/2: the more precision weighs, the nearer to 1. The manual prints the reciprocal."""
    Path("long.txt").write_text("a b c d\n")
    Path("short.txt").write_text("a b\n")
    for weights, score in (("1,1", "0.6667"), ("3,1", "0.8"), ("1,3", "0.5714"), ("1,0", "1")):
        lines = scores_of(capsys, "-c", "short.txt", "-r", "long.txt", "-f", weights)
        assert lines == [f"short:\tF-measure:\t{score}"]


def test_error_rates_are_not_clipped(capsys):
    Path("long.txt").write_text("a b c d\n")
    Path("short.txt").write_text("e\n")
    lines = scores_of(capsys, "-c", "long.txt", "-r", "short.txt", "-p", "-w", "-t")
    assert lines == ["long:\tPER:\t4", "long:\tWER:\t4", "long:\tTER:\t4"]


def test_verbose_adds_segments_runs_and_signatures(capsys):
    found = printed(capsys, "-v", "-g", "2", "-p")
    gtm = scored(capsys, "-m", "gtm:e=2:case=lc:tok=none", "--segments", "--runs")
    per = scored(capsys, "-m", "per:case=lc:tok=none", "--segments")
    assert list(found) == ["Segment 1", "Segment 2", "Segment 3", "Total score", "Signatures"]
    assert found["Signatures"] == [f"PER:\t{per[0]['signature']}", f"GTM:\t{gtm[0]['signature']}"]
    for i in range(3):
        expected = [
            f"{name}:\tPER:\t{rounded(entry['segments'][i] / 100)}"
            for name, entry in zip(("crane", "winch"), per, strict=True)
        ]
        for name, entry in zip(("crane", "winch"), gtm, strict=True):
            expected.append(f"{name}:\tGTM:\t{rounded(entry['segments'][i] / 100)}")
            expected += [
                f"{name}:\tGTM run:\t{run['size']} at {run['place']}, reference {run['reference']} at "
                f"{run['reference_place']}: {' '.join(run['words'])}"
                for run in entry["runs"][i]
            ]
        assert found[f"Segment {i + 1}"] == expected
    assert "crane:\tGTM run:\t3 at 1, reference 2 at 5: the red box" in found["Segment 1"]
    assert found["Total score"] == printed(capsys, "-g", "2", "-p")["Total score"]


def test_verbose_adds_the_further_figures_of_a_metric(capsys):
    (crane, _) = scored(capsys, "-m", "bleu:smooth=none:case=lc:tok=none")
    expected = [f"crane:\tBLEU {key}:\t{rounded(value)}" for key, value in crane["details"].items()]
    assert len(expected) == 6
    assert printed(capsys, "-v", "-b")["Total score"][1:7] == expected


def test_confidence(capsys):
    arguments = ["-m", "wer:case=lc:tok=none", "--confidence", "300", "--level", "0.9", "--seed", "7"]
    intervals = [entry["interval"] for entry in scored(capsys, *arguments)]
    lines = printed(capsys, "-w", "-conf", "300", "-cl", "0.9", "--seed", "7")["Total score"]
    for line, interval in zip(lines, intervals, strict=True):
        assert line.endswith(f"\t[{rounded(interval['low'] / 100)}, {rounded(interval['high'] / 100)}]")
    long = printed(capsys, "-w", "--confidence-intervals", "1000", "--confidence-level", "0.95")
    assert printed(capsys, "-w", "-conf") == long
    assert printed(capsys, "-w", "-conf", "-v")["Signatures"][-1] == "Intervals:\t95 %"


def test_output_goes_into_a_file(capsys):
    assert main(["-c", "crane.txt", "-r", "ref.txt", "-p", "-o", "scores.txt"]) == 0
    assert capsys.readouterr().out == ""
    assert total(Path("scores.txt").read_text()) == ["crane:\tPER:\t0.125"]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ([], 2, "No metric is selected. Give one or more of -b -n -p -f -g -w -t -m -sempos."),
        (["-b", "3-1"], 2, '-b 3-1: bleu: order="3-1": orders go from 1 to 16'),
        (["-b", "1,,2"], 2, "-b 1,,2: bleu: order"),
        (["-b", ""], 2, "-b : bleu: order"),
        (["-b", "0"], 2, "orders go from 1"),
        (["-b", "x"], 2, "is a list of numbers and intervals"),
        (["-f", "1"], 2, "-f 1: its value is written P,R, for example 1,1."),
        (["-f", "0,0"], 2, "-f 0,0: fmeasure: p and r are both 0"),
        (["-f", "1,x"], 2, '-f 1,x: fmeasure: r="x"'),
        (["-g", "0"], 2, "-g 0: gtm: e"),
        (["-g", "2:tok=intl"], 2, "-g 2:tok=intl: gtm: e"),
        (["-m", "2008"], 2, '-m 2008: meteor: params is "2008", but must be one of orig, 2007'),
        (["-sempos", "-b", "-p"], 2, "-sempos cannot be combined"),
        (["-sempos"], 2, "-sempos compares tectogrammatical trees: give files in TectoMT's format and -TMT LAYER"),
        (["-m"], 2, "-m compares lemmas: give files in TectoMT's format and -TMT"),
        (["-m", "orig", "-b"], 2, "-m compares lemmas: give files in TectoMT's format and -TMT"),
        (["-m", "-l", "en-xx"], 1, 'simplemma does not know the language "xx"'),
        (["-M", "-b"], 1, "ref.txt"),
        (["-TMT", "-b"], 1, "ref.txt, line 1: not well-formed XML"),
        (["-TMT", "-T", "-b"], 2, "leave out -T, -M and -MT"),
        (["-TMT", "-MT", "-b"], 2, "leave out -T, -M and -MT"),
        (["-b", "-cl", "0.9"], 2, "give -conf, too"),
        (["-b", "-conf", "-cl", "95"], 2, '"95" is not a number between 0 and 1'),
        (["-b", "-conf", "x"], 2, '"x" is not a whole number'),
        (["-b", "-x"], 2, "No such option '-x'"),
        (["-b", "-TM"], 2, "-TM"),
        (["-b", "--tokeni"], 2, "No such option '--tokeni'"),
        (["-b", "-o", "ref.txt"], 2, "-o ref.txt is one of the files to score"),
        (["-b", "-o", "nowhere/scores"], 1, "nowhere/scores: cannot be written (No such file or directory)"),
        (["-b", "-c", "nothing.txt"], 1, "nothing.txt: there is no such file"),
        (["-b", "-r", "one.txt"], 1, "one.txt"),
    ],
)
def test_what_is_wrong_is_said(capsys, arguments, status, message):
    Path("one.txt").write_text("one line\n")
    ended = main(["-c", "crane.txt", "-r", "ref.txt", *arguments])
    out, err = capsys.readouterr()
    assert (ended, out) == (status, "")
    assert message in err
    assert "mtrics: " in err
    assert "Traceback" not in err


@pytest.mark.parametrize("arguments", [["-c", "crane.txt", "-b"], ["-r", "ref.txt", "-b"], ["-c", "-r", "ref.txt"], []])
def test_candidates_and_references_are_needed(capsys, arguments):
    assert main(arguments) == 2
    assert "\nmtrics: " in capsys.readouterr().err


def test_help_names_every_option_of_the_manual(capsys):
    for option in ("-h", "--help"):
        assert main([option]) == 0
        out = capsys.readouterr().out
    for option in OPTIONS:
        assert f"\n  {option} " in out or f"\n  {option}," in out, option
    for option in LONG:
        assert re.search(rf", {option}\b", out), option


def test_help_loads_nothing_heavy(tmp_path):
    code = (
        "import sys; from steelyard.commands.mtrics.command import main\n"
        "main(['-h'])\n"
        "print(sorted({'numpy', 'celery', 'sqlalchemy', 'pydantic', 'gensim'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_command_as_it_is_installed(tmp_path):
    project = tomllib.loads((Path(__file__).parents[3] / "library" / "pyproject.toml").read_text())
    module, _, function = project["project"]["scripts"]["mtrics"].partition(":")
    assert getattr(import_module(module), function) is main
    done = mtrics("-c", "crane.txt", "-r", "ref.txt", *ALL, cwd=tmp_path)
    assert (done.returncode, total(done.stdout), done.stderr) == (0, GOLDEN, "")
    failed = mtrics("-c", "crane.txt", "-r", "none.txt", "-p", cwd=tmp_path)
    assert (failed.returncode, failed.stdout) == (1, "")
    assert failed.stderr == "mtrics: none.txt: there is no such file. Check the path.\n"
