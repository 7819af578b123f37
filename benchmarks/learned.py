"""BERTScore and COMET beside bert-score and unbabel-comet: CPU seconds of one thread, in turn; the largest difference.

    HF_HUB_OFFLINE=1 PYTHONPATH=.:library PYTHON -m benchmarks.learned CAMPAIGN --model FOLDER --checkpoint FOLDER

in an environment of their own, with bert-score 0.3.13, unbabel-comet, 'setuptools<80', onnxruntime and tokenizers.
CAMPAIGN is a campaign's folder with a second reference, which is scored as one more system. `--checkpoint` has
COMET's files, with the encoder's configuration and tokenizer in `encoder/`. Each side scores all systems; ours once
more one system after the other, so that it encodes references and sources again for each of them, as theirs do: what is
left of the ratio then is the engine's.
"""

# ruff: noqa: E402 - how many threads NumPy takes is said before it is imported

from __future__ import annotations

import os

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_threads] = "1"

import argparse
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.metrics.registry import parse_metric
from steelyard.metrics.resolution import resolve
from steelyard.metrics.resources import Resources
from steelyard.metrics.run_context import RunContext
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Scores = NDArray[np.float64]


class Texts:
    """Source, a reference, and what is scored."""

    def __init__(self, campaign: Path, segments: int) -> None:
        def lines(path: Path) -> list[str]:
            return path.read_text("utf-8").split("\n")[:-1][:segments]

        reference, *others = sorted((campaign / "refs").glob("*.txt"))
        self.source, self.reference = lines(campaign / "source.txt"), lines(reference)
        self.systems = [lines(path) for path in [*sorted((campaign / "systems").glob("*.txt")), *others[:1]]]


def ours(specification: str, folder: Path, texts: Texts, *, together: bool) -> Scores:
    """(systems, segments)."""
    resources = Resources(files={"model": folder})
    (metric,), _ = resolve([parse_metric(specification)], RunContext("en", frozenset(), resources))
    groups = [texts.systems] if together else [[system] for system in texts.systems]
    found = []
    for systems in groups:
        segments = Segments.from_lines(references=[texts.reference], hypotheses=systems, source=texts.source)
        (result,) = score_systems(segments, [metric], resources=resources, segment_scores=True)
        found.append(result.segment_scores)
    return np.concatenate(found)


def bert_score(scorer: Any, texts: Texts) -> Scores:
    """F of each segment: (systems, segments)."""
    return np.array([scorer.score(system, texts.reference)[2].tolist() for system in texts.systems])


def comet(model: Any, texts: Texts) -> Scores:
    """(systems, segments)."""
    found = []
    for system in texts.systems:
        triples = zip(texts.source, system, texts.reference, strict=True)
        rows = [{"src": source, "mt": output, "ref": reference} for source, output, reference in triples]
        found.append(model.predict(rows, batch_size=16, gpus=0, progress_bar=False, num_workers=0).scores)
    return np.array(found)


def compared(name: str, sides: dict[str, Callable[[], Scores]], rounds: int, segments: int) -> None:
    """Print the least time of each side, the ratios, and the largest difference."""
    seconds: dict[str, list[float]] = defaultdict(list)
    scores: dict[str, Scores] = {}
    for _ in range(rounds):
        for side, call in sides.items():
            begun = time.process_time()
            scores[side] = call()
            seconds[side].append(time.process_time() - begun)
    least = {side: min(each) for side, each in seconds.items()}
    for side, taken in seconds.items():
        print(
            f"{name}, {side}: {least[side] * 1e3 / segments:.1f} ms a segment and system, rounds {np.round(taken, 1)} s"
        )
    theirs, together, apart = least["theirs"], least["ours"], least["ours, systems apart"]
    ratios = f"{theirs / together:.2f} = {apart / together:.2f} (encoded once) x {theirs / apart:.2f} (engine)"
    difference = np.abs(scores["ours"] - scores["theirs"]).max()
    same = scores["ours"].tobytes() == scores["ours, systems apart"].tobytes()
    print(f"{name}: {ratios}; largest difference {difference:.1e}; same bits apart: {same}", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("campaign", type=Path)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--segments", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args(arguments)
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

    import torch
    from bert_score import BERTScorer
    from comet import load_from_checkpoint

    torch.set_num_threads(1)
    texts = Texts(given.campaign, given.segments)
    count = len(texts.systems) * len(texts.reference)
    scorer = BERTScorer(model_type=str(given.model), num_layers=6, batch_size=64, device="cpu", use_fast_tokenizer=True)
    model = load_from_checkpoint(str(given.checkpoint / "checkpoints" / "model.ckpt"), local_files_only=True)
    for name, specification, folder, theirs in (
        ("bertscore", "bertscore:model=model:layer=6", given.model, lambda: bert_score(scorer, texts)),
        ("comet", "comet:model=model", given.checkpoint, lambda: comet(model, texts)),
    ):
        sides = {
            "theirs": theirs,
            "ours": lambda given=(specification, folder): ours(*given, texts, together=True),
            "ours, systems apart": lambda given=(specification, folder): ours(*given, texts, together=False),
        }
        compared(name, sides, given.rounds, count)


if __name__ == "__main__":
    main()
