"""Texts that are matched by position must belong together."""

import pytest

from steelyard.formats.campaign.pairing import DifferentTexts, check_pairing
from steelyard.formats.conllu import read_conllu
from steelyard.formats.plain import DifferentLengths, read_lines
from steelyard.formats.treebanks.layered import read_layered
from tests.library.formats.layered_documents import Sentence, Style, Word, write, write_conllu


def sentences(*ids):
    return [Sentence(one, (0,), (Word("a", None, -1),), ()) for one in ids]


def conllu(name, *ids):
    return read_conllu(write_conllu(sentences(*ids)).encode(), name=name)


def treex(name, *ids, language="cs"):
    return read_layered(write(sentences(*ids), Style(zone=(language, ""))).encode(), name=name)


def test_what_may_be_paired():
    check_pairing([])
    check_pairing([conllu("a", "1", "2"), conllu("b", "1", "2"), read_lines(b"a\nb\n"), treex("c", "1", "2")])
    check_pairing([conllu("a", "1", "2"), conllu("b", "x1", "x2")])
    # One sentence has another id, but none is elsewhere.
    check_pairing([conllu("a", "1", "2", "3"), conllu("b", "1", "2b", "3")])
    check_pairing([treex("a", "1", language="cs"), treex("b", "1", language="Czech"), conllu("c", "1")])


def test_another_order_is_refused():
    with pytest.raises(DifferentTexts) as raised:
        check_pairing([read_lines(b"a\nb\nc\n"), conllu("ref", "1", "2", "3"), treex("out", "1", "3", "2")])
    assert str(raised.value) == (
        "out: bundle 2 is '3', which in ref is sentence 3; there, 2 is '2'. 2 in all stand elsewhere. They are matched "
        "by position: put them in the same order."
    )
    with pytest.raises(DifferentTexts, match=r"bundle 1 is '2', which in a is bundle 2; there, 1 is '1'\. 2 in all"):
        check_pairing([treex("a", "1", "2", "3"), treex("b", "2", "3", "4")])


def test_mixed_languages_are_refused():
    with pytest.raises(DifferentTexts, match=r"^b: is in 'de', but a is in 'cs'\. References and systems must"):
        check_pairing([conllu("c", "1"), treex("a", "1"), treex("b", "1", language="de")])


def test_what_is_missing_or_too_much_is_named():
    with pytest.raises(DifferentLengths) as raised:
        check_pairing(
            [
                treex("ref", "1", "2", "3"), treex("out", "1", "3"), conllu("more", "1", "2", "3", "4"),
                conllu("other", "x"), read_lines(b"a\n\n", name="plain"),
            ]
        )  # fmt: skip
    assert str(raised.value).splitlines() == [
        "These files must have as many segments as ref, which has 3 bundles:",
        "  ref: 3 bundles",
        "  out: 2 bundles, 1 fewer (missing: 2)",
        "  more: 4 sentences, 1 more (extra: 4)",
        "  other: 1 sentence, 2 fewer",
        "  plain: 2 lines, 1 fewer (its last line is blank; 1 blank line in all)",
        "Make line, sentence or bundle i of every file belong to segment i.",
    ]
