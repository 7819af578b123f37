"""TectoMT and Treex: every way of writing gives the same text, and every defect is found where it is."""

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.errors import BadText
from steelyard.formats.conllu import read_conllu
from steelyard.formats.detection import looks_like, read_text
from steelyard.formats.treebanks.layered import NoSuchPart, read_layered
from steelyard.formats.treebanks.trees import short_lemma
from steelyard.text.findings import BadMarkup
from tests.library.formats.layered_documents import (
    GENERIC,
    TCZECH,
    TREEX,
    Meaning,
    Sentence,
    Style,
    Word,
    expected,
    write,
    write_conllu,
)

ANSWER = Sentence(
    "s1",
    (1, 0, 3, 2),
    (Word("loď", "loď", -1), Word("Malá", "malý_^(ne_velký)", 0), Word(".", ".", -1), Word("2 000", "2`2", 2)),
    (
        Meaning("loď", "n.denot", -1),
        Meaning("malý", "adj.denot", 0),
        Meaning("#Neg", None, 0),
        Meaning("být", "???", 0),
    ),
)
EMPTY = Sentence("s2", (), (), ())

# No `_` or hyphen in lemmas: tails have a test of their own.
TEXT = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z"], exclude_characters="_-`"), min_size=1, max_size=5
)
WORDS = st.lists(TEXT, min_size=1, max_size=2).map(" ".join)


@st.composite
def sentences(draw):
    found = []
    for number in range(draw(st.integers(1, 4))):
        count = draw(st.integers(0, 6))
        words = [Word(draw(WORDS), draw(st.none() | WORDS), draw(st.integers(-1, i - 1))) for i in range(count)]
        order = draw(st.permutations(range(count)))
        kinds = st.none() | st.sampled_from(["v", "n.denot"])
        meanings = [
            Meaning(draw(WORDS), draw(kinds), draw(st.integers(-1, i - 1))) for i in range(draw(st.integers(0, 5)))
        ]
        found.append(Sentence(f"s{number}", tuple(order), tuple(words), tuple(meanings)))
    return found


STYLES = st.builds(
    Style,
    kind=st.sampled_from([TCZECH, GENERIC, TREEX]),
    bare=st.booleans(),
    by_reference=st.booleans(),
    backwards=st.booleans(),
    prefix=st.sampled_from(["", "pml"]),
    chatter=st.booleans(),
    zone=st.sampled_from([("cs", ""), ("en", "ref")]),
).filter(lambda style: not (style.by_reference and style.kind == TREEX))


@settings(max_examples=300, deadline=None)
@given(sentences(), STYLES, st.booleans())
def test_every_way_of_writing_gives_the_same_text(document, style, packed):
    data = write(document, style).encode()
    text = read_text(gzip.compress(data) if packed else data)
    lines, lemmas, items = expected(document)
    assert (text.bytes, text.layers["sempos"], text.segments) == (lines, items, len(document))
    # Lemmas that are missing everywhere are no layer.
    if any(word.lemma for sentence in document for word in sentence.words) or not lines.strip():
        assert text.layers["lemma"] == lemmas
    else:
        assert "lemma" not in text.layers
    assert text.ids == tuple(sentence.id for sentence in document)
    assert text.language == ("cs" if style.kind != TREEX else style.zone[0])
    assert text.notices == ()
    words = read_conllu(write_conllu(document).encode())
    assert (words.bytes, words.layers.get("lemma")) == (text.bytes, text.layers.get("lemma"))


def samples_of(real_data):
    folder = real_data.parent / "samples"
    if not folder.is_dir():
        pytest.skip(f"no samples at {folder}")
    return folder


def test_all_readers_agree_on_the_samples(real_data):
    folder = samples_of(real_data)
    sides = {
        "reference": [
            ("sample.tmt", "TCzechA"), ("sample.tmt", "TCzechM"), ("sample.tmt", "TCzechT"), ("sample.tmt", None),
            ("sample.treex", "cs_ref"), ("sample.treex.gz", "cs_ref"), ("sample.conllu", None),
        ],
        "candidate": [
            ("sample_cand.tmt", "TCzechA"), ("sample_cand.tmt", None), ("sample.treex", "cs_cand"),
            ("sample.treex.gz", "cs_cand"), ("sample_cand.treex", None), ("sample_cand.treex", "cs"),
            ("sample_cand.conllu", None),
        ],
    }  # fmt: skip
    plain = {"reference": "sample_ref.txt", "candidate": "sample_cand.txt"}
    for side, files in sides.items():
        texts = [read_text(folder / file, part=part) for file, part in files]
        assert {(text.bytes, text.layers["lemma"], text.ids) for text in texts} == {
            (texts[0].bytes, texts[0].layers["lemma"], ("s1", "s2", "s3"))
        }
        assert len({text.layers["sempos"] for text in texts if "sempos" in text.layers}) == 1
        assert sum("sempos" in text.layers for text in texts) == len(files) - 1
        # The plain text has the same characters, with its punctuation attached.
        assert texts[0].bytes.replace(b" ", b"") == read_text(folder / plain[side]).bytes.replace(b" ", b"")


def test_the_sempos_of_the_samples_are_those_that_their_makers_counted(real_data):
    text = read_text(samples_of(real_data) / "sample.treex", part="cs_ref")
    kinds = [item.rpartition("/")[2] for item in text.layers["sempos"].decode().split()]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "adj.denot": 3, "adj.quant.def": 1, "adv.denot.ngrad.nneg": 1, "adv.pron.indef": 1, "n.denot": 4,
        "n.pron.def.pers": 2, "n.pron.indef": 1, "v": 4,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("jak-1_;L_^(živočich)", "jak"), ("dva`2", "dva"), ("koupit_:W", "koupit"), ("a-1_,s", "a"), ("na-1", "na"),
        ("malý_^(ne_velký)", "malý"), ("česko-slovenský", "česko-slovenský"), ("snake_case", "snake_case"),
        ("-1", "-1"), ("`", "`"), ("`2", "`2"), ("_;x", "_;x"), ("F-16", "F"), ("-", "-"), ("", ""),
    ],
)  # fmt: skip
def test_the_tail_of_a_lemma_is_cut(written, meant):
    assert short_lemma(written) == meant


