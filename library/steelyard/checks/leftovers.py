"""Checks for missing postprocessing: subwords, markup, spaced punctuation, lost capitals."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from steelyard.checks.finding import Finding, Severity, make_finding
from steelyard.text.wording import number_of, ranges

if TYPE_CHECKING:
    from steelyard.checks.examined import AlignedOutput

_SUBWORDS = re.compile(r"@@(?: |$)|\u2581|(?:^| )##\w|\u0120\w")
_TOKENS = re.compile(
    r"<(?:unk|s|/s|pad|mask|eos|bos|sep|2[a-z]{2}|\|endoftext\|)>|\[(?:UNK|PAD|MASK|CLS|SEP)\]|<\|[a-z_]+\|>"
)
_ENTITIES = re.compile(r"&(?:amp|lt|gt|quot|apos|nbsp|#\d{1,6}|#x[0-9a-f]{1,6}|#91|#93);", re.IGNORECASE)
_SPACED = re.compile(r"\w (?:[.,;:!?]|'s|n't)(?: |$)")
KINDS = (
    ("subwords", _SUBWORDS, "subwords that were not joined, such as mo@@ les or \u2581moles",
     "Join them: metrics count each subword as a word."),
    ("special_tokens", _TOKENS, "special tokens of a decoder, such as <unk> or </s>", "Remove them."),
    ("entities", _ENTITIES, "escaped characters, such as &quot;", "Write the characters themselves."),
)  # fmt: skip
FEW = 0.01
"""Of the segments: fewer may be part of the text's subject."""
MOSTLY = 0.3
"""Of the segments, or of the capitals of the source."""
ENOUGH = 30
"""Minimum number of segments for habits."""


def find_leftovers(examined: AlignedOutput) -> list[Finding]:
    """Find traces of tokenization, decoding and other processing steps.

    Parameters
    ----------
    examined : AlignedOutput

    Returns
    -------
    list of Finding
    """
    findings = []
    for code, pattern, what, advice in KINDS:
        places = _new(examined, pattern)
        if places:
            severity = Severity.WARNING if len(places) > FEW * len(examined.lines) else Severity.NOTE
            message = f"{number_of(len(places), 'segment')} ({ranges(places)}): {what}. {advice}"
            findings.append(make_finding(code, severity, message, places))
    return [*findings, *_tokenized(examined), *_without_capitals(examined)]


def _new(examined: AlignedOutput, pattern: re.Pattern[str]) -> list[int]:
    """Return segments where the pattern is in the output but not in the source or reference."""
    beside = examined.meant
    return [
        int(examined.numbers[place])
        for place, line in enumerate(examined.lines)
        if pattern.search(line) and not (beside is not None and pattern.search(beside[place]))
    ]


def _tokenized(examined: AlignedOutput) -> list[Finding]:
    places = _new(examined, _SPACED)
    if len(examined.lines) < ENOUGH or len(places) < MOSTLY * len(examined.lines):
        return []
    message = (
        f"{number_of(len(places), 'segment')} have a space before punctuation: the output looks tokenized. Submit "
        "detokenized text; metrics tokenize it themselves."
    )
    return [make_finding("tokenized", Severity.WARNING, message, places)]


def _without_capitals(examined: AlignedOutput) -> list[Finding]:
    beside = examined.meant
    if beside is None or len(examined.lines) < ENOUGH:
        return []
    wanted = sum(any(map(str.isupper, line)) for line in beside)
    there = sum(any(map(str.isupper, line)) for line in examined.lines)
    cased = sum(any(map(str.islower, line)) for line in examined.lines)
    if wanted < MOSTLY * len(beside) or cased < MOSTLY * len(beside) or there > 0.02 * wanted:
        return []
    message = "The output has almost no capital letters. Submit truecased text, unless this is intended."
    return [Finding("no_capitals", Severity.WARNING, message)]
