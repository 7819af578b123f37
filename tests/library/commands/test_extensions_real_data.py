"""Another distribution's metric, tokenizer and format, installed for the command, on WMT's texts."""

import json
import os
import subprocess
import sys
from itertools import pairwise

import pytest

MODULE = '''
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from steelyard import SegmentMetric
from steelyard.formats.plain import Text
from steelyard.formats.reader import Kind, Reader
from steelyard.tokenizers.tokenizer import Tokenizer


@dataclass(frozen=True)
class Copied(SegmentMetric):
    """Whether a segment equals a reference."""

    name: ClassVar[str] = "copied"
    source: ClassVar[str] = "a test"

    def score_segments(self, segments):
        references = [text.split(b"\\n") for text in segments.references]
        return np.array([
            [100.0 * any(line == each[n] for each in references) for n, line in enumerate(text.split(b"\\n"))]
            for text in segments.hypotheses
        ])


def read(contents, how):
    lines = [line.partition(b"|")[2] for line in contents.read(how.limits).split(b"\\n")[:-1]]
    return Text(contents.name, b"\\n".join(lines), len(lines))


NUMBERED = Reader("numbered", "numbered lines", (".num",), Kind.LINES, lambda head: head.startswith(b"0|"), read)
CHARACTERS = Tokenizer(
    "letters", "single characters", lambda text: "".join(
        each if each == "\\n" else each + " " for each in text.decode()
    ).encode(),
)
'''
ENTRY_POINTS = """
[steelyard.metrics]
copied = extension_of_a_test:Copied
[steelyard.formats]
numbered = extension_of_a_test:NUMBERED
[steelyard.tokenizers]
letters = extension_of_a_test:CHARACTERS
"""


@pytest.fixture
def command(tmp_path):
    """A function that runs `steelyard score` in a process that has the distribution; its JSON's systems."""
    (tmp_path / "extension_of_a_test.py").write_text(MODULE)
    info = tmp_path / "extension_of_a_test-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: extension-of-a-test\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}

    def run(*words):
        command = [sys.executable, "-m", "steelyard", "score", *map(str, words), "-f", "json"]
        done = subprocess.run(command, env=environment, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)["systems"]

    return run


def test_an_extension_scores_real_texts(real_data, tmp_path, command):
    folder = real_data / "wmt22.de-en"
    systems = [folder / "systems" / f"{name}.txt" for name in ("Online-A", "Lan-Bridge")]
    references = [folder / "refs" / f"{label}.txt" for label in "AB"]
    numbered = []
    for path in (*references, *systems):
        lines = path.read_text("utf-8").split("\n")[:-1]
        numbered.append(tmp_path / f"{path.stem}.num")
        numbered[-1].write_text("".join(f"{n}|{line}\n" for n, line in enumerate(lines)), "utf-8")
    metrics = ["copied", "bleu:tok=letters", "bleu:tok=char", "bleu"]
    plain = command(*references, "-i", *systems, "-m", *metrics)
    found = command(*numbered[:2], "-i", *numbered[2:], "-m", *metrics)
    assert [each["scores"] for each in found] == [each["scores"] for each in plain]
    texts = [path.read_text("utf-8").removesuffix("\n").split("\n") for path in references]
    for path, each in zip(systems, plain, strict=True):
        copied, letters, characters, words = each["scores"]
        lines = path.read_text("utf-8").removesuffix("\n").split("\n")
        equal = sum(line in pair for line, *pair in zip(lines, *texts, strict=True))
        assert copied["score"] == pytest.approx(100 * equal / len(lines), abs=1e-6)
        assert "from:extension-of-a-test-1.0" in copied["signature"]
        assert "tok:letters" in letters["signature"]
        assert letters["score"] == characters["score"] != words["score"]
    assert all(one["scores"] != other["scores"] for one, other in pairwise(plain)), "not one file read twice"
