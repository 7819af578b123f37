"""Documents made to do harm: refused, in bounded time and memory. And random ones: never a crash."""

import subprocess
import sys
from pathlib import Path
from xml.parsers import expat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.errors import BadText
from steelyard.formats.detection import looks_like, read_marked_file
from steelyard.formats.markup import comparison
from steelyard.formats.markup.documents import Role
from steelyard.formats.markup.limits import DEFAULT_MARKUP_LIMITS, MarkupLimits
from steelyard.formats.markup.mteval import read_mteval
from steelyard.formats.markup.scanner import ForbiddenMarkup, Opening, Scanner
from steelyard.formats.markup.wmt_xml import read_wmt_xml
from steelyard.text.findings import BadMarkup, Findings
from steelyard.text.limits import OverLimit
from tests.library.formats.test_mteval import read, segments

ROOT = Path(__file__).parents[3]
XML = '<?xml version="1.0"?>'
LAUGHS = XML + (
    '<!DOCTYPE mteval [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>'
    '<mteval><srcset setid="s" srclang="en"><doc docid="d"><seg id="1">&c;</seg></doc></srcset></mteval>'
)
# Far beyond what any of them needs, far below what quadratic work or an expansion would take.
CPU_SECONDS = 60
ADDRESS_SPACE = 1 << 30

# Each is a Python expression, worked out in the process that may not survive it.
ATTACKS = {
    "bare ampersands": "SEG[0] + b'&' * N + SEG[1]",
    "bare ampersands in XML": "XML + SEG[0] + b'&' * N + SEG[1]",
    "bare less-than signs": "SEG[0] + b'<' * N + SEG[1]",
    "bare less-than signs outside": "b'<mteval>' + b'<' * N",
    "standard entities": "SEG[0] + b'&lt;' * (N // 4) + SEG[1]",
    "unknown entities": "SEG[0] + b'&a;' * (N // 3) + SEG[1]",
    "a segment too long": "SEG[0] + b'a' * N + SEG[1]",
    "a segment too long, in pieces": "SEG[0] + b'a<b>' * (N // 4) + SEG[1]",
    "segments never closed": "SEG[0] + b'<seg id=\"1\">' * (N // 12)",
    "closing tags without opening": "b'<mteval>' + b'</doc>' * (N // 6)",
    "deep nesting": "XML + b'<mteval>' + b'<x>' * (N // 3)",
    "deep nesting of known tags": "XML + b'<mteval>' + b'<srcset>' * (N // 8)",
    "a huge attribute": "b'<srcset setid=\"' + b'a' * N + b'\">'",
    "a huge attribute never closed": "b'<srcset setid=\"' + b'a' * N",
    "a huge tag name": "b'<' + b'a' * N + b'>'",
    "very many attributes": "b'<srcset ' + b''.join(b'a%d=\"1\" ' % i for i in range(N // 12)) + b'>'",
    "quotation marks in disorder": "b'<srcset a=\"> ' + b'<p a=\"> ' * (N // 8)",
    "white space in a tag": "b'<srcset' + b' ' * N",
    "comments never closed": "b'<mteval>' + b'<!--' * (N // 4)",
    "CDATA never closed": "XML + b'<mteval>' + b'<![CDATA[' * (N // 9)",
    "instructions never closed": "b'<mteval>' + b'<?' * (N // 2)",
    "document types": "b'<mteval>' + b'<!DOCTYPE' * (N // 9)",
    "very many systems": (
        'b\'<tstset setid="s" srclang="en" trglang="cs">\' + b\'\'.join('
        'b\'<doc docid="d" sysid="s%d"><seg id="1">a</seg></doc>\' % i for i in range(N // 50)) + b\'</tstset>\''
    ),
    "systems that lack nearly all documents": (
        "b'<srcset setid=\"s\" srclang=\"en\">' + b''.join("
        'b\'<doc docid="%d"><seg id="1">a</seg></doc>\' % i for i in range(25_000)) + b\'</srcset>'
        '<tstset setid="s" srclang="en" trglang="cs">\' + b\'\'.join('
        'b\'<doc docid="%d" sysid="s%d"><seg id="1">a</seg></doc>\' % (i, i) for i in range(990)) + b\'</tstset>\''
    ),
    "a huge file": "b'<mteval>' + b' ' * (70 << 20)",
}
CHILD = """
import resource, sys
sys.path.insert(0, {root!r})
resource.setrlimit(resource.RLIMIT_CPU, ({cpu}, {cpu}))
resource.setrlimit(resource.RLIMIT_AS, ({space}, {space}))
from steelyard.errors import BadText
from steelyard.formats.markup.mteval import read_mteval
N, XML = 1_100_000, b'<?xml version="1.0"?>'
SEG = b'<srcset setid="s" srclang="en"><doc docid="d"><seg id="1">', b'</seg></doc></srcset>'
attacks = {attacks!r}
for name, attack in attacks.items():
    try:
        read_mteval(eval(attack), name="F")
    except BadText as error:
        assert len(str(error)) < 30_000, name
        print(name, type(error).__name__, sep=": ", flush=True)
    else:
        print(name, "accepted", sep=": ", flush=True)
"""


