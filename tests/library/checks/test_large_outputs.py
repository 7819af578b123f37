"""Of an output that is too large some blocks are checked: what is found there is named by its own segment."""

import pytest

from steelyard.checks import examined
from steelyard.checks.check import check_output
from steelyard.checks.context import CheckContext
from steelyard.checks.examined import align_output
from steelyard.formats.plain import Text
from steelyard.text.blocks import BLOCK
from tests.library.checks.texts import joined, some_language

SEGMENTS = 4 * BLOCK
SOURCE, OUTPUT = some_language(SEGMENTS)
LAST = SEGMENTS - BLOCK
"""The first place of the last block."""
FAULTS = {
    "empty": [" "] * 3,
    "copied": [line.upper() for line in SOURCE[LAST + 20 : LAST + 80]],
    "replacement": ["The har\ufffdbour was closed."],
    "mojibake": ["Le cafÃ© et le thÃ© du port."],
    "control": ["The harbour was \x08closed."],
    "invisible": ["The \u202eharbour was closed."],
    "subwords": ["The har@@ bour was closed."],
    "special_tokens": ["The harbour was <unk> for two days."],
    "entities": ["The harbour was &quot;closed&quot;."],
    "loops": ["It was closed " + "for two days " * 9],
    "odd_lengths": ["word and another word " * 60],
    "repeated_lines": ["There is nothing to be said of it."] * 6,
}


@pytest.fixture
def half(monkeypatch):
    """Half of the blocks are checked, the first and the last of all among them."""
    monkeypatch.setattr(examined, "MAX_SEGMENTS", SEGMENTS // 2)


@pytest.mark.parametrize("code", FAULTS)
def test_findings_name_the_segments_of_the_test_set(half, code):
    begin = LAST + 20
    lines = [*OUTPUT[:begin], *FAULTS[code], *OUTPUT[begin + len(FAULTS[code]) :]]
    standard = CheckContext(SEGMENTS, joined(SOURCE), (), "cs", "")
    found = {each.code: each for each in check_output(Text("out", joined(lines), SEGMENTS), standard)}
    numbers = list(range(begin + 1, begin + 1 + len(FAULTS[code])))
    assert set(found[code].segments) <= set(numbers)
    assert found[code].segments[0] == numbers[0]
    assert found[code].count <= len(numbers)


def test_lines_stand_beside_their_own_source_and_references(half):
    standard = CheckContext(SEGMENTS, joined(SOURCE), (joined(SOURCE[::-1]), joined(OUTPUT)))
    aligned = align_output(joined(OUTPUT), standard)
    assert [*aligned.numbers] == [*range(1, BLOCK + 1), *range(LAST + 1, SEGMENTS + 1)]
    places = [number - 1 for number in aligned.numbers]
    assert aligned.lines == [OUTPUT[place] for place in places]
    assert aligned.sources == [SOURCE[place] for place in places]
    assert aligned.references == [[text[place] for place in places] for text in (SOURCE[::-1], OUTPUT)]
    assert aligned.segments == SEGMENTS


@pytest.mark.parametrize("letter", ["a", "é", "語", "😀"])
def test_long_lines_are_cut_between_characters(half, letter):
    """Also where a line is cut before it is decoded, whose characters have up to four bytes."""
    most = examined.MAX_LINE_LENGTH
    lines = [letter * (most + 1), letter * most, "x" + letter * most, *OUTPUT[3:]]
    for segments in (SEGMENTS, 5):
        aligned = align_output(joined(lines[:segments]), CheckContext(segments))
        assert aligned.lines[:3] == [letter * most, letter * most, "x" + letter * (most - 1)]
