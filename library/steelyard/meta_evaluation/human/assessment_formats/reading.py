"""Files of direct assessments and error annotations, read by what they contain."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from steelyard.formats.input.contents import opened
from steelyard.formats.input.given_files import files_under
from steelyard.formats.plain import read_lines
from steelyard.meta_evaluation.human.assessment_formats import json_lines, mqm, mt_metrics_eval, pearmut, tables
from steelyard.meta_evaluation.human.assessment_formats.found import Found
from steelyard.meta_evaluation.human.table import BadTable
from steelyard.text.findings import quoted
from steelyard.text.language_pairs import of_other_languages
from steelyard.text.limits import TextLimits

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence

    from steelyard.formats.input.contents import Source
    from steelyard.meta_evaluation.human.assessment_formats.assessment import Assessment

LIMITS = TextLimits(file_bytes=1 << 29, segment_characters=1 << 28, segments=5_000_000)
"""512 MiB and five million lines a file; Pearmut writes a campaign into one line."""

ENDINGS = (".csv", ".tsv", ".jsonl", ".json", ".seg.rating", ".seg.score")
"""Of the files that are looked for in a folder, .gz behind them or not."""

_PAIR = re.compile(r"[a-z]{2,3}(?:_[A-Za-z0-9]+)*(?:---|-)[a-z]{2,3}(?:_[A-Za-z0-9]+)*(?=[._]|$)")


@dataclass(frozen=True)
class JudgmentFormat:
    """A format of files of judgments."""

    title: str
    recognizes: Callable[[bytes], bool]
    """By the first 64 KiB."""
    read: Callable[[Found], Iterator[Assessment]]


FORMATS = (
    JudgmentFormat("Pearmut's export", pearmut.is_pearmut, pearmut.assessments_of_pearmut),
    JudgmentFormat("WMT's JSON Lines", lambda head: head.lstrip().startswith(b"{"), json_lines.assessments_of_lines),
    JudgmentFormat("mt-metrics-eval's ratings", mt_metrics_eval.is_ratings, mt_metrics_eval.assessments_of_ratings),
    JudgmentFormat("mt-metrics-eval's scores", mt_metrics_eval.is_score_file, mt_metrics_eval.assessments_of_scores),
    JudgmentFormat("a table of errors (MQM)", mqm.is_mqm, mqm.assessments_of_mqm),
    JudgmentFormat("Appraise's export, or a table with a header", lambda _: True, tables.assessments_of_table),
)
"""The first that recognizes a file reads it."""


@dataclass(slots=True)
class AssessmentFiles:
    """Reads files of judgments, and counts what does not count."""

    assessments: list[Assessment] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    def read(self, paths: Sequence[str | os.PathLike[str]]) -> None:
        """Add what files, and folders of such files, hold; each file is a wave of its own.

        Parameters
        ----------
        paths : sequence of path

        Raises
        ------
        BadText
            Where a file cannot be read or is in no known format, naming file and line.
        """
        for wave, path in enumerate(_files(paths)):
            self.read_one(path, wave)

    def read_one(self, source: Source, wave: int) -> None:
        """Add what one file holds.

        Parameters
        ----------
        source : path or bytes
        wave : int
            Judgments of different waves are never averaged.

        Raises
        ------
        BadText
            Where it cannot be read.
        """
        contents = opened(source, limits=LIMITS)
        form = next(each for each in FORMATS if each.recognizes(contents.text_head))
        found = Found(read_lines(contents, limits=LIMITS), wave)
        if not found.text.bytes.strip():
            raise BadTable(f"{found.name}, line 1: is empty. Give a file with judgments.")
        self.assessments += _named_by_file(list(form.read(found)), found.name)
        self.notices += found.all_notices()


def _files(paths: Sequence[str | os.PathLike[str]]) -> Iterator[str | os.PathLike[str]]:
    for path in paths:
        if str(path) == "-" or not Path(path).is_dir():
            yield path
            continue
        found = [each for each in files_under(Path(path)) if each.name.removesuffix(".gz").endswith(ENDINGS)]
        if not found:
            raise BadTable(f"{path}: holds no files of judgments ({', '.join(ENDINGS)}).")
        yield from found


def _named_by_file(found: Sequence[Assessment], name: str) -> Sequence[Assessment]:
    """With the pair that the file is called by, as in `en-cs.esa.csv`, where it holds one pair.

    Raises BadTable where the file itself says another one.
    """
    match, pairs = _PAIR.match(PurePath(name).name), {each.pair for each in found}
    if match is None or len(pairs) != 1:
        return found
    (pair,) = pairs
    if of_other_languages(match[0], pair):
        raise BadTable(f"{name}: holds judgments of {quoted(pair)}, but is called by {match[0]}. Rename it.")
    return [each._replace(pair=match[0]) for each in found]
