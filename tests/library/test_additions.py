"""CONTRIBUTING.md's steps for a metric, a tokenizer and a format, followed in a copy of the library."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

METRIC = '''"""Exact match: the share of segments that are a reference, word for word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from steelyard.metrics.parameters import case_parameter, tokenizer_parameter
from steelyard.metrics.segment_metric import SegmentMetric

if TYPE_CHECKING:
    from typing import Unpack

    from numpy.typing import NDArray

    from steelyard.metrics.keywords import ExactMatchKeywords
    from steelyard.metrics.segments import Segments


@dataclass(frozen=True)
class ExactMatch(SegmentMetric):
    """The share of segments whose words are those of one of their references."""

    name: ClassVar[str] = "exact_match"
    source: ClassVar[str] = "Rajpurkar et al. 2016"
    factor: ClassVar[float] = 100.0

    case: str = case_parameter()
    tok: str = tokenizer_parameter()

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[ExactMatchKeywords]) -> None: ...

    def score_segments(self, segments: Segments) -> NDArray[np.float64]:
        """1 for a match, 0 for none."""
        words, count = segments.words(self.tok, self.case), len(segments)
        rows = [words.ids[a:b].tolist() for a, b in zip(words.starts, words.starts[1:], strict=False)]
        texts = [rows[begin : begin + count] for begin in range(0, len(rows), count)]
        references, hypotheses = texts[: len(segments.references)], texts[len(segments.references) :]
        alike = np.array([[[a == b for a, b in zip(h, r, strict=True)] for r in references] for h in hypotheses])
        return (alike & (segments.reference_mask > 0)).any(axis=1).astype(np.float64)
'''

RULE = '''
def hyphens(text: bytes) -> bytes:
    """Words, cut at hyphens.

    Parameters
    ----------
    text : bytes

    Returns
    -------
    bytes

    """
    return text.replace(b"-", b" - ")
'''

FORMAT = '''"""Reads a document, the number of a segment and its text from each line, with semicolons between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.formats.reader import Kind, Reader
from steelyard.formats.rows import Rows
from steelyard.text.limits import TextLimits

if TYPE_CHECKING:
    from steelyard.formats.input.contents import Contents
    from steelyard.formats.markup.documents import MarkedFile
    from steelyard.formats.reader import Reading

COLUMNS = ["doc_id", "segment_id", "hypothesis"]


def read_semicolons(contents: Contents, how: Reading) -> MarkedFile:
    """Read a file. Raises BadText."""
    from steelyard.formats.plain import read_lines

    most = how.markup_limits.file_bytes
    lines = read_lines(contents, limits=TextLimits(most, segment_characters=most, segments=most + 1)).lines()
    rows = Rows(contents.name, how)
    rows.begin(COLUMNS, 1)
    for number, line in enumerate(lines[1:], start=2):
        rows.add(dict(zip(COLUMNS, line.decode().split(";", 2), strict=True)), number)
    return rows.file()


def looks_like_semicolons(head: bytes) -> bool:
    """Whether the first line says so."""
    return head.removeprefix(b"\\xef\\xbb\\xbf").startswith(b"#semicolons")


READER = Reader("semicolons", "lines with semicolons", (".scsv",), Kind.IDS, looks_like_semicolons, read_semicolons)
'''


def insert(path, before, line):
    """One more, before the first one that begins like this."""
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, line + before, 1))


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """A copy in which the steps were followed."""
    library = tmp_path_factory.mktemp("copy") / "library"
    shutil.copytree(ROOT / "library", library, ignore=shutil.ignore_patterns("__pycache__", "*.c", "*.h"))
    package = library / "steelyard"
    (package / "metrics/edit/exact_match.py").write_text(METRIC)
    place = '    "exact_match": "steelyard.metrics.edit.exact_match:ExactMatch",\n'
    insert(package / "metrics/built_in.py", '    "ribes":', place)
    own = package / "__init__.py"
    imported = "    from steelyard.metrics.edit.exact_match import ExactMatch\n"
    insert(own, "    from steelyard.metrics.edit.per ", imported)
    insert(own, '    "FMeasure",', '    "ExactMatch",\n')
    insert(own, '    "FMeasure": ', '    "ExactMatch": "metrics.edit.exact_match",\n')
    insert(package / "tokenizers/rules.py", "\ndef characters_of(", RULE + "\n")
    tokenizer = '        Tokenizer("hyphens", "words, cut at hyphens", rules.hyphens),\n'
    insert(package / "tokenizers/registry.py", "        JAPANESE,\n", tokenizer)
    (package / "formats/semicolons.py").write_text(FORMAT)
    registry = package / "formats/registry.py"
    insert(registry, "    tsv.READER,\n", "    semicolons.READER,\n")
    registry.write_text(registry.read_text().replace("import jsonl, tsv", "import jsonl, semicolons, tsv"))
    run(library, "library/metric_keywords.py")
    return library


def run(library, *arguments):
    """What Python prints that has the copy for its library."""
    done = subprocess.run(
        [sys.executable, *(str(library.parent / each) if each.startswith("library/") else each for each in arguments)],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(library)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_promises_are_kept(library):
    tests = ["tests/library/test_every_metric.py", "tests/library/tokenizers/test_every_tokenizer.py"]
    tests += ["tests/library/test_docstrings.py", "tests/library/metrics/test_keywords.py"]
    names = "exact_match or hyphens or (keywords and not checker) or rules"
    places = f"pythonpath={library} {ROOT} {ROOT / 'client'}"
    out = run(library, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", places, "-k", names, *tests)
    assert "passed" in out
    assert "All promises kept." in run(library, "-m", "steelyard", "metric", "check", "exact_match")


def test_every_command_knows_them(library, tmp_path):
    (tmp_path / "ref.scsv").write_text("#semicolons\nd;1;A well-known boat.\nd;2;The sea.\n")
    (tmp_path / "out.scsv").write_text("#semicolons\nd;2;A sea.\nd;1;a well - known boat.\n")
    files = [str(tmp_path / "ref.scsv"), "-i", str(tmp_path / "out.scsv")]
    out = run(library, "-m", "steelyard", "score", *files, "-m", "exact_match:case=lc", "-tok", "hyphens", "-b")
    assert out.split() == ["50.0"]
    assert "exact_match" in run(library, "-m", "steelyard", "metric", "list")
    program = 'from steelyard import ExactMatch; print(ExactMatch(lowercase=True).corpus_score(["A"], [["a"]]).score)'
    assert run(library, "-c", program).strip() == "100.0"
