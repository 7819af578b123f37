"""Trains word vectors with gensim on plain or gzipped text, which is streamed."""

from __future__ import annotations

import zlib
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from steelyard.errors import BadText, BadVectors
from steelyard.metrics.embeddings.vector_files import opened
from steelyard.metrics.segments import Segments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from steelyard.metrics.embeddings.vector_files import Entries

TAKEN_AT_ONCE = 1 << 20
"""Bytes of text that are tokenized together."""
LONGEST_LINE = 1 << 24
LONGEST_SENTENCE = 10_000
"""Words; gensim would leave out what follows."""


@dataclass(frozen=True)
class Training:
    """How vectors are trained; the names are those of `steelyard vectors create`."""

    model: str = "cbow"
    size: int = 100
    window: int = 5
    epochs: int = 5
    min_count: int = 5
    workers: int = 1
    seed: int = 1
    case: str = "lc"
    tok: str = "13a"


class Sentences:
    """The lines of text files as lists of words; can be gone through again and again.

    `on_progress` is called with how many bytes of how many have been read in this and all rounds before.

    Parameters
    ----------
    files : list of Path
        UTF-8 text, one sentence per line.
    training : Training
    on_progress : callable, optional
        Called with how many bytes of how many have been read in this and all rounds before.
    """

    def __init__(
        self, files: Sequence[Path], training: Training, on_progress: Callable[[int, int], None] | None = None
    ) -> None:
        self.files = files
        self.training = training
        self.on_progress = on_progress or (lambda _done, _all: None)
        try:
            self.bytes = sum(file.stat().st_size for file in files)
        except OSError as error:
            raise BadText(f"{error.filename}: cannot be read ({error.strerror}). Check the path.") from error
        self.rounds = 0
        self.fault: BaseException | None = None
        """What went wrong in a round after the first, which simply ended then."""

    def __iter__(self) -> Iterator[list[str]]:
        try:
            yield from self._round()
        except (BadText, BadVectors) as error:
            if not self.rounds:
                raise
            # gensim reads in a thread, and waits for ever when that dies.
            self.fault = error

    def _round(self) -> Iterator[list[str]]:
        before = self.rounds * self.bytes
        # One round more than epochs: the words are counted first.
        every = (self.training.epochs + 1) * self.bytes
        for file in self.files:
            for lines, read in _runs_of_lines(file):
                yield from self._words(file, lines)
                self.on_progress(before + read, every)
            before += file.stat().st_size
        self.rounds += 1

    def _words(self, file: Path, lines: list[bytes]) -> Iterator[list[str]]:
        text = b"\n".join(lines)
        try:
            text.decode()
        except UnicodeDecodeError as error:
            broken = next(line for line in lines if not _is_utf8(line))
            shown = broken[:50].decode(errors="replace")
            raise BadText(f'{file}: not UTF-8 ({error.reason}), in the line "{shown}". Save it as UTF-8.') from error
        # Cut as texts to be scored are, by the same code; the system is nothing but empty lines.
        segments = Segments(references=[text], hypotheses=[b"\n" * (len(lines) - 1)])
        words = segments.nfc.words(self.training.tok, self.training.case)
        types = words.lines.decode().split("\n")
        tokens = [types[word] for word in words.ids.tolist()]
        starts = words.starts[: len(lines) + 1].tolist()
        for begin, end in pairwise(starts):
            for first in range(begin, end, LONGEST_SENTENCE):
                yield tokens[first : min(end, first + LONGEST_SENTENCE)]


def train(sentences: Sentences) -> tuple[Entries, dict[str, Any]]:
    """Vectors of the frequent words.

    With one worker and the same versions on the same machine, the same text gives the same bits.

    Parameters
    ----------
    sentences : Sentences

    Returns
    -------
    entries : Entries
        Words with their vectors.
    origin : dict of str to Any
        What about.json says of them.

    Raises
    ------
    BadText, BadVectors
    """
    import gensim
    from gensim.models import Word2Vec

    training = sentences.training
    model = Word2Vec(
        vector_size=training.size,
        window=training.window,
        epochs=training.epochs,
        min_count=training.min_count,
        workers=training.workers,
        seed=training.seed,
        sg=int(training.model == "skip-gram"),
        # Python's own hash differs from process to process.
        hashfxn=lambda text: zlib.crc32(str(text).encode()),
    )
    model.build_vocab(sentences)
    if not len(model.wv):
        files = ", ".join(map(str, sentences.files))
        raise BadVectors(
            f"{files}: no word occurs {training.min_count} times, so there is nothing to train. "
            "Give more text, or a smaller --min-count."
        )
    model.train(sentences, total_examples=model.corpus_count, epochs=model.epochs)
    if sentences.fault:
        raise sentences.fault
    entries = ((word.encode(), vector) for word, vector in zip(model.wv.index_to_key, model.wv.vectors, strict=True))
    return entries, {"trained": {**asdict(training), "gensim": gensim.__version__}}


def _runs_of_lines(path: Path) -> Iterator[tuple[list[bytes], int]]:
    """Some lines, and how many bytes of the file (packed, where it is) have been read so far."""
    with opened(path) as (file, raw):
        lines: list[bytes] = []
        size = 0
        while line := file.readline(LONGEST_LINE + 1):
            if len(line) > LONGEST_LINE:
                raise BadText(f"{path}: a line is longer than {LONGEST_LINE:,} bytes. Is it text with line ends?")
            lines.append(line.rstrip(b"\r\n"))
            size += len(line)
            if size >= TAKEN_AT_ONCE:
                yield lines, raw.tell()
                lines, size = [], 0
        if lines:
            yield lines, raw.tell()


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
