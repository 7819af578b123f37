"""How well each line fits each segment: by the rare words that they share, and by their lengths.

Against references, words are compared; against a source in another language, what both have in common: numbers, and
the beginnings of words, which names and loan words keep. Where nothing is shared, as between two scripts, lengths are
left, which tell a shift of some twenty segments.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.text.words import words
from steelyard.text.normalization import normalized

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from steelyard.checks.examined import AlignedOutput

LEAST_COMPARED, COMPARED, MOST_COMPARED = 100, 1_000, 1_500_000
"""Characters of a line whose words are compared: at least, at most, and of all lines of a text together at most."""
RARE = 30
"""A word that is in more segments tells little, and costs most."""
BEGINNING, SHORTEST = 5, 4
"""Of a word that is looked for in another language: the letters that count, and the least that it must have."""
KEPT, KEPT_WORDS = 40, 50_000
"""Letters of a word whose beginning is kept, and how many are."""
CLIPPED = 8.0
"""What the shared words of one segment count for at most, in nats: they are not independent of one another."""
SPREAD = 0.35
"""Standard deviation of the logarithm of how many characters a translation has for one of the source."""
ADDED = 5
"""Characters that are added to each length, since the lengths of short segments vary more."""
WORD_WEIGHT, LENGTH_WEIGHT = 0.5, 0.5
"""By which nats are multiplied: neither words nor lengths of neighbours are independent, nor the two of each other."""
LENGTH_CLIPPED = 2.0
NO_BLANKS = re.compile(
    "([\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])"
)
"""Scripts that put no blanks between words: there pairs of characters count as words."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """A sparse matrix of lines and segments: by row, then by column."""

    shape: tuple[int, int]
    row: NDArray[np.int64]
    col: NDArray[np.int64]
    data: NDArray[np.float64]

    def diagonal(self, offset: int) -> NDArray[np.float64]:
        """The values of line i and segment i + offset, from the first such line on.

        Parameters
        ----------
        offset : int

        Returns
        -------
        ndarray of float64
        """
        rows, columns = self.shape
        first = max(0, -offset)
        found = np.zeros(min(rows, columns - offset) - first)
        on_it = self.col - self.row == offset
        found[self.row[on_it] - first] = self.data[on_it]
        return found


@dataclass(frozen=True, eq=False)
class Matching:
    """An output and what it is held against, which need not have as many lines."""

    evidence: Evidence
    """(lines, segments), sparse: how much rarer than by chance are the words that the two share, in nats."""
    lines: NDArray[np.float64]
    """(lines,): logarithm of the length of each line, as long as the other side's on the whole; NaN where empty."""
    segments: NDArray[np.float64]
    """(segments,): logarithm of the length of each segment; NaN where empty."""

    def at(self, offset: int) -> NDArray[np.float64]:
        """The evidence that line i belongs to segment i + offset.

        Parameters
        ----------
        offset : int

        Returns
        -------
        ndarray of float64, shape (lines,)
            0 where there is no such segment.
        """
        found = np.zeros(self.evidence.shape[0])
        if -self.evidence.shape[0] < offset < self.evidence.shape[1]:
            diagonal = self.evidence.diagonal(offset)
            begin = max(0, -offset)
            found[begin : begin + len(diagonal)] = diagonal
        return found

    @cached_property
    def here(self) -> NDArray[np.float64]:
        """(lines,): the evidence that each line is where it belongs."""
        return self.at(0)

    def gains(self, offset: int) -> NDArray[np.float64]:
        """How much stronger the evidence is for segment i + offset than for segment i.

        Parameters
        ----------
        offset : int

        Returns
        -------
        ndarray of float64, shape (lines,)
            -inf where there is no such segment.
        """
        gain = np.clip(self.at(offset) - self.here, -CLIPPED, CLIPPED) * WORD_WEIGHT
        gain += np.clip(self._alike(offset) - self._alike(0), -LENGTH_CLIPPED, LENGTH_CLIPPED)
        return np.where(self._exists(offset), gain, -np.inf)

    def fits(self, offset: int) -> NDArray[np.float64]:
        """How much stronger the evidence is for segment i + offset than for any segment at random.

        Parameters
        ----------
        offset : int

        Returns
        -------
        ndarray of float64, shape (lines,)
        """
        fit = np.minimum(self.at(offset), CLIPPED) * WORD_WEIGHT
        fit += np.clip(self._alike(offset), -LENGTH_CLIPPED, LENGTH_CLIPPED)
        return np.where(self._exists(offset), fit, 0.0)

    def _exists(self, offset: int) -> NDArray[np.bool_]:
        there = np.arange(len(self.lines)) + offset
        return (there >= 0) & (there < len(self.segments))

    def _alike(self, offset: int) -> NDArray[np.float64]:
        """(lines,): how much likelier the two lengths are in a translation than in two texts; 0 where one is empty."""
        there = np.clip(np.arange(len(self.lines)) + offset, 0, len(self.segments) - 1)
        apart = self.lines - self.segments[there]
        # Two lengths that have nothing to do with each other differ by this much.
        by_chance = max(SPREAD, deviation(self.segments) * np.sqrt(2))
        squares = np.minimum((apart / SPREAD) ** 2, 9.0) - np.minimum((apart / by_chance) ** 2, 9.0)
        likelier = np.log(by_chance / SPREAD) - squares / 2
        told: NDArray[np.float64] = np.nan_to_num(likelier * LENGTH_WEIGHT)
        return told

    @cached_property
    def elsewhere(self) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
        """(lines,) each: the most evidence for any segment but its own, which one that is, and the next most."""
        pairs = self.evidence
        other = pairs.row != pairs.col
        rows, columns, values = pairs.row[other], pairs.col[other], pairs.data[other]
        order = np.lexsort((-values, rows))
        rows, columns, values = rows[order], columns[order], values[order]
        lines, first, counts = np.unique(rows, return_index=True, return_counts=True)
        best, which, next_best = (
            np.zeros(len(self.lines)),
            np.full(len(self.lines), -1, np.int64),
            np.zeros_like(self.lines),
        )
        best[lines], which[lines] = values[first], columns[first]
        several = counts > 1
        next_best[lines[several]] = values[first[several] + 1]
        return best, which, next_best


