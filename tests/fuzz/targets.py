"""What is fuzzed: each format of texts and each kind of judgments, from the registries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from steelyard.errors import MetricsError
from steelyard.formats.detection import read_file
from steelyard.formats.registry import FORMATS
from steelyard.meta_evaluation.human.kinds import KINDS
from steelyard.meta_evaluation.human.reading import Reading, read_judgments

FINDINGS = Path(__file__).parent / "seeds"
"""Inputs that were once too much: each is tried again by `test_findings.py`."""


def _text(format_: str, data: bytes) -> None:
    read_file(data, format=format_)


def _judgments(kind: str, data: bytes) -> None:
    read_judgments([data], Reading(segments=1000, kind=kind))


TARGETS: dict[str, Callable[[bytes], None]] = {
    **{name: partial(_text, name) for name in FORMATS},
    **{f"judgments-{kind}": partial(_judgments, kind) for kind in KINDS},
}


def try_one(name: str, data: bytes) -> None:
    """Read it; whatever is raised but an error that says what is wrong with the file is a finding."""
    with suppress(MetricsError):
        TARGETS[name](data)


def examples(name: str) -> Iterator[bytes]:
    """Files to begin with."""
    from tests.growth.readers import CONTEXTS, JUDGMENTS

    if name in CONTEXTS:
        yield from (f"{before}a{after}".encode() for before, after in CONTEXTS[name].values())
    first, rest = JUDGMENTS.get(name.removeprefix("judgments-"), ("", ""))
    if first:
        yield f"{first}a{rest.format(1)}".encode()


def findings() -> list[tuple[str, Path]]:
    """What was found so far: the target and the file."""
    return [(file.parent.name, file) for file in sorted(FINDINGS.glob("*/*"))]
