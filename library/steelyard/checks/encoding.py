"""Checks for damaged characters."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from steelyard.checks.finding import Finding, Severity, make_finding
from steelyard.text.wording import number_of, ranges

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard.checks.examined import AlignedOutput

REPLACEMENT = "\ufffd"
_CONTROL = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]")
_INVISIBLE = re.compile("[\ufeff\u202a-\u202e\u2066-\u2069\ue000-\uf8ff\ufff9-\ufffb\U000e0000-\U000e007f]")

# What Windows-1252 and Latin-1 show for the bytes 80 to BF, which are never the first of a character of UTF-8.
_LATER = "".join(
    {bytes([code]).decode(each, "ignore"): 0 for each in ("cp1252", "latin1") for code in range(0x80, 0xC0)}
)
# "É»" is a letter before a quotation mark, rather than a letter of phonetics: such pairs are not counted.
_LETTERS = re.sub("[«»“”‘’‹›…–—·®™°§\u00a0]", "", _LATER)
# "Úžasné" is a word; Ã, Ä and Å before such a letter are none in any language.
_NO_LETTERS = re.sub("[šžŠŽœŒŸƒ]", "", _LETTERS)
_TWICE_ENCODED = re.compile(
    f"[\u00c3-\u00c5][{re.escape(_LETTERS)}]|[\u00c6-\u00ca\u00ce-\u00d1\u00d7-\u00d9][{re.escape(_NO_LETTERS)}]|"
    # Characters of three bytes are punctuation, or of scripts in which they come one after the other.
    f"\u00c2[\u00a0-\u00bf]|\u00e2[\u20ac\u201a\u201e\x80-\x84][{re.escape(_LATER)}]|"
    f"(?:[\u00e0-\u00ef][{re.escape(_LATER)}]{{2}}){{2,}}|\u00f0[{re.escape(_LATER)}]{{3}}"
)
FEWEST_TWICE = 2
"""Places that look encoded twice: a single one may be a coincidence."""
TRIED = 50
"""Such places of a line that are searched for in the line beside it."""


def find_encoding_errors(examined: AlignedOutput) -> list[Finding]:
    """Find replacement characters, text encoded twice, and control and invisible characters.

    Parameters
    ----------
    examined : AlignedOutput

    Returns
    -------
    list of Finding
    """
    findings = []
    if lost := _places(examined, lambda line: REPLACEMENT in line):
        findings.append(
            make_finding(
                "replacement",
                Severity.WARNING,
                f"{_segments(lost)}: the character U+FFFD, which replaces characters lost in decoding. "
                "Export the output again from an intact copy.",
                lost,
            )
        )
    if twice := _twice_encoded(examined):
        findings.append(
            make_finding(
                "mojibake",
                Severity.WARNING,
                f"{_segments(twice)}: text that looks encoded twice, such as Ã© for é. Read and write it as UTF-8 at "
                "every step.",
                twice,
            )
        )
    if control := _places(examined, lambda line: _CONTROL.search(line) is not None):
        findings.append(
            make_finding(
                "control",
                Severity.WARNING,
                f"{_segments(control)}: control characters, which are invisible but counted by every metric. "
                "Remove them.",
                control,
            )
        )
    if invisible := _places(examined, lambda line: _INVISIBLE.search(line) is not None):
        findings.append(
            make_finding(
                "invisible",
                Severity.NOTE,
                f"{_segments(invisible)}: invisible or private-use characters (such as byte-order and direction "
                "marks). Metrics count them.",
                invisible,
            )
        )
    return findings


def _twice_encoded(examined: AlignedOutput) -> list[int]:
    count, numbers = 0, []
    for place, line in enumerate(examined.lines):
        if line.isascii():
            continue
        tried = islice(_TWICE_ENCODED.finditer(line), TRIED)
        odd = (each[0] for each in tried if not _elsewhere(examined, place, each[0]))
        if here := len(list(islice(odd, FEWEST_TWICE))):
            count += here
            numbers.append(int(examined.numbers[place]))
    return numbers if count >= FEWEST_TWICE else []


def _places(examined: AlignedOutput, odd: Callable[[str], bool]) -> list[int]:
    """Return segments for which the predicate holds for the output, but not for the source or reference."""
    beside = examined.meant
    return [
        int(examined.numbers[place])
        for place, line in enumerate(examined.lines)
        if odd(line) and not (beside is not None and odd(beside[place]))
    ]


def _elsewhere(examined: AlignedOutput, place: int, piece: str) -> bool:
    beside = examined.meant
    return beside is not None and piece in beside[place]


def _segments(numbers: list[int]) -> str:
    return f"{number_of(len(numbers), 'segment')} ({ranges(numbers)})"
