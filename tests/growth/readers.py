"""What reads and cuts texts: all formats, tokenizers and kinds of judgments, and what they stand on."""

from collections.abc import Callable, Iterator

from steelyard.errors import MetricsError
from steelyard.formats.detection import looks_like, read_file
from steelyard.formats.file_names import system_name
from steelyard.formats.input.encodings import advice
from steelyard.formats.markup.limits import DEFAULT_MARKUP_LIMITS
from steelyard.formats.registry import FORMATS
from steelyard.formats.tables import looks_like_table
from steelyard.formats.treebanks.trees import short_lemma
from steelyard.inspection.marks import compare
from steelyard.kernels.characters.lowercase import lowercased
from steelyard.kernels.text.words import words
from steelyard.meta_evaluation.human.kinds import KINDS
from steelyard.meta_evaluation.human.reading import Reading, read_judgments
from steelyard.text.languages import main_code, same_language
from steelyard.text.names import fault_of_name, folded, printable
from steelyard.text.normalization import normalized
from steelyard.tokenizers.mecab import Analyzer
from steelyard.tokenizers.registry import TOKENIZERS, lowercases_afterwards, prepared_text
from steelyard.tokenizers.tercom import reference_text
from tests.growth.families import FAMILIES, in_turn
from tests.growth.measuring import USUAL, Subject
from tests.library.tokenizers.models import files

XML = '<?xml version="1.0"?>'
CONTEXTS = {
    "plain": {"the file": ("", "")},
    "mteval": {
        "the file": ("", ""),
        "a segment": (
            '<srcset setid="s" srclang="en"><doc docid="d"><seg id="1">',
            "</seg></doc></srcset>",
        ),
        "a segment of XML": (
            XML + '<mteval><srcset setid="s" srclang="en"><doc docid="d"><seg id="1">',
            "</seg></doc></srcset></mteval>",
        ),
        "an attribute": ('<srcset srclang="en" setid="', '"><doc docid="d"><seg id="1">a</seg></doc></srcset>'),
        "a document": (
            '<srcset setid="s" srclang="en"><doc docid="d">',
            '<seg id="1">a</seg></doc></srcset>',
        ),
    },
    "wmt-xml": {
        "a segment": (
            XML + '<dataset id="s"><doc id="d" origlang="en"><src lang="en"><p><seg id="1">',
            "</seg></p></src></doc></dataset>",
        ),
        "an attribute": (
            XML + '<dataset id="s"><doc id="d" origlang="en"><hyp lang="cs" system="',
            '"><p><seg id="1">a</seg></p></hyp></doc></dataset>',
        ),
    },
    "tectomt": {
        "a form": (
            '<tmt_document><bundles><LM id="1"><trees><TCzechA><children><ord>1</ord><form>',
            "</form></children></TCzechA></trees></LM></bundles></tmt_document>",
        ),
        "an attribute": ('<tmt_document><bundles><LM id="', '"/></bundles></tmt_document>'),
    },
    "treex": {
        "the file": ("", ""),
        "a bundle": ("<treex_document><bundles><LM><zones>", "</zones></LM></bundles></treex_document>"),
        "a lemma": (
            '<treex_document><bundles><LM id="1"><zones><zone language="cs"><trees><a_tree><children><LM><ord>1</ord>'
            "<form>a</form><lemma>",
            "</lemma></LM></children></a_tree></trees></zone></zones></LM></bundles></treex_document>",
        ),
    },
    "jsonl": {
        "a text": ('{"id": 1, "text": "', '"}\n'),
        "a field": ('{"id": 1, "text": "a", "', '": 1}\n'),
        "a value": ('{"id": 1, "text": "a", "x": ', "}\n"),
    },
    "tsv": {
        "the names": ("id\ttext\t", "\n"),
        "a text": ("id\ttext\n1\t", "\n"),
    },
    "conllu": {
        "the file": ("", ""),
        "a comment": ("# ", "\n1\ta\ta" + "\t_" * 7 + "\n"),
        "the comment text": ("# text = a", "b\n1\ta\ta" + "\t_" * 7 + "\n"),
        "a form": ("1\t", "\ta" + "\t_" * 7 + "\n"),
    },
}
"""By format where the text of a stranger may stand: what is before it and behind it."""
JUDGMENTS = {
    "scores": ("system\tsegment\tscore\n", "\t{}\t1\n"),
    "ratings": ("annotator\tsystem\tsegment\tscore\n", "\tA\t{}\t1\n"),
    "errors": ("rater\tsystem\tsegment\tcategory\tseverity\n", "\tA\t{}\tFluency\tMinor\n"),
    "rankings": ("annotator\tranking\tsystem\tsegment\trank\n", "\t1\tA\t{}\t1\n"),
}
"""By kind of judgments the first line, and what follows a stranger's cell in each row."""
LONGEST_ATTRIBUTE = DEFAULT_MARKUP_LIMITS.attribute_bytes // 2
SPOKEN = ("en", "cs", "ru", "ja")
"""Languages by whose letters encodings are guessed, one of each way to do so."""


