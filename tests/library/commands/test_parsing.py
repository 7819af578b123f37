"""Options with several values."""

import io
import sys
from pathlib import Path

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.options import many, option
from steelyard.commands.parsing import Command, Occurrence, run
from steelyard.commands.values import at_most, level, named_file, whole_number

WORDS = st.text(st.sampled_from("ab.:= č"), min_size=1, max_size=4)


def parsed(arguments: list[str]) -> dict:
    """What a command with such options makes of its arguments; empty for wrong usage."""
    found = {}

    @click.command("weigh", cls=Command)
    @click.argument("files", nargs=-1)
    @many("things", "-i", "--input", grouped=True)
    @many("things", "--system", grouped=True)
    @many("-m", "--metrics")
    @many("--number", parse=whole_number)
    @option("-l", "--long")
    @option("-lc", "--lowercase", is_flag=True)
    def weigh(**given):
        found.update(given)
        return 0

    run(weigh, "weigh", arguments)
    return found


@given(st.lists(st.lists(WORDS, min_size=1, max_size=3), min_size=1, max_size=4), st.booleans())
def test_all_words_up_to_the_next_option_are_taken_however_often_it_is_repeated(groups, long):
    name = "--metrics" if long else "-m"
    arguments = [word for group in groups for word in (name, *group)]
    found = parsed(["file", *arguments, "-lc"])
    assert found["metrics"] == tuple(word for group in groups for word in group)
    assert (found["files"], found["lowercase"]) == (("file",), True)


def test_grouped_options_of_one_name_keep_their_order():
    found = parsed(["-i", "a", "-", "--system", "x", "b", "c", "--input", "d"])["things"]
    assert found == (
        Occurrence("-i", ("a", "-")),
        Occurrence("--system", ("x", "b", "c")),
        Occurrence("--input", ("d",)),
    )


def test_values_may_be_attached():
    assert parsed(["-mbleu", "-m=chrf", "--metrics=ter", "file"])["metrics"] == ("bleu", "chrf", "ter")
    assert parsed(["-mbleu", "file"])["files"] == ("file",)
    empty = parsed(["--metrics=", "file"])
    assert (empty["metrics"], empty["files"]) == (("",), ("file",))


def test_two_dashes_end_the_options():
    assert parsed(["-m", "bleu", "--", "-m", "file"])["files"] == ("-m", "file")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-m"], "requires a value"),
        (["-m", "-lc"], "requires a value"),
        (["--number", "1", "x"], '"x" is not a whole number'),
        (["--metric", "x"], "--metrics"),
        (["-l"], "requires an argument"),
    ],
)
def test_wrong_usage_is_said(arguments, said, capsys):
    assert parsed(arguments) == {}
    assert said in capsys.readouterr().err


def test_a_file_that_looks_like_an_option_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-lc").write_text("")
    assert parsed(["-lc"]) == {}
    assert "./-lc" in capsys.readouterr().err
    # Neither standard input nor what comes after the end of the options is mistaken for one.
    (tmp_path / "-").write_text("")
    assert parsed(["-", "--", "-lc"])["files"] == ("-", "-lc")


def test_a_file_that_is_named_may_have_any_name():
    assert named_file("vectors=a=b.bin") == ("vectors", Path("a=b.bin"))
    for text in ("vectors", "vectors=", "=a.bin", "="):
        with pytest.raises(ValueError, match="not of the form NAME=FILE"):
            named_file(text)


@pytest.mark.parametrize(
    ("parse", "good", "bad"),
    [
        (
            whole_number,
            {"0": 0, "007": 7, str(2**63 - 1): 2**63 - 1},
            ["", "-1", "+1", "1.0", "1e3", "²", "٣", str(2**63)],
        ),
        (at_most(5), {"0": 0, "5": 5}, ["6", "-1", "x"]),
        (level, {"0.05": 0.05, "1e-9": 1e-9, ".999": 0.999}, ["0", "1", "-0.1", "1.5", "nan", "inf", "x", ""]),
    ],
    ids=["whole number", "at most five", "level"],
)
def test_numbers_have_bounds(parse, good, bad):
    assert {text: parse(text) for text in good} == good
    for text in bad:
        with pytest.raises(ValueError, match=r"is not a|is the most"):
            parse(text)


def weighing(error):
    """A command that ends with an error."""

    @click.command("weigh", cls=Command)
    def weigh():
        raise error

    return weigh


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (click.exceptions.Exit(7), 7, ""),
        (click.exceptions.Exit(0), 0, ""),
        (CommandError("Not \x1b[2Jnow."), 1, "weigh: Not \\x1b[2Jnow.\n"),
        (UsageError("Never."), 2, "weigh: Never.\n"),
        (FileNotFoundError(2, "No such file or directory", "a.txt"), 1, "weigh: a.txt: No such file or directory.\n"),
        (OSError(28, "No space left on device"), 1, "weigh: A file: No space left on device.\n"),
        (
            click.UsageError("What is \x1b[2J?"),
            2,
            "Usage: weigh [OPTIONS]\nTry `weigh --help`.\n\nweigh: What is \\x1b[2J?\n",
        ),
    ],
    ids=str,
)
def test_each_error_has_its_exit_status_and_one_line_that_steers_no_terminal(error, status, said, capsys):
    assert run(weighing(error), "weigh", []) == status
    shown = capsys.readouterr()
    assert (shown.out, shown.err.replace("  ", " ")) == ("", said)


def test_an_error_that_nobody_expected_keeps_its_traceback():
    for error in (OSError("no number, no text"), ZeroDivisionError()):
        with pytest.raises(type(error)):
            run(weighing(error), "weigh", [])


def test_what_an_output_cannot_show_is_written_as_an_escape(monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))

    @click.command("weigh", cls=Command)
    def weigh():
        print("č \udce4")
        return 0

    assert run(weigh, "weigh", []) == 0
    assert written.getvalue() == b"\xc4\x8d \\udce4\n"
