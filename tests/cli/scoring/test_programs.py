"""Programs as metrics: registered, listed, shown, used by name, deleted."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from cli.main import main

STAND_IN = Path(__file__).parents[2] / "library" / "metrics" / "programs" / "stand_in.py"
COMMAND = shlex.join([sys.executable, str(STAND_IN), "plain"])


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Two segments, and a folder for resources."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEELYARD_RESOURCE_FOLDER", str(tmp_path / "resources"))
    for name, lines in (("src", "s\ns"), ("ref", "rr\nrrrr"), ("out", "xxx\nxxxxx"), ("other", "xxx\nx")):
        (tmp_path / f"{name}.txt").write_text(lines + "\n")


def create(*options, name="judge", command=COMMAND, inputs="source,reference", version="2.0"):
    return main(["metric", "create", name, "--command", command, "--inputs", inputs, "--version", version, *options])


def test_a_registered_program_is_a_metric(capsys):
    assert create() == 0
    said = capsys.readouterr().out
    assert said.startswith("judge@")
    assert said.endswith(": use it as -m judge\n")
    pinned = said.partition(":")[0]
    command = ["score", "ref.txt", "-i", "out.txt", "other.txt", "--source", "src.txt", "-m", "judge", "chrf"]
    assert main([*command, "-f", "json", "--segments"]) == 0
    systems = json.loads(capsys.readouterr().out)["systems"]
    judged = [system["scores"][0] for system in systems]
    assert [each["segments"] for each in judged] == [[3.265625, 5.515625], [3.265625, 1.515625]]
    assert judged[0]["score"] == (3.265625 + 5.515625) / 2
    assert f"run:{pinned}|release:2.0|reads:source+reference|better:higher" in judged[0]["signature"]
    assert systems[0]["scores"][1]["metric"] == "chrf"


def test_the_better_scores_may_be_the_lower_ones(capsys):
    assert create("--lower-is-better", inputs="reference") == 0
    capsys.readouterr()
    assert (
        main(["score", "ref.txt", "-i", "out.txt", "other.txt", "-m", "judge", "-f", "json", "--paired", "bootstrap"])
        == 0
    )
    assert "better:lower" in capsys.readouterr().out


def test_programs_are_listed_shown_and_deleted(capsys):
    assert create("--timeout", "30", "--memory", "512", "--batch", "7", "--keep-running") == 0
    capsys.readouterr()
    assert main(["metric", "show", "judge"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("judge  (registered program, version 2.0, higher is better)\n")
    assert "reads hypothesis, source, reference; 7 segments at once, kept running; 30 s, 512 MiB" in said
    assert main(["metric", "list"]) == 0
    assert said in capsys.readouterr().out
    assert main(["metric", "list", "-f", "json"]) == 0
    last = json.loads(capsys.readouterr().out)[-1]
    assert (last["name"], last["title"], last["source"]) == ("judge", "judge 2.0", COMMAND)
    assert main(["metric", "delete", "judge"]) == 1
    assert "Add --yes to do it." in capsys.readouterr().err
    assert main(["metric", "delete", "judge", "--yes"]) == 0
    assert list(Path("resources").iterdir()) == []
    assert main(["metric", "delete", "judge", "--yes"]) == 1
    assert 'There is no registered program "judge". Registered: none.' in capsys.readouterr().err
    assert main(["score", "ref.txt", "-i", "out.txt", "-m", "judge"]) == 2
    assert 'There is no metric "judge".' in capsys.readouterr().err
    assert main(["score", "ref.txt", "-i", "out.txt", "-m", "program:run=judge"]) == 1
    assert 'There are no programs called "judge".' in capsys.readouterr().err


def test_registering_again_replaces_the_name_and_keeps_the_content(capsys):
    assert create(version="1") == 0
    assert create(version="2") == 0
    first, second = (line.partition(":")[0] for line in capsys.readouterr().out.splitlines())
    score = ["score", "ref.txt", "-i", "out.txt", "--source", "src.txt", "-f", "json"]
    assert main([*score, "-m", "judge", f"program:run={first}"]) == 0
    assert f"run:{second}|" in (said := capsys.readouterr().out)
    assert f"run:{first}|" in said


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        ({"name": "bleu"}, 2, 'There is a metric "bleu". Choose another name.'),
        ({"name": "../x"}, 1, "cannot be the name of a resource"),
        ({"command": ""}, 2, "The command is empty"),
        ({"command": 'a "b'}, 2, "cannot be split into words (No closing quotation)"),
        ({"inputs": "text"}, 2, '"text" is no input. Give source, reference or both.'),
        ({"version": "a b"}, 2, 'The version is "a b".'),
    ],
)
def test_what_cannot_be_registered_is_an_error(options, status, said, capsys):
    assert create(**options) == status
    assert said in capsys.readouterr().err
    assert not Path("resources").exists() or not list(Path("resources").iterdir())


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--timeout", "0", "The time limit is 0 s"),
        ("--timeout", "nan", "The time limit is nan s"),
        ("--batch", "0", "A batch has 0 segments"),
        ("--memory", "9999999999", "The memory limit is"),
    ],
)
def test_limits_are_checked(option, value, said, capsys):
    assert create(option, value) == 2
    assert said in capsys.readouterr().err


def test_a_program_that_fails_is_an_error(capsys):
    assert create(command=shlex.join([sys.executable, str(STAND_IN), "twice"])) == 0
    assert main(["score", "ref.txt", "-i", "out.txt", "--source", "src.txt", "-m", "judge"]) == 1
    assert "The program judge answered the segment with id 1 twice." in capsys.readouterr().err
