"""Tells from a file's content which format it has, and reads it by it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from steelyard.formats.input.contents import LOOKED_AT, Contents, WrongFormat, opened, refuse_other_formats
from steelyard.formats.markup.limits import DEFAULT_MARKUP_LIMITS, MarkupLimits
from steelyard.formats.plain import Text
from steelyard.formats.reader import Kind, Reader, Reading
from steelyard.formats.registry import PLAIN, declares, reader_called, reader_of, titles
from steelyard.formats.tables import looks_like_table
from steelyard.text.limits import DEFAULT_LIMITS, TextLimits
from steelyard.text.names import printable

if TYPE_CHECKING:
    from steelyard.formats.input.contents import Source
    from steelyard.formats.markup.documents import MarkedFile, Role
    from steelyard.formats.plain import Utf8


def looks_like(head: Utf8) -> str:
    """The name of a file's format by its beginning.

    Parameters
    ----------
    head : bytes
        The first 64 KiB, unpacked.

    Returns
    -------
    str
        `plain` where it is none that is known.
    """
    return reader_of(head[:LOOKED_AT]).name


def read_file(
    source: Source,
    *,
    name: str | None = None,
    format: str | None = None,  # noqa: A002 (what users call it, too)
    part: str | None = None,
    role: Role | None = None,
    label: str = "",
    limits: TextLimits = DEFAULT_LIMITS,
    markup_limits: MarkupLimits = DEFAULT_MARKUP_LIMITS,
    paragraphs: bool = False,
) -> Text | MarkedFile:
    """Read a file in any format, packed with gzip or not.

    Parameters
    ----------
    source : path, bytes or Contents
    name : str, optional
        What messages call it; without it, the path.
    format : str, optional
        Its name in the registry; by default it is found from the content.
    part : str, optional
        The layer of a TectoMT document (`TCzechA`) or the zone of one of Treex (`cs_ref`), where it has several sides.
    role : Role, optional
        Whose text it is, for formats whose files do not say it themselves.
    label : str
        The name of the reference or system, likewise.
    limits : TextLimits
    markup_limits : MarkupLimits
    paragraphs : bool
        Whether a row that is a whole document is cut at blank lines.

    Returns
    -------
    Text or MarkedFile
        Texts with ids as a MarkedFile, all others as a Text.

    Raises
    ------
    BadText
        As the readers of the formats do.
    BrokenFormat
        For a format that does not exist or cannot be used.
    """
    contents = opened(source, name=name, limits=limits)
    reader = _reader(source, contents, format)
    if part is not None and reader.kind is not Kind.SIDES:
        raise WrongFormat(
            f"{contents.name}: has no layer or zone '{printable(part)}': its format is {reader.name}. Give the file "
            "alone, or name the format."
        )
    return reader.read(contents, Reading(part, role, label, limits, markup_limits, paragraphs))


def read_text(
    source: Source,
    *,
    name: str | None = None,
    format: str | None = None,  # noqa: A002
    part: str | None = None,
    limits: TextLimits = DEFAULT_LIMITS,
) -> Text:
    """Read a text that is matched by position, such as plain text or one side of a Treex document.

    Parameters
    ----------
    source : path, bytes or Contents
    name : str, optional
        What messages call it; without it, the path.
    format : str, optional
        Its name in the registry; by default it is found from the content.
    part : str, optional
        The layer of a TectoMT document or the zone of one of Treex.
    limits : TextLimits

    Returns
    -------
    Text

    Raises
    ------
    BadText
        As `read_file`, and WrongFormat for files whose segments have ids.
    """
    contents = opened(source, name=name, limits=limits)
    reader = _reader(source, contents, format)
    if reader.kind.has_ids:
        raise WrongFormat(
            f"{contents.name}: is in the format {reader.name}, whose segments are matched by ids. Give a text that is "
            f"matched by position: {titles([Kind.LINES, Kind.SIDES])}; or name another format."
        )
    text = read_file(contents, format=reader.name, part=part, limits=limits)
    assert isinstance(text, Text)
    return text


def read_marked_file(
    source: Source,
    *,
    name: str | None = None,
    format: str | None = None,  # noqa: A002
    role: Role | None = None,
    label: str = "",
    limits: MarkupLimits = DEFAULT_MARKUP_LIMITS,
) -> MarkedFile:
    """Read a file whose segments have ids, such as mteval's.

    Parameters
    ----------
    source : path, bytes or Contents
    name : str, optional
        What messages call it; without it, the path.
    format : str, optional
        Its name in the registry; by default it is found from the content.
    role : Role, optional
        Whose text it is, for formats whose files do not say it themselves.
    label : str
        The name of the reference or system, likewise.
    limits : MarkupLimits

    Returns
    -------
    MarkedFile

    Raises
    ------
    BadText
        As `read_file`, and WrongFormat for a file without ids.
    """
    contents = opened(source, name=name)
    refuse_other_formats(contents)
    reader = reader_called(format) if format else reader_of(contents.head)
    if not reader.kind.has_ids:
        raise WrongFormat(
            f"{contents.name}: is in no format with ids, such as {titles([Kind.IDS, Kind.DOCUMENTS])}. Read it as a "
            "text, or name its format."
        )
    file = read_file(contents, format=reader.name, role=role, label=label, markup_limits=limits)
    assert not isinstance(file, Text)
    return file


def _reader(source: Source, contents: Contents, format_: str | None) -> Reader:
    """The format of a file; refuses what is in no format of ours and surely no text."""
    _refuse_streex(source, contents)
    if format_:
        return reader_called(format_)
    found = reader_of(contents.head)
    if found is PLAIN and declares(contents.head):
        raise WrongFormat(
            f"{contents.name}: begins with a document type that declares something, and is in no format that is read "
            "here. Remove the declarations, or name the format if it is plain text."
        )
    if found is PLAIN and (table := looks_like_table(contents.head)):
        raise WrongFormat(f"{contents.name}: {table} Or name the format if it is plain text.")
    return found


def _refuse_streex(source: Source, contents: Contents) -> None:
    """Some documents in Perl's storage format can be recognised by their name alone."""
    if isinstance(source, (str, os.PathLike)) and os.fspath(source).lower().endswith((".streex", ".streex.gz")):
        raise WrongFormat(
            f"{contents.name}: is a document in Perl's storage format (.streex). Write it as .treex or .treex.gz with "
            "Treex."
        )
