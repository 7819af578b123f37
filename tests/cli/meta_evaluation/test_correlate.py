"""What `steelyard campaign correlate` prints, and what it refuses."""

import csv
import json

import pytest
from sqlalchemy import update

from cli.main import main
from cli.meta_evaluation import correlation_report
from models.database.session import writing
from models.schema.results import Score
from tests.analysis.judged import human_scores, judge, scored_campaign
from tests.cli.latex_reader import tables
from tests.cli.status import status_of


@pytest.fixture
def campaign(sqlite_url):
    """A scored and judged campaign's database and engine."""
    engine = scored_campaign(sqlite_url)
    judge(engine, human_scores())
    return sqlite_url, engine


@pytest.fixture
def correlate(campaign, capsys):
    def run(*arguments):
        status = status_of(["campaign", "correlate", "--trials", "20", *arguments, "--database", campaign[0]])
        return status, *capsys.readouterr()

    return run


def test_text_says_what_was_compared_and_how(correlate):
    status, out, err = correlate()
    assert (status, err) == (0, "")
    for part in (
        *(
            "trial, reference A, human judgments da@1, by system",
            "trial, reference A, human judgments da@1, by segment",
        ),
        *(
            "Pearson",
            "Soft pairwise acc.",
            "acc-eq",
            "Kendall WMT14",
            "Spearman by segment",
            ": against ",
            "Williams' p",
        ),
        *("5 systems judged and scored", "10 pairs (Pairwise acc., Soft pairwise acc.)"),
        *("Less is better by TER: the scores were negated.", "80 replicates that draw segments", "CAUTION: 5 systems"),
        *("Left out, human translations: HUMAN-A.", "not on this leaderboard: stranger.", "not judged: system5."),
        "20 trials, seed 12345",
    ):
        assert part in out, part
    assert "20 trials cannot give a corrected p below" in out


def test_json_is_complete(correlate):
    status, out, _ = correlate("-f", "json")
    assert status == 0
    by_system, by_segment = json.loads(out)
    assert (by_system["level"], by_segment["level"]) == ("system", "segment")
    assert by_system["human"] == {"name": "da", "version": 1, "kind": "ratings", "method": {}}
    assert by_system["left_out"]["human_translations"] == ["HUMAN-A"]
    first, second, _ = by_system["metrics"]
    assert (first["rank"], second["rank"]) == (1, 2)
    assert first["test"] is None
    assert second["test"]["against"] == by_system["baseline"] == first["metric"]
    assert second["test"]["p_corrected"] >= second["test"]["p"]
    difference = second["statistics"][0]["value"] - first["statistics"][0]["value"]
    assert second["test"]["difference"] == pytest.approx(difference)
    assert second["test"]["interval"]["low"] <= second["test"]["interval"]["high"]
    assert set(first["statistics"][0]["interval"]) == {"level", "low", "high", "n", "resampled"}


