"""Campaigns of any size from a seed: no real data, but lengths, words and overlaps much as in real ones.

A reference is drawn word by word (Zipf's law, lengths log-normal with 20 words in the middle); a system's output is the
reference with words replaced, left out, put in and put elsewhere, each system with a rate of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

VOCABULARY = 40_000
AT_ONCE = 20_000
"""Segments made in one step, which bounds the memory."""
LONGEST = 120
LETTERS = np.array(list("aaábcčdeeéěfghiíjklmnoópqrřsštuúůvxyýzž"))


def write_campaign(folder: Path, systems: int, segments: int, seed: int = 1) -> Path:
    """Write source.txt, refs/A.txt and systems/S001.txt ... of so many segments; the folder."""
    words = _vocabulary(np.random.default_rng([seed, 0]))
    for name in ("refs", "systems"):
        (folder / name).mkdir(parents=True)
    paths = [folder / "systems" / f"S{number:03}.txt" for number in range(1, systems + 1)]
    rates = np.linspace(0.15, 0.45, systems) if systems > 1 else np.array([0.3])
    with (folder / "source.txt").open("wb") as source, (folder / "refs" / "A.txt").open("wb") as reference:
        files = [path.open("wb") for path in paths]
        for begin in range(0, segments, AT_ONCE):
            draws = np.random.default_rng([seed, 1, begin])
            ids, last = _reference(draws, min(AT_ONCE, segments - begin))
            reference.write(_lines(words, ids, last))
            # Another language: the same lengths, other words.
            source.write(_lines(words, (ids * 7 + 3) % VOCABULARY, last))
            for number, (file, rate) in enumerate(zip(files, rates, strict=True)):
                file.write(_lines(words, *_output(np.random.default_rng([seed, 2 + number, begin]), ids, last, rate)))
        for file in files:
            file.close()
    return folder


def _vocabulary(draws: np.random.Generator) -> NDArray[np.object_]:
    lengths = draws.integers(1, 4, VOCABULARY) + draws.integers(0, 5, VOCABULARY)
    letters = LETTERS[draws.integers(0, len(LETTERS), int(lengths.sum()))]
    ends = np.cumsum(lengths)
    words = ["".join(letters[end - length : end]) for end, length in zip(ends, lengths, strict=True)]
    return np.array([word + " " for word in words] + [word + ".\n" for word in words], dtype=object)


def _words(draws: np.random.Generator, amount: int) -> NDArray[np.int64]:
    """Zipf's law by inverting a continuous version of it."""
    return (np.exp(draws.random(amount) * np.log(VOCABULARY)) - 1).astype(np.int64)


def _reference(draws: np.random.Generator, segments: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Word numbers of all segments one after the other, and which are the last of a segment."""
    lengths = np.clip(np.exp(draws.normal(np.log(18), 0.6, segments)), 1, LONGEST).astype(np.int64)
    last = np.zeros(int(lengths.sum()), np.bool_)
    last[np.cumsum(lengths) - 1] = True
    return _words(draws, len(last)), last


def _output(
    draws: np.random.Generator, ids: NDArray[np.int64], last: NDArray[np.bool_], rate: float
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    ids, what = ids.copy(), draws.random(len(ids))
    replaced = what < 0.5 * rate
    ids[replaced] = _words(draws, int(replaced.sum()))
    # Neighbours change places, never across the end of a segment.
    (at,) = np.nonzero((what >= 0.9) & (what < 0.9 + 0.1 * rate))
    at = at[at + 1 < len(ids)]
    at = at[~last[at]]
    ids[at], ids[at + 1] = ids[at + 1], ids[at]
    # 0: left out, 2: put in once more; the last word of a segment stays, so no segment gets lost.
    times = np.ones(len(ids), np.int64)
    times[(what >= 0.5) & (what < 0.5 + 0.2 * rate) & ~last] = 0
    times[(what >= 0.7) & (what < 0.7 + 0.15 * rate) & ~last] = 2
    return np.repeat(ids, times), np.repeat(last, times)


def _lines(words: NDArray[np.object_], ids: NDArray[np.int64], last: NDArray[np.bool_]) -> bytes:
    return "".join(words[ids + VOCABULARY * last].tolist()).encode()
