"""Tells from a file's content which format it has, and reads marked-up ones by it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypeAlias

from metrics.text.markup import DEFAULT_MARKUP_LIMITS, MarkupLimits, read_markup
from metrics.text.mteval import read_mteval
from metrics.text.plain import WrongFormat
from metrics.text.wmt_xml import read_wmt_xml

if TYPE_CHECKING:
    import os

    from metrics.text.documents import MarkedFile
    from metrics.text.plain import Utf8

Format: TypeAlias = Literal["plain", "mteval", "wmt-xml"]

LOOKED_AT = 1 << 16
_BEFORE_THE_ROOT = re.compile(
    rb"(?:\xef\xbb\xbf)*+(?:\s++|<\?[^>]*+>|<!--(?:[^-]|-(?!->))*+-->|<!DOCTYPE\b[^>\[]*+>)*+", re.IGNORECASE
)
_ROOT = re.compile(rb"<([a-z]++)(?=[\s/>])", re.IGNORECASE)
_FORMATS: dict[bytes, Format] = {
    b"mteval": "mteval",
    b"srcset": "mteval",
    b"refset": "mteval",
    b"tstset": "mteval",
    b"dataset": "wmt-xml",
}


def looks_like(data: Utf8) -> Format:
    """The format of a file, from the first tag in its first 64 KiB; `plain` where there is none that is known."""
    head = data[:LOOKED_AT]
    before = _BEFORE_THE_ROOT.match(head)
    root = _ROOT.match(head, before.end() if before else 0)
    return _FORMATS.get(root[1].lower(), "plain") if root else "plain"


def read_marked_file(
    source: str | os.PathLike[str] | Utf8,
    *,
    name: str | None = None,
    format: Format | None = None,  # noqa: A002 (what users call it, too)
    limits: MarkupLimits = DEFAULT_MARKUP_LIMITS,
) -> MarkedFile:
    """Read a file in mteval's format or WMT's XML; which one is found from its content unless `format` says it.

    Raises BadText as `read_mteval` and `read_wmt_xml` do, and WrongFormat for a file that is neither.
    """
    called, data = read_markup(source, name=name, limits=limits)
    format = format or looks_like(data)  # noqa: A001
    if format == "plain":
        raise WrongFormat(
            f"{called}: is neither mteval (srcset, refset, tstset) nor WMT XML (dataset). "
            "Read it as plain text, or name its format."
        )
    return (read_mteval if format == "mteval" else read_wmt_xml)(data, name=called, limits=limits)
