"""Small made-up campaigns: words that match often, and what splits lines, words or letters elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# A small alphabet makes matches.
WORDS = (
    "a", "b", "a b", "the", "The", "cat", "cats", "sat", "5", "5.5", "3,", "...", "-", "1-2", "x=y:z|w", "_",
    "ß", "ΣΑΣ", "İ", "e\u0301", "é",
)  # fmt: skip
ODD_WORDS = (
    "\u2028", "\u0085", "\u00a0", "\u3000", "\u200b", "\t", "\r", "\x0c", "漢字", "カナ", "مرحبا", "🙂", "&amp;",
    "&AMP;", "&amp;lt;", "&quot;", "<skipped>", "<Skipped>",
    "cat's", "cat's.", "(cat's)", "'s", "他说：", "「漢字」。", "㊗",
)  # fmt: skip
ODD_SEGMENTS = (
    "",
    "word",
    "one two three",
    "long " * 3_000,
    "x" * 20_000,
    "Zur Zeit: 3,5 % (ca. 1.000-2.000)…",
    "first\u2028second\u2029third\u0085fourth\x0cfifth",
    "نص عربي mixed with עברית and 漢字かな交じり文",
    "e\u0301 = é, but not to a machine",
    "\u200b\u00a0\u3000\t",
    "🙂🙃 🙂",
    "word",
)


@dataclass
class Campaign:
    """Texts as lists of lines, all of the same length, by label and by name."""

    references: Mapping[str, Sequence[str]]
    systems: Mapping[str, Sequence[str]]
    source: Sequence[str] | None = None
    """What was translated; metrics that read it cannot score a campaign without."""

    @property
    def segments(self) -> int:
        """How many lines each text has."""
        return len(next(iter(self.systems.values())))

    def rearranged(self, positions: Sequence[int]) -> Campaign:
        """The segments at these positions, in their order.

        Parameters
        ----------
        positions : sequence of int

        Returns
        -------
        Campaign
        """
        return Campaign(
            {label: [lines[i] for i in positions] for label, lines in self.references.items()},
            {name: [lines[i] for i in positions] for name, lines in self.systems.items()},
            None if self.source is None else [self.source[i] for i in positions],
        )


def odd_campaign() -> Campaign:
    """Two references and two systems of odd segments; the second system is the first reference.

    Returns
    -------
    Campaign
    """
    odd = list(ODD_SEGMENTS)
    return Campaign({"R0": odd, "R1": odd[::-1]}, {"S0": [*odd[1:], ""], "S1": odd}, [*odd[2:], "", ""])


def generated_campaigns(number: int, seed: int = 1) -> Iterator[Campaign]:
    """So many campaigns, always the same for the same seed: the odd one first, then random ones that grow.

    Parameters
    ----------
    number : int
    seed : int, optional
    """
    if number:
        yield odd_campaign()
    random = Random(seed)  # noqa: S311 - nothing secret
    for index in range(1, number):
        segments = random.randint(1, 1 + 6 * index // number)
        references, systems = random.randint(1, 3), random.randint(1, 3)
        yield Campaign(
            {f"R{i}": [_segment(random) for _ in range(segments)] for i in range(references)},
            {f"S{i}": [_segment(random) for _ in range(segments)] for i in range(systems)},
            [_segment(random) for _ in range(segments)],
        )


def _segment(random: Random) -> str:
    odd = random.random() < 0.3
    return " ".join(random.choices(WORDS + ODD_WORDS if odd else WORDS, k=random.randint(0, 12)))
