"""The reader for CoNLL-U: words and lemmas, and malformed lines where they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import BadText
from steelyard.formats.conllu import read_conllu
from steelyard.formats.detection import looks_like
from steelyard.text.findings import BadMarkup
from steelyard.text.limits import OverLimit, TextLimits

# A range, an empty node, a form with a blank, a lemma that is missing, a form that is the sign for nothing.
GOOD = """\
# newdoc id = d
# sent_id = one
# text = Vámonos al mar
1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tVamos\tir\tVERB\t_\t_\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\t_\t_\t1\tobj\t_\t_
2.1\tnada\tnada\t_\t_\t_\t_\t_\t1:dep\t_
3\t10 000\t_\tNUM\t_\t_\t1\tobl\t_\t_

# sent_id = two
# text =

# sent_id = three
1\t_\t_\tPUNCT\t_\t_\t0\troot\t_\t_
"""


def test_words_lemmas_and_sentences():
    text = read_conllu(GOOD.encode(), name="F")
    assert text.lines() == [b"Vamos nos 10_000", b"", b"_"]
    assert text.layers == {"lemma": b"ir nosotros _\n\n_"}
    assert (text.ids, text.unit, text.segments, text.notices) == (("one", "two", "three"), "sentence", 3, ())


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text + "\n",
        lambda text: text + "\n\n\n",
        lambda text: text.rstrip("\n"),
        lambda text: text.replace("# newdoc id = d\n", "# a comment\n#\n"),
        lambda text: text.replace("# newdoc id = d\n", "# newdoc\n# sent_id_x = y\n"),
    ],
)
def test_what_makes_no_difference(change):
    changed = change(GOOD)
    assert changed != GOOD
    assert looks_like(changed.encode()) == "conllu"
    assert read_conllu(changed.encode()) == read_conllu(GOOD.encode())


@pytest.mark.parametrize("before", ["\n", "# a\n\n \n#\n", "\ufeff\r\n"])
def test_the_format_is_distinguished_from_the_first_word(before):
    assert looks_like(f"{before}1-2\tnos{GOOD.split('nos', 1)[1]}".encode()) == "plain"
    assert looks_like(f"{before}1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n".encode()) == "conllu"


def test_without_any_lemma_there_is_no_such_layer():
    text = read_conllu(b"1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n")
    assert (text.bytes, text.layers, text.ids) == (b"a", {}, ())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("2\tnos\tnosotros\tPRON\t", "2\tnos\tnosotros\t", "F, line 6: 9 columns, CoNLL-U has 10"),
        ("2\tnos", "2 nos", "F, line 6: 9 columns"),
        ("2\tnos", "4\tnos", "F: 2 problems:\n  - F, line 6: the id '4' where 2 is expected"),
        ("2\tnos", "x\tnos", "F, line 6: the id 'x' where 2 is expected"),
        ("2\tnos", "\tnos", "F, line 6: the id '' where 2 is expected"),
        ("2\tnos\t", "2\t\t", "F, line 6: word 2 has no form"),
        ("2\tnos\t", "2\t \t", "F, line 6: word 2 has no form"),
        ("\n\n# sent_id = two", "\n# sent_id = two", "F, line 9: a second sent_id, 'two', after 'one'"),
        ("# sent_id = three\n1\t_", "1\t_", ""),
        ("sent_id = three", "sent_id = one", "F, line 13: sentence 'one': the id was already given in line 1"),
        ("\n\n# sent_id = three", "\n\n\n# sent_id = three", "F, line 13: a blank line that ends no sentence"),
        ("# newdoc", "\n# newdoc", "F, line 1: a blank line that ends no sentence"),
        ("2\tnos\t", "2\tn\x00os\t", "F, line 6, byte 4: a NUL byte"),
    ],
)
def test_a_malformed_line_is_found(old, new, message):
    changed = GOOD.replace(old, new)
    assert changed != GOOD
    if not message:
        assert read_conllu(changed.encode()).segments == 3
        return
    with pytest.raises(BadText) as raised:
        read_conllu(changed.encode(), name="F")
    assert str(raised.value).startswith(message)


def test_all_malformed_lines_are_said_at_once():
    broken = GOOD.replace("2\tnos", "2 nos").replace("1\t_\t_", "2\t_\t_")
    with pytest.raises(BadMarkup) as raised:
        read_conllu(broken.encode(), name="F")
    assert [line[:15] for line in str(raised.value).splitlines()] == [
        "F: 2 problems:",
        "  - F, line 6: ",
        "  - F, line 14:",
    ]


def test_limits():
    with pytest.raises(OverLimit, match=r"F, line 8: more than 2 words in one sentence"):
        read_conllu(GOOD.encode(), name="F", limits=TextLimits(nodes=2))
    with pytest.raises(OverLimit, match=r"F, line 13: more than 2 sentences"):
        read_conllu(GOOD.encode(), name="F", limits=TextLimits(segments=2))
    with pytest.raises(OverLimit, match=r"^F: more than 13 lines"):
        read_conllu(GOOD.encode(), name="F", limits=TextLimits(elements=13))
    assert read_conllu(GOOD.encode(), limits=TextLimits(segments=3, nodes=3, elements=14)).segments == 3


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "1\ta\n",
        "# a heading\nand text\n",
        "1 a b c d e f g h i\n",
        "a\tb\tc\td\te\tf\tg\th\ti\tj\n",
        "#" * 99,
    ],
)
def test_what_is_no_conllu(text):
    assert looks_like(text.encode()) == "plain"
    with pytest.raises(BadText):
        read_conllu(text.encode())


PIECES = st.sampled_from(
    [
        "1",
        "2",
        "1-2",
        "1.1",
        "\t",
        "\t_" * 8,
        "\t_" * 9,
        "a",
        "_",
        " ",
        "#",
        "# sent_id = s",
        "# text = ",
        "\n",
        "\n\n",
        "é",
    ]
)


@given(st.lists(PIECES, max_size=30))
def test_whatever_comes_is_read_or_refused(pieces):
    data = "".join(pieces).encode()
    looks_like(data)
    try:
        text = read_conllu(data, name="F")
    except BadText as error:
        message = str(error)
    else:
        message = "F"
        lemmas = text.layers.get("lemma", text.bytes).split(b"\n")
        assert [len(line.split()) for line in lemmas] == [len(line.split()) for line in text.lines()]
    assert message.startswith("F")


@pytest.mark.parametrize("comment", ["text = a{}b", "{}text = a", "text{}= a", "sent_id ={}a", "sent_id ={}"])
def test_blanks_in_a_comment_cost_their_number(comment):
    blanks = " \t\u3000" * 300_000
    document = f"# {comment.format(blanks)}\n1\ta\ta" + "\t_" * 7 + "\n"
    text = read_conllu(document.encode(), name="F")
    assert text.segments == 1
    assert text.ids == (("a",) if "}a" in comment and "sent_id" in comment else ())
