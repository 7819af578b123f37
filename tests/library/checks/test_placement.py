"""Lines that are not where they belong are found, whatever happened to them; those that are, are left alone."""

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.checks import placement
from steelyard.checks.check import check_output
from steelyard.checks.context import CheckContext
from steelyard.checks.examined import align_output
from steelyard.checks.finding import Finding, Severity
from steelyard.checks.matching import match_output
from steelyard.checks.placement import find_breaks, find_misplaced
from steelyard.checks.shifts import DRIFT, ShiftedRun, find_runs, find_shifts, maximum_sum_run
from steelyard.formats.plain import Text
from tests.library.checks.texts import demo, joined, some_language

OUTPUT, SOURCE = some_language(400)


def placed(output: list[str], *, source: list[str] | None = None, references: tuple = ()):
    standard = CheckContext(
        len(output), None if source is None else joined(source), [joined(text) for text in references]
    )
    return find_misplaced(align_output(joined(output), standard))


def against_source(output: list[str]) -> list[Finding]:
    return placed(output, source=SOURCE)


def against_references(output: list[str]) -> list[Finding]:
    return placed(output, references=(OUTPUT,), source=SOURCE)


EITHER = pytest.mark.parametrize("look", [against_source, against_references])


@EITHER
def test_what_stands_in_its_place_is_left_alone(look):
    assert look(OUTPUT) == []


def test_a_finding_names_every_line_of_its_runs_once():
    """Of one run, of two beside each other, and of two that have lines in common."""
    examined = align_output(joined(OUTPUT), CheckContext(len(OUTPUT), joined(SOURCE), []))
    for bounds in ([(0, 1)], [(3, 7), (7, 9)], [(2, 6), (4, 350)], [(398, 400)]):
        (finding,) = find_shifts(examined, [ShiftedRun(first, end, 20.0, 0) for first, end in bounds])
        lines = sorted({line for first, end in bounds for line in range(first, end)})
        assert finding.count == len(lines)
        assert finding.segments == tuple(line + 1 for line in lines)[: len(finding.segments)]


@EITHER
def test_a_lost_line_and_a_later_one_too_many(look):
    (finding,) = look([*OUTPUT[:120], *OUTPUT[121:300], "something else altogether", *OUTPUT[300:]])
    assert (finding.code, finding.severity) == ("shifted", Severity.WARNING)
    assert abs(finding.segments[0] - 121) <= 3
    assert abs(finding.count - 179) <= 5
    assert "1 line may be missing at about line 12" in finding.message


@EITHER
def test_lines_too_many_and_the_last_ones_cut_off(look):
    (finding,) = look([*OUTPUT[:200], "a line", "another line", "a third one", *OUTPUT[200:-3]])
    assert abs(finding.segments[0] - 204) <= 3
    assert "3 lines may be too many at about line 20" in finding.message


@EITHER
def test_the_first_line_lost_and_the_last_one_doubled(look):
    (finding,) = look([*OUTPUT[1:], OUTPUT[-1]])
    assert finding.segments[0] <= 3
    assert finding.count >= 395


@EITHER
def test_two_documents_that_have_changed_places(look):
    (finding,) = look([*OUTPUT[:100], *OUTPUT[250:290], *OUTPUT[140:250], *OUTPUT[100:140], *OUTPUT[290:]])
    assert finding.code == "shifted"
    assert "fit the segments 25" in finding.message
    assert 70 <= finding.count <= 90


@EITHER
def test_a_file_in_reverse_order(look):
    (finding,) = look(OUTPUT[::-1])
    assert finding.code == "reordered"
    assert "in reverse order" in finding.message


@EITHER
def test_a_sorted_file(look):
    (finding,) = look(sorted(OUTPUT))
    assert finding.message.startswith("The lines of the output are sorted by their text.")


