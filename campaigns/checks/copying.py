"""Segments that were not translated."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from campaigns.checks.finding import Finding, Severity, found
from metrics.text.wording import number_of, ranges

if TYPE_CHECKING:
    from campaigns.checks.examined import Examined

_BETWEEN = re.compile(r"[\W_]+")
_LONG_WORD = re.compile(r"[^\W_]{4,}")
WORDS = 4
"""Letters and digits stand together in words; shorter lines are names, numbers and addresses as a rule."""
CHARACTERS = 12
"""The same in scripts without blanks between words."""
FEWEST, SHARE = 3, 0.01
"""Copied segments that are worth a note, and the share of all that is worth a warning."""
MOST = 0.5
"""From this share on the whole file is the wrong one."""


def find_copies(examined: Examined) -> list[Finding]:
    """Lines that are those of the source, but for case and punctuation."""
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
            "Is this the file of the source? Hand in the output."
        )
        return [found("copied", Severity.WARNING, message, copied)]
    # A system that leaves one line of a hundred alone has met a list of names, say.
    severity = Severity.WARNING if share >= SHARE else Severity.NOTE
    message = (
        f"{number_of(len(copied), 'segment')} {'is' if len(copied) == 1 else 'are'} the source, untranslated: "
        f"{ranges(copied)}. Look whether the system was meant to translate them."
    )
    return [found("copied", severity, message, copied)]


def folded(line: str) -> str:
    """A line without case, punctuation and white space at its ends and between its words."""
    return _BETWEEN.sub(" ", line.casefold()).strip()


def _may_be(line: str, source: str) -> bool:
    """Whether the first long word of a line stands in the source: most lines need no second look."""
    word = _LONG_WORD.search(line)
    return word is None or word[0].casefold() in source.casefold()


def _is_long(line: str) -> bool:
    return line.count(" ") + 1 >= WORDS or (not line.isascii() and len(line) >= CHARACTERS)


def _same_language(examined: Examined) -> bool:
    """Whether the task is to correct a text rather than to translate it."""
    both = examined.source_language[:2].casefold(), examined.target_language[:2].casefold()
    return bool(both[0]) and both[0] == both[1]
