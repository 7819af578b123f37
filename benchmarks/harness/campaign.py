"""What the benchmarks run on: campaign folders that were named, else real ones that are there, else generated."""

from __future__ import annotations

import argparse
import atexit
import shutil
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.harness.generated import write_campaign
from steelyard.formats.plain import read_lines

DATA = Path(__file__).parents[3] / "shared" / "data"
REAL = ("wmt22.en-cs", "wmt22.de-en")
"""Looked for in DATA; they are not part of the project."""
USUAL, SMALL = (10, 2000), (3, 300)
"""Systems and segments of generated campaigns, and with --quick."""


@dataclass(frozen=True)
class Campaign:
    """Outputs of some systems for one test set, as files with one segment per line."""

    name: str
    reference: Path
    systems: list[Path]

    @property
    def folder(self) -> Path:
        """Where it is."""
        return self.reference.parents[1]

    @property
    def source(self) -> Path:
        """What was translated."""
        return self.folder / "source.txt"

    @property
    def language(self) -> str:
        """Code of the target language, where the folder's name ends in it (`wmt22.en-cs`)."""
        last = self.name.rpartition("-")[2]
        return last if len(last) == 2 else ""

    @property
    def segments(self) -> int:
        """How many there are."""
        return read_lines(self.reference).segments

    @property
    def title(self) -> str:
        """In one line."""
        return f"{self.name}: {self.segments:,} segments, {len(self.systems)} systems, reference {self.reference.stem}"

    def texts(self) -> list[bytes]:
        """The reference, then the systems."""
        return [read_lines(path).bytes for path in [self.reference, *self.systems]]


def arguments(description: str | None) -> argparse.ArgumentParser:
    """The options that all benchmarks have: DIR ..., --reference, --rounds, --quick."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, metavar="DIR")
    add_arguments(parser)
    return parser


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Those that have a dash."""
    parser.add_argument("--reference", help="label of the reference (default: the first)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="as small as can be: try that it works, never for figures")


def campaigns(options: argparse.Namespace) -> list[Campaign]:
    """Those that the options name, or the usual ones; a folder without the reference asked for gives its first one."""
    found = []
    for folder in options.folders or usual_folders(getattr(options, "quick", False)):
        references = sorted((folder / "refs").iterdir())
        reference = next((path for path in references if path.stem == options.reference), references[0])
        found.append(Campaign(folder.name, reference, sorted((folder / "systems").iterdir())))
    return found


@cache
def usual_folders(quick: bool) -> list[Path]:
    """Real data where there are some, else one generated campaign, which goes when the program ends."""
    real = [DATA / name for name in REAL if (DATA / name / "refs").is_dir()]
    if real and not quick:
        return real
    home = Path(tempfile.mkdtemp(prefix="steelyard-bench-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    return [write_campaign(home / "generated", *(SMALL if quick else USUAL))]