def match_output(examined: AlignedOutput, lines: Sequence[str] | None = None) -> Matching | None:
    """Compare the lines of an output with its references, or else with its source.

    Parameters
    ----------
    examined : AlignedOutput
    lines : sequence of str, optional
        Instead of the output's own.

    Returns
    -------
    Matching or None
        None without references and source.
    """
    lines = examined.lines if lines is None else lines
    if examined.references:
        joined = [" ".join(texts) for texts in zip(*examined.references, strict=True)]
        return match(lines, joined, lengths_of(*examined.references), same_language=True)
    if examined.sources is None:
        return None
    same = bool(examined.source_language) and examined.source_language == examined.target_language
    return match(lines, examined.sources, lengths_of(examined.sources), same_language=same)


def match(
    lines: Sequence[str], segments: Sequence[str], lengths: NDArray[np.float64], *, same_language: bool
) -> Matching:
    """Compare all lines with all segments.

    Parameters
    ----------
    lines, segments : sequence of str
    lengths : ndarray of float64, shape (segments,)
        Of the segments, in characters.
    same_language : bool
        Whether lines and segments are in one language, so that their words can be compared.

    Returns
    -------
    Matching
    """
    mine = lengths_of(lines)
    scale = np.log(mine.sum() + 1) - np.log(lengths.sum() + 1)
    return Matching(
        _evidence(lines, segments, _word if same_language else _beginning),
        np.where(mine > 0, np.log(mine + ADDED), np.nan) - scale,
        np.where(lengths > 0, np.log(lengths + ADDED), np.nan),
    )


def deviation(values: NDArray[np.float64]) -> float:
    """The standard deviation of the values that are not NaN.

    Parameters
    ----------
    values : ndarray of float64

    Returns
    -------
    float
        0 without values.
    """
    there = values[~np.isnan(values)]
    return float(there.std()) if len(there) else 0.0


def lengths_of(*texts: Sequence[str]) -> NDArray[np.float64]:
    """The lengths of segments in characters.

    Parameters
    ----------
    *texts : sequence of str
        The lines of each text.

    Returns
    -------
    ndarray of float64, shape (segments,)
        The mean of those texts that have the segment.
    """
    lengths = np.array([[len(line) for line in text] for text in texts], np.float64)
    mean: NDArray[np.float64] = lengths.sum(axis=0) / np.maximum(1, (lengths > 0).sum(axis=0))
    return mean


