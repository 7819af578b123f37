"""NIST, warm, against NLTK's corpus_nist, which starts from token lists and counts the references each time.

    python -m benchmarks.nist [DIR] [--reference LABEL] [--rounds 5]

DIR is a campaign folder (source.txt, refs/, systems/); without one, the demo campaign of the project.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.timing import HEADER, in_turn
from benchmarks.warm import DEMO
from metrics import NIST
from metrics.batch import Batch
from metrics.measure import measure
from metrics.preparation import states_of
from metrics.text.plain import read_lines


def tokens(batch: Batch, text: int) -> list[list[str]]:
    """The words of each line of a text of the batch."""
    words = batch.words("13a", "mixed")
    types = words.lines.decode().split("\n")
    rows = range(text * batch.segments, (text + 1) * batch.segments)
    return [[types[number] for number in words.ids[words.starts[row] : words.starts[row + 1]]] for row in rows]


def main() -> None:
    """Print a Markdown table."""
    from nltk.translate.nist_score import corpus_nist

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, metavar="DIR", default=DEMO / "harbour")
    parser.add_argument("--reference", help="label of the reference (default: the first)")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    references = sorted((options.folder / "refs").iterdir())
    chosen = [path for path in references if path.stem == options.reference] or references[:1]
    reference = read_lines(chosen[0]).bytes
    systems = [read_lines(path).bytes for path in sorted((options.folder / "systems").iterdir())]
    metric = NIST()
    states = states_of([metric], [Batch([reference], [])])

    def from_text(outputs: list[bytes]) -> list[float]:
        batch = Batch([reference], outputs, states=states)
        return metric.score(metric.segment_statistics(batch).sum(axis=1)).tolist()

    print(HEADER)
    for outputs in (systems[:1], systems):
        batch = Batch([reference], outputs, states=states)
        lists = [tokens(batch, text) for text in range(len(outputs) + 1)]

        def theirs(lists: list[list[list[str]]] = lists) -> list[float]:
            return [corpus_nist([[line] for line in lists[0]], system, 5) for system in lists[1:]]

        for name, ours in (
            (
                "from words, references counted before",
                lambda b=batch: metric.score(metric.segment_statistics(b).sum(1)),
            ),
            ("from text, references counted before", lambda o=outputs: from_text(o)),
            ("from text, counting the references", lambda o=outputs: measure([reference], o, [metric])[0].scores),
        ):
            pair, mine, others = in_turn(ours, theirs, options.rounds)
            assert all(abs(a - b) <= 1e-8 * b for a, b in zip(mine, others, strict=True)), "not NLTK's scores"
            print(pair.row(f"{len(outputs)} system(s), {name}", "NLTK"), flush=True)


if __name__ == "__main__":
    main()
