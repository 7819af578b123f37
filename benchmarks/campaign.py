"""What the benchmarks run on: campaign folders, those of the command line or the demo campaign of the project."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from metrics.text.plain import read_lines

DEMO = Path(__file__).parents[1] / "demo" / "harbour"


@dataclass(frozen=True)
class Campaign:
    """Outputs of some systems for one test set, as files with one segment per line."""

    name: str
    reference: Path
    systems: list[Path]

    @property
    def language(self) -> str:
        """Code of the target language, where the folder's name ends in it (`wmt22.en-cs`)."""
        last = self.name.rpartition("-")[2]
        return last if len(last) == 2 else ""

    @property
    def title(self) -> str:
        """In one line."""
        segments = read_lines(self.reference).segments
        return f"{self.name}: {segments:,} segments, {len(self.systems)} systems, reference {self.reference.stem}"

    def texts(self) -> list[bytes]:
        """The reference, then the systems."""
        return [read_lines(path).bytes for path in [self.reference, *self.systems]]


def arguments(description: str | None) -> argparse.ArgumentParser:
    """The options that all benchmarks have: DIR ..., --reference, --rounds."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, metavar="DIR", default=[DEMO])
    parser.add_argument("--reference", help="label of the reference (default: the first)")
    parser.add_argument("--rounds", type=int, default=5)
    return parser


def campaigns(options: argparse.Namespace) -> list[Campaign]:
    """Those that the options name; a folder without the reference asked for gives its first one."""
    found = []
    for folder in options.folders:
        references = sorted((folder / "refs").iterdir())
        reference = next((path for path in references if path.stem == options.reference), references[0])
        found.append(Campaign(folder.name, reference, sorted((folder / "systems").iterdir())))
    return found
