"""Programs that do what they should, and those that crash, hang, answer twice, too little, or nonsense."""

import sys
from pathlib import Path

import pytest

from steelyard.errors import ProgramFailed
from steelyard.metrics.content_scores import Content
from steelyard.metrics.learned.devices import VARIABLE
from steelyard.metrics.programs import running
from steelyard.metrics.programs.answers import LONGEST_LINE, Answers, Nonsense
from steelyard.metrics.programs.registration import RegisteredProgram
from steelyard.metrics.programs.running import end_programs, score_by_program

STAND_IN = str(Path(__file__).with_name("stand_in.py"))
CONTENTS = [Content("x" * number, "s", ("r", "rr")) for number in range(7)]
RIGHT = {number: number + 3 / 8 + 1 / 64 for number in range(7)}


@pytest.fixture(autouse=True)
def _ended():
    yield
    end_programs()


def program(*words, batch=3, seconds=60.0, **more):
    return RegisteredProgram(
        "judge", (sys.executable, STAND_IN, *map(str, words)), ("source", "reference"), "1", batch=batch,
        seconds=seconds, **more,
    )  # fmt: skip


def scores_of(asked, contents=CONTENTS):
    kept = {}

    def keep(scored):
        assert not kept.keys() & scored.keys()
        kept.update(scored)

    try:
        score_by_program(asked, contents, keep)
    except ProgramFailed as error:
        return {number: each.values[0] for number, each in kept.items()}, str(error)
    return {number: each.values[0] for number, each in kept.items()}, ""


@pytest.mark.parametrize("how", ["plain", "order", "lingers"])
def test_answers_in_any_order(how, monkeypatch):
    monkeypatch.setattr(running, "END_SECONDS", 0.2)
    assert scores_of(program(how, batch=4)) == (RIGHT, "")


def test_a_program_that_keeps_running_is_started_once(tmp_path):
    kept = program("kept", tmp_path / "starts", keeps_running=True)
    assert scores_of(kept) == (RIGHT, "")
    assert scores_of(kept) == (RIGHT, "")
    assert (tmp_path / "starts").read_text() == "started\n"


def test_one_that_is_kept_and_has_failed_is_started_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "END_SECONDS", 0.2)
    kept = program("kept-closes-once", tmp_path / "starts", keeps_running=True)
    assert scores_of(kept) == (RIGHT, "")
    assert (tmp_path / "starts").read_text() == "started\n" * 2


def test_ids_are_never_used_twice():
    """A late answer to a batch that was given up would else be that of another segment."""
    script = (
        "import json, sys\n"
        "for line in filter(str.strip, sys.stdin):\n"
        "    asked = json.loads(line)\n"
        "    print(json.dumps({'id': asked['id'], 'score': 1, 'was': asked['id']}), flush=True)\n"
    )
    kept, asked = (
        {},
        RegisteredProgram("judge", (sys.executable, "-c", script), ("source",), "1", batch=3, keeps_running=True),
    )
    score_by_program(asked, CONTENTS, kept.update)
    again = {}
    score_by_program(asked, CONTENTS, again.update)
    assert [each.beside for each in (*kept.values(), *again.values())] == [f'{{"was": "{at}"}}' for at in range(1, 15)]


def test_one_that_has_ended_since_is_started_again(tmp_path):
    kept = program("kept-ends", tmp_path / "starts", batch=7, keeps_running=True)
    for starts in (1, 2, 3):
        assert scores_of(kept) == (RIGHT, "")
        assert (tmp_path / "starts").read_text() == "started\n" * starts
        (process,) = running._running().values()
        process._popen.wait()


def test_the_last_answer_needs_no_end_of_line():
    assert scores_of(program("no-newline", batch=4)) == (RIGHT, "")


def test_questions_of_many_pipes_are_written_whole():
    long = [Content("x" * 100_000 * number, "s", ("r", "rr")) for number in range(7)]
    expected = {number: 100_000 * number + 3 / 8 + 1 / 64 for number in range(7)}
    assert scores_of(program("plain", batch=7), long) == (expected, "")
    # What one has answered that ends before it has read all counts, but it is not started for ever.
    kept, reason = scores_of(program("reads-one", batch=7), long)
    assert kept.items() <= expected.items()
    assert (len(kept), reason) == (5, "The program judge ended. It had answered 1 of 3 segments.")


