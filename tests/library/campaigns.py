"""Texts that tests feed to metrics: real ones, and generated ones that try everything odd."""

from pathlib import Path

from hypothesis import strategies as st

from steelyard.conformance.campaign import ODD_WORDS, WORDS, Campaign
from steelyard.conformance.subject import joined as joined


def read_campaign(folder: Path) -> Campaign:
    def lines(path: Path) -> list[str]:
        return path.read_bytes().decode().removesuffix("\n").split("\n")

    return Campaign(
        {path.stem: lines(path) for path in sorted((folder / "refs").iterdir())},
        {path.stem: lines(path) for path in sorted((folder / "systems").iterdir())},
    )


segment = st.lists(st.sampled_from(WORDS + ODD_WORDS), max_size=12).map(" ".join)


@st.composite
def campaigns(draw, max_segments: int = 6) -> Campaign:
    """Some systems and references of a few segments each, empty ones among them."""
    segments = draw(st.integers(1, max_segments))
    text = st.lists(segment, min_size=segments, max_size=segments)
    return Campaign(
        {f"R{i}": draw(text) for i in range(draw(st.integers(1, 3)))},
        {f"S{i}": draw(text) for i in range(draw(st.integers(1, 3)))},
    )
