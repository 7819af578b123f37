"""The mutants that change nothing that matters, each with the reason: a survivor among them is none."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.mutant import Mutant

FILE = Path(__file__).with_name("equivalents.toml")


@dataclass(frozen=True)
class Equivalent:
    """A mutant that somebody has explained."""

    path: str
    scope: str
    before: str
    after: str
    """The lines that it changes."""
    why: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What it is found by."""
        return self.path, self.scope, self.before, self.after


def read_equivalents(file: Path = FILE) -> dict[tuple[str, str, str, str], Equivalent]:
    """All of them by their keys."""
    rows = tomllib.loads(file.read_text(encoding="utf-8")).get("equivalent", [])
    return {each.key: each for each in (Equivalent(**row) for row in rows)}


def key_of(mutant: Mutant, source: bytes) -> tuple[str, str, str, str]:
    """What the mutant is found by."""
    return mutant.path, mutant.scope, *mutant.lines(source)


def add_equivalent(mutant: Mutant, source: bytes, why: str, file: Path = FILE) -> None:
    """Write one more, in the order of files."""
    known = read_equivalents(file)
    known[key_of(mutant, source)] = Equivalent(*key_of(mutant, source), why)
    head = file.read_text(encoding="utf-8").partition("[[equivalent]]")[0].rstrip("\n")
    parts = [head, *(_written(known[key]) for key in sorted(known))]
    file.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _written(each: Equivalent) -> str:
    # A JSON string is a basic string of TOML.
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in vars(each).items()]
    return "\n".join(["[[equivalent]]", *lines])
