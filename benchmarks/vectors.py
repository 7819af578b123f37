"""BLEU_modif and WER_modif: each alone, both together, and against gensim's similarities pair by pair.

    python -m benchmarks.vectors [DIR] [--reference LABEL] [--rounds 5] [--size 300] [--pairs 20]

DIR is a campaign folder (source.txt, refs/, systems/); without one, the demo campaign of the project. Vectors are
trained on its own texts first. CPU seconds of one warm process, from texts in memory to corpus scores, medians. gensim
compares every n-gram of some segments (--pairs) of one system with every one of the reference; we must find the same
sums.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from benchmarks.timing import HEADER, in_turn
from benchmarks.warm import DEMO
from metrics import BLEUModif, WERModif
from metrics.base import Metric
from metrics.batch import Batch
from metrics.embedding_training import Sentences, Training, train
from metrics.embeddings import open_vectors, store
from metrics.measure import measure
from metrics.resources import Resources
from metrics.text.plain import read_lines


def trained(files: list[Path], size: int, folder: Path) -> Resources:
    """Vectors of the texts themselves, called own: few words are unknown, which is the most work."""
    entries, origin = train(Sentences(files, Training(size=size, min_count=2)))
    store(entries, folder, "texts", origin)
    return Resources(files={"own": folder})


def by_gensim(keyed: Any, texts: list[list[list[str]]]) -> list[float]:
    """The sums of similarities (gamma=0) of each order, over all segments: one call per pair of n-grams."""
    sums = [0.0] * 4
    for hypothesis, reference in texts:
        for n in range(4):
            own, theirs = ([words[i : i + n + 1] for i in range(len(words) - n)] for words in (hypothesis, reference))
            sums[n] += sum(max([0.0, *(similarity(keyed, one, other) for other in theirs)]) for one in own)
    return sums


def similarity(keyed: Any, one: list[str], other: list[str]) -> float:
    """Of two n-grams, by gensim."""
    if one == other:
        return 1.0
    known = [[word for word in words if word in keyed] for words in (one, other)]
    return float(keyed.n_similarity(*known)) if all(known) else 0.0


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, metavar="DIR", default=DEMO / "harbour")
    parser.add_argument("--reference", help="label of the reference (default: the first)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--size", type=int, default=300, help="dimensions")
    parser.add_argument("--pairs", type=int, default=20, help="segments that gensim compares")
    options = parser.parse_args()
    files = sorted((options.folder / "refs").iterdir())
    reference = next((path for path in files if path.stem == options.reference), files[0])
    systems = sorted((options.folder / "systems").iterdir())
    texts = [read_lines(path).bytes for path in [reference, *systems]]
    with tempfile.TemporaryDirectory() as folder:
        resources = trained([reference, *systems], options.size, Path(folder))
        print(f"{options.folder.name}: {len(systems)} systems, reference {reference.stem}, {options.size} dimensions\n")
        print("| metrics | CPU s | ms per system |\n|---|---|---|")
        bleu, wer = BLEUModif(vectors="own"), WERModif(vectors="own")
        chosen: list[list[Metric]] = [[bleu], [wer], [bleu, wer]]
        times: list[list[float]] = [[] for _ in chosen]
        for turn in range(options.rounds + 1):
            for metrics, seconds in zip(chosen, times, strict=True):
                start = time.process_time()
                measure(texts[:1], texts[1:], metrics, resources=resources)
                if turn:
                    seconds.append(time.process_time() - start)
        for metrics, seconds in zip(chosen, times, strict=True):
            median = statistics.median(seconds)
            print(f"| {' + '.join(m.title for m in metrics)} | {median:.4f} | {1000 * median / len(systems):.1f} |")
        against_gensim(texts[:2], resources, options)


def against_gensim(texts: list[bytes], resources: Resources, options: argparse.Namespace) -> None:
    """One system, some segments spread over the text."""
    from gensim.models import KeyedVectors

    lines = [text.split(b"\n") for text in texts]
    step = max(1, len(lines[0]) // options.pairs)
    reference, system = (b"\n".join(each[::step][: options.pairs]) for each in lines)
    metric = BLEUModif(vectors="own", gamma=0.0)
    words = Batch([reference], [system]).words(metric.tok, metric.case)
    types = words.lines.decode().split("\n")
    rows = [
        [types[word] for word in words.ids[words.starts[row] : words.starts[row + 1]]]
        for row in range(len(words.starts) - 1)
    ]
    pairs = [[rows[len(rows) // 2 + i], rows[i]] for i in range(len(rows) // 2)]
    vectors = open_vectors(resources.files["own"])
    known = vectors.vocabulary.tobytes().decode().split("\n")[:-1]
    keyed = KeyedVectors(options.size)
    keyed.add_vectors(known, vectors.values[vectors.places])

    def ours() -> list[float]:
        sums = metric.segment_statistics(Batch([reference], [system], resources=resources)).sum(axis=1)
        return [float(each) for each in sums[0, 2:6]]

    pair, mine, others = in_turn(ours, lambda: by_gensim(keyed, pairs), 3)
    for one, other in zip(mine, others, strict=True):
        assert abs(one - other) < 1e-5 * max(1, other), f"{one} is not gensim's {other}"
    print("\n" + HEADER)
    print(pair.row(f"BLEU_modif, 1 system, {len(pairs)} segments", "gensim"))


if __name__ == "__main__":
    main()
