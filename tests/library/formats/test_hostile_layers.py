"""TectoMT, Treex and CoNLL-U made to do harm: refused, in bounded time and memory. And mutated ones: never a crash."""

import gzip
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.errors import BadText
from steelyard.formats.detection import looks_like, read_file, read_text
from steelyard.formats.markup.scanner import ForbiddenMarkup
from steelyard.formats.registry import FORMATS
from steelyard.text.limits import OverLimit, TextLimits
from tests.library.formats.layered_documents import GENERIC, TCZECH, Meaning, Sentence, Style, Word, write, write_conllu

ROOT = Path(__file__).parents[3]
# Far beyond what any of them needs, far below what quadratic work or an expansion would take.
CPU_SECONDS = 60
ADDRESS_SPACE = 1 << 30

# Each is a Python expression that gives the parts of the file; it is worked out in the process that may not survive.
ATTACKS = {
    "deep nesting": "[A, b'<children><LM>' * N]",
    "deep nesting of unknown elements": "[A, b'<x>' * N]",
    "deep nesting without LM": "[A, b'<children>' * N]",
    "very many nodes": "[A, b'<children>', b'<LM/>' * N]",
    "very many nodes in many layers": "[B, *(b'<T%dA>%s</T%dA>' % (i, NODES, i) for i in range(99))]",
    "very many layers": "[B, b''.join(b'<T%dA/>' % i for i in range(N))]",
    "very many empty bundles": "[T, b'<LM/>' * N]",
    "very many elements": "[A, b'<x/>' * 3 * N]",
    "deep nesting, packed": "[A, b'<children><LM>' * N]",
    "a huge comment, packed": "[A, b'<!--', b'a' * 20 * N, b'-->']",
    "very many attributes": "[A, b'<LM ', b' '.join(b'a%d=\"1\"' % i for i in range(N // 20)), b'/>']",
    "a huge attribute": "[A, b'<LM id=\"', b'a' * 20 * N, b'\"/>']",
    "a huge attribute never closed": "[A, b'<LM id=\"', b'a' * 60 * N]",
    "a huge tag name": "[A, b'<', b'a' * 20 * N, b'/>']",
    "a huge comment": "[A, b'<!--', b'a' * 20 * N, b'-->']",
    "a huge instruction": "[A, b'<?a ', b'a' * 20 * N, b'?>']",
    "a huge form": "[A, b'<children><form>', b'a' * 20 * N]",
    "a form in very many pieces": "[A, b'<children><form>', b'&#65;' * N]",
    "huge text that nobody asked for": "[A, b'a' * 20 * N]",
    "very many ids given twice": "[T, b'<LM id=\"1\"><zones/></LM>' * N]",
    "very many defects": "[A, b'<children>', b'<LM><ord>x</ord></LM>' * 9000, b'</children>', E]",
    "words in CoNLL-U": "[b'1\\ta' + b'\\t_' * 8 + b'\\n'] + [b'2\\ta' + b'\\t_' * 8 + b'\\n'] * N",
    "blank lines in CoNLL-U": "[b'1\\ta' + b'\\t_' * 8 + b'\\n', b'\\n' * N, b'1']",
    "columns in CoNLL-U": "[b'# sent_id = 1\\n', b'\\t' * N]",
    "a huge word in CoNLL-U": "[b'1\\t' + b'a' * 20 * N + b'\\t_' * 8 + b'\\n']",
    "an entity bomb": "[b'<!DOCTYPE tmt_document [<!ENTITY a \"ha\"><!ENTITY b \"', b'&a;' * N, b'\">]>', A, b'&b;']",
    "an outer document type": "[b'<!DOCTYPE tmt_document SYSTEM \"file:///dev/zero\">', A]",
    "an entity bomb in parts": "[b'<!DOCTYPE tmt_document [', b'<!ENTITY a \"ha\">' * N]",
}
CHILD = """
import gzip, resource, sys
sys.path.insert(0, {root!r})
resource.setrlimit(resource.RLIMIT_CPU, ({cpu}, {cpu}))
resource.setrlimit(resource.RLIMIT_AS, ({space}, {space}))
from steelyard.errors import BadText
from steelyard.formats.detection import read_text
from steelyard.text.limits import TextLimits
# A tenth of the elements that are allowed by default: they take a minute.
LIMITS = TextLimits(elements=2_000_000)
N = 1_000_000
T = b'<tmt_document><bundles>'
B = T + b'<LM id="1"><trees>'
A = B + b'<TCzechA>'
E = b'</TCzechA></trees></LM></bundles></tmt_document>'
NODES = b'<children>%s</children>' % (b'<LM/>' * 1000)
attacks = {attacks!r}
for name, attack in attacks.items():
    data = b''.join(eval(attack))
    try:
        read_text(gzip.compress(data, 1) if "packed" in name else data, name="F", limits=LIMITS)
    except BadText as error:
        assert str(error).startswith("F") and len(str(error)) < 30_000, str(error)[:100]
        print(name, type(error).__name__, sep=": ", flush=True)
    else:
        print(name, "accepted", sep=": ", flush=True)
"""


def test_attacks_are_refused_within_bounds():
    child = CHILD.format(root=str(ROOT), cpu=CPU_SECONDS, space=ADDRESS_SPACE, attacks=ATTACKS)
    done = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"after {done.stdout}: {done.stderr}"
    kinds = dict(line.split(": ") for line in done.stdout.splitlines())
    assert list(kinds) == list(ATTACKS)
    assert "accepted" not in kinds.values()
    assert {kinds[name] for name in kinds if "entity" in name or "outer" in name or "deep" in name} == {
        "ForbiddenMarkup"
    }
    for name in ("very many nodes", "very many layers", "very many elements", "a huge comment", "a huge form"):
        assert kinds[name] == "OverLimit"


