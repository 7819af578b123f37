"""Uploaded files of scores, read in the sandbox: what comes back is plain data."""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

import numpy as np

from campaigns.errors import BadRequest
from campaigns.score_imports.versions import ScoreFile
from steelyard.errors import MetricsError
from steelyard.formats.scores.reading import SCORE_LIMITS, read_scores
from steelyard.formats.scores.score_runs import ScoredDocument
from steelyard.formats.scores.score_tables import MetricTable, PairScores
from steelyard.text.limits import TextLimits

LONGEST_NAME = 150
_UNSAFE = re.compile(r"[\x00-\x1f\x7f/\\]")


@dataclass(frozen=True)
class PackedTable:
    """A `MetricTable` with its scores as bytes."""

    name: str
    level: str
    scores: bytes
    higher_is_better: bool
    notices: tuple[str, ...]
    documents: tuple[ScoredDocument, ...]


@dataclass(frozen=True)
class PackedScores:
    """A `PairScores` of packed tables."""

    pair: str
    systems: tuple[str, ...]
    tables: tuple[PackedTable, ...]

    def unpacked(self) -> PairScores:
        """The scores."""
        tables = (
            MetricTable(
                each.name,
                each.level,
                np.frombuffer(each.scores, dtype="<f8").reshape(len(self.systems), -1),
                each.higher_is_better,
                each.notices,
                each.documents,
            )
            for each in self.tables
        )
        return PairScores(self.pair, self.systems, tuple(tables))


def described_files(files: Sequence[tuple[str, bytes]]) -> list[ScoreFile]:
    """Names and hashes of files."""
    return [ScoreFile(name[-200:], hashlib.sha256(content).hexdigest()) for name, content in files]


def read_score_files(
    files: Sequence[tuple[str, bytes]], lower_is_better: Sequence[str], limits: TextLimits
) -> tuple[PackedScores, ...]:
    """Read files of scores in any format, by name (with the folder, which may name the pair) and content.

    Raises
    ------
    BadRequest
        With what is wrong, by file and line.
    """
    with tempfile.TemporaryDirectory() as folder:
        paths: list[Path] = []
        for name, content in files:
            path = Path(folder, *_parts(name))
            try:
                path.parent.mkdir(exist_ok=True)
                with path.open("xb") as file:
                    file.write(content)
            except (FileExistsError, NotADirectoryError) as error:
                raise BadRequest(
                    f"Two files, or a file and a folder, are called {name[:100]!r}. Send each once."
                ) from error
            paths.append(path)
        try:
            # A line of JSON may be the whole file: what bounds a segment of text does not bound it.
            whole = replace(limits, segment_characters=SCORE_LIMITS.segment_characters)
            found = read_scores(paths, lower_is_better=lower_is_better, limits=whole)
        except MetricsError as error:
            raise BadRequest(str(error).replace(f"{folder}/", "")) from None
    return tuple(
        PackedScores(
            each.pair,
            each.systems,
            tuple(
                PackedTable(
                    table.name,
                    table.level,
                    np.ascontiguousarray(table.scores, dtype="<f8").tobytes(),
                    table.higher_is_better,
                    table.notices,
                    table.documents,
                )
                for table in each.metrics
            ),
        )
        for each in found
    )


def _parts(name: str) -> list[str]:
    """The last folder and the name of a file, as a file system here takes them."""
    parts = [_UNSAFE.sub("_", part)[-LONGEST_NAME:] for part in PurePosixPath(name.replace("\\", "/")).parts]
    return [part for part in parts if part not in ("", "_", ".", "..")][-2:] or ["scores"]
