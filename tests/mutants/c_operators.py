"""Small faults in C, found by the spelling of operators: comparisons flipped, numbers moved, branches fixed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.mutants.mutant import Mutant

NOT_CODE = re.compile(
    rb'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#[^\n]*', re.DOTALL | re.MULTILINE
)
OPERATORS = {
    "comparison": {
        b" < ": b" <= ",
        b" <= ": b" < ",
        b" > ": b" >= ",
        b" >= ": b" > ",
        b" == ": b" != ",
        b" != ": b" == ",
    },
    "and/or": {b" && ": b" || ", b" || ": b" && "},
    "arithmetic": {b" + ": b" - ", b" - ": b" + ", b" * ": b" + ", b" / ": b" * ", b" & ": b" | ", b" | ": b" & "},
    "statement dropped": {b"continue;": b";", b"break;": b";"},
}
NUMBER = re.compile(rb"(?<![\w.])\d+(?![\w.])")
BRANCH = re.compile(rb"\bif \((?=[^\n]*\)( \{|$|\n| return| continue| break))", re.MULTILINE)
FUNCTION = re.compile(rb"^(?:KERNEL )?[a-z][^\n;=#]*?(\w+)\(", re.MULTILINE)


def c_mutants(path: str, source: bytes) -> list[Mutant]:
    """All mutants of a file, in their order."""
    # What is no code is blanked, so that places stay.
    code = NOT_CODE.sub(lambda found: re.sub(rb"[^\n]", b"\x00", found[0]), source)
    functions = [(each.start(), each[1].decode()) for each in FUNCTION.finditer(code)]
    found = [
        Mutant(path, operator, start, end, replacement, _scope(functions, start))
        for operator, start, end, replacement in _faults(code)
    ]
    return sorted(found, key=lambda each: (each.start, each.replacement))


def _faults(code: bytes) -> Iterator[tuple[str, int, int, bytes]]:
    for operator, replacements in OPERATORS.items():
        for spelling, other in replacements.items():
            for each in re.finditer(re.escape(spelling), code):
                yield operator, each.start(), each.end(), other
    for each in NUMBER.finditer(code):
        for other in (int(each[0]) + 1, *([int(each[0]) - 1] if int(each[0]) else [])):
            yield "constant", each.start(), each.end(), str(other).encode()
    for each in BRANCH.finditer(code):
        for word, fixed in (("never", b"if (0 && "), ("always", b"if (1 || ")):
            yield word, each.start(), each.end(), fixed


def _scope(functions: list[tuple[int, str]], place: int) -> str:
    return next((name for start, name in reversed(functions) if start <= place), "")
