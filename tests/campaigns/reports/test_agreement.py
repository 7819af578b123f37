"""The part of a page that says how metrics agree with people."""

from campaigns.reports.agreement import agreement_body

ROWS = [["Rank", "Metric", "Pearson"], ["1", "<script>alert(1)</script>", "0.5 [0.1, 0.9]"], ["-", "TER", "n/a"]]
TESTS = [["Metric", "Difference", "p", ""], ["TER", "-0.1", "0.0010", "worse *"]]


def test_every_text_is_escaped_and_cells_have_headers():
    html = agreement_body(ROWS, TESTS, ["a < b & c"], statistic="Pearson", against="<b>, Pearson")
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert "a &lt; b &amp; c" in html
    assert "Tests against &lt;b&gt;, Pearson" in html
    assert html.count('scope="col"') == 7
    assert html.count('scope="row"') == 3
    assert html.count("<caption>") == 2


def test_without_tests_there_is_one_table():
    assert agreement_body(ROWS, [], [], statistic="Pearson").count("<table") == 1