def encoded(text: str) -> bytes:
    """As a file has it that need not be UTF-8."""
    return text.encode(errors="surrogatepass")


def clean(text: str) -> str:
    """As it is once it was read."""
    return text.encode(errors="replace").decode().replace("\x00", "?")


def of_every_family(name: str, make: Callable[[str], Callable[[], object]], number: int, **more) -> Iterator[Subject]:
    """The same with texts of the families whose turn it is with this number."""
    for family in in_turn(number):
        yield Subject(f"{name}: {family}", lambda size, family=family: make(FAMILIES[family](size)), **more)


def _reading(format_: str, before: str, after: str) -> Callable[[str], Callable[[], object]]:
    def make(text: str) -> Callable[[], object]:
        data = encoded(f"{before}{text}{after}")
        return lambda: read_file(data, format=format_)

    return make


def _applied(function: Callable[[str], object]) -> Callable[[str], Callable[[], object]]:
    def make(text: str) -> Callable[[], object]:
        text = clean(text)
        return lambda: function(text)

    return make


def _judgments(kind: str) -> Callable[[str], Callable[[], object]]:
    first, rest = JUDGMENTS[kind]

    def make(text: str) -> Callable[[], object]:
        cells = clean(text).replace("\t", " ").split("\n")
        rows = "".join(f"{cell}{rest.format(number)}" for number, cell in enumerate(cells))
        return lambda: read_judgments([(first + rows).encode()], Reading(segments=1 << 20, kind=kind))

    return make


def readers() -> Iterator[Subject]:
    """Every format, in each place of its files; and how formats are recognised."""
    for format_ in FORMATS:
        for number, (place, (before, after)) in enumerate(CONTEXTS[format_].items()):
            make = _reading(format_, before, after)
            # Longer attributes are refused.
            most = LONGEST_ATTRIBUTE if place == "an attribute" else USUAL
            yield from of_every_family(f"{format_}, {place}", make, number, refuses=(MetricsError,), largest=most)
    for number, kind in enumerate(KINDS):
        yield from of_every_family(f"judgments, {kind}", _judgments(kind), number, refuses=(MetricsError,))


def texts() -> Iterator[Subject]:
    """Every tokenizer, and what looks at a text that was read."""
    for number, tokenizer in enumerate(TOKENIZERS):
        # MeCab takes a thousand instructions for each letter, and the square of a row of one kind, up to LONGEST_LINE.
        analyzed = isinstance(TOKENIZERS[tokenizer], Analyzer)
        most, power = (1 << 9, 2.0) if analyzed else (USUAL, 1.0)
        cut = lambda text, tokenizer=tokenizer: prepared_text(text.encode(), tokenizer, files())  # noqa: E731
        yield from of_every_family(
            f"tokenizer {tokenizer}", _applied(cut), number, refuses=(MetricsError,), largest=most, exponent=power
        )
    functions: dict[str, Callable[[str], object]] = {
        "how a format is recognised": lambda text: looks_like(text.encode()),
        "how a format is recognised, behind a declaration": lambda text: looks_like(f"{XML}<!-- {text}".encode()),
        "how a table is recognised": lambda text: looks_like_table(text.encode()),
        "folding": lambda text: (lowercased(text.encode()), lowercases_afterwards(text.encode(), "13a")),
        "words": lambda text: words(text.encode(), text.count("\n") + 1),
        "tercom": lambda text: reference_text(text, norm=True, punct=False, asian=True),
        "short lemmas": short_lemma,
        "names": lambda text: (folded(text), fault_of_name(text), printable(text), system_name(text)),
        "languages": lambda text: (main_code(text), same_language(text, "en")),
        "marks": lambda text: compare(text[: 1 << 12], [text[: 1 << 11], text[1 << 10 : 1 << 12]]),
        **{f"encodings of {each}": lambda text, each=each: advice(text.encode("utf-16"), each) for each in SPOKEN},
        **{form: lambda text, form=form: normalized(form, text) for form in ("NFC", "NFKC")},
    }
    for number, (name, function) in enumerate(functions.items()):
        # Words that are marked are a thousand, whose table is filled.
        yield from of_every_family(name, _applied(function), number, exponent=2.0 if name == "marks" else 1.0)


def subjects() -> Iterator[Subject]:
    """All of them."""
    yield from readers()
    yield from texts()
