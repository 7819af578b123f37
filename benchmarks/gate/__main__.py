"""Counts instructions and compares them with those that are kept: it fails where anything takes more.

    python -m benchmarks.gate [NAME ...] [--quick] [--update]     (make bench-check)

Instructions do not depend on what else the machine does. Exit status 1 where a workload takes more than its kept count
and what is tolerated, or has none. `--update` keeps the new counts, whatever they are; `--quick` is for half a minute.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from benchmarks.gate import kept
from benchmarks.gate.counting import COMMANDS, GROUPS, QUICK, YARDSTICK, count, unavailable
from benchmarks.report.section import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.gate.counting import Counted
    from benchmarks.gate.kept import Verdict

NAMES = (*(name for group in GROUPS for name in group), *COMMANDS)


def table(verdicts: Sequence[Verdict]) -> Table:
    """What changed most first."""
    rows = []
    for each in sorted(verdicts, key=lambda verdict: (verdict.kept is not None, -verdict.change)):
        before, change = ("", "") if each.kept is None else (f"{each.kept / 1e6:.2f}", f"{each.change:+.1%}")
        where = ", ".join(f"{part} {share:.0%}" for part, share in each.shares.items() if share >= 0.05)
        rows.append([each.name, before, f"{each.now / 1e6:.2f}", change, each.word, where])
    return Table(["workload", "kept, million", "now", "change", "", "where"], rows)


def report(before: Counted, now: Counted) -> bool:
    """Print what is found; whether all is well."""
    for name, (old, new) in kept.differing(before, now).items():
        print(f"{name}: kept with {old}, now {new}")
    if kept.differing(before, now):
        print(f"So counts can be compared only roughly, and {kept.ELSEWHERE:.0%} more is tolerated.")
    verdicts = list(kept.judge(before, now))
    print(table(verdicts).markdown())
    bad = [each.name for each in verdicts if each.word in {"MORE", "new"}]
    if bad:
        print(f"\nMore instructions than kept, or nothing kept: {', '.join(bad)}.")
        print("Where that is right, keep the new counts: make bench-check UPDATE=1")
    elif any(each.word == "less" for each in verdicts):
        print("\nSome take less. To hold what was won, keep the new counts: make bench-check UPDATE=1")
    return not bad


def main() -> None:
    """Count, compare, and exit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--quick", action="store_true", help="those that matter most")
    parser.add_argument("--update", action="store_true", help="keep the new counts")
    options = parser.parse_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"there is no workload called {', '.join(sorted(unknown))}")
    if reason := unavailable():
        print(f"Nothing was counted: {reason}.")
        sys.exit(1 if os.environ.get("CI") else 0)
    names = {*options.names, *(QUICK if options.quick else ())} or set(NAMES)
    now, before = count(names | {YARDSTICK}), kept.read()
    fine = report(before, now)
    if options.update:
        kept.write(now)
    sys.exit(not (fine or options.update))


if __name__ == "__main__":
    main()
