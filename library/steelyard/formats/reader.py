"""What a format is: its name, how it is recognised, and a function that reads it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from steelyard.formats.markup.limits import DEFAULT_MARKUP_LIMITS, MarkupLimits
from steelyard.text.limits import DEFAULT_LIMITS, TextLimits

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard.formats.input.contents import Contents
    from steelyard.formats.markup.documents import MarkedFile, Role
    from steelyard.formats.plain import Text

    Read: TypeAlias = Callable[[Contents, "Reading"], Text | MarkedFile]


class Kind(StrEnum):
    """What a file of a format holds, and how its segments are matched with those of others."""

    LINES = "lines"
    """One text, whose segments are matched by position."""
    SIDES = "sides"
    """Several sides of a document, of which one is read; matched by position."""
    IDS = "ids"
    """Texts matched by ids; whoever gives the file says whose they are."""
    DOCUMENTS = "documents"
    """Texts matched by ids; the file itself names source, references and systems."""

    @property
    def has_ids(self) -> bool:
        """Whether segments are matched by ids: what is read is a MarkedFile, else a Text."""
        return self in (Kind.IDS, Kind.DOCUMENTS)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a file is read for."""

    part: str | None = None
    """The side to read, for formats of the kind SIDES."""
    role: Role | None = None
    """What its text is, for formats of the kind IDS; None: what the file says."""
    label: str = ""
    """The name of the reference or system that it is, for formats of the kind IDS."""
    limits: TextLimits = DEFAULT_LIMITS
    markup_limits: MarkupLimits = DEFAULT_MARKUP_LIMITS
    """Those of formats with ids."""
    paragraphs: bool = False
    """Whether a row that is a whole document is cut at blank lines, for formats of the kind IDS."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A format: one file and one line in `steelyard.formats.registry`, or an entry point `steelyard.formats`."""

    name: str
    """As `--input-format` takes it, in lower case."""
    title: str
    """As messages and help call it: "CoNLL-U"."""
    endings: tuple[str, ...]
    """Of file names, in lower case and with the dot, the usual one first. They are cut off to name a system."""
    kind: Kind
    sniff: Callable[[bytes], bool]
    """Whether a file is in this format, by its first 64 KiB, unpacked; never raises."""
    read: Read
    """Raises BadText, with file, line and what to do."""
    layers: tuple[str, ...] = ()
    """The linguistic layers that it can bring."""
