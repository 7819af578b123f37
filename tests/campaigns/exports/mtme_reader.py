"""What mt-metrics-eval's reader does with a folder in strict mode, written by the rules of its `data.py` alone.

It knows nothing of our own readers and writers, so it can judge them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

Scores = dict[str, list[float | None]]
NO_TRANSLATION = "[No translation supplied]"
LEVELS = ("sys", "domain", "doc", "seg")


@dataclass
class LoadedPair:
    """A language pair as its `EvalSet` holds it."""

    source: list[str | None]
    documents: dict[str, tuple[int, int]]
    domains: list[str]
    references: dict[str, list[str | None]]
    outputs: dict[str, list[str | None]]
    human: dict[tuple[str, str], Scores] = field(default_factory=dict)
    """By name and level."""
    metrics: dict[tuple[str, str], Scores] = field(default_factory=dict)
    ratings: dict[str, dict[str, list[dict | None]]] = field(default_factory=dict)

    @property
    def humans(self) -> set[str]:
        return {*self.outputs} & {*self.references}


def load(folder: Path, pair: str) -> LoadedPair:
    """Load a pair, or raise ValueError or AssertionError."""
    lines = [line.split() for line in text_lines(folder / "documents" / f"{pair}.docs")]
    documents: dict[str, tuple[int, int]] = {}
    at = 0
    for name, block in groupby(line[1] for line in lines):
        assert name not in documents, f"not one block: {name}"
        end = at + len(list(block))
        documents[name] = at, end
        at = end
    plain = folder / "sources" / f"{pair}.txt"
    source = text_of(plain if plain.exists() else plain.with_suffix(".jsonl"), "source")
    found = LoadedPair(source, documents, sorted({line[0] for line in lines}), {}, {})
    for path in (folder / "references").glob(f"{pair}.*.*"):
        name = str(path).split(".")[-2]
        assert "-" not in name
        assert name not in ("all", "src")
        assert name not in found.references
        found.references[name] = text_of(path, "target")
    for path in (folder / "system-outputs" / pair).glob("*.*"):
        found.outputs[path.name[: -len(path.suffix)]] = text_of(path, "hypothesis")
    for path in (folder / "human-scores").glob(f"{pair}.*.score"):
        words = path.name.split(".")
        scorer = ".".join(words[1:-2]), words[-2]
        assert len(words) >= 4
        found.human[scorer] = checked(found, scores_of(path), words[-2], human=True)
    for path in (folder / "human-scores").glob(f"{pair}.*.rating"):
        words = path.name.split(".")
        assert words[-2] == "seg"
        found.ratings[".".join(words[1:-2])] = ratings_of(path)
    for path in (folder / "metric-scores" / pair).glob("*.score"):
        name, level, _ = path.name.rsplit(".", maxsplit=2)
        used = (
            set(found.references) if name.rsplit("-", 1)[1] == "all" else {*name.rsplit("-", 1)[1].split(".")} - {"src"}
        )
        assert used <= {*found.references}
        scores = checked(found, scores_of(path), level, human=False)
        for system in found.outputs:
            if system not in scores and system not in used:
                raise ValueError(f"{name}.{level} is missing required scores for system {system}")
        found.metrics[name, level] = scores
    for text in (*found.references.values(), *found.outputs.values()):
        assert len(text) == len(found.source)
    assert len(lines) == len(found.source)
    return found


def checked(pair: LoadedPair, scores: Scores, level: str, *, human: bool) -> Scores:
    assert level in LEVELS
    expected = {"sys": 1, "domain": len(pair.domains), "doc": len(pair.documents), "seg": len(pair.source)}[level]
    for system, own in scores.items():
        if system not in pair.outputs:
            raise ValueError(f"Unknown system {system}")
        if len(own) != expected:
            raise ValueError(f"wrong number of scores: {len(own)} vs {expected}")
        if not human and None in own:
            raise ValueError("contains None elements")
    return scores


def text_lines(path: Path) -> list[str]:
    # As Python opens texts: a carriage return ends a line, too.
    with path.open(encoding="utf-8") as file:
        return [line.rstrip() for line in file]


def text_of(path: Path, name: str) -> list[str | None]:
    if path.suffix == ".txt":
        return [None if line == NO_TRANSLATION else line for line in text_lines(path)]
    assert path.suffix == ".jsonl"
    with path.open(encoding="utf-8") as file:
        return [json.loads(line)[name] for line in file]


def scores_of(path: Path) -> Scores:
    found: Scores = {}
    with path.open(encoding="utf-8") as file:
        for line in file:
            system, score = line.split()
            found.setdefault(system, []).append(float(score) if score != "None" else None)
    return found


def ratings_of(path: Path) -> dict[str, list[dict | None]]:
    found: dict[str, list[dict | None]] = {}
    with path.open(encoding="utf-8") as file:
        for line in file:
            system, rating, *rater = line.strip().split("\t")
            assert len(rater) < 2
            errors = None if rating == "None" else json.loads(rating)
            for each in errors["errors"] if errors else ():
                assert {*each} <= {"start", "end", "category", "severity", "score", "is_source_error"}
                assert isinstance(each["start"], int)
                assert isinstance(each["end"], int)
            found.setdefault(system, []).append(errors)
    return found
