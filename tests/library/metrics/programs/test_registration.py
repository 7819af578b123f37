"""What can be registered as a program, and what is read back."""

import json
from dataclasses import replace

import pytest

from steelyard.errors import BadParameter, MissingResource
from steelyard.metrics.programs.registration import (
    RegisteredProgram,
    read_program,
    register_program,
    registered_programs,
    with_programs,
)
from steelyard.metrics.registry import asked_metrics, parse_metric
from steelyard.metrics.resolution import resolve
from steelyard.metrics.resources import Resources
from steelyard.metrics.run_context import RunContext
from steelyard.metrics.segments import Segments

JUDGE = {"name": "judge", "command": ("judge", "-x"), "inputs": ("source",), "version": "1"}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"command": ()}, "The command is empty. Give the program and its arguments."),
        ({"command": ("",)}, "The command is empty. Give the program and its arguments."),
        ({"command": ("judge", "a\0b")}, "The command contains a NUL, which no program can be given."),
        ({"inputs": ()}, 'The inputs are "". Give source, reference or both.'),
        ({"inputs": ("source", "audio")}, 'The inputs are "source,audio". Give source, reference or both.'),
        ({"version": "1 2"}, 'The version is "1 2". Give letters, digits, ".", "_", "+" and "-".'),
        ({"seconds": 0.0}, "The time limit is 0 s. Give more than 0 and at most a week."),
        ({"megabytes": -1}, "The memory limit is -1 MiB. Give a whole number from 0 on."),
        ({"batch": 0}, "A batch has 0 segments. Give 1 to 100,000."),
    ],
)
def test_what_cannot_be_registered(changed, told):
    with pytest.raises(BadParameter) as raised:
        RegisteredProgram(**{**JUDGE, **changed})
    assert str(raised.value) == told


def test_what_is_registered_is_read_back_and_other_content_is_no_program(tmp_path):
    resources = Resources(tmp_path / "store")
    program = RegisteredProgram(**JUDGE, seconds=5.0, batch=3, keeps_running=True)
    assert read_program(resources, register_program(resources, program).pinned) == program
    others = ({**JUDGE, "inputs": []}, {**JUDGE, "x": 1}, {**JUDGE, "command": 3}, {}, [])
    for number, content in enumerate(("{", *map(json.dumps, others))):
        path = tmp_path / f"{number}.json"
        path.write_text(content)
        pinned = resources.register(f"other{number}", "program", path).pinned
        with pytest.raises(MissingResource) as raised:
            read_program(resources, pinned)
        assert str(raised.value).startswith(f"{pinned} is not a registered program (")
        assert str(raised.value).endswith("). Register it by `steelyard metric create`.")


def test_a_long_command_is_read_back(tmp_path):
    resources = Resources(tmp_path / "store")
    program = RegisteredProgram(**{**JUDGE, "command": ("judge", *("--weights=" + "w" * 100,) * 200)})
    assert read_program(resources, register_program(resources, program).pinned) == program


def test_scores_depend_on_all_that_says_what_is_run_and_on_no_limit():
    program = RegisteredProgram(**JUDGE)
    others = ({"name": "other"}, {"version": "2"}, {"command": ("judge", "-y")}, {"inputs": ("source", "reference")})
    scorers = [program.scorer, *(replace(program, **other).scorer for other in others)]
    assert len(set(scorers)) == len(scorers)
    limits = {"seconds": 1.0, "megabytes": 5, "batch": 7, "keeps_running": True, "higher_is_better": False}
    assert replace(program, **limits).scorer == program.scorer


def test_a_program_takes_no_name_that_stands_for_something_else(tmp_path):
    resources, content = Resources(tmp_path / "store"), tmp_path / "vectors.txt"
    content.write_text("x")
    resources.register("vectors", "flores200", content)
    for name, told in {
        "vectors": '"vectors" is the name of registered flores200. Choose another one.',
        "bleu": 'There is a metric "bleu". Choose another name.',
        "BLEU": 'There is a metric "BLEU". Choose another name.',
    }.items():
        with pytest.raises(BadParameter) as raised:
            register_program(resources, RegisteredProgram(**{**JUDGE, "name": name}))
        assert str(raised.value) == told
    assert [each.name for each in resources.listed()] == ["vectors"]
    register_program(resources, RegisteredProgram(**JUDGE))
    assert [each.name for each in registered_programs(resources)] == ["judge"]


def test_names_of_programs_stand_for_metrics(tmp_path):
    resources, content = Resources(tmp_path / "store"), tmp_path / "vectors.txt"
    content.write_text("x")
    resources.register("vectors", "flores200", content)
    for name in ("judge", "other"):
        register_program(resources, RegisteredProgram(**{**JUDGE, "name": name}))
    asked = [" judge ", "bleu:order=2", "vectors", "other", "Judge", " chrf"]
    assert with_programs(asked, resources) == [
        "program:run=judge", "bleu:order=2", "vectors", "program:run=other", "Judge", " chrf",
    ]  # fmt: skip


def test_no_program_is_looked_for_where_all_are_metrics(tmp_path):
    nowhere = Resources(tmp_path / "store")
    nowhere.listed = None
    assert with_programs([" bleu:order=2", "CHRF "], nowhere) == [" bleu:order=2", "CHRF "]


def test_a_program_must_be_named(tmp_path):
    context = RunContext("", frozenset(), Resources(tmp_path / "store"), {})
    with pytest.raises(MissingResource) as raised:
        resolve([parse_metric("program")], context)
    assert str(raised.value) == (
        "program needs the name of a registered one: program:run=NAME. `steelyard metric create NAME --command "
        "COMMAND` registers one."
    )
    assert parse_metric("program:run=judge:release=1.0+b_2-c").specification == "program:run=judge:release=1.0+b_2-c"
    for release in ("1,0", "x" * 51, "é"):
        with pytest.raises(BadParameter) as refused:
            parse_metric(f"program:run=judge:release={release}")
        assert str(refused.value) == f"program: release=\"{release}\": is letters, digits, '.', '_', '+' and '-'."


def test_columns_of_leaderboards_are_no_metrics_of_texts():
    assert parse_metric("autorank:wmt24") == parse_metric("autorank:rule=wmt24") != parse_metric("autorank")
    told = r"^autorank is a column of a campaign's leaderboard, and is not computed from texts\.$"
    with pytest.raises(BadParameter, match=told):
        asked_metrics(["bleu", "autorank:wmt24"])
    (_, asked) = asked_metrics(["bleu", "autorank:wmt24"], columns=["autorank"])
    assert asked == parse_metric("autorank:wmt24")
    told = r"^autorank:rule=wmt24 is a column of a leaderboard, and is not computed from texts\.$"
    with pytest.raises(BadParameter, match=told):
        parse_metric("autorank:wmt24").segment_statistics(Segments(references=[b"a"], hypotheses=[b"a"]))
