"""Agreement of metrics with human judgments, as a section of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from campaigns.reports.template import rendered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup


def agreement_body(
    rows: Sequence[Sequence[str]],
    tests: Sequence[Sequence[str]],
    sentences: Sequence[str],
    *,
    statistic: str,
    against: str = "",
) -> Markup:
    """Render the metrics ranked by a statistic, the tests against one of them, and the methods.

    `rows` (rank, metric, values) and `tests` (metric, values, verdict) begin with a header; `tests` may be empty.
    """
    return rendered("agreement", rows=rows, tests=tests, sentences=sentences, statistic=statistic, against=against)
