"""What looks at an output before it is queued: every check of `campaigns.checks`."""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

from steelyard.checks.check import CHECKS
from steelyard.checks.context import CheckContext, OtherOutput
from steelyard.checks.examined import MAX_LINE_LENGTH, AlignedOutput, align_output
from steelyard.checks.twins import find_twins
from tests.growth.families import FAMILIES, Family, in_turn, numbered
from tests.growth.measuring import Subject
from tests.growth.readers import clean

WIDTH = 24
"""Characters of a line, where the lines are to become more."""
RARE = 24
"""Lines that share a word, few enough for it to be recognised by: how lines are found that belong elsewhere."""


def _shared(size: int) -> str:
    """Words that a few lines share each, so that each of these lines may belong where the others are."""
    lines = size // WIDTH + 1
    return "".join(f"{f'w{number % (lines // RARE + 1)} w{number // RARE} ':{WIDTH}}" for number in range(lines))[:size]


FIRST, LATER = "ÃÄÅÆÇÈÉÊÎÏÐÑ×ØÙ", "€‚ƒ„†‡ˆ‰\x81\x8d\x8f\x90\x9d¡¢£¤¥¦¨©ª¬¯°±²³´µ¶·¸¹º¼½¾¿˜"
"""What letters of two bytes look like that were encoded twice."""
LOADING = 50_000_000
"""Instructions that SciPy and NumPy take before they begin, about: they would hide how the rest grows."""
OWN: dict[str, Family] = {
    "pieces encoded twice, all different": lambda size: " ".join(map("".join, product(FIRST, LATER)))[:size],
    "lines that share words": _shared,
    "words that stand far away": numbered("naïve{} "),
}
"""Families for checks alone."""


def _cut(text: str) -> list[str]:
    """Lines: those that the text has, else of one length."""
    if "\n" in text:
        return text.split("\n")
    return [text[start : start + WIDTH] for start in range(0, len(text), WIDTH)] or [""]


SHAPES: dict[str, tuple[Callable[[str], list[str]], Callable[[list[str]], list[str]]]] = {
    "one line, the same beside it": (lambda text: [text.replace("\n", " ")], lambda lines: lines),
    "one line, its words in reverse order beside it": (
        lambda text: [text.replace("\n", " ")],
        lambda lines: [" ".join(reversed(lines[0].split(" ")))],
    ),
    "lines, the same beside them": (_cut, lambda lines: lines),
    "lines in reverse order": (_cut, lambda lines: lines[::-1]),
    "lines, halves exchanged": (_cut, lambda lines: lines[len(lines) // 2 :] + lines[: len(lines) // 2]),
}
"""How a text becomes lines, and what these are held against."""


def _held(text: str, shape: str) -> tuple[bytes, CheckContext]:
    """An output, and what it is held against."""
    cut, beside = SHAPES[shape]
    lines = cut(clean(text))
    joined = "\n".join(beside(lines)).encode()
    standard = CheckContext(
        segments=len(lines),
        source=joined,
        references=[joined] if len(lines) % 2 else [],
        source_language="en",
        target_language="de",
        others=[OtherOutput("another", joined)],
    )
    return "\n".join(lines).encode(), standard


def _checking(check: Callable[[AlignedOutput], object]) -> Callable[[str, str], Callable[[], object]]:
    def make(text: str, shape: str) -> Callable[[], object]:
        output, standard = _held(text, shape)
        examined = align_output(output, standard)
        return lambda: check(examined)

    return make


def _examining(text: str, shape: str) -> Callable[[], object]:
    output, standard = _held(text, shape)
    return lambda: align_output(output, standard)


def _twins(text: str, shape: str) -> Callable[[], object]:
    output, standard = _held(text, shape)
    return lambda: find_twins(output, standard.others)


def subjects() -> Iterator[Subject]:
    """Every check, and what they stand on."""
    made = {check.__name__: _checking(check) for check in CHECKS}
    made |= {"examine": _examining, "find_twins": _twins}
    for number, (name, make) in enumerate(made.items()):
        for place, shape in enumerate(SHAPES):
            # Each family in one of the shapes.
            families = {family: FAMILIES[family] for family in in_turn(number)[place :: len(SHAPES)]} | OWN
            more: dict[str, Any] = {}
            if shape.startswith("one line"):
                # No more of a line is looked at, and that much is soon counted.
                more = {"sizes": (16, 128, MAX_LINE_LENGTH // 4, MAX_LINE_LENGTH), "dear": LOADING}
            elif name == "find_misplaced":
                more = {"dear": LOADING}
            for family, text in families.items():
                yield Subject(
                    f"{name}, {shape}: {family}",
                    lambda size, make=make, text=text, shape=shape: make(text(size), shape),
                    **more,
                )