@EITHER
def test_a_shuffled_file(look):
    shuffled = random.Random(1).sample(OUTPUT, len(OUTPUT))
    (finding,) = look(shuffled)
    assert finding.code == "reordered"
    first = finding.segments[0]
    assert f"({first} fits {OUTPUT.index(shuffled[first - 1]) + 1}," in finding.message


@EITHER
def test_the_output_for_another_test_set(look):
    other, _ = some_language(400, seed=2)
    (finding,) = look(random.Random(5).sample(other, 400))
    assert finding.code == "other_text"


@EITHER
def test_a_part_of_another_text(look):
    other, _ = some_language(400, seed=2)
    findings = look([*OUTPUT[:100], *random.Random(5).sample(other, 100), *OUTPUT[200:]])
    assert [each.code for each in findings] == ["misfit"]
    assert abs(findings[0].segments[0] - 101) <= 5


def test_lengths_alone_tell_a_shift_where_scripts_have_nothing_in_common():
    letters = str.maketrans({chr(code): chr(0x4E00 + code) for code in range(ord("0"), ord("z") + 1)})
    source = [line.translate(letters) for line in SOURCE]
    assert placed(OUTPUT, source=source) == []
    (finding,) = placed([*OUTPUT[:150], *OUTPUT[151:], "it ends."], source=source)
    assert finding.code == "shifted"
    assert abs(finding.segments[0] - 151) <= 10


@pytest.mark.parametrize("system", ["anchor", "buoy", "cable", "dinghy", "ebb"])
def test_good_and_bad_systems_are_left_alone(system):
    output, references = demo(f"systems/{system}"), (demo("refs/A"), demo("refs/B"))
    assert placed(output, source=demo("source")) == []
    assert placed(output, source=demo("source"), references=references) == []
    assert placed(output, references=references[1:]) == []


def test_segments_that_lack_a_reference_or_a_translation_say_nothing():
    holes = [line if place % 3 else "" for place, line in enumerate(OUTPUT)]
    assert placed(OUTPUT, references=(holes, [""] * 400)) == []
    assert placed(["" if 100 <= place < 180 else line for place, line in enumerate(OUTPUT)], source=SOURCE) == []


def test_a_source_without_text_says_nothing():
    assert placed(OUTPUT, source=[""] * 400) == []


def test_where_lines_are_missing_is_said_of_an_output_that_is_too_short():
    (finding,) = check_output(
        Text("out", joined([*OUTPUT[:200], *OUTPUT[202:]]), 398), CheckContext(400, joined(SOURCE))
    )
    assert finding.code == "count"
    assert "2 lines may be missing at about line 20" in finding.message
    (finding,) = check_output(
        Text("out", joined([*OUTPUT[:90], "and more", *OUTPUT[90:]]), 401), CheckContext(400, joined(SOURCE))
    )
    assert "1 line may be too many at about line 9" in finding.message


@settings(deadline=None, max_examples=25)
@given(
    st.integers(min_value=-20, max_value=20).filter(bool),
    st.integers(min_value=0, max_value=250),
    st.integers(min_value=60, max_value=100),
)
def test_any_shift_is_found_with_its_size(offset, begin, length):
    belonging = range(begin + offset, begin + offset + length)
    output = list(OUTPUT)
    for place, segment in zip(range(begin, begin + length), belonging, strict=True):
        output[place] = OUTPUT[segment] if 0 <= segment < len(OUTPUT) else "nothing of it"
    matching = match_output(align_output(joined(output), CheckContext(400, joined(SOURCE))))
    runs = find_runs(matching)
    assert offset in {run.offset for run in runs}
    assert all(one.end <= other.first for one, other in itertools.pairwise(runs))


class Prepared:
    """Which gains come with which offset is said; all lines fit."""

    elsewhere = (np.zeros(40), np.arange(40), None)
    here = np.zeros(40)

    def __init__(self, **gains):
        self.prepared = {int(name.removeprefix("by")): gain for name, gain in gains.items()}

    def gains(self, offset):
        return self.prepared.get(offset, np.full(40, -9.0)) + DRIFT

    def fits(self, offset):
        return np.full(40, 9.0)


