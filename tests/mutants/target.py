"""What mutants are put into, and the tests that must find them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "library" / "steelyard" / "kernels"


@dataclass(frozen=True)
class Target:
    """Sources, and the tests that must fail where one of them is wrong."""

    sources: tuple[str, ...]
    tests: tuple[str, ...]


def target(sources: str, tests: str) -> Target:
    return Target(tuple(sources.split()), tuple(tests.split()))


def of_one_name(folder: str, names: str, tests: str, more: str = "") -> list[Target]:
    """Sources that each have a test of their name."""
    return [target(f"{folder}/{name}.py", f"{tests}/test_{name}.py {more}") for name in names.split()]


def kernel(names: str, tests: str) -> Target:
    """C files, whose names are their own in all families."""
    found = (next(KERNELS.rglob(name)) for name in names.split())
    return target(" ".join(str(path.relative_to(ROOT)) for path in found), tests)
