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
    assert codes("a b\n\nc d", CheckContext(3, b"x y\n\nz z")) == {}


def test_other_outputs_that_are_the_same_are_told():
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


def test_the_worst_comes_first_and_the_notices_of_the_reader_are_kept():
    findings = check_output(read_lines("\ufeff\nb".encode()), CheckContext(2, b"a\nb"))
    assert [each.code for each in findings] == ["empty", "reading", "reading"]
