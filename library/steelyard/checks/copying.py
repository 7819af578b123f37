"""Checks for segments that were not translated."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from steelyard.checks.finding import Finding, Severity, make_finding
from steelyard.text.wording import number_of, ranges

if TYPE_CHECKING:
    from steelyard.checks.examined import AlignedOutput

_BETWEEN = re.compile(r"[\W_]+")
_LONG_WORD = re.compile(r"[^\W_]{4,}")
WORDS = 4
"""Words in a line to be compared; shorter lines are usually names, numbers and addresses."""
CHARACTERS = 12
"""The same in scripts without spaces."""
FEWEST, SHARE = 3, 0.01
"""Copied segments for a note; `SHARE` of all segments for a warning."""
MOST = 0.5
"""From this share on, the file is probably the source."""


def find_copies(examined: AlignedOutput) -> list[Finding]:
    """Find lines equal to their source segment, except for case and punctuation.

    Parameters
    ----------
    examined : AlignedOutput

    Returns
    -------
    list of Finding
    """
    sources = examined.sources
    if sources is None or _same_language(examined):
        return []
    copied = []
    for place, (line, source) in enumerate(zip(examined.lines, sources, strict=True)):
        if len(line) > 4 * len(source) + 16 or not _may_be(line, source):
            continue
        mine = folded(line)
        if not _is_long(mine) or mine != folded(source):
            continue
        if all(mine != folded(text[place]) for text in examined.references):
            copied.append(int(examined.numbers[place]))
    share = len(copied) / max(1, len(examined.lines))
    if len(copied) < min(FEWEST, len(examined.lines)):
        return []
    if share >= MOST:
        message = (
            f"{number_of(len(copied), 'segment')} of {len(examined.lines):,} are the source, untranslated. "
            "Is this the source file? Submit the output."
        )
        return [make_finding("copied", Severity.WARNING, message, copied)]
    # One line of a hundred may be a list of names, for instance.
    severity = Severity.WARNING if share >= SHARE else Severity.NOTE
    message = (
        f"{number_of(len(copied), 'segment')} {'is' if len(copied) == 1 else 'are'} the source, untranslated: "
        f"{ranges(copied)}. Check whether the system should have translated them."
    )
    return [make_finding("copied", severity, message, copied)]


def folded(line: str) -> str:
    """A line without case, punctuation and superfluous white space.

    Parameters
    ----------
    line : str

    Returns
    -------
    str
    """
    return _BETWEEN.sub(" ", line.casefold()).strip()


def _may_be(line: str, source: str) -> bool:
    """Return whether the first long word of a line is in the source: this excludes most lines quickly."""
    word = _LONG_WORD.search(line)
    return word is None or word[0].casefold() in source.casefold()


def _is_long(line: str) -> bool:
    return line.count(" ") + 1 >= WORDS or (not line.isascii() and len(line) >= CHARACTERS)


def _same_language(examined: AlignedOutput) -> bool:
    """Return whether the task is to correct a text rather than to translate it."""
    both = examined.source_language[:2].casefold(), examined.target_language[:2].casefold()
    return bool(both[0]) and both[0] == both[1]
