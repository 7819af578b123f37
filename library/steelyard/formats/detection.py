"""Tells from a file's content which format it has, and reads it by it."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from steelyard.formats.filed import FiledText, stays_in_file
from steelyard.formats.input.contents import LOOKED_AT, Contents, WrongFormat, opened, refuse_other_formats
from steelyard.formats.markup.scanner import DEFAULT_MARKUP_LIMITS, MarkupLimits
from steelyard.formats.plain import Text, read_lines
from steelyard.formats.tables import looks_like_table
from steelyard.text.limits import DEFAULT_LIMITS, TextLimits
from steelyard.text.names import printable

if TYPE_CHECKING:
    from steelyard.formats.input.contents import Source
    from steelyard.formats.markup.documents import MarkedFile
    from steelyard.formats.plain import Utf8

Format: TypeAlias = Literal["plain", "mteval", "wmt-xml", "tectomt", "treex", "conllu"]
FORMATS: tuple[Format, ...] = get_args(Format)
MARKED: tuple[Format, ...] = ("mteval", "wmt-xml")
"""Formats whose segments have ids and whose files name references and systems; the others are texts."""
LAYERED: tuple[Format, ...] = ("tectomt", "treex")
"""Formats of which a part must be chosen where a file has several."""

_BEFORE_THE_ROOT = re.compile(
    rb"(?:\xef\xbb\xbf)*+(?:\s++|<\?[^>]*+>|<!--(?:[^-]|-(?!->))*+-->|<!DOCTYPE\b[^>\[]*+>)*+", re.IGNORECASE
)
# The declarations of a document type are refused by the readers; its name tells which one it is for.
_ROOT = re.compile(rb"<(?:!DOCTYPE\s++)?+(?:[a-z]++:)?+([a-z_]++)(?=[\s/>\[])", re.IGNORECASE)
_DECLARATIONS = re.compile(rb"<!DOCTYPE\b[^>\[]*+\[", re.IGNORECASE)
_ROOTS: dict[bytes, Format] = {
    b"mteval": "mteval",
    b"srcset": "mteval",
    b"refset": "mteval",
    b"tstset": "mteval",
    b"dataset": "wmt-xml",
    b"tmt_document": "tectomt",
    b"treex_document": "treex",
}
_CONLLU = re.compile(
    rb"(?:\xef\xbb\xbf)*+(?:#[^\n]*+\n|[ \t\r]*+\n)*?"
    rb"(?:#[ \t]*+(?:sent_id|newdoc|newpar|global\.columns)\b|[0-9]++(?:[-.][0-9]++)?+(?:\t[^\t\n]*+){9}(?:\n|\Z))"
)


def looks_like(head: Utf8) -> Format:
    """The format of a file by its first 64 KiB, unpacked: by the first tag, or by the first word of CoNLL-U.

    `plain` where it is none that is known.
    """
    head = head[:LOOKED_AT]
    before = _BEFORE_THE_ROOT.match(head)
    root = _ROOT.match(head, before.end() if before else 0)
    if root:
        return _ROOTS.get(root[1].lower(), "plain")
    return "conllu" if _CONLLU.match(head) else "plain"


def read_file(
    source: Source,
    *,
    name: str | None = None,
    format: Format | None = None,  # noqa: A002 (what users call it, too)
    part: str | None = None,
    limits: TextLimits = DEFAULT_LIMITS,
    markup_limits: MarkupLimits = DEFAULT_MARKUP_LIMITS,
) -> Text | MarkedFile:
    """Read a file in any format, packed with gzip or not: texts with ids as a MarkedFile, all others as a Text.

    The format is found from the content unless `format` says it. `part` is the layer of a TectoMT document (`TCzechA`)
    or the zone of one of Treex (`cs_ref`), needed where it has several sides.
    Raises BadText as the readers of the formats do.
    """
    contents = opened(source, name=name, limits=limits)
    _refuse_streex(source, contents)
    format = format or _found(contents)  # noqa: A001
    if part is not None and format not in LAYERED:
        raise WrongFormat(
            f"{contents.name}: has no layer or zone '{printable(part)}': its format is {format}. Give the file alone, "
            "or name the format."
        )
    # The libraries behind a format are loaded for its files only.
    if format in LAYERED:
        from steelyard.formats.treebanks.layered import read_layered

        return read_layered(contents, part=part, limits=limits)
    if format == "conllu":
        from steelyard.formats.conllu import read_conllu

        return read_conllu(contents, limits=limits)
    if format == "mteval":
        from steelyard.formats.markup.mteval import read_mteval

        return read_mteval(contents, limits=markup_limits)
    if format == "wmt-xml":
        from steelyard.formats.markup.wmt_xml import read_wmt_xml

        return read_wmt_xml(contents, limits=markup_limits)
    return FiledText(contents, limits) if stays_in_file(contents, limits) else read_lines(contents, limits=limits)


def read_text(
    source: Source,
    *,
    name: str | None = None,
    format: Format | None = None,  # noqa: A002
    part: str | None = None,
    limits: TextLimits = DEFAULT_LIMITS,
) -> Text:
    """Read plain text, CoNLL-U, or one side of a TectoMT or Treex document; else as `read_file`.

    Raises BadText, and WrongFormat for files that hold documents with ids.
    """
    contents = opened(source, name=name, limits=limits)
    _refuse_streex(source, contents)
    format = format or _found(contents)  # noqa: A001
    if format in MARKED:
        raise WrongFormat(
            f"{contents.name}: is in the format {format}, whose files may hold many texts. Give one text: plain, "
            "CoNLL-U, TectoMT or Treex; or name another format."
        )
    text = read_file(contents, format=format, part=part, limits=limits)
    assert isinstance(text, Text)
    return text


def read_marked_file(
    source: Source,
    *,
    name: str | None = None,
    format: Format | None = None,  # noqa: A002
    limits: MarkupLimits = DEFAULT_MARKUP_LIMITS,
) -> MarkedFile:
    """Read a file in mteval's format or WMT's XML; else as `read_file`.

    Raises BadText as `read_mteval` and `read_wmt_xml` do, and WrongFormat for a file that is neither.
    """
    contents = opened(source, name=name)
    refuse_other_formats(contents)
    format = format or looks_like(contents.head)  # noqa: A001
    if format not in MARKED:
        raise WrongFormat(
            f"{contents.name}: is neither mteval (srcset, refset, tstset) nor WMT XML (dataset). "
            "Read it as plain text, or name its format."
        )
    file = read_file(contents, format=format, markup_limits=limits)
    assert not isinstance(file, Text)
    return file


def _found(contents: Contents) -> Format:
    """The format; refuses what begins like a document that declares entities and is in no format of ours."""
    found = looks_like(contents.head)
    before = _BEFORE_THE_ROOT.match(contents.head)
    if found == "plain" and _DECLARATIONS.match(contents.head, before.end() if before else 0):
        raise WrongFormat(
            f"{contents.name}: begins with a document type that declares something, and is in no format that is read "
            "here. Remove the declarations, or name the format if it is plain text."
        )
    if found == "plain" and (table := looks_like_table(contents.head)):
        raise WrongFormat(f"{contents.name}: {table} Or name the format if it is plain text.")
    return found


def _refuse_streex(source: Source, contents: Contents) -> None:
    """Some documents in Perl's storage format can be told by their name alone."""
    if isinstance(source, (str, os.PathLike)) and os.fspath(source).lower().endswith((".streex", ".streex.gz")):
        raise WrongFormat(
            f"{contents.name}: is a document in Perl's storage format (.streex). Write it as .treex or .treex.gz with "
            "Treex."
        )