def test_one_that_closes_its_output_and_goes_on_is_ended(monkeypatch):
    monkeypatch.setattr(running, "END_SECONDS", 0.2)
    kept, reason = scores_of(program("closes-output", batch=7))
    assert kept.items() <= RIGHT.items()
    assert reason == "The program judge closed its output without ending. It had answered 1 of 3 segments."


def test_a_line_of_an_answer_is_at_most_a_mebibyte():
    answered = Answers(1, 1)
    answered.take(b'{"id": "1", "score": 1}' + b" " * (LONGEST_LINE - 23))
    assert answered.complete
    with pytest.raises(Nonsense, match=r"^wrote a line of more than 1,048,576 bytes\.$"):
        Answers(1, 1).take(b'{"id": "1", "score": 1}' + b" " * (LONGEST_LINE - 22))


@pytest.mark.parametrize("how", ["crashes-once", "order-crashes-once"])
def test_what_was_answered_before_a_crash_is_kept_and_the_rest_asked_again(tmp_path, how):
    assert scores_of(program(how, tmp_path / "starts", batch=7)) == (RIGHT, "")
    assert (tmp_path / "starts").read_text() == "started\n" * 2


def test_a_program_that_always_crashes_is_given_up_without_a_wrong_score(tmp_path):
    kept, reason = scores_of(program("crashes", tmp_path / "starts", batch=7))
    assert kept.items() <= RIGHT.items()
    assert "The program judge was ended by SIGSEGV. It had answered 0 of 1 segments." in reason


def test_a_program_that_hangs_is_ended_and_its_answers_are_kept():
    kept, reason = scores_of(program("hangs-midway", seconds=1.5, batch=7))
    assert kept.items() <= RIGHT.items()
    assert reason == "" or "took longer than its 1.5 seconds" in reason
    kept, reason = scores_of(program("hangs", seconds=0.3))
    assert kept == {}
    assert reason == (
        "The program judge took longer than its 0.3 seconds for a batch and was ended. It had answered 0 of 3 segments."
    )


def test_too_few_answers_are_asked_for_again():
    assert scores_of(program("too-little", batch=7)) == (RIGHT, "")
    asked = program("says", "/dev/null", "", batch=2)
    kept, reason = scores_of(asked)
    assert kept.items() <= RIGHT.items()
    assert "It had answered 1 of 2 segments." in reason


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('{"id": "2", "score": NaN}', "wrote NaN, which is not a number of JSON"),
        ('{"id": "2", "score": -Infinity}', "wrote -Infinity"),
        ('{"id": "2", "score": 1e999}', "not from -1,000,000 to 1,000,000"),
        ('{"id": "2", "score": 2000000}', "gave 2000000 as a score"),
        ('{"id": "2", "score": "0.5"}', 'gave no number as the score of segment 2 of its batch: "0.5"'),
        ('{"id": "2", "score": true}', "gave no number"),
        ('{"id": "2"}', "gave no number"),
        ('{"score": 1}', "answered a segment that it was not asked for: id null"),
        ('{"id": "77", "score": 1}', 'answered a segment that it was not asked for: id "77"'),
        ('{"id": "4", "score": 1}', 'was not asked for: id "4"'),
        ('{"id": "-1", "score": 1}', "was not asked for"),
        ('{"id": "02", "score": 1}', "was not asked for"),
        ('{"id": [2], "score": 1}', "was not asked for"),
        ('{"id": "' + "9" * 5000 + '", "score": 1}', "was not asked for"),
        ('{"id": "1", "score": 1}', "answered the segment with id 1 twice"),
        ("[1]", "wrote a line that is not a JSON object"),
        ("score: 1", "wrote a line that is not JSON: score: 1"),
        ("\x1b[31mred", "wrote a line that is not JSON"),
        ("[" * 100_000, "wrote a line that is not JSON"),
    ],
)
def test_nonsense_fails_and_nothing_of_its_batch_counts(line, complaint):
    kept, reason = scores_of(program("says", "/dev/null", line))
    assert kept == {}
    assert reason.startswith("The program judge ")
    assert complaint in reason
    assert "\x1b" not in reason


def test_an_answer_given_twice_fails():
    assert scores_of(program("twice")) == ({}, "The program judge answered the segment with id 1 twice.")


