"""What can be registered as a program, and what is read back."""

import json

import pytest

from steelyard.errors import BadParameter, MissingResource
from steelyard.metrics.programs.registration import RegisteredProgram, read_program, register_program
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
