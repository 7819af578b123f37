"""The formats that files may be in; whatever lists, recognises or reads them asks here."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from steelyard.errors import BrokenFormat
from steelyard.formats import jsonl, tsv
from steelyard.formats.reader import Kind, Reader
from steelyard.plugins.entry_points import PluginGroup, is_offered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from steelyard.formats.input.contents import Contents
    from steelyard.formats.markup.documents import MarkedFile
    from steelyard.formats.plain import Text
    from steelyard.formats.reader import Reading

_BEFORE_THE_ROOT = re.compile(
    rb"(?:\xef\xbb\xbf)*+(?:\s++|<\?[^>]*+>|<!--(?:[^-]|-(?!->))*+-->|<!DOCTYPE\b[^>\[]*+>)*+", re.IGNORECASE
)
# The declarations of a document type are refused by the readers; its name tells which one it is for.
_ROOT = re.compile(rb"<(?:!DOCTYPE\s++)?+(?:[a-z]++:)?+([a-z_]++)(?=[\s/>\[])", re.IGNORECASE)
_DECLARATIONS = re.compile(rb"<!DOCTYPE\b[^>\[]*+\[", re.IGNORECASE)
_CONLLU = re.compile(
    rb"(?:\xef\xbb\xbf)*+(?:#[^\n]*+\n|[ \t\r]*+\n)*?"
    rb"(?:#[ \t]*+(?:sent_id|newdoc|newpar|global\.columns)\b|[0-9]++(?:[-.][0-9]++)?+(?:\t[^\t\n]*+){9}(?:\n|\Z))"
)


def _begins_with(*elements: str) -> Callable[[bytes], bool]:
    names = {element.encode() for element in elements}

    def sniff(head: bytes) -> bool:
        root = _ROOT.match(head, _before_the_root(head))
        return root is not None and root[1].lower() in names

    return sniff


# The libraries behind a format are loaded for its files only.
def _plain(contents: Contents, how: Reading) -> Text:
    from steelyard.formats.filed import FiledText, stays_in_file
    from steelyard.formats.plain import read_lines

    if stays_in_file(contents, how.limits):
        return FiledText(contents, how.limits)
    return read_lines(contents, limits=how.limits)


def _conllu(contents: Contents, how: Reading) -> Text:
    from steelyard.formats.conllu import read_conllu

    return read_conllu(contents, limits=how.limits)


def _layered(contents: Contents, how: Reading) -> Text:
    from steelyard.formats.treebanks.layered import read_layered

    return read_layered(contents, part=how.part, limits=how.limits)


def _mteval(contents: Contents, how: Reading) -> MarkedFile:
    from steelyard.formats.markup.mteval import read_mteval

    return read_mteval(contents, limits=how.markup_limits)


def _wmt_xml(contents: Contents, how: Reading) -> MarkedFile:
    from steelyard.formats.markup.wmt_xml import read_wmt_xml

    return read_wmt_xml(contents, limits=how.markup_limits)


_TREES = ("lemma", "sempos")
PLAIN = Reader("plain", "plain text", (".txt",), Kind.LINES, lambda _: False, _plain)
"""What is none of the others."""
READERS: tuple[Reader, ...] = (
    PLAIN,
    Reader("conllu", "CoNLL-U", (".conllu",), Kind.LINES, lambda head: bool(_CONLLU.match(head)), _conllu, ("lemma",)),
    Reader("tectomt", "TectoMT", (".tmt",), Kind.SIDES, _begins_with("tmt_document"), _layered, _TREES),
    Reader("treex", "Treex", (".treex",), Kind.SIDES, _begins_with("treex_document"), _layered, _TREES),
    Reader(
        "mteval", "mteval's SGML or XML", (".sgm", ".sgml", ".xml"), Kind.DOCUMENTS,
        _begins_with("mteval", "srcset", "refset", "tstset"), _mteval,
    ),
    Reader("wmt-xml", "WMT's XML", (".xml",), Kind.DOCUMENTS, _begins_with("dataset"), _wmt_xml),
    jsonl.READER,
    tsv.READER,
)  # fmt: skip
"""Every format of the library; of two that fit the first is taken. CONTRIBUTING.md says how to add one."""
FORMATS = tuple(reader.name for reader in READERS)


def _fault(found: Any, called: str) -> str:
    if not isinstance(found, Reader):
        return f"{called} is not a steelyard.formats.reader.Reader"
    return ""


GROUP = PluginGroup("steelyard.formats", "format", BrokenFormat, _fault)


def reader_called(name: str) -> Reader:
    """The format of a name, of the library or of another distribution.

    Parameters
    ----------
    name : str

    Returns
    -------
    Reader

    Raises
    ------
    BrokenFormat
        Where it cannot be used, and where there is none of that name.
    """
    found = next((reader for reader in READERS if reader.name == name), None) or GROUP.find(name)
    if found is None:
        names = ", ".join([*FORMATS, *(offer.name for offer in GROUP.offers() if offer.name not in FORMATS)])
        raise BrokenFormat(f'There is no format "{name[:100]}". Formats: {names}.')
    return cast("Reader", found)


def reader_of(head: bytes) -> Reader:
    """The format of a file by its beginning.

    Parameters
    ----------
    head : bytes
        The first 64 KiB, unpacked.

    Returns
    -------
    Reader
        PLAIN where it is none that is known.
    """
    found = next((reader for reader in READERS if reader.sniff(head)), None)
    return found or next((reader for reader in sound_plugins() if _sniffs(reader, head)), PLAIN)


@cache
def sound_plugins() -> tuple[Reader, ...]:
    """The formats of other distributions; one that cannot be used is left out, and named where somebody asks for it.

    Returns
    -------
    tuple of Reader
    """
    if not is_offered(GROUP.name):
        return ()
    found = []
    for name in dict.fromkeys(offer.name for offer in GROUP.offers() if offer.name not in FORMATS):
        try:
            found.append(GROUP.find(name))
        except BrokenFormat:
            continue
    return tuple(found)


def declares(head: bytes) -> bool:
    """Whether a file begins with a document type that declares something.

    Parameters
    ----------
    head : bytes

    Returns
    -------
    bool
    """
    return _DECLARATIONS.match(head, _before_the_root(head)) is not None


def titles(kinds: Iterable[Kind] = tuple(Kind)) -> str:
    """The formats of several kinds in words: "plain text, CoNLL-U, TectoMT or Treex".

    Parameters
    ----------
    kinds : iterable of Kind

    Returns
    -------
    str
    """
    return _either([reader.title for reader in READERS if reader.kind in set(kinds)])


def formats_with(layer: str) -> str:
    """The formats that have a layer, in words.

    Parameters
    ----------
    layer : str

    Returns
    -------
    str
    """
    return _either([reader.title for reader in READERS if layer in reader.layers]) or "none that is known"


def _before_the_root(head: bytes) -> int:
    before = _BEFORE_THE_ROOT.match(head)
    return before.end() if before else 0


def _sniffs(reader: Reader, head: bytes) -> bool:
    # Somebody else's code: what it cannot tell it does not read.
    try:
        return bool(reader.sniff(head))
    except Exception:
        return False


def _either(words: Sequence[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)