def test_no_line_is_of_two_runs():
    first, second = np.full(40, -9.0), np.full(40, -9.0)
    first[5:15] = 4.0
    second[14:25] = 3.0
    runs = find_runs(Prepared(by1=first, by3=second))
    assert [(run.first, run.end, run.offset) for run in runs] == [(5, 15, 1), (15, 25, 3)]
    # Of equal gains the nearer one counts.
    assert [run.offset for run in find_runs(Prepared(by3=first, by1=first))] == [1]
    assert len(find_runs(Prepared(by1=first, by3=second), most=1)) == 1


@pytest.mark.parametrize("name", ["wmt21.en-cs", "wmt22.de-en", "wmt22.en-cs"])
def test_no_real_system_is_suspected(real_data, name):
    folder = real_data / name
    read = {path: path.read_text(encoding="utf-8").split("\n")[:-1] for path in folder.rglob("*.txt")}
    source = read[folder / "source.txt"]
    references = tuple(lines for path, lines in read.items() if path.parent.name == "refs")
    for path, lines in read.items():
        if path.parent.name == "systems":
            assert placed(lines, source=source) == [], path
            assert placed(lines, source=source, references=references[:1]) == [], path
            assert placed(lines, references=references) == [], path
            (finding,) = placed([*lines[:400], *lines[401:], lines[-1]], source=source)
            assert abs(finding.segments[0] - 401) <= 10, path


@pytest.mark.parametrize(
    ("gain", "run"),
    [
        ([0.0, 0.0, 1.0, 2.0, -1.0, 0.0], (2, 4, 3.0)),
        ([-1.0, 0.0, 1.0, -0.5, 2.0], (2, 5, 2.5)),
        ([3.0, -np.inf, 1.0, 1.0], (0, 1, 3.0)),
        ([-1.0, -2.0], (0, 0, 0.0)),
        ([], (0, 0, 0.0)),
    ],
)
def test_the_run_with_the_largest_sum_begins_where_it_gains(gain, run):
    assert maximum_sum_run(np.array(gain)) == run


def lines_of(lengths: list[int], letters: str, seed: int) -> list[str]:
    rng = random.Random(seed)
    return [" ".join("".join(rng.choices(letters, k=6)) for _ in range(length)) for length in lengths]


def test_an_output_that_shares_no_word_and_is_reversed_is_known_by_its_lengths():
    lengths = [random.Random(number).randint(3, 60) for number in range(120)]
    source, output = lines_of(lengths, "abcdefgh", 1), lines_of(lengths, "\u03b1\u03b2\u03b3\u03b4\u03b5", 2)
    assert placed(output, source=source) == []
    (finding,) = placed(output[::-1], source=source)
    told = "Judging by their lengths, the lines are in reverse order. Put them in the order of the test set."
    assert (finding.code, finding.severity, finding.message, finding.count) == (
        "reordered", Severity.WARNING, told, len(output),
    )  # fmt: skip
    mixed = random.Random(3).sample(output, len(output))
    assert [each.code for each in placed(mixed, source=source)] == ["other_text"]
    # Lines of one length have the order of none.
    (other,) = placed(lines_of([9] * 120, "\u03b1\u03b2\u03b3", 4), source=source)
    assert other.code == "other_text"


def test_where_lines_are_missing_is_not_looked_for_in_texts_beyond_the_bounds(monkeypatch):
    standard = CheckContext(len(SOURCE), joined(SOURCE), [joined(OUTPUT)])
    short = joined(OUTPUT[:200] + OUTPUT[203:])
    assert "3 lines" in find_breaks(short, standard)
    for name, most in (("MAX_SEGMENTS", len(SOURCE)), ("MAX_BYTES", len(short))):
        with monkeypatch.context() as patched:
            patched.setattr(placement, name, most)
            assert "3 lines" in find_breaks(short, standard)
            patched.setattr(placement, name, most - 1)
            assert find_breaks(short, standard) == ""
