"""Tables of metrics by language pair or test set."""

import pytest

from steelyard.errors import BadText
from steelyard.ranking.metric_lists import MetricList, parse_metric_lists


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["pair\tmetric", "a\tX", "", "b\tX\tY"], {"a": MetricList(("X",)), "b": MetricList(("X", "Y"))}),
        (["test_set\tmetric\tweight", "a\tX\t2", "a\tY\t0.5"], {"a": MetricList(("X", "Y"), (2.0, 0.5))}),
        (["a\tX\t1", "b\tY", "a\tX\t3"], {"a": MetricList(("X",), (1.0,)), "b": MetricList(("Y",))}),
        # The headings of another kind of table are names.
        (["pair\tX"], {"pair": MetricList(("X",))}),
    ],
)
def test_lines(lines: list[str], expected: dict[str, MetricList]) -> None:
    assert parse_metric_lists(lines, "x.tsv") == expected


def test_a_metric_alone_is_for_all_where_that_is_allowed() -> None:
    lines = ["X", "Y", "news\tZ\t2"]
    assert parse_metric_lists(lines, "Metrics", for_all=True) == {
        "": MetricList(("X", "Y")),
        "news": MetricList(("Z",), (2.0,)),
    }
    assert parse_metric_lists(["X\t2"], "Metrics", for_all=True) == {"": MetricList(("X",), (2.0,))}
    with pytest.raises(BadText, match="Y has no weight"):
        parse_metric_lists(["X\t2", "Y"], "Metrics", for_all=True)


@pytest.mark.parametrize("line", ["X", "a\t", "\tX", "a\t2", "a\tX\tY\t2"])
def test_what_is_no_list_is_refused_with_its_line(line: str) -> None:
    with pytest.raises(BadText, match="line 2: a line is"):
        parse_metric_lists(["b\tX", line], "x.tsv")
