"""Texts that tests feed to metrics: real ones, and generated ones that try everything odd."""

from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st


@dataclass
class Campaign:
    """Texts as lists of lines."""

    references: dict[str, list[str]]
    systems: dict[str, list[str]]


def read_campaign(folder: Path) -> Campaign:
    def lines(path: Path) -> list[str]:
        return path.read_bytes().decode().removesuffix("\n").split("\n")

    return Campaign(
        {path.stem: lines(path) for path in sorted((folder / "refs").iterdir())},
        {path.stem: lines(path) for path in sorted((folder / "systems").iterdir())},
    )


def joined(lines: list[str]) -> bytes:
    return "\n".join(lines).encode()


# A small alphabet makes matches; the odd characters are those that split lines, words or letters elsewhere.
WORDS = [
    "a",
    "b",
    "a b",
    "the",
    "The",
    "cat",
    "5",
    "5.5",
    "3,",
    "...",
    "-",
    "1-2",
    "ß",
    "ΣΑΣ",
    "İ",
    "e\u0301",
    "é",
]
ODD = [
    "\u2028",
    "\u0085",
    "\u00a0",
    "\u3000",
    "\u200b",
    "\t",
    "\r",
    "\x0c",
    "漢字",
    "カナ",
    "مرحبا",
    "🙂",
    "&amp;",
    "&AMP;",
    "<skipped>",
    "<Skipped>",
]
segment = st.lists(st.sampled_from(WORDS + ODD), max_size=12).map(" ".join)


@st.composite
def campaigns(draw, max_segments: int = 6) -> Campaign:
    """Some systems and references of a few segments each, empty ones among them."""
    segments = draw(st.integers(1, max_segments))
    text = st.lists(segment, min_size=segments, max_size=segments)
    return Campaign(
        {f"R{i}": draw(text) for i in range(draw(st.integers(1, 3)))},
        {f"S{i}": draw(text) for i in range(draw(st.integers(1, 3)))},
    )