def test_attacks_are_refused_within_bounds():
    child = CHILD.format(root=str(ROOT), cpu=CPU_SECONDS, space=ADDRESS_SPACE, attacks=ATTACKS)
    done = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"after {done.stdout}: {done.stderr}"
    found = dict(line.split(": ") for line in done.stdout.splitlines())
    assert list(found) == list(ATTACKS)
    assert found["systems that lack nearly all documents"] == "OverLimit"
    # Replaced, it is no longer too long for a segment.
    assert {name for name, outcome in found.items() if outcome == "accepted"} == {"standard entities"}


def test_the_bound_on_memory_of_that_test_is_real():
    greedy = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({ADDRESS_SPACE},) * 2); b'x' * {ADDRESS_SPACE}"
    done = subprocess.run([sys.executable, "-c", greedy], capture_output=True, text=True, check=False)
    assert "MemoryError" in done.stderr


@pytest.mark.parametrize("read", [read_mteval, read_wmt_xml])
@pytest.mark.parametrize(
    "document",
    [
        LAUGHS,
        LAUGHS.replace("mteval", "dataset"),
        LAUGHS.replace(XML, ""),
        XML + '<!DOCTYPE mteval SYSTEM "x.dtd" [<!ENTITY a SYSTEM "file:///etc/passwd">]><mteval/>',
        XML + '<!doctype mteval [<!ENTITY % a SYSTEM "http://127.0.0.1/a"> %a;]><mteval/>',
        '<!ENTITY a "b"><mteval/>',
        XML + "<mteval><!ENTITY a 'b'></mteval>",
    ],
)
def test_declarations_of_entities_are_refused(read, document):
    with pytest.raises(ForbiddenMarkup, match=r"F, line 1: a d.* is not accepted"):
        read(document.encode(), name="F")


def test_nothing_is_fetched(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("<!ENTITY a 'stolen'>")
    document = (
        f'{XML}<!DOCTYPE mteval SYSTEM "{secret.as_uri()}"><mteval><srcset setid="s" srclang="en"><doc docid="d">'
        '<seg id="1">{}</seg></doc></srcset></mteval>'
    )
    with pytest.raises(BadMarkup, match="the entity '&a;' is not known"):
        read_mteval(document.format("&a;").encode(), name="F")
    file = read_mteval(document.format("kept").encode(), name="F")
    assert file.texts[Role.SOURCE, ""].documents["d"].segments["1"].text == b"kept"


def test_messages_show_no_control_characters_and_are_short():
    document = (
        '<tstset setid="s" srclang="en" trglang="cs">'
        '<doc docid="d" sysid="\x1b[31m{}"><seg id="1">a</seg></doc></tstset>'
    )
    with pytest.raises(BadMarkup) as raised:
        read_mteval(document.format("x" * 4000).encode(), name="F")
    assert "\x1b" not in str(raised.value)
    assert len(str(raised.value)) < 300


PIECES = st.sampled_from(
    [
        "<mteval>", "</mteval>", '<srcset setid="s" srclang="en">', "</srcset>", "</tstset>",
        '<tstset setid="s" srclang="en" trglang="cs" sysid="a">', '<doc docid="d">', '<DOC docid=e sysid="b">',
        "</doc>", "</DOC>", "<p>", "</p>", "<hl>", '<seg id="1">', '<seg id="2">', "<seg>", "</seg>", "<seg id='3'/>",
        "text", " & ", "&amp;", "&#x41;", "&#xD800;", "<", ">", '"', "<b>", "<!-- -->", "<!--",
        "<![CDATA[x]]>", "<?pi?>", "\n", "\r", "é", "\x00", "\x01", "<!DOCTYPE a>",
        '<dataset id="s">', '<doc id="d" origlang="en">', '<src lang="en">', '<hyp lang="cs" system="a">', "</src>",
        "</hyp>", "</dataset>", XML,
    ]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=40), st.sampled_from([read_mteval, read_wmt_xml]))
