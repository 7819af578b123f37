"""Whether the parts of an export belong together: a manifest only says that nobody changed them."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from campaigns.errors import BadRequest
from steelyard.errors import MetricsError
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.without_texts.imported import Imported
from steelyard.text.findings import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from campaigns.campaign_imports.content import CampaignContent, ReadScores


def check_export(content: CampaignContent) -> None:
    """Raise BadRequest for parts that name others which are not there, and for what can be there only once."""
    segments = {each.title: each.segments for each in content.test_sets}
    if len(segments) < len(content.test_sets):
        raise BadRequest("test-sets.tsv: two test sets have one name and version.")
    for file, titles in (
        ("submissions.tsv", [each.test_set for each in content.submissions]),
        ("protocols.tsv", [each.test_set for each in content.protocols]),
        ("judgments.tsv", [title for title, _ in content.judgments]),
        ("imported.tsv", [each.test_set for each in content.scores]),
        ("corrections.tsv", [_title(each, which) for each in content.corrections for which in ("old", "new")]),
    ):
        if unknown := [each for each in titles if each not in segments]:
            raise BadRequest(f"{file}: there is no test set {quoted(unknown[0][:100])}.")
    numbers = {each.number for each in content.submissions}
    if len(numbers) < len(content.submissions):
        raise BadRequest("submissions.tsv: two submissions have one number.")
    _check_declarations(content)
    for each in content.scores:
        _check_scores(each, segments[each.test_set], numbers)
    versions = Counter((each.test_set, each.values["name"], each.values["version"]) for each in content.scores)
    if twice := [each for each, count in versions.items() if count > 1]:
        raise BadRequest(f"imported.tsv: {twice[0][1]}@{twice[0][2]} is there twice.")


def _title(correction: Mapping[str, str], which: str) -> str:
    version = correction[f"{which}_version"]
    return correction["test_set"] if version == "1" else f"{correction['test_set']}@{version}"


def _check_declarations(content: CampaignContent) -> None:
    primary = Counter(
        (each.test_set, each.team)
        for each in content.submissions
        if each.declared and each.declared["kind"] == "primary" and each.declared["withdrawn_at"] is None
    )
    if twice := [each for each, count in primary.items() if count > 1]:
        raise BadRequest(f"submissions.tsv: {twice[0][1]} has two primary submissions for {twice[0][0]}.")


def _check_scores(scores: ReadScores, segments: int, numbers: set[str]) -> None:
    called = f"imported.tsv: {scores.values['name']}@{scores.values['version']}"
    try:
        metric = parse_metric(scores.values["specification"])
    except MetricsError as error:
        raise BadRequest(f"{called}: {error}") from error
    if not isinstance(metric, Imported):
        raise BadRequest(f"{called} is no imported metric, but {metric.title}.")
    for number, rows in scores.statistics.items():
        if number not in numbers:
            raise BadRequest(f"{called}: there is no submission {quoted(number[:20])}.")
        if len(rows) != segments or any(len(row) != len(metric.columns) for row in rows):
            raise BadRequest(f"{called}: submission {number} has other segments than the test set, or other columns.")
        if not all(math.isfinite(value) for row in rows for value in row):
            raise BadRequest(f"{called}: submission {number} has a score that is no number.")