def test_words_are_ordered_by_number_and_not_by_nesting():
    text = read_layered(write([ANSWER], Style()).encode(), name="F")
    assert text.bytes == "Malá loď 2_000 .".encode()
    assert text.layers == {"lemma": "malý loď 2 .".encode(), "sempos": "loď/n.denot malý/adj.denot".encode()}
    assert (text.unit, text.name) == ("bundle", "F")


def two_sides(first="ref", second="cand"):
    """A Treex document with two zones."""
    one, other = (write([ANSWER, EMPTY], Style(zone=("cs", selector))) for selector in (first, second))
    zones = [part.partition("</zone>")[0] for part in other.split("<zones>")[1:]]
    parts = one.split("</zones>")
    return "".join(f"{part}{zone}</zone></zones>" for part, zone in zip(parts, zones, strict=False)) + parts[-1]


def test_one_of_several_zones_must_be_chosen():
    document = two_sides().encode()
    for zone in ("cs_ref", "cs_cand"):
        text = read_text(document, name="F", part=zone)
        assert (text.name, text.segments, text.language) == (f"F:{zone}", 2, "cs")
    with pytest.raises(NoSuchPart, match=r"^F: has several sides; say which zone\. It has: cs_ref, cs_cand\. Name"):
        read_text(document, name="F")
    with pytest.raises(NoSuchPart, match=r"^F: has no zone 'cs'\. It has: cs_ref, cs_cand\."):
        read_text(document, name="F", part="cs")


def test_layers_of_tectomt_are_found_by_name_whatever_they_are_called():
    document = write([ANSWER], Style(kind=TCZECH, by_reference=True))
    for name in ("TCzech", "SEnglish", "TLojban", "Other"):
        renamed = document.replace("TCzech", name).encode()
        for letter in "AMT":
            text = read_text(renamed, part=f"{name}{letter}")
            assert text.bytes == "Malá loď 2_000 .".encode()
        assert text.language == {"TCzech": "cs", "SEnglish": "en"}.get(name, "")
        with pytest.raises(NoSuchPart, match=rf"has no layer 'TKlingonA'\. It has: {name}A, {name}T, {name}M\."):
            read_text(renamed, part="TKlingonA")
    generic = write([ANSWER], Style(kind=GENERIC)).encode()
    assert read_text(generic, part="TCzechA").bytes == read_text(generic, part="TcsA").bytes
    with pytest.raises(NoSuchPart, match=r"has no layer 'TCzechM'\. It has: TcsA, TcsT\."):
        read_text(generic, part="TCzechM")


def test_a_t_layer_alone_gives_its_t_lemmas_as_words():
    text = read_text(
        b'<tmt_document><bundles><LM id="1"><trees><TCzechT><children><LM><t_lemma>b b</t_lemma><ord>2</ord>'
        b"<gram><sempos>v</sempos></gram></LM><LM><t_lemma>a</t_lemma><ord>1</ord></LM><LM/></children></TCzechT></trees>"
        b"</LM></bundles></tmt_document>"
    )
    assert (text.bytes, text.layers) == (b"a b_b _", {"sempos": b"b_b/v"})


def test_a_single_node_that_has_an_id_alone_is_a_node_and_an_empty_list_is_none():
    tree = b'<tmt_document><bundles><LM id="1"><trees><TCzechT>%s</TCzechT></trees></LM></bundles></tmt_document>'
    node = b"<LM><t_lemma>a</t_lemma><ord>1</ord></LM>"
    for written, words in (
        (b'<children id="t1"/>', b"_"),
        (b"<children/>", b""),
        (b'<children id="t1"></children>', b"_"),
        (b"<children>%s</children>" % node, b"a"),
        (b"<children>%s</children>" % node.replace(b"</LM>", b'<children id="t2"/></LM>'), b"a _"),
    ):
        assert read_text(tree % written).bytes == words


