"""Word vectors in the form in which they are registered: files that all processes of a machine map into memory."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import BadVectors
from steelyard.kernels.characters.nfc import is_nfc
from steelyard.kernels.text.vocabulary import find_words
from steelyard.metrics.embeddings.vector_files import LARGEST_SIZE, entries_of
from steelyard.text.normalization import normalized

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import BinaryIO

    from numpy.typing import NDArray

    from steelyard.kernels.text.words import Words
    from steelyard.metrics.embeddings.vector_files import Entries
    from steelyard.metrics.resources import Resources

FORM = 1
"""Of the folder; another number is another form."""
WRITTEN_AT_ONCE = 4096
"""Vectors."""


@dataclass(frozen=True, eq=False)
class Vectors:
    """The vectors of a vocabulary; nothing of it is loaded but the pages that are looked at."""

    values: NDArray[np.float32]
    """(words, size), in the order of the file they came from: frequent words are neighbours."""
    vocabulary: NDArray[np.uint8]
    """The words in the order of their bytes, each ended by a newline."""
    starts: NDArray[np.int64]
    """Where each word begins there, and behind the last one the end."""
    places: NDArray[np.int32]
    """By word in that order: its row in `values`."""
    about: Mapping[str, Any]
    """What about.json says."""

    def rows(self, words: Words) -> NDArray[np.int32]:
        """Where the vectors of words are.

        Parameters
        ----------
        words : Words

        Returns
        -------
        (types,) int32
            The row of each distinct word's vector, or -1.
        """
        found = find_words(words.lines, words.types, self.vocabulary, self.starts)
        if (found < 0).any() and not is_nfc(words.lines):
            # The text was composed, but lowercasing can leave a letter beside its mark: "J\u030c" has no character of
            # its own, and its small letter has one.
            composed = normalized("NFC", words.lines.decode()).encode()
            found = np.where(found < 0, find_words(composed, words.types, self.vocabulary, self.starts), found)
        return np.where(found < 0, np.int32(-1), self.places[found])


def vectors_in(resources: Resources, reference: str) -> Vectors:
    """The vectors of a name; word2vec's files are converted first.

    Parameters
    ----------
    resources : Resources
    reference : str
        `NAME` or `NAME@HASH`.

    Returns
    -------
    Vectors

    Raises
    ------
    MissingResource, BadVectors
    """
    pinned = reference if "@" in reference else resources.pinned(reference, "vectors")
    path = resources.path(pinned, "vectors")
    if not path.is_dir():
        path = resources.converted(pinned, "vectors", _convert, "nfc")
    return open_vectors(path)


def open_vectors(folder: Path) -> Vectors:
    """The vectors that `store` put into a folder, mapped into memory.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    Vectors

    Raises
    ------
    BadVectors
        Where the folder is not such a one.
    """
    try:
        return _opened(folder, (folder / "about.json").stat().st_mtime_ns)
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise BadVectors(
            f"{folder}: does not hold word vectors as `steelyard vectors` stores them ({error}). Import them again."
        ) from error


def store(entries: Entries, folder: Path, source: str, origin: Mapping[str, Any]) -> Vectors:
    """Write words with their vectors into an empty folder, in the form that `open_vectors` opens.

    Words are stored in NFC, in which they are looked up. Where that makes two of them one, the vector of the word that
    was in NFC stays, or else the first.

    Parameters
    ----------
    entries : Entries
    folder : Path
    source : str
        What messages call the entries.
    origin : mapping of str to Any
        Goes into about.json and so into the hash.

    Returns
    -------
    Vectors

    Raises
    ------
    BadVectors
        For vectors of different sizes, numbers that are not finite, words given twice or not UTF-8.
    """
    words: list[bytes] = []
    spelled: dict[int, bytes] = {}
    with (folder / "vectors.npy").open("wb") as file:
        size = _write_values(file, _checked(entries, source, words, spelled))
        _write_header(file, len(words), size)
    order = sorted(range(len(words)), key=words.__getitem__)
    sorted_words = [words[place] for place in order]
    twice = {one for one, other in pairwise(sorted_words) if one == other}
    left_out = _left_out(twice, order, words, spelled, source) if twice else set()
    if left_out:
        _remove_values(folder / "vectors.npy", left_out)
        words = [word for place, word in enumerate(words) if place not in left_out]
        order = sorted(range(len(words)), key=words.__getitem__)
        sorted_words = [words[place] for place in order]
    starts = np.zeros(len(words) + 1, np.int64)
    np.cumsum([len(word) + 1 for word in sorted_words], out=starts[1:])
    (folder / "words.txt").write_bytes(b"\n".join(sorted_words) + b"\n")
    np.save(folder / "starts.npy", starts)
    np.save(folder / "places.npy", np.array(order, np.int32))
    about: dict[str, Any] = {"form": FORM, "words": len(words), "size": size, "origin": origin}
    if spelled:
        about["composed"] = {"words": len(spelled), "left_out": len(left_out)}
    (folder / "about.json").write_text(json.dumps(about, indent=1, sort_keys=True, ensure_ascii=False) + "\n", "utf-8")
    return open_vectors(folder)


@lru_cache(maxsize=8)
def _opened(folder: Path, modified: int) -> Vectors:  # noqa: ARG001 - a changed folder is opened again
    about = json.loads((folder / "about.json").read_text("utf-8"))
    if about["form"] != FORM:
        raise ValueError(f"the form is {about['form']}, not {FORM}")
    values, starts, places = (
        np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("vectors", "starts", "places")
    )
    vocabulary = np.memmap(folder / "words.txt", np.uint8, "r")
    count, size = about["words"], about["size"]
    shapes = values.shape == (count, size) and starts.shape == (count + 1,) and places.shape == (count,)
    kinds = values.dtype == np.float32 and starts.dtype == np.int64 and places.dtype == np.int32
    if not (shapes and kinds and values.flags.c_contiguous and 0 < size <= LARGEST_SIZE):
        raise ValueError("the files do not belong together")
    # A kernel follows these numbers without looking.
    if starts[0] != 0 or starts[-1] != len(vocabulary) or (np.diff(starts) < 1).any():
        raise ValueError("starts.npy does not fit words.txt")
    if places.min() < 0 or places.max() >= count:
        raise ValueError("places.npy does not fit vectors.npy")
    return Vectors(values, vocabulary, starts, places, about)


def _convert(content: Path, folder: Path) -> None:
    entries, form = entries_of(content)
    store(entries, folder, str(content), {"imported": form})


def _left_out(
    twice: set[bytes], order: Sequence[int], words: Sequence[bytes], spelled: Mapping[int, bytes], source: str
) -> set[int]:
    """The rows of words that are another one once they are composed. Raises BadVectors for what is spelled alike."""
    rows: dict[bytes, list[int]] = {}
    for row in order:
        if words[row] in twice:
            rows.setdefault(words[row], []).append(row)
    left_out = set[int]()
    for alike in rows.values():
        spellings: dict[bytes, int] = {}
        for row in alike:
            first = spellings.setdefault(spelled.get(row, words[row]), row)
            if first != row:
                raise BadVectors(
                    f'{source}: "{words[row].decode()}" is word {first + 1:,} and again word {row + 1:,}. '
                    "Remove the lines of all but one."
                )
        kept = spellings.get(words[alike[0]], alike[0])
        left_out.update(row for row in alike if row != kept)
    return left_out


def _remove_values(path: Path, left_out: set[int]) -> None:
    """Write the file of vectors again without these rows."""
    values = np.load(path, mmap_mode="r")
    made = path.with_suffix(".new")
    with made.open("wb") as file:
        size = _write_values(file, (vector for row, vector in enumerate(values) if row not in left_out))
        _write_header(file, len(values) - len(left_out), size)
    made.replace(path)


def _checked(
    entries: Entries, source: str, words: list[bytes], spelled: dict[int, bytes]
) -> Iterable[NDArray[np.float32]]:
    """The vectors; their words go into `words` in NFC, and those that were not into `spelled` as they are, by row."""
    size = 0
    for number, (word, vector) in enumerate(entries, 1):
        where = f"{source}, word {number:,}"
        try:
            text = word.decode()
        except UnicodeDecodeError as error:
            raise BadVectors(f"{where}: not UTF-8 ({error.reason}). Save the words as UTF-8.") from error
        if not text or "\n" in text:
            raise BadVectors(f"{where}: a word cannot be empty or hold a line end. Is the format right?")
        size = size or len(vector)
        if not 0 < len(vector) == size <= LARGEST_SIZE:
            raise BadVectors(
                f'{where} ("{text[:50]}"): {len(vector):,} numbers. All must have as many, 1 to {LARGEST_SIZE:,}.'
            )
        if not np.isfinite(vector).all():
            raise BadVectors(f'{where} ("{text[:50]}"): a number is not finite. Remove the word or train again.')
        if (composed := normalized("NFC", text)) != text:
            spelled[len(words)] = word
            word = composed.encode()
        words.append(word)
        yield vector
    if not words:
        raise BadVectors(f"{source}: there are no words with vectors in it.")


def _write_values(file: BinaryIO, vectors: Iterable[NDArray[np.float32]]) -> int:
    """Behind the room for a header; the size of the vectors."""
    _write_header(file, 0, 0)
    size, waiting = 0, []
    for vector in vectors:
        size = len(vector)
        waiting.append(vector)
        if len(waiting) == WRITTEN_AT_ONCE:
            file.write(np.stack(waiting).astype("<f4").tobytes())
            waiting.clear()
    if waiting:
        file.write(np.stack(waiting).astype("<f4").tobytes())
    return size


def _write_header(file: BinaryIO, count: int, size: int) -> None:
    # NumPy leaves room for the number of rows to grow, so that the header of no vectors is as long as that of many.
    file.seek(0)
    header: Any = {"descr": "<f4", "fortran_order": False, "shape": (count, size)}
    np.lib.format.write_array_header_1_0(file, header)
    assert file.tell() == 128
