"""Fuzzes every reader with atheris (libFuzzer, guided by the lines that are reached), each for an equal share of time.

    python -m tests.fuzz [--seconds 120] [NAME ...]     (make fuzz SECONDS=3600)

A finding (an exception that is no MetricsError, an input that takes 10 s or 2 GiB) is kept in tests/fuzz/seeds/NAME,
where the suite tries it again from then on; the exit status is 1 then. Inputs that reached new lines lie in build/fuzz,
and the next run begins with them.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from tests.fuzz.targets import FINDINGS, TARGETS, examples

CORPUS = Path(__file__).parents[2] / "build" / "fuzz"
LONGEST_BYTES = 4096
INPUT_SECONDS = 10
MEBIBYTES = 2048


def main() -> int:
    """Fuzz each; 1 where something was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(TARGETS)} (default: all)")
    parser.add_argument("--seconds", type=float, default=120.0, help="of all together")
    options = parser.parse_args()
    names = options.names or list(TARGETS)
    if unknown := sorted(set(names) - set(TARGETS)):
        parser.error(f"There is no {unknown[0]!r}; there are {', '.join(TARGETS)}.")
    found = [name for name in names if not passes(name, max(1, round(options.seconds / len(names))))]
    print(f"{len(names)} readers, {options.seconds:g} s: {', '.join(found) or 'nothing'} found")
    return int(bool(found))


def passes(name: str, seconds: int) -> bool:
    """Fuzz one reader in a process of its own, which ends with what it finds."""
    corpus, kept = CORPUS / name, FINDINGS / name
    corpus.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(examples(name)):
        (corpus / f"example-{number}").write_bytes(data)
    kept.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "tests.fuzz.alone", name, str(corpus), f"-max_total_time={seconds}"]
    command += [f"-max_len={LONGEST_BYTES}", f"-timeout={INPUT_SECONDS}", f"-rss_limit_mb={MEBIBYTES}"]
    command += [f"-artifact_prefix={kept}/", "-print_final_stats=1"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    tried = [line.split()[-1] for line in ran.stderr.splitlines() if "number_of_executed_units" in line]
    print(f"{name}: {tried[0] if tried else 'no'} inputs in {seconds} s", flush=True)
    if ran.returncode:
        print(ran.stdout[-2000:], ran.stderr[-3000:], flush=True)
    elif not any(kept.iterdir()):
        kept.rmdir()
    return ran.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
