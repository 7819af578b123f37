"""Files of scores, read by what they contain."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.formats.input.contents import Contents
from steelyard.formats.input.given_files import files_under
from steelyard.formats.plain import read_lines
from steelyard.formats.scores import json_scores, table_scores
from steelyard.formats.scores.score_runs import BadScores
from steelyard.formats.scores.score_tables import PairScores, tables
from steelyard.text.limits import TextLimits
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from steelyard.formats.plain import Text
    from steelyard.formats.scores.score_runs import ScoreRun

SCORE_LIMITS = TextLimits(file_bytes=1 << 30, segment_characters=1 << 26, segments=20_000_000)
"""1 GiB and 20 million lines a file; a line may be 64 MiB, for JSON may be one."""

ENDINGS = (".score", ".jsonl", ".json", ".tsv", ".seg", ".sys")
"""Of the files that are looked for in a folder, .gz behind them or not."""


@dataclass(frozen=True)
class ScoreFormat:
    """A format of files of scores."""

    title: str
    recognizes: Callable[[bytes], bool]
    """By the first 64 KiB."""
    read: Callable[[Text], Iterator[ScoreRun]]
    lower_is_better: tuple[str, ...] = ()
    """Its metrics of which a lower score is better."""


FORMATS = (
    ScoreFormat("WMT's automatic scores (JSON Lines)", json_scores.is_wmt_scores, json_scores.wmt_scores),
    ScoreFormat("COMET's --to_json", json_scores.is_comet, json_scores.comet),
    ScoreFormat("MetricX' JSON Lines", json_scores.is_metricx, json_scores.metricx, (json_scores.METRICX,)),
    ScoreFormat("a table with the columns system, metric, score", table_scores.is_table, table_scores.table),
    ScoreFormat("WMT's metrics task (TSV)", table_scores.is_metrics_task, table_scores.metrics_task),
    ScoreFormat("WMT's metrics task until 2023", table_scores.is_submission, table_scores.submission),
    ScoreFormat("mt-metrics-eval's .score", table_scores.is_score_file, table_scores.score_file),
)


def read_scores(
    paths: Sequence[str | os.PathLike[str]], *, lower_is_better: Iterable[str] = (), limits: TextLimits = SCORE_LIMITS
) -> list[PairScores]:
    """The scores of all pairs in files, and in folders of such files.

    Parameters
    ----------
    paths : sequence of path
        Files, packed with gzip or not, and folders.
    lower_is_better : iterable of str
        Metrics of which a lower score is better, beside MetricX.
    limits : TextLimits

    Returns
    -------
    list of PairScores

    Raises
    ------
    BadScores
        Where a file is in none of `FORMATS`, or is wrong.
    BadText
        Where one cannot be read, is not UTF-8 or is too large.
    """
    lower = set(lower_is_better)
    runs: list[ScoreRun] = []
    for path in score_files(paths):
        contents = Contents(path, limits=limits)
        form = next((each for each in FORMATS if each.recognizes(contents.text_head)), None)
        if form is None:
            contents.close()
            raise BadScores(
                f"{contents.name}: is not a file of scores. Known are {listed([each.title for each in FORMATS])}."
            )
        runs += form.read(read_lines(contents, limits=limits))
        lower.update(form.lower_is_better)
    return tables(runs, frozenset(lower))


def score_files(paths: Sequence[str | os.PathLike[str]]) -> Iterator[str | os.PathLike[str]]:
    """Files, and those of folders that may hold scores.

    Parameters
    ----------
    paths : sequence of path

    Yields
    ------
    path

    Raises
    ------
    BadScores
        For a folder without such files.
    """
    for path in paths:
        if os.fspath(path) == "-" or not Path(path).is_dir():
            yield path
            continue
        found = [each for each in files_under(Path(path)) if each.name.removesuffix(".gz").endswith(ENDINGS)]
        if not found:
            raise BadScores(f"{os.fspath(path)}: holds no files of scores ({', '.join(ENDINGS)}).")
        yield from found