GOOD = """<treex_document>
<bundles>
<LM id="b1"><zones><zone language="cs"><trees><a_tree><children>
<LM id="n1"><form>a</form><ord>1</ord></LM>
<LM id="n2"><form>b</form><ord>2</ord></LM>
</children></a_tree><t_tree/></trees></zone></zones></LM>
<LM id="b2"><zones><zone language="cs"><trees><a_tree><children>
<LM id="n3"><form>c</form><ord>1</ord></LM>
</children></a_tree><t_tree><children>
<LM id="t1"><t_lemma>c</t_lemma><gram><sempos>v</sempos></gram></LM>
</children></t_tree></trees></zone></zones></LM>
</bundles>
</treex_document>
"""


def test_the_document_that_is_broken_below_is_sound():
    assert read_layered(GOOD.encode()).layers["sempos"] == b"\nc/v"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<t_tree/>", "", "line 3: bundle 'b1' has no t_tree of zone cs, which others have"),
        ('id="b2"', 'id="b1"', "line 7: bundle 'b1': the id was already given in line 3"),
        ("<form>b</form>", "", "line 5: node 'n2' has no form"),
        ("<form>b</form>", "<form> </form>", "line 5: node 'n2' has no form"),
        ("<form>b</form>", "<form>b</form><form>c</form>", "line 5: node 'n2' has <form> twice"),
        ("<form>b</form>", "<form>b<LM>x</LM></form>", "line 5: <LM> in <form>, which holds text alone"),
        ("<form>b</form>", "<LM/><form>b</form>", "line 5: <LM> in <LM>, which is no list"),
        ("<form>b</form>", "<m.rf>m9</m.rf>", "line 5: node 'n2': its m.rf 'm9' is in no M layer"),
        ("<ord>2</ord>", "", "line 5: node 'n2': it has no ord"),
        ("<ord>2</ord>", "<ord>two</ord>", "line 5: node 'n2': its ord 'two' is no number"),
        ("<ord>2</ord>", "<ord>1</ord>", "line 5: node 'n2': its ord 1 is that of node 'n1', line 4, too"),
        ('<LM id="n2">', "<x></x><LM id='n2'>", "line 5: <x> among the <LM> of <children>"),
        ("<t_lemma>c</t_lemma>", "", "line 10: node 't1' has a sempos, but no t_lemma"),
        ("<sempos>v<", "<sempos>v/x<", "line 10: node 't1': 'v/x' is no sempos"),
        ("<t_tree>", "<a_tree/><t_tree>", "line 9: bundle 'b2' has a_tree of zone cs twice"),
        ("</bundles>", '<LM id="b3"/></bundles>', "line 12: bundle 'b3' has no layers"),
        ("</children></a_tree><t", "</a_tree><t", "line 6: not well-formed XML (mismatched tag; <children> of line 3"),
        ("</treex_document>\n", "", "not well-formed XML (no element found; <treex_document> of line 1 is open)"),
        ("<ord>2</ord>", "<ord>2</ord>&b;", "line 5: not well-formed XML (undefined entity"),
        (
            "<treex_document>",
            '<?xml version="1.0" encoding="cp1250"?><treex_document>',
            "line 1: declares the encoding",
        ),
        ("treex_document", "other_document", "begins with <other_document>; TectoMT documents begin with"),
        ("b</form>", "b\x01</form>", "line 5: not well-formed XML (not well-formed (invalid token)"),
    ],
)
def test_a_defect_is_found_where_it_is(old, new, message):
    changed = GOOD.replace(old, new)
    assert changed != GOOD
    with pytest.raises(BadMarkup) as raised:
        read_layered(changed.encode(), name="F")
    assert message in str(raised.value)


def test_all_defects_of_one_side_are_said_and_none_of_the_others():
    document = two_sides().replace("<form>.</form>", "", 1).replace("<form>Malá</form>", "", 1)
    assert read_text(document.encode(), part="cs_cand").segments == 2
    with pytest.raises(BadMarkup, match=r"^F: 2 problems:\n  - F, line 2: node 'a1' .*\n  - F, line 2: node 'a2'"):
        read_text(document.encode(), name="F", part="cs_ref")


def test_what_is_distinguished_from_content(tmp_path):
    assert looks_like(write([ANSWER], Style()).encode()) == "treex"
    assert looks_like(write([ANSWER], Style(kind=TCZECH, prefix="p")).encode()) == "tectomt"
    assert looks_like(b'<!DOCTYPE treex_document [<!ENTITY a "b">]><treex_document/>') == "treex"
    with pytest.raises(BadText, match="has no bundles"):
        read_text(b"<treex_document/>")
    for name in ("a.streex", "b.STREEX"):
        (tmp_path / name).write_bytes(b"any")
        with pytest.raises(BadText, match=r"Perl's storage format \(\.streex\)\. Write it as"):
            read_text(tmp_path / name)
