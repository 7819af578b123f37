"""The counts that are kept in the repository, and what is said of new ones."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.gate.counting import YARDSTICK, Counted

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = Path(__file__).with_name("instructions.json")

TOLERANCE = 0.01
"""By how much more a workload may take, as a share; most come out within 0.05 % each time."""
LOOSE = {
    "paired bootstrap": 0.02,
    "reduction": 0.02,
    "shard": 0.03,
    "tick, window full": 0.02,
    "tick, two places free": 0.02,
}
"""The same of workloads that vary by themselves, by up to half of it: with the clock, names and places in memory."""
ELSEWHERE = 0.35
"""The same where other compilers or libraries do the work."""


@dataclass(frozen=True)
class Verdict:
    """What became of a workload."""

    name: str
    kept: float | None
    """Instructions, None of a new one; where versions differ, as many as the yardstick makes us expect."""
    now: int
    tolerance: float
    shares: dict[str, float]
    """Of the instructions, by part."""

    @property
    def change(self) -> float:
        """As a share, upwards positive; NaN of a new one."""
        return self.now / self.kept - 1 if self.kept else float("nan")

    @property
    def word(self) -> str:
        """In the table."""
        if self.kept is None:
            return "new"
        return "MORE" if self.change > self.tolerance else "less" if self.change < -self.tolerance else ""


def read(file: Path | None = None) -> Counted:
    """What is kept; nothing where there is no file."""
    file = file or FILE
    if not file.exists():
        return Counted()
    kept = json.loads(file.read_text())
    return Counted(kept["instructions"], kept["versions"])


def write(now: Counted, file: Path | None = None) -> None:
    """Keep these counts, and of workloads that were not counted now what was kept. Raises ValueError.

    Counts made with different versions cannot stand side by side.
    """
    file = file or FILE
    kept = read(file)
    if set(kept.instructions) - set(now.instructions) and differing(kept, now):
        raise ValueError("What is kept was counted with other versions: count everything again to update it.")
    instructions = {
        name: dict(sorted(parts.items())) for name, parts in sorted((kept.instructions | now.instructions).items())
    }
    file.write_text(json.dumps({"versions": now.versions, "instructions": instructions}, indent=2) + "\n")


def differing(kept: Counted, now: Counted) -> dict[str, tuple[str, str]]:
    """The versions that are not the same: what was kept, and what is."""
    names = sorted(kept.versions.keys() | now.versions.keys())
    pairs = {name: (kept.versions.get(name, "none"), now.versions.get(name, "none")) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def judge(kept: Counted, now: Counted) -> Iterator[Verdict]:
    """Of each workload that was counted but the yardstick.

    With the same versions, counts are compared as they are. With others, Python's part is expected to have changed as
    the yardstick has, everything else to be as before, and much is tolerated.
    """
    elsewhere = bool(differing(kept, now))
    scale = _scale(kept, now) if elsewhere else 1.0
    for name, parts in now.instructions.items():
        if name == YARDSTICK:
            continue
        total = sum(parts.values())
        shares = {part: count / total for part, count in sorted(parts.items(), key=lambda item: -item[1])}
        before = kept.instructions.get(name)
        expected = None if before is None else sum(before.values()) + (scale - 1) * before.get("Python", 0)
        yield Verdict(name, expected, total, ELSEWHERE if elsewhere else LOOSE.get(name, TOLERANCE), shares)


def _scale(kept: Counted, now: Counted) -> float:
    both = [sum(each.instructions.get(YARDSTICK, {}).values()) for each in (kept, now)]
    return both[1] / both[0] if all(both) else 1.0
