"""All benchmarks, or those named: tables and pictures go into docs/explanation/performance.md, figures beside it.

    python -m benchmarks [NAME ...] [--data DIR ...] [--reference LABEL] [--rounds 5] [--quick] [--docs FOLDER]

Each runs in a process of its own and is written down as soon as it ends. DIR is a campaign folder (source.txt, refs/,
systems/); without one, WMT22's in ../shared/data where they are, else a generated one. A program that is not on this
machine is left out, and the table says so. `--quick` writes into a folder of its own instead of docs, as does --docs.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

from benchmarks.harness.alone import progress
from benchmarks.harness.campaign import add_arguments
from benchmarks.harness.machine import load, machine
from benchmarks.peers.programs import PROGRAMS
from benchmarks.report.page import DOCS, PAGE, Measured, keep, read_figures, write_page
from benchmarks.report.section import Section

SECTIONS = ("headline", "warm", "cold", "together", "replicates", "latency", "idle", "growth", "layers")
"""Modules of this package with a function `section`, in the order in which they run."""
QUICK_DOCS = Path("steelyard-bench")


def main() -> int:
    """Run them one after the other; exit status 1 where one failed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(SECTIONS)} (default: all)")
    parser.add_argument("--data", nargs="+", type=Path, default=[], metavar="DIR")
    add_arguments(parser)
    parser.add_argument(
        "--docs", type=Path, metavar="FOLDER", help="where performance.md is (default: docs/explanation)"
    )
    parser.add_argument(
        "--render", action="store_true", help="measure nothing, write page and pictures from the figures"
    )
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if unknown := [name for name in options.names if name not in SECTIONS]:
        parser.error(f"there is no benchmark {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
    docs = options.docs or (QUICK_DOCS if options.quick else DOCS)
    if not (docs / PAGE).exists():
        docs.mkdir(parents=True, exist_ok=True)
        shutil.copy(DOCS / PAGE, docs / PAGE)
    if options.render:
        for each in read_figures(docs).values():
            keep(docs, each)
        write_page(docs, {})
        return 0
    names = options.names or SECTIONS
    begun = time.monotonic()
    failed = [name for name in names if not measured(name, options, docs)]
    progress(f"{len(names) - len(failed)} of {len(names)} in {(time.monotonic() - begun) / 60:.1f} min: {docs / PAGE}")
    if failed:
        progress(f"Failed, and left as they were: {', '.join(failed)}")
    return 1 if failed else 0


def measured(name: str, options: argparse.Namespace, docs: Path) -> bool:
    """Run one and write it down; whether it went well."""
    progress(f"\n== {name}")
    before, begun = load(), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "section.json"
        command = [sys.executable, "-m", f"benchmarks.{name}", *map(str, options.data), "--json", str(file)]
        if status := status_of([*command, *passed_on(options)]):
            progress(f"== {name} failed with {status}")
            return False
        section = Section.from_json(json.loads(file.read_text()))
    day = date.today()
    kept = Measured(section, shown_command(name, options), f"{day.day} {day:%B %Y}", f"{before} to {load()}", machine())
    keep(docs, kept)
    progress(f"== {name}: {time.monotonic() - begun:.0f} s")
    return True


def status_of(command: list[str]) -> int:
    """Run it to its end, with default settings; whoever ends us ends it, too."""
    programs = {variable for _, variable, _ in PROGRAMS.values()}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("STEELYARD_") or name in programs}
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, env=kept)
    try:
        return process.wait()
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()


def passed_on(options: argparse.Namespace) -> list[str]:
    """The options of a single benchmark."""
    given = ["--rounds", str(options.rounds)]
    given += ["--reference", options.reference] if options.reference else []
    return given + (["--quick"] if options.quick else [])


def shown_command(name: str, options: argparse.Namespace) -> str:
    """The command that gives this section again, with the names of folders alone."""
    words = ["python -m benchmarks", name]
    words += ["--data", *(folder.name for folder in options.data)] if options.data else []
    words += ["--reference", options.reference] if options.reference else []
    words += ["--rounds", str(options.rounds)] if options.rounds != 5 else []
    return " ".join(words + (["--quick"] if options.quick else []))


if __name__ == "__main__":
    sys.exit(main())
