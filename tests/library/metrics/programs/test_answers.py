"""What a program may answer, line by line: each segment of its batch once, a number or null."""

import json
import math

import pytest

from steelyard.metrics.content_scores import Content
from steelyard.metrics.programs.answers import LARGEST_SCORE, LONGEST_BESIDE, Answers, Nonsense
from steelyard.metrics.programs.registration import RegisteredProgram


def answer(name, score=0.5, **more):
    return json.dumps({"id": name, "score": score, **more}).encode()


def refused(answers, line):
    with pytest.raises(Nonsense) as raised:
        answers.take(line)
    return str(raised.value)


@pytest.mark.parametrize("first", [1, 7, 1000])
@pytest.mark.parametrize("amount", [1, 2, 12])
def test_every_segment_of_the_batch_is_answered_once_and_no_other(first, amount):
    answers = Answers(first, amount)
    for number in (first - 2, first + amount, first + amount + 10, -first):
        for name in (number, str(number)):
            assert "was not asked for" in refused(answers, answer(name)) or number == first - 2
    for place in reversed(range(amount)):
        assert not answers.complete
        # As text or as a number: programs that read ids as numbers write them as such.
        answers.take(answer(first + place if place % 2 else str(first + place), place / 4))
        assert refused(answers, answer(first + place)) == f"answered the segment with id {first + place} twice."
    assert answers.complete
    assert {place: each.values for place, each in answers.scored.items()} == {
        place: (place / 4,) for place in range(amount)
    }


@pytest.mark.parametrize(
    "name", ["", " 1", "1 ", "01", "+1", "1.0", "1e0", "-1", "x", "１", "¹", "9" * 18, "9" * 19, None, True, 1.0, [1]]
)
def test_an_id_is_the_very_one_that_was_asked(name):
    answers = Answers(1, 3)
    assert refused(answers, answer(name)).startswith("answered a segment that it was not asked for: id ")
    assert not answers.scored


def test_scores_reach_the_largest_and_null_is_none():
    answers = Answers(1, 4)
    for name, score in ((1, LARGEST_SCORE), (2, -LARGEST_SCORE), (3, None), (4, 0)):
        answers.take(answer(name, score))
    assert [answers.scored[place].values[0] for place in (0, 1, 3)] == [1e6, -1e6, 0.0]
    assert math.isnan(answers.scored[2].values[0])
    for score in (1_000_001, -1_000_000.5, 10**400):
        told = refused(Answers(1, 1), answer(1, score))
        assert told.endswith(" as a score, which is not from -1,000,000 to 1,000,000.")
    for score in (True, "1", [1], {}):
        assert refused(Answers(5, 3), answer(7, score)).startswith(
            "gave no number as the score of segment 3 of its batch"
        )


def test_too_long_a_remark_is_left_out_and_the_score_kept():
    longest = "x" * (LONGEST_BESIDE - len('{"why": ""}'))
    answers = Answers(1, 3)
    for name, why in ((1, longest), (2, longest + "x")):
        answers.take(answer(name, why=why))
    answers.take(answer(3))
    assert [answers.scored[place].beside for place in range(3)] == [f'{{"why": "{longest}"}}', "", ""]
    assert answers.complete


def test_empty_lines_are_passed_over():
    answers = Answers(1, 1)
    for line in (b"", b"  ", b"\r"):
        answers.take(line)
    answers.take(answer(1) + b"\r")
    assert answers.complete


@pytest.mark.parametrize("keeps_running", [True, False])
@pytest.mark.parametrize("inputs", [("source",), ("reference",), ("source", "reference")])
def test_a_program_is_asked_what_it_reads(inputs, keeps_running):
    program = RegisteredProgram("judge", ("judge",), inputs, "1", keeps_running=keeps_running)
    contents = [Content("é\n", "s", ("r", "rr")), Content("h", "t", ())]
    *lines, end = Answers(4, 2).question(contents, program).decode().split("\n")
    assert end == ""
    if keeps_running:
        assert lines.pop() == "", "the end of the batch"
    beside = [{"source": "s", "references": ["r", "rr"]}, {"source": "t", "references": []}]
    fields = {"source": "source", "reference": "references"}
    assert [json.loads(line) for line in lines] == [
        {"id": str(number), "hypothesis": content.hypothesis, **{fields[each]: texts[fields[each]] for each in inputs}}
        for number, content, texts in zip((4, 5), contents, beside, strict=True)
    ]
