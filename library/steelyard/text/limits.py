"""How large a text may be before it is refused."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.errors import BadText
from steelyard.text.wording import number_of


class OverLimit(BadText):
    """The text is larger than a limit allows. Split it, or raise the limit."""


@dataclass(frozen=True, slots=True)
class TextLimits:
    """Bounds on one file of lines or of linguistic layers.

    The defaults leave room for every test set ever published and still stop a mistaken file
    (a disk image, a corpus without line ends) before it fills the memory.
    """

    file_bytes: int = 1 << 30
    """Bytes of one file, as it lies on the disk and unpacked: 1 GiB."""

    segment_characters: int = 1_000_000
    """Unicode characters of one line: a million."""

    segments: int = 20_000_000
    """Lines, sentences or bundles of one file: 20 million."""

    expansion: int = 100
    """How many times its size a packed file may have when it is unpacked, once that is more than 16 MiB."""

    depth: int = 2000
    """Elements inside one another in TectoMT and Treex; a word at depth n of a tree is at depth 2n or less."""

    elements: int = 20_000_000
    """Elements of one TectoMT or Treex document, some hundreds for each sentence; lines of one in CoNLL-U."""

    nodes: int = 50_000
    """Nodes of one bundle, all its trees together; words of one sentence in CoNLL-U."""

    attributes: int = 32
    """Attributes of one tag in TectoMT and Treex."""

    field_characters: int = 10_000
    """Characters of one field of a node (a form, a lemma), and of one attribute."""

    systems: int = 2000
    """Systems and their runs in one campaign, and files of one command."""

    held_bytes: int | None = None
    """Bytes of a plain file from which on its text is not held in memory, but read again for each use; None: never."""

    file_bytes_setting: str | None = None
    """What allows larger files, for messages; None where readers of the message cannot change it."""


DEFAULT_LIMITS = TextLimits()

STORING_LIMITS = TextLimits(held_bytes=16 << 20)
"""For texts that are only checked and stored: those of more than 16 MiB are not held."""


def too_large(name: str, limits: TextLimits) -> OverLimit:
    """The error about a file of more than `file_bytes`.

    Parameters
    ----------
    name : str
        Of the file, and how it is measured.
    limits : TextLimits

    Returns
    -------
    OverLimit
    """
    raised = f", or raise the limit with {limits.file_bytes_setting}" if limits.file_bytes_setting else ""
    return OverLimit(f"{name}: larger than {limits.file_bytes:,} bytes. Split the file{raised}.")


def check_systems(amount: int, where: object, limits: TextLimits) -> None:
    """Raise OverLimit for more systems than may be read at once.

    Parameters
    ----------
    amount : int
    where : object
    limits : TextLimits
    """
    if amount > limits.systems:
        raise OverLimit(
            f"{where}: {number_of(amount, 'system')} and runs are more than the {limits.systems:,} that are allowed. "
            "Score a part of them, or raise the limit with STEELYARD_MOST_SYSTEMS."
        )
