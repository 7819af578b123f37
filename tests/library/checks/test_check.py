"""All findings of an output."""

from steelyard.checks.check import check_output
from steelyard.checks.context import CheckContext, OtherOutput
from steelyard.checks.finding import Finding, Severity, is_fatal
from steelyard.formats.plain import read_lines

SOURCE = "\n".join(f"Das ist der Satz Nummer {number} vom Hafen." for number in range(40))
OUTPUT = "\n".join(f"This is sentence number {number} about the harbour." for number in range(40))


def codes(output: str, standard: CheckContext) -> dict[str, Finding]:
    return {each.code: each for each in check_output(read_lines(output.encode() + b"\n"), standard)}


def test_another_number_of_segments_is_fatal():
    finding = codes("one\ntwo", CheckContext(3))["count"]
    assert finding.severity is Severity.FATAL
    assert finding.message.startswith("The output has 2 lines, but the test set has 3 segments: 1 fewer.")


def test_an_output_without_text_is_fatal():
    assert is_fatal(list(codes("\n \n\u3000", CheckContext(3)).values()))


def test_a_good_output_has_no_findings():
    assert codes(OUTPUT, CheckContext(40, SOURCE.encode(), target_language="en")) == {}


def test_empty_and_copied_segments_are_named():
    lines = OUTPUT.split("\n")
    lines[4] = " "
    for place in (7, 8, 9):
        lines[place] = SOURCE.split("\n")[place].upper() + " !"
    findings = codes("\n".join(lines), CheckContext(40, SOURCE.encode()))
    assert findings["empty"].segments == (5,)
    assert (findings["copied"].severity, findings["copied"].segments) == (Severity.WARNING, (8, 9, 10))


def test_what_is_empty_in_the_source_may_be_empty():
    for nothing in ("", " ", "\t\u3000"):
        assert codes("a b\n\nc d", CheckContext(3, f"x y\n{nothing}\nz z".encode())) == {}


def test_other_outputs_that_are_the_same_are_reported():
    other = OtherOutput("another submission", OUTPUT.encode())
    near = OtherOutput("mast of the same team", OUTPUT.replace("number 7 ", "number 70 ").encode(), own=True)
    findings = codes(
        "\n".join([OUTPUT] * 3), CheckContext(120, others=[OtherOutput("it", b"\n".join([near.text] * 3))])
    )
    assert "nearly_same_output" not in findings  # 3 of 120 differ
    findings = codes(OUTPUT, CheckContext(40, others=[other, near]))
    assert findings["same_output"].message == "The output is byte-identical to another submission. " + (
        "Is it the right file?"
    )
    assert "nearly_same_output" not in findings
    long = "\n".join(f"Line {number} of a text." for number in range(200))
    findings = codes(long, CheckContext(200, others=[OtherOutput("mast", long.replace(" 7 ", " ").encode(), own=True)]))
    assert findings["nearly_same_output"].severity is Severity.NOTE
    # Two of two hundred lines differ, of others the third is too many.
    for changed, told in ((2, True), (3, False)):
        theirs = long.replace(" of a ", " of any ", changed).encode()
        found = codes(long, CheckContext(200, others=[OtherOutput("mast", theirs)]))
        assert ("nearly_same_output" in found) is told
        assert not told or found["nearly_same_output"].severity is Severity.WARNING


def test_the_worst_comes_first_and_the_notices_of_the_reader_are_kept():
    findings = check_output(read_lines("\ufeff\nb".encode()), CheckContext(2, b"a\nb"))
    assert [each.code for each in findings] == ["empty", "reading", "reading"]


def test_lines_that_a_reference_leaves_as_they_are_may_be_left():
    lines, source = OUTPUT.split("\n"), SOURCE.split("\n")
    for place in (7, 8, 9):
        lines[place] = source[place]
    kept = [source[place] if place < 20 else line for place, line in enumerate(OUTPUT.split("\n"))]
    references = ["\n".join(OUTPUT.split("\n")).encode(), "\n".join(kept).encode()]
    standard = CheckContext(40, SOURCE.encode(), references=tuple(references))
    assert "copied" not in codes("\n".join(lines), standard)
    for place in (30, 31, 32):
        lines[place] = source[place]
    assert codes("\n".join(lines), standard)["copied"].segments == (31, 32, 33)


def test_a_loop_is_within_one_line():
    lines = OUTPUT.split("\n")
    lines[5:15] = ["Yes"] * 10
    assert "loops" not in codes("\n".join(lines), CheckContext(40))
    lines[20] = "Yes " * 6
    lines[21] = "Yes " * 5
    assert codes("\n".join(lines), CheckContext(40))["loops"].segments == (21,)


def test_an_odd_length_is_one_that_is_odd_for_the_output():
    # Some languages need several times as many characters as others.
    lines = [line * 5 for line in OUTPUT.split("\n")]
    assert "odd_lengths" not in codes("\n".join(lines), CheckContext(40, SOURCE.encode()))
    lines[10] = OUTPUT.split("\n")[10]
    lines[11] = lines[11] * 6
    assert codes("\n".join(lines), CheckContext(40, SOURCE.encode()))["odd_lengths"].segments == (11, 12)