def test_tsv_has_a_row_for_each_statistic(correlate):
    _, out, _ = correlate("-f", "tsv", "--statistics", "pearson", "kendall-wmt14")
    rows = list(csv.DictReader(out.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
    assert len(rows) == 3 * 1 + 3 * 2
    assert all(None not in row and None not in row.values() for row in rows)
    first = [row for row in rows if row["level"] == "system"]
    assert [row["rank"] for row in first] == ["1", "2", "3"]
    assert first[0]["p"] == ""
    assert 0 < float(first[1]["p"]) <= 1
    assert {row["statistic"] for row in rows if row["level"] == "segment"} == {"pearson", "kendall-wmt14"}


def test_latex_has_as_many_cells_as_columns(correlate):
    _, out, _ = correlate("-f", "latex", "--granularity", "system")
    tables = out.split(r"\begin{table}")[1:]
    assert len(tables) == 2
    for table in tables:
        columns = table.split(r"\begin{tabular}{")[1].split("}")[0]
        lines = [line for line in table.splitlines() if line.endswith(r"\\")]
        assert all(line.count("&") == len(columns) - 1 for line in lines)
        assert len(lines) in (3, 4)


def test_latex_shows_whatever_a_metric_is_called(campaign, correlate):
    name = "BLEU_50 % of {a} & b^2"
    with writing(campaign[1]) as connection:
        connection.execute(update(Score).where(Score.title == "BLEU").values(title=name))
    _, out, _ = correlate("-f", "latex", "--granularity", "system")
    assert all(name in [cell for row in rows for cell in row] for _, rows in tables(out))


def test_no_intervals_and_no_tests(correlate):
    _, out, _ = correlate("--replicates", "0", "--trials", "0", "--granularity", "segment", "--metrics", "ter", "chrf")
    assert "[" not in out
    assert "Against" not in out
    assert "BLEU" not in out


def test_the_plot_names_the_systems(correlate, tmp_path):
    status, _, err = correlate("--plot", str(tmp_path / "plot.svg"), "--granularity", "system", "--metrics", "bleu")
    assert (status, err) == (0, "")
    svg = (tmp_path / "plot.svg").read_text()
    assert "<svg" in svg
    assert "system0" in svg
    assert "HUMAN-A" not in svg


def test_plots_and_reports_show_scores_as_they_are_of_those_that_are_compared(correlate, tmp_path, monkeypatch):
    """Where less is better correlations are of negated scores, which nobody wants to see; who is left out stays out."""
    drawn, written = [], []
    monkeypatch.setattr(correlation_report, "scatter", lambda points, *_, **__: drawn.extend(points) or "<svg/>")
    monkeypatch.setattr(
        correlation_report,
        "scatters_body",
        lambda systems, metrics, _: written.append((list(systems), metrics["TER"])) or "",
    )
    files = ("--plot", str(tmp_path / "plot.svg"), "--report", str(tmp_path / "page.html"))
    words = ("--metrics", "ter", "--granularity", "system", "--leave-out", "system1")
    status, out, _ = correlate(*words, *files)
    assert (status, "4 systems judged and scored" in out) == (0, True)
    assert len(drawn) == 4
    assert all(score > 0 for _, score, _ in drawn)
    ((systems, scores),) = written
    assert systems == [name for name, *_ in drawn]
    assert scores == [score for _, score, _ in drawn]
    assert "system1" not in systems


def test_the_report_holds_tables_tests_and_charts(correlate, tmp_path):
    status, _, err = correlate("--report", str(tmp_path / "page.html"))
    assert (status, err) == (0, f"note: the report is in {tmp_path / 'page.html'}\n")
    html = (tmp_path / "page.html").read_text()
    assert "<script" not in html
    assert html.count("<table") == 5, "two levels with tests each, and the values behind the charts"
    for part in ("Metrics ranked by Pearson", "Metrics ranked by acc-eq", "human scores (da@1)", "CAUTION", "HUMAN-A"):
        assert part in html, part


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["nowhere"], 1, "There is no such leaderboard"),
        (["--references", "B"], 1, "There is no such leaderboard"),
        (["--human", "mqm"], 1, "da@1"),
        (["--human", "da@2"], 1, "da@1"),
        (["--statistics", "perason"], 2, 'There is no statistic "perason"'),
        (["--granularity", "system", "--statistics", "acc-eq"], 2, 'There is no statistic "acc-eq"'),
        (["--metrics", "gtm"], 1, 'There is no metric "gtm" on this leaderboard. There are: bleu, ter, chrf.'),
        (["--baseline", "gtm"], 1, 'There is no metric "gtm"'),
        (["--metrics", "bleu", "chrf", "--baseline", "ter"], 1, 'There is no metric "ter"'),
        (["--replicates", "100001"], 2, "100,000 is the most"),
        (["--width", "99999999999"], 2, "17 is the most"),
        (["--plot", "no/such/folder.svg"], 1, "folder"),
    ],
)
def test_errors_say_what_there_is(correlate, arguments, status, message):
    found, _, err = correlate(*arguments)
    assert found == status
    assert message in err


def test_a_newer_version_is_taken_unless_another_is_named(campaign, correlate):
    judge(campaign[1], human_scores(seed=2))
    assert "da@2" in correlate("--granularity", "system")[1]
    assert "da@1" in correlate("--granularity", "system", "--human", "da@1")[1]


def test_no_judgments_at_all(sqlite_url, capsys):
    scored_campaign(sqlite_url)
    assert main(["campaign", "correlate", "--database", sqlite_url]) == 1
    assert "no human judgments" in capsys.readouterr().err