def test_a_line_without_end_is_not_read():
    kept, reason = scores_of(program("long-line"))
    assert kept == {}
    assert "wrote a line of more than 1,048,576 bytes" in reason
    # Nor kept until its end comes.
    assert (
        scores_of(program("endless-line", seconds=20.0))[1]
        == "The program judge wrote a line of more than 1,048,576 bytes."
    )


def test_one_that_answers_nothing_is_started_once(tmp_path):
    kept, reason = scores_of(program("never-starts", tmp_path / "starts"))
    assert (kept, (tmp_path / "starts").read_text()) == ({}, "started\n")
    assert reason.endswith("It had answered 0 of 3 segments. It said at last: no model here")


def test_its_last_words_are_said_however_much_it_wrote_before():
    assert scores_of(program("noisy"))[1].endswith(
        "ended with exit status 3. It had answered 0 of 3 segments. It said at last: the last word"
    )


def test_the_memory_limit_holds():
    kept, reason = scores_of(program("eats-memory", batch=7, megabytes=200))
    assert (kept, reason) == (RIGHT, "")  # it had answered everything before
    asked = RegisteredProgram("judge", (sys.executable, "-c", "bytearray(1 << 30)"), ("source",), "1", megabytes=200)
    kept, reason = scores_of(asked)
    assert kept == {}
    assert reason == (
        "The program judge ended with exit status 1. It had answered 0 of 7 segments. It said at last: MemoryError"
    )


def test_a_program_that_cannot_be_started_says_so():
    asked = RegisteredProgram("judge", ("/no/such/program",), ("source",), "1")
    assert scores_of(asked)[1] == (
        "The program judge could not be started (exit status 127). It had answered 0 of 7 segments. "
        "It said at last: /no/such/program: No such file or directory"
    )
    assert "It said at last: no model here" in scores_of(program("never-starts"))[1]


def test_null_is_no_score_and_what_is_beside_a_score_is_kept():
    asked = program("says", "/dev/null", '{"id": "2", "score": null, "why": "refused"}', batch=7)
    kept = {}
    score_by_program(asked, CONTENTS, kept.update)
    assert kept[1].values[0] != kept[1].values[0]
    assert kept[1].beside == '{"why": "refused"}'
    assert kept[0] == ((RIGHT[0],), '{"why": "its length"}')


def test_half_a_character_beside_a_score_is_kept_as_its_escape():
    """No database takes it as it is: a judge that cuts a text in an emoji would end the task."""
    answered = Answers(1, 2)
    answered.take(rb'{"id": "1", "score": 1, "why": "\ud83d, \u00e9"}')
    answered.take('{"id": "2", "score": 2, "why": "\U0001f600, é"}'.encode())
    assert [answered.scored[place].beside for place in (0, 1)] == [
        r'{"why": "\ud83d, \u00e9"}', '{"why": "\U0001f600, é"}'
    ]  # fmt: skip


def test_secrets_of_the_installation_are_not_in_its_environment(monkeypatch):
    monkeypatch.setenv("STEELYARD_DATABASE_URL", "postgresql://u:secret@db/x")
    monkeypatch.setenv("JUDGE_API_KEY", "key")
    script = "import os, sys; sys.exit(os.environ.get('JUDGE_API_KEY') + str('STEELYARD_DATABASE_URL' in os.environ))"
    asked = RegisteredProgram("judge", (sys.executable, "-c", script), ("source",), "1")
    assert "It said at last: keyFalse" in scores_of(asked)[1]
    monkeypatch.setenv(VARIABLE, "cuda:1")
    script = "import os, sys; sys.exit(str({k: v for k, v in os.environ.items() if k.startswith('STEELYARD_')}))"
    asked = RegisteredProgram("judge", (sys.executable, "-c", script), ("source",), "1")
    assert scores_of(asked)[1].endswith(f"It said at last: {{'{VARIABLE}': 'cuda:1'}}")


def test_it_reads_what_was_registered():
    echo = (
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    print(json.dumps({'id': int(asked['id']), 'score': 1, 'had': sorted(asked)}))\n"
    )
    kept = {}
    asked = RegisteredProgram("judge", (sys.executable, "-c", echo), ("source",), "1")
    score_by_program(asked, CONTENTS, kept.update)
    assert {each.beside for each in kept.values()} == {'{"had": ["hypothesis", "id", "source"]}'}
