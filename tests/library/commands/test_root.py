"""The root of the command line: verbs of the library and of others, help, suggestions, completion."""

import subprocess
import sys

import click
import pytest

from cli.verbs import VERBS
from steelyard.commands.main import main
from steelyard.commands.verbs import ELSEWHERE, EXTENDED, OURS, Verb, installed
from steelyard_client.commands.verbs import VERBS as VERBS_OF_CLIENT


def alone(arguments: list[str]) -> int:
    """The command where no other distribution is installed."""
    return main(arguments, dict)


def test_the_others_have_the_verbs_that_the_library_says_they_have() -> None:
    assert set(ELSEWHERE["steelyard-server"]) == set(VERBS) - set(OURS) - set(VERBS_OF_CLIENT)
    assert set(ELSEWHERE["'steelyard-client[cli]'"]) == set(VERBS_OF_CLIENT) - set(EXTENDED)


@pytest.mark.parametrize(("verb", "distribution"), [("up", "steelyard-server"), ("team", "'steelyard-client[cli]'")])
def test_a_missing_verb_names_the_distribution_that_has_it(verb: str, distribution: str, capsys) -> None:
    assert alone([verb, "--database", "x"]) == 2
    assert f"pip install {distribution}" in capsys.readouterr().err


def test_what_is_misspelt_is_suggested(capsys: pytest.CaptureFixture[str]) -> None:
    assert alone(["scor"]) == 2
    assert "'score'" in capsys.readouterr().err
    assert main(["evaluat"], lambda: VERBS) == 2
    assert "'evaluate'" in capsys.readouterr().err
    assert alone(["score", "ref", "--confidenc"]) == 2
    assert "--confidence" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["score", "r", "--pair", "bootstrap"], ["score", "r", "-to", "13a"], ["metr"]])
def test_nothing_is_abbreviated(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert alone(arguments) == 2
    assert "No such" in capsys.readouterr().err


@pytest.mark.parametrize("verb", OURS)
def test_every_verb_has_help_with_an_example(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert alone([verb, "--help"]) == 0
    out = capsys.readouterr().out
    assert len(OURS[verb].load().help or "") > 40
    if isinstance(OURS[verb].load(), click.Group):
        assert "Commands:" in out
        return
    assert "Example:" in out
    assert f"  {'' if verb == 'mtrics' else 'steelyard '}{verb} " in out.partition("Example:")[2]


def test_help_and_version_import_no_verb(capsys: pytest.CaptureFixture[str]) -> None:
    def never() -> click.Command:
        raise AssertionError("imported")

    assert main(["--help"], lambda: {"weigh": Verb("weigh a text", never)}) == 0
    out = capsys.readouterr().out
    assert "Verbs for campaigns and servers:\n  weigh  weigh a text\n" in out
    assert alone(["--help"]) == 0
    assert capsys.readouterr().out == out.replace("Verbs for campaigns and servers:\n  weigh  weigh a text\n\n", "")
    assert alone(["--version"]) == 0
    assert capsys.readouterr().out.startswith("steelyard ")


def test_a_server_is_for_the_verbs_of_the_server(capsys: pytest.CaptureFixture[str]) -> None:
    assert alone(["--server", "http://localhost", "score", "ref"]) == 2
    assert "--server is for" in capsys.readouterr().err


def test_verbs_join_by_entry_points(tmp_path, monkeypatch, capsys) -> None:
    for name, place in (("good", "weighing_verbs:VERBS"), ("bad", "no_such_module:VERBS")):
        folder = tmp_path / f"{name}-1.0.dist-info"
        folder.mkdir()
        (folder / "entry_points.txt").write_text(
            f"[console_scripts]\nx = y:z\n\n[steelyard.commands]\n# theirs\n\n{name} = {place}\n\n[other]\na = b:c\n"
        )
    (tmp_path / "weighing_verbs.py").write_text(
        "import click\nfrom steelyard.commands.verbs import Verb\n"
        "VERBS = {'weigh': Verb('weigh a text', lambda: click.Command('weigh', callback=lambda: 7))}\n"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert "weigh" in installed()
    assert "no_such_module" in capsys.readouterr().err
    assert main(["weigh"]) == 7


@pytest.mark.parametrize(("words", "expected"), [("sc", "score"), ("score ref --conf", "--confidence")])
def test_shells_complete_verbs_and_options(words, expected, monkeypatch, capsys) -> None:
    monkeypatch.setenv("_STEELYARD_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", f"steelyard {words}")
    monkeypatch.setenv("COMP_CWORD", str(len(words.split())))
    assert alone([]) == 0
    assert f"plain,{expected}" in capsys.readouterr().out.splitlines()


def test_the_package_runs_as_a_module(tmp_path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "steelyard", "metric", "show", "bleu"], capture_output=True, text=True, cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("bleu ")
