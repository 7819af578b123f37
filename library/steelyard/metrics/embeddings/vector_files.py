"""Reads word vectors that other programs have written: word2vec's text and binary files, gensim's own."""

from __future__ import annotations

import gzip
import zlib
from contextlib import contextmanager
from io import BufferedReader
from typing import TYPE_CHECKING, cast

import numpy as np

from steelyard.errors import BadVectors
from steelyard.formats.input.given_files import open_given

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from typing import BinaryIO

    from numpy.typing import NDArray

    Entries = Iterable[tuple[bytes, NDArray[np.float32]]]
    """Words with their vectors, one after the other."""

FORMATS = ("auto", "text", "binary", "gensim")
LARGEST_SIZE = 4096
"""Dimensions that vectors can have."""
LONGEST_WORD = 1 << 16
"""Bytes."""
LONGEST_LINE = 1 << 20
READ_AT_ONCE = 1 << 20
_PICKLED = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")


def entries_of(path: Path, form: str = "auto") -> tuple[Entries, str]:
    """The words of a file with their vectors, one after the other.

    gensim's own files are read only when they are asked for: they are pickles, and loading a pickle runs whatever code
    somebody put into it.

    Parameters
    ----------
    path : Path
    form : str
        With "auto" word2vec's text and binary files are distinguished by their content.

    Returns
    -------
    entries : Entries
    form : str
        The format that the file has.

    Raises
    ------
    BadVectors
        Also while the entries are read.
    """
    if form == "gensim":
        return _gensim(path), form
    with opened(path) as (file, _):
        header = file.readline(LONGEST_WORD)
        if header.startswith(_PICKLED):
            raise BadVectors(
                f"{path}: looks like one of gensim's own files, a pickle. Loading it runs code that it holds: if you "
                "trust whoever made it, import it with `steelyard vectors import NAME FILE --format gensim`."
            )
        count, size = _counts(path, header)
        if form == "auto":
            form = "text" if _is_text(file.readline(LONGEST_LINE)) else "binary"
    return (_text if form == "text" else _binary)(path, count, size), form


@contextmanager
def opened(path: Path) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """A file that may be compressed.

    Parameters
    ----------
    path : Path

    Returns
    -------
    file : BinaryIO
        Unpacked where it is a gzip archive.
    packed : BinaryIO
        The file as it is.

    Raises
    ------
    BadVectors
        For all that goes wrong with it.
    """
    try:
        with BufferedReader(open_given(path)) as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            if packed:
                with gzip.open(raw) as unpacked:
                    yield cast("BinaryIO", unpacked), raw
            else:
                yield raw, raw
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise BadVectors(f"{path}: the archive is broken or cut off ({error}). Fetch it again.") from error
    except OSError as error:
        raise BadVectors(f"{path}: cannot be read ({error.strerror}). Check the path.") from error


def _counts(path: Path, header: bytes) -> tuple[int, int]:
    fields = header.split()
    if len(fields) != 2 or not all(field.isdigit() and len(field) < 12 for field in fields):
        shown = header[:50].decode(errors="replace").strip()
        raise BadVectors(
            f'{path}, line 1: "{shown}" is not the header of a word2vec file: the numbers of words and of dimensions. '
            "Put them there if it is missing."
        )
    count, size = map(int, fields)
    if not 0 < count < 2**31 or not 0 < size <= LARGEST_SIZE:
        raise BadVectors(f"{path}, line 1: {count} words with {size} dimensions; there must be some, and at most "
                         f"{2**31 - 1:,} with {LARGEST_SIZE:,}.")  # fmt: skip
    return count, size


def _is_text(line: bytes) -> bool:
    """Whether the first line after the header is a word and numbers; how many of them is looked at later."""
    _, *numbers = line.split() or [b""]
    try:
        return bool([float(number) for number in numbers])
    except ValueError:
        return False


def _parsed(line: bytes, size: int) -> tuple[bytes, NDArray[np.float32]]:
    """A line of a text file. Raises ValueError."""
    word, *numbers = line.rstrip().rsplit(b" ", size)
    with np.errstate(over="ignore"):  # too large for 32 bits is not finite, which is said later
        return word, np.array([float(number) for number in numbers]).astype(np.float32)


def _text(path: Path, count: int, size: int) -> Entries:
    with opened(path) as (file, _):
        file.readline()
        for number in range(1, count + 1):
            line = file.readline(LONGEST_LINE)
            if not line.strip():
                raise _too_few(path, count, number - 1)
            try:
                word, vector = _parsed(line, size)
            except ValueError as error:
                raise BadVectors(f"{path}, line {number + 1}: {error}. A word and {size} numbers are due.") from error
            if len(vector) != size:
                raise BadVectors(f"{path}, line {number + 1}: a word and {len(vector)} numbers, not {size}.")
            yield word, vector
        if file.readline(LONGEST_LINE).strip():
            raise BadVectors(
                f"{path}, line {count + 2}: more words than the {count:,} that line 1 says. Correct line 1."
            )


def _binary(path: Path, count: int, size: int) -> Entries:
    with opened(path) as (file, _):
        file.readline()
        data, at, width = b"", 0, 4 * size
        for number in range(count):
            # Beyond the longest possible entry, so that it need not be looked at whether more is needed in between.
            if len(data) - at < LONGEST_WORD + 2 + width:
                data, at = data[at:] + file.read(READ_AT_ONCE + width), 0
            blank = data.find(b" ", at, at + LONGEST_WORD + 2)
            if blank < 0 and len(data) - at > LONGEST_WORD:
                raise BadVectors(
                    f"{path}, word {number + 1:,}: longer than {LONGEST_WORD:,} bytes. Is the format right?"
                )
            if blank < 0 or len(data) - blank - 1 < width:
                raise _too_few(path, count, number)
            vector = np.frombuffer(data, "<f4", size, blank + 1)
            yield data[at:blank].lstrip(b"\n"), vector
            at = blank + 1 + width
        if (data[at:] + file.read(1)).strip():
            raise BadVectors(f"{path}: more follows the {count:,} words that line 1 says. Correct line 1.")


def _too_few(path: Path, count: int, found: int) -> BadVectors:
    return BadVectors(
        f"{path}: ends after {found:,} of the {count:,} words of line 1. Is the file cut off? Else correct line 1."
    )


def _gensim(path: Path) -> Entries:
    from gensim.models import KeyedVectors
    from gensim.utils import SaveLoad

    try:
        loaded = SaveLoad.load(str(path), mmap="r")
    except Exception as error:  # a pickle may fail in any way
        raise BadVectors(f"{path}: gensim cannot load it ({error!r:.200}).") from error
    vectors = getattr(loaded, "wv", loaded)
    if not isinstance(vectors, KeyedVectors):
        raise BadVectors(f"{path}: holds no word vectors but {type(loaded).__name__}.")
    pairs = zip(vectors.index_to_key, vectors.vectors, strict=False)
    return ((str(word).encode(errors="surrogatepass"), vector) for word, vector in pairs)
