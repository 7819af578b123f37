"""How long it takes to rank a whole shared task by scores that were made elsewhere, and to import them.

    python -m benchmarks.automatic_scores [FOLDER] [--replicates 1000] [--rounds 3]

FOLDER holds automatic scores as WMT25 published them; without one, 31 pairs of that shape are drawn: 1,066 systems of
pairs, 1.85 million scores, 45 MB. `steelyard rank` and `steelyard scores import` run as whole commands, in turn; CPU
seconds are those of all their processes.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

TARGETS = (
    "ar_EG", "bho_IN", "bn_BD", "cs_CZ", "de_DE", "el_GR", "et_EE", "fa_IR", "hi_IN", "id_ID", "is_IS", "it_IT",
    "ja_JP", "kn_IN", "ko_KR", "lt_LT", "mas_KE", "mr_IN", "ro_RO", "ru_RU", "sr_Cyrl_RS", "sr_Latn_RS", "sv_SE",
    "th_TH", "tr_TR", "uk_UA", "vi_VN", "zh_CN",
)  # fmt: skip
PAIRS = {
    **{f"en-{target}": (87, 332) for target in TARGETS},
    "cs-de_DE": (256, 457), "cs-uk_UA": (230, 405), "ja-zh_CN": (106, 334),
}  # fmt: skip
"""Documents and paragraphs, as in WMT25."""
LARGER = {"en-cs_CZ": (113, 384), "en-de_DE": (113, 384)}
ROWS = 1_066
DOMAINS = ("dialogue", "edu", "literary", "news", "social", "speech")


def systems_of_pairs() -> dict[str, int]:
    """As many systems for each pair as add up to all rows."""
    least, more = divmod(ROWS, len(PAIRS))
    return {pair: least + (place < more) for place, pair in enumerate(PAIRS)}


def scores_of(draw: np.random.Generator, ability: float, paragraphs: int) -> dict[str, list[float | int | None]]:
    """The five metrics of a system, with float32's digits for models and whole numbers for judges, as published."""
    noise = draw.standard_normal((5, paragraphs))
    models = {"CometKiwi-XL": (0.6, 0.12), "MetricX-24-Hybrid-XL": (-6.0, 3.0), "XCOMET-XL": (0.55, 0.2)}
    found: dict[str, list[float | int | None]] = {}
    for row, (name, (middle, width)) in enumerate(models.items()):
        found[name] = (middle + width * (ability + noise[row])).astype(np.float32).astype(float).tolist()
    for row, name in enumerate(("GEMBA-ESA-CMDA", "GEMBA-ESA-GPT4.1"), 3):
        found[name] = np.clip(np.round(75 + 12 * (ability + noise[row])), 0, 100).astype(int).tolist()
    if draw.random() < 0.02:
        found["GEMBA-ESA-CMDA"][int(draw.integers(paragraphs))] = None
    return dict(sorted(found.items()))


def documents_of(draw: np.random.Generator, pair: str) -> list[tuple[str, str, int]]:
    """Domain, name and paragraphs of each document."""
    documents, paragraphs = LARGER.get(pair, PAIRS[pair])
    sizes = 1 + draw.multinomial(paragraphs - documents, np.full(documents, 1 / documents))
    return [(DOMAINS[at % len(DOMAINS)], f"document{at}", int(size)) for at, size in enumerate(sizes)]


def lines_of(draw: np.random.Generator, pair: str, documents: Sequence[tuple[str, str, int]]) -> Iterator[str]:
    """A line for each document of a system."""
    scores = scores_of(draw, draw.normal(), sum(size for *_, size in documents))
    at = 0
    for domain, name, size in documents:
        own = {metric: values[at : at + size] for metric, values in scores.items()}
        at += size
        line = {"language_pair": pair, "domain": domain, "document_id": name, "metric_scores": own}
        yield json.dumps(line) + "\n"


def generate(folder: Path) -> None:
    """Write the files of a shared task's systems: the first take part in all pairs."""
    draw = np.random.default_rng(25)
    documents = {pair: documents_of(draw, pair) for pair in PAIRS}
    counts = systems_of_pairs()
    for number in range(max(counts.values())):
        with (folder / f"System-{number}.jsonl").open("w", encoding="utf-8") as file:
            for pair, count in counts.items():
                if number < count:
                    file.writelines(lines_of(draw, pair, documents[pair]))


def timed(command: Sequence[str]) -> tuple[float, float]:
    """Wall and CPU seconds of a command."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--replicates", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="write the drawn scores there, and measure nothing")
    given = parser.parse_args()
    if given.keep:
        given.keep.mkdir(parents=True, exist_ok=True)
        generate(given.keep)
        return
    steelyard = str(Path(sys.executable).parent / "steelyard")
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.folder or Path(scratch, "scores")
        if not given.folder:
            folder.mkdir()
            generate(folder)

        def rank(_: int) -> tuple[float, float]:
            return timed([steelyard, "rank", str(folder), "--replicates", str(given.replicates), "-f", "json"])

        def imported(number: int) -> tuple[float, float]:
            url = f"sqlite:///{scratch}/{number}.db"
            timed([steelyard, "campaign", "create", "wmt", "--database", url])
            return timed([steelyard, "scores", "import", "wmt", str(folder), "--create", "--database", url])

        steps: dict[str, Callable[[int], tuple[float, float]]] = {"rank": rank, "scores import": imported}
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in steps}
        for number in range(given.rounds):
            for name, step in steps.items():
                found[name].append(step(number))
    print(f"load {os.getloadavg()[0]:.1f}, {len(os.sched_getaffinity(0))} cores")
    for name, each in found.items():
        walls, seconds = zip(*each, strict=True)
        print(f"steelyard {name}: {np.median(walls):.1f} s, {np.median(seconds):.1f} s of CPU (rounds {each})")


if __name__ == "__main__":
    main()