def test_whatever_comes_is_read_or_refused(pieces, read):
    document = "".join(pieces).encode()
    looks_like(document)
    try:
        file = read(document, name="F")
    except BadText as error:
        message = str(error)
    else:
        message = "F"
        segments = [s for text in file.texts.values() for one in text.documents.values() for s in one.segments.values()]
        assert file.texts
        assert not any(b"\n" in segment.text for segment in segments)
    assert message.startswith("F")


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data):
    looks_like(data)
    with pytest.raises(BadText):
        read_marked_file(data, name="F", format="mteval")


CONTENT = st.lists(
    st.sampled_from(
        ["a", "é", "😀", " ", "\n", "\t", "&amp;", "&lt;", "&#233;", "&#x1F600;", "&apos;", "<![CDATA[<&]]>", "-->",
         "--", "<!-- - -->", "<?x y?>", ">", '"', "'", "]", "&#10;", "\u00a0", "]]&gt;", "&", "<", "<!--", "]]>", "&b;"]
    ),
    max_size=12,
)  # fmt: skip


@settings(max_examples=500, deadline=None)
@given(CONTENT, CONTENT)
def test_xml_is_read_as_an_xml_parser_reads_it(first, second):
    document = (
        f'{XML}\n<mteval><srcset setid="s" srclang="en"><doc docid="d"><seg id="1">{"".join(first)}</seg>\n'
        f'<p><seg id="2">{"".join(second)}</seg></p></doc></srcset></mteval>'
    ).encode()
    expected, parts = [], []
    parser = expat.ParserCreate()
    parser.CharacterDataHandler = parts.append
    parser.StartElementHandler = lambda name, attributes: parts.clear()

    def end(name):
        if name == "seg":
            expected.append(b" ".join("".join(parts).encode().split()))

    parser.EndElementHandler = end
    try:
        parser.Parse(document, True)
    except expat.ExpatError:
        with pytest.raises(BadText):
            read_mteval(document, name="F")
    else:
        texts = read_mteval(document, name="F").texts[Role.SOURCE, ""].documents["d"].segments
        assert [segment.text for segment in texts.values()] == expected


def test_the_defaults_leave_room_for_real_test_sets(real_data):
    """The largest campaigns have some 30 texts of 3,000 segments, in less than 20 MB."""
    largest = max((real_data / "mteval").glob("*.sgm"), key=lambda path: path.stat().st_size)
    file = read_mteval(largest)
    segments = sum(text.segments for text in file.texts.values())
    assert DEFAULT_MARKUP_LIMITS.segments > 10 * 30 * 3000
    assert largest.stat().st_size / segments * 30 * 3000 < DEFAULT_MARKUP_LIMITS.file_bytes


