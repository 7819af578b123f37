"""Puts small faults into the code, one at a time, and says which of them no test finds.

    python -m tests.mutants [--area AREA] [--file PART] [--seed SEED] [--count COUNT]     (make mutants)
    python -m tests.mutants --explain ID WHY

Exit status 1 where one lives that `equivalents.toml` does not explain. docs/how-to/testing.md tells more.
"""

from __future__ import annotations

import argparse
import os
import queue
import signal
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.mutants.areas import AREAS
from tests.mutants.drawing import Candidate, candidates, drawn, source_of, unexplained
from tests.mutants.equivalents import add_equivalent
from tests.mutants.trial import BrokenTests, Copy, Fate, Tried
from tests.servers import START_SECONDS, start_postgres

POSTGRES = "STEELYARD_TEST_POSTGRES_URL"


@contextmanager
def postgres(folder: Path) -> Iterator[dict[str, str]]:
    """What tells the tests of a PostgreSQL: starting one takes longer than most tests."""
    if os.environ.get(POSTGRES):
        yield {}
        return
    home = folder / "postgres"
    home.mkdir(mode=0o755)
    folder.chmod(0o755)
    process, url = start_postgres(home)
    try:
        yield {POSTGRES: url}
    finally:
        process.send_signal(signal.SIGQUIT)
        process.wait(START_SECONDS)


def line_of(candidate: Candidate) -> str:
    """Where it is: models/queue/kinds/shards.py:104."""
    mutant = candidate.mutant
    number = source_of(mutant.path).count(b"\n", 0, mutant.start) + 1
    return f"{mutant.path}:{number}"


def attempt_all(chosen: list[Candidate], jobs: int) -> list[tuple[Candidate, Tried]]:
    """Try them, some side by side, and say how it goes."""
    waiting: queue.SimpleQueue[Candidate] = queue.SimpleQueue()
    # Those of one file together: its tests without a fault run once in each copy.
    for each in sorted(chosen, key=lambda candidate: (candidate.tests, candidate.mutant.path)):
        waiting.put(each)
    found: list[tuple[Candidate, Tried]] = []
    errors: list[Exception] = []

    def work(copy: Copy) -> None:
        while not errors:
            try:
                candidate = waiting.get_nowait()
                tried = copy.attempt(candidate.mutant, candidate.tests)
            except queue.Empty:
                return
            except Exception as error:
                errors.append(error)
                return
            found.append((candidate, tried))
            words = f"{len(found)}/{len(chosen)} {candidate.area} {line_of(candidate)} {candidate.mutant.operator}"
            print(f"{words}: {tried.fate} ({tried.seconds:.1f} s) {tried.by}".rstrip(), flush=True)

    with (
        tempfile.TemporaryDirectory(prefix="steelyard-mutants-", dir="/tmp") as scratch,
        postgres(Path(scratch)) as environment,
    ):
        copies = [Copy(Path(scratch) / str(number), environment) for number in range(jobs)]
        threads = [threading.Thread(target=work, args=(copy,), daemon=True) for copy in copies]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            for copy in copies:
                copy.close()
    if errors:
        report(found)
        raise errors[0]
    return found


def report(found: list[tuple[Candidate, Tried]]) -> bool:
    """Print what lives, and how many of each area died; whether none lives."""
    survivors = [candidate for candidate, tried in found if tried.fate is Fate.SURVIVED]
    for each in survivors:
        source = source_of(each.mutant.path)
        print(f"\n{each.mutant.id(source)} ({each.area}, {each.mutant.operator}) lives:\n{each.mutant.diff(source)}")
    fates = Counter((candidate.area, tried.fate) for candidate, tried in found)
    for area in sorted({area for area, _ in fates}):
        print(f"{area}: " + ", ".join(f"{fates[area, fate]} {fate}" for fate in Fate if fates[area, fate]))
    if survivors:
        print("Write the test that finds it, or explain it: python -m tests.mutants --explain ID WHY")
    return not survivors


def _stop(number: int, _: object) -> None:
    sys.exit(128 + number)


def main() -> None:
    """Draw, try, report, and exit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--area", default="", choices=["", *AREAS], metavar="AREA", help=", ".join(AREAS))
    parser.add_argument("--file", default="", metavar="PART", help="only files whose path contains this")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=40, help="how many; 0 for all")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="how many side by side")
    parser.add_argument("--only", default="", metavar="ID", help="this one")
    parser.add_argument("--explain", nargs=2, metavar=("ID", "WHY"), help="write down why it may live")
    options = parser.parse_args()
    # Servers and copies are cleared away, however it is stopped.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)
    wanted = options.explain[0] if options.explain else options.only
    known = candidates(options.area, options.file)
    if wanted:
        chosen = [each for each in known if each.mutant.id(source_of(each.mutant.path)) == wanted][:1]
        if not chosen:
            sys.exit(f"There is no mutant {wanted} now. Its lines may have changed.")
        if options.explain:
            add_equivalent(chosen[0].mutant, source_of(chosen[0].mutant.path), options.explain[1])
            return
    else:
        chosen = drawn(unexplained(known), options.seed, options.count)
    try:
        found = attempt_all(chosen, max(1, min(options.jobs, len(chosen))))
    except BrokenTests as error:
        sys.exit(str(error))
    sys.exit(0 if report(found) else 1)


if __name__ == "__main__":
    main()