def test_nothing_is_fetched(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("stolen")
    for declaration in (
        f'<!DOCTYPE treex_document [<!ENTITY a SYSTEM "{secret.as_uri()}">]>',
        f'<!DOCTYPE treex_document SYSTEM "{secret.as_uri()}">',
        "<!DOCTYPE treex_document>",
        '<!DOCTYPE treex_document [<!ENTITY % a SYSTEM "http://127.0.0.1/a"> %a;]>',
    ):
        with pytest.raises(ForbiddenMarkup, match=r"^F, line 1: a document type or a declaration, which is not acc"):
            read_text(f"{declaration}<treex_document>&a;</treex_document>".encode(), name="F")


SENTENCES = [
    Sentence(
        "s1",
        (1, 0, 2),
        (Word("loď", "loď-1_^x", -1), Word("Malá", "malý", 0), Word(".", None, -1)),
        (Meaning("loď", "n.denot", -1), Meaning("#Neg", None, 0)),
    ),
    Sentence("s2", (0,), (Word("ano", "ano", -1),), ()),
]


def test_limits_can_be_set_and_are_named():
    document = write(SENTENCES, Style()).encode()
    for limits, message in (
        (TextLimits(elements=20), "line 2: more than 20 elements"),
        (TextLimits(nodes=4), "line 2: more than 4 nodes in one bundle"),
        (TextLimits(segments=1), "line 2: more than 1 bundles"),
        (TextLimits(segment_characters=3), "line 2: more than 3 characters in one bundle"),
        (TextLimits(attributes=0), "line 2: <treex_document> has more than 0 attributes"),
        (TextLimits(file_bytes=99), "larger than 99 bytes"),
        (TextLimits(field_characters=40), ""),
        (TextLimits(field_characters=30), "line 2: <treex_document> has a name or an attribute of more than 30"),
    ):
        if message:
            with pytest.raises(OverLimit, match=message):
                read_text(document, limits=limits)
        else:
            assert read_text(document, limits=limits).segments == 2
    long = document.replace(b"<form>", b"<form>" + b"a" * 40)
    with pytest.raises(OverLimit, match="line 2: <form> has more than 40 characters"):
        read_text(long, limits=TextLimits(field_characters=40))
    with pytest.raises(ForbiddenMarkup, match="more than 5 elements inside one another"):
        read_text(document, limits=TextLimits(depth=5))


VALID = [
    *(write(SENTENCES, Style(kind=kind, bare=bare)).encode() for kind in (TCZECH, GENERIC, "treex") for bare in (0, 1)),
    write(SENTENCES, Style(kind=TCZECH, by_reference=True, chatter=True, prefix="p")).encode(),
    write_conllu(SENTENCES).encode(),
]
SCRAPS = st.sampled_from(
    [b"", b"<", b">", b"/", b"<LM>", b"</LM>", b"<children>", b"</children>", b"<children id='a'>", b"\t", b"\n",
     b"&a;", b"<ord>1</ord>", b"<form/>", b"<m.rf>x</m.rf>", b"<trees>", b"<zone>", b"<zone/>", b"<bundles>",
     b"<TCzechA/>", b"<a_tree/>", b"<!--", b"-->", b"<![CDATA[x]]>", b"<?a?>", b"\xff", b"\x00", b"1", b"-", b'"',
     b"\xef\xbb\xbf"]
)  # fmt: skip


@settings(max_examples=600, deadline=None)
@given(
    st.sampled_from(VALID),
    st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 40), SCRAPS), min_size=1, max_size=4),
    st.sampled_from([None, *FORMATS]),
    st.sampled_from([None, "cs", "TCzechA", "TCzechT", "", "\n"]),
    st.booleans(),
)
def test_mutated_documents_are_read_or_refused(data, changes, format_, part, packed):
    for at, length, scrap in changes:
        at %= len(data) + 1
        data = data[:at] + scrap + data[at + length :]
    looks_like(data)
    try:
        text = read_file(gzip.compress(data) if packed else data, name="F", format=format_, part=part)
    except BadText as error:
        message = str(error)
    else:
        message = text.name
        for name, layer in getattr(text, "layers", {}).items():
            lines = layer.split(b"\n")
            assert len(lines) == max(text.segments, 1)
            if name == "lemma":
                assert [len(line.split()) for line in lines] == [len(line.split()) for line in text.lines() or [b""]]
    assert message.startswith("F")


def test_a_document_of_no_known_kind_that_declares_entities_is_refused():
    bomb = b'<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha">]><lolz>&a;</lolz>\n'
    with pytest.raises(BadText, match=r"^F: begins with a document type that declares"):
        read_text(bomb, name="F")
    assert read_text(bomb, name="F", format="plain").segments == 1
    assert read_text(b"<!DOCTYPE html> begins a page\n", name="F").segments == 1


@pytest.mark.parametrize("number", [1000, 1001])
def test_a_file_has_at_most_a_thousand_sides(number):
    zone = '<zone language="cs" selector="{}"><trees><a_tree><children><LM id="{}"/></children></a_tree></trees></zone>'
    zones = "\n".join(
        zone.format(f"z{each}", each).replace("/></ch", "><form>a</form><ord>1</ord></LM></ch")
        for each in range(number)
    )
    document = (
        f'<treex_document><bundles><LM id="s1"><zones>\n{zones}\n</zones></LM></bundles></treex_document>'.encode()
    )
    if number == 1000:
        assert read_text(document, name="F", part="cs_z999").bytes == b"a"
    else:
        with pytest.raises(OverLimit, match=r"^F, line 1002: more than 1,000 sides\. Split the file\.$"):
            read_text(document, name="F", part="cs_z999")