@pytest.mark.parametrize("bare", ["<", "<a ", "<3 ", "< <b>", "</x", "<segment ", "<docs>"])
def test_what_is_no_markup_in_a_segment_is_one_piece(bare):
    """And no tag, however often it comes: one by one, five million took half a minute."""
    head = '<srcset setid="s" srclang="en"><doc docid="d"><seg id="1">'
    document = (f"{head}a {bare * 5000}b &amp; c</seg></doc></srcset>").encode()
    names = frozenset(("srcset", "doc", "seg"))
    scanner = Scanner(document, False, names, Findings("F"), MarkupLimits(tags=10))
    tokens = []
    for token in scanner.tokens():
        scanner.literal = isinstance(token, Opening) and token.name == "seg"
        tokens.append(token)
    assert len(tokens) == 7
    assert tokens[3].text == f"a {bare * 5000}b & c".encode()
    segment = read_mteval(document, limits=MarkupLimits(tags=10)).texts[Role.SOURCE, ""].documents["d"].segments["1"]
    assert segment.text == b" ".join(tokens[3].text.split())


@pytest.mark.parametrize(
    "content", ["<b/>\n" * 50, "<b>\n</b>" * 30, '<b x="1"\ny="2"/>' * 20, "<!-- -->\n" * 60, "<?x?>\n" * 60]
)
def test_tags_and_attributes_are_counted_together(content):
    document = f'{XML}<mteval><wild>\n{content}</wild><srcset setid="s" srclang="en"></srcset></mteval>'
    with pytest.raises(OverLimit, match=r"^F, line [1-9]\d: more than 45 tags and attributes"):
        read_mteval(document.encode(), name="F", limits=MarkupLimits(tags=45))


def test_malformed_tags_do_not_look_through_the_whole_file_each():
    """Where no `>` follows: the mark that comes next is looked for once."""
    document = b'<tstset a="1">' + b"<doc =" * 900 + b" " * (60 << 20)
    with pytest.raises(BadMarkup, match="not well formed"):
        read_mteval(document, name="F")


@pytest.mark.parametrize("number", [1000, 1001])
def test_a_file_has_at_most_a_thousand_texts(number):
    rows = "\n".join(f'<doc docid="d" sysid="s{each}"><seg id="1">a</seg></doc>' for each in range(number))
    document = f'<tstset setid="s" srclang="en" trglang="cs">\n{rows}\n</tstset>'.encode()
    if number == 1000:
        assert len(read_mteval(document, name="F").texts) == 1000
    else:
        with pytest.raises(OverLimit, match=r"^F, line 1002: more than 1,000 texts\. Split the file\.$"):
            read_mteval(document, name="F")


def test_texts_and_documents_are_compared_up_to_a_bound(monkeypatch):
    rows = "".join(
        f'<doc docid="{document}" sysid="s{system}"><seg id="1">a</seg></doc>'
        for system in "ab"
        for document in range(3)
    )
    document = f'<tstset setid="s" srclang="en" trglang="cs">{rows}</tstset>'.encode()
    monkeypatch.setattr(comparison, "MOST_PAIRS", 6)
    assert len(read_mteval(document, name="F").texts) == 2
    monkeypatch.setattr(comparison, "MOST_PAIRS", 5)
    told = r"^F: 2 texts and 3 documents in the largest are more than can be compared\. Split the files\.$"
    with pytest.raises(OverLimit, match=told):
        read_mteval(document, name="F")


def test_what_is_not_known_in_sgml_is_said_once_and_not_without_end():
    entities = "".join(f"&e{number}; &e{number};" for number in range(30))
    unknown = "".join(f"<x{number}>" for number in range(5))
    head = '<srcset setid="s" srclang="en"><doc docid="d">'
    file = read(f'{head}<seg id="1">{entities}</seg></doc></srcset>')
    assert segments(file) == {("", "d", "1"): entities}
    assert file.notices == (
        *(f"F: the entity '&e{each};' is none of the five standard ones and was kept as text." for each in range(20)),
        "F: 10 more notices left out.",
    )
    file = read(f'{head}{unknown}<x0><seg id="1">a</seg></doc></srcset>', limits=MarkupLimits(attributes=3))
    assert file.notices == tuple(
        f"F, line 1: <x{number}> is not known here and was passed over." for number in range(3)
    )
