"""Fuzzes one reader in this process: `python -m tests.fuzz.alone NAME CORPUS -max_total_time=60 ...`."""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["steelyard.formats", "steelyard.meta_evaluation.human"]):
    from tests.fuzz.targets import examples, try_one

    # The libraries behind a format are loaded with its first file.
    for example in (b"", *examples(sys.argv[1])):
        try_one(sys.argv[1], example)

if __name__ == "__main__":
    program, name, *arguments = sys.argv
    atheris.Setup([program, *arguments], lambda data: try_one(name, data))
    atheris.Fuzz()