def _evidence(lines: Sequence[str], segments: Sequence[str], key_of: Callable[[str], str]) -> Evidence:
    count, total = len(lines), len(segments)
    rows, features = _features([*lines, *segments], key_of)
    kinds = int(features.max(initial=-1)) + 1
    mine = rows < count
    in_lines = np.bincount(features[mine], minlength=kinds)
    in_segments = np.bincount(features[~mine], minlength=kinds)
    telling = (in_segments > 0) & (in_segments <= RARE) & (in_lines > 0) & (in_lines <= 4 * RARE)
    weights = np.where(telling, np.log(max(total, 2) / np.maximum(in_segments, 1)), 0.0)
    kept = telling[features]
    rows, features, mine = rows[kept], features[kept], mine[kept]
    # Every line beside every segment that has the same feature, in the order of the features.
    lines_of, segments_of = np.argsort(features[mine], kind="stable"), np.argsort(features[~mine], kind="stable")
    of_line, of_segment = features[mine][lines_of], features[~mine][segments_of]
    begins = np.searchsorted(of_segment, of_line, "left")
    many = np.searchsorted(of_segment, of_line, "right") - begins
    places = np.repeat(begins - np.cumsum(many) + many, many) + np.arange(many.sum())
    pairs = np.repeat(rows[mine][lines_of], many) * total + (rows[~mine] - count)[segments_of][places]
    found, numbers = np.unique(pairs, return_inverse=True)
    values = np.zeros(len(found))
    np.add.at(values, numbers, weights[of_segment[places]])
    return Evidence((count, total), found // max(total, 1), found % max(total, 1), values)


def _features(texts: Sequence[str], key_of: Callable[[str], str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What each text has, each once: (row, number of a word or of a pair of characters)."""
    compared = min(COMPARED, max(LEAST_COMPARED, 2 * MOST_COMPARED // len(texts)))
    joined = "\n".join([text[:compared] for text in texts]).lower()
    # A table of the characters that there are: one replacement for each match takes four times as long.
    if alone := NO_BLANKS.findall("".join(set(joined))):
        joined = joined.translate({ord(character): f" {character} " for character in alone})
    found = words(joined.encode(), len(texts), mteval_13a=True)
    types = found.lines.decode().split("\n")[: found.types]
    keys: dict[str, int] = {"": 0}
    numbers = np.array([keys.setdefault(key_of(each), len(keys)) for each in types], np.int64)
    characters = np.array([NO_BLANKS.fullmatch(each) is not None for each in types], bool)
    rows = np.repeat(np.arange(len(texts)), found.lengths)
    features = numbers[found.ids]
    single = characters[found.ids]
    paired = single[:-1] & single[1:] & (rows[:-1] == rows[1:])
    _, pairs = np.unique(features[:-1][paired] * len(keys) + features[1:][paired], return_inverse=True)
    rows = np.concatenate([rows[features > 0], rows[:-1][paired]])
    features = np.concatenate([features[features > 0], pairs + len(keys)])
    width = int(features.max(initial=0)) + 1
    # Sorted by hand: of millions, NumPy's way through a table of hashes takes several times as long.
    every = np.sort(rows * width + features)
    once = every[np.concatenate([[True], every[1:] != every[:-1]])[: len(every)]]
    return once // width, once % width


def _word(word: str) -> str:
    """A word as it is compared within a language: of numbers only the digits."""
    return "".join(c for c in word if c.isdigit()) or word


def _beginning(word: str) -> str:
    """A word as it is looked for in another language: digits, or the first letters without accents; "" for none."""
    if word.isascii() and word.isalpha():
        return word[:BEGINNING] if len(word) >= SHORTEST else ""
    # Outputs for one test set have most of their words in common; long ones would fill the memory.
    return _known_beginning(word) if len(word) <= KEPT else _found_beginning(word)


def _found_beginning(word: str) -> str:
    digits = "".join(c for c in word if c.isdigit())
    if digits or NO_BLANKS.fullmatch(word):
        return digits or word
    bare = "".join(c for c in normalized("NFD", word) if not unicodedata.combining(c))
    return bare[:BEGINNING] if len(bare) >= SHORTEST else ""


_known_beginning = lru_cache(maxsize=KEPT_WORDS)(_found_beginning)
