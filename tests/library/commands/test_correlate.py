"""`steelyard correlate` on files of scores."""

import csv
import json

import numpy as np
import pytest

from steelyard.commands.main import main
from steelyard.meta_evaluation.judged_scores import JudgedMetric, JudgedScores
from steelyard.meta_evaluation.metrics_task import metrics_task

SYSTEMS, SEGMENTS = 5, 40
DRAWS = np.random.default_rng(7)
QUALITY = np.arange(SYSTEMS)[:, None] + DRAWS.normal(0, 2, (SYSTEMS, SEGMENTS)).round(3)
GOOD = QUALITY + DRAWS.normal(0, 1, QUALITY.shape).round(3)
ERRORS = -QUALITY + DRAWS.normal(0, 4, QUALITY.shape).round(3)


def table(path, **metrics) -> str:
    """A file of scores in long form."""
    lines = ["system\tmetric\tsegment\tscore"]
    for name, scores in metrics.items():
        for system, row in enumerate(scores):
            lines += [f"s{system}\t{name}\t{place + 1}\t{score}" for place, score in enumerate(row)]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.fixture
def files(tmp_path):
    """Scores and human scores, in this order."""
    scores = table(tmp_path / "scores.tsv", good=GOOD, errors=ERRORS)
    return [scores, "--human", table(tmp_path / "human.tsv", mqm=QUALITY)]


def run(capsys, *arguments: str) -> str:
    """What the library alone prints."""
    status = main(["correlate", *arguments], dict)
    out, err = capsys.readouterr()
    assert status == 0, err
    return out


def pearson(one, other) -> float:
    return float(np.corrcoef(one, other)[0, 1])


def test_values_are_those_of_numpy(files, capsys):
    given = ["--lower-is-better", "errors", "--statistics", "pearson", "--trials", "100", "-f", "json"]
    by_system, by_segment = json.loads(run(capsys, *files, *given))
    assert [each["level"] for each in (by_system, by_segment)] == ["system", "segment"]
    for document, people, scores in (
        (by_system, QUALITY.mean(1), {"good": GOOD.mean(1), "errors": -ERRORS.mean(1)}),
        (by_segment, QUALITY.ravel(), {"good": GOOD.ravel(), "errors": -ERRORS.ravel()}),
    ):
        found = {each["metric"]: each["statistics"][0]["value"] for each in document["metrics"]}
        for name, expected in scores.items():
            assert found[name] == pytest.approx(pearson(expected, people), abs=1e-12)
        assert document["metrics"][0]["metric"] == "good"
        assert document["baseline"] == "good"
        assert document["metrics"][1]["test"]["p"] > 0


def test_every_format_shows_the_same(files, capsys):
    rows = list(csv.DictReader(run(capsys, *files, "-f", "tsv").splitlines(), delimiter="\t"))
    documents = json.loads(run(capsys, *files, "-f", "json"))
    listed = [
        (document["level"], metric["metric"], each["statistic"], each["value"])
        for document in documents
        for metric in document["metrics"]
        for each in metric["statistics"]
    ]
    assert [(row["level"], row["metric"], row["statistic"], float(row["value"])) for row in rows] == listed
    text = run(capsys, *files)
    assert "human scores mqm, by system" in text
    assert "human scores mqm, by segment" in text
    assert run(capsys, *files, "-f", "latex").count("\\begin{table}") == 4


def test_systems_and_metrics_are_chosen(files, capsys):
    given = ["--granularity", "system", "-m", "good", "--leave-out", "s0", "s3", "--replicates", "0", "-f", "json"]
    (document,) = json.loads(run(capsys, *files, *given))
    assert document["systems"] == ["s1", "s2", "s4"]
    assert [each["metric"] for each in document["metrics"]] == ["good"]
    assert document["metrics"][0]["statistics"][0]["interval"] is None
    assert "against errors" in run(capsys, *files, "--baseline", "errors", "--trials", "50")


def test_the_order_of_lines_does_not_matter(files, tmp_path, capsys):
    expected = run(capsys, *files, "-f", "json")
    scores = tmp_path / "scores.tsv"
    header, *lines = scores.read_text().splitlines()
    again = [*(line for line in lines if "\tgood\t" in line), *(line for line in lines if "\terrors\t" in line)]
    scores.write_text("\n".join([header, *again]) + "\n")
    assert run(capsys, *files, "-f", "json") == expected


@pytest.mark.parametrize(
    ("given", "status", "said"),
    [
        (["--statistics", "cosine"], 2, "cosine"),
        (["--baseline", "bleu"], 2, "bleu"),
        (["-m", "bleu"], 1, "bleu"),
        (["--leave-out", "s9"], 1, "s9"),
        (["--pair", "en-xx"], 1, "en-xx"),
        (["--trials", "x"], 2, '"x" is not a whole number'),
    ],
)
def test_what_is_wrong_is_said(files, given, status, said, capsys):
    assert main(["correlate", *files, *given], dict) == status
    assert said in capsys.readouterr().err


def test_the_human_scores_are_one_metric_of_their_own(files, tmp_path, capsys):
    assert main(["correlate", files[0], "--human", files[0]], dict) == 1
    assert "2 metrics" in capsys.readouterr().err
    assert main(["correlate", files[2], "--human", files[2]], dict) == 1
    assert "mqm" in capsys.readouterr().err
    assert main(["correlate", files[0]], dict) == 2
    assert "--human" in capsys.readouterr().err


def test_people_who_judged_systems_alone_are_compared_by_system(files, tmp_path, capsys):
    rows = "".join(f"s{system}\tmqm\t\t{row.mean()}\n" for system, row in enumerate(QUALITY))
    (tmp_path / "human.tsv").write_text(f"system\tmetric\tsegment\tscore\n{rows}")
    (document,) = json.loads(run(capsys, *files, "-f", "json"))
    assert document["level"] == "system"
    assert main(["correlate", *files, "--granularity", "segment"], dict) == 1
    told = "There are no human scores by segment. Choose another --granularity."
    assert capsys.readouterr().err.endswith(f"steelyard: {told}\n")


def test_gaps_leave_out_what_is_missing_and_no_more(tmp_path, capsys):
    """Systems stay in the order of the files, and the mean of each is that of the scores which it has."""
    names = ["tug", "barge", "ferry", "raft", "canoe"]
    values = {"good": GOOD.copy(), "mqm": QUALITY.copy()}
    values["good"][1, :7] = values["mqm"][0, 5:] = values["mqm"][2, 3] = values["mqm"][4] = np.nan
    for metric, scores in values.items():
        rows = [
            f"{name}\t{metric}\t{place}\t{'' if np.isnan(score) else score}\n"
            for name, row in zip(names, scores, strict=True)
            for place, score in enumerate(row, 1)
        ]
        (tmp_path / f"{metric}.tsv").write_text("system\tmetric\tsegment\tscore\n" + "".join(rows))
    given = [str(tmp_path / "good.tsv"), "--human", str(tmp_path / "mqm.tsv"), "--granularity", "system"]
    assert main(["correlate", *given, "--statistics", "pearson", "-f", "json"], dict) == 0
    shown = capsys.readouterr()
    (document,) = json.loads(shown.out)
    assert document["systems"] == names[:4], "nobody judged the last one"
    expected = pearson(np.nanmean(values["good"][:4], axis=1), np.nanmean(values["mqm"][:4], axis=1))
    assert document["metrics"][0]["statistics"][0]["value"] == pytest.approx(expected, abs=1e-12)
    assert "mqm: no scores of canoe." in shown.err
    assert "mqm: of 40 segments some have no score and are left out: tug (35), ferry (1)." in shown.err
    assert "good: of 40 segments some have no score and are left out: barge (7)." in shown.err


def test_scores_of_systems_alone_are_compared_with_people_who_judged_systems_alone(tmp_path, capsys):
    for metric, scores in (("good", GOOD), ("mqm", QUALITY)):
        rows = "".join(f"s{place}\t{metric}\t{row.mean()}\n" for place, row in enumerate(scores))
        (tmp_path / f"{metric}.tsv").write_text(f"system\tmetric\tscore\n{rows}")
    given = [str(tmp_path / "good.tsv"), "--human", str(tmp_path / "mqm.tsv"), "--statistics", "pearson", "-f", "json"]
    (document,) = json.loads(run(capsys, *given))
    expected = pearson(GOOD.mean(1), QUALITY.mean(1))
    assert document["level"] == "system"
    assert document["metrics"][0]["statistics"][0]["value"] == pytest.approx(expected, abs=1e-12)


def test_a_pair_that_people_alone_scored_is_named(tmp_path, capsys):
    for pair, name in (("en-cs", "good-src"), ("en-cs", "mqm"), ("en-de", "mqm")):
        folder = tmp_path / ("people" if name == "mqm" else "metrics") / pair
        folder.mkdir(parents=True)
        rows = "".join(f"s{place}\t{each}\n" for place, row in enumerate(QUALITY) for each in row)
        (folder / f"{name}.seg.score").write_text(rows)
    words = ["correlate", str(tmp_path / "metrics"), "--human", str(tmp_path / "people")]
    assert main(words, dict) == 1
    assert capsys.readouterr().err == "steelyard: en-de: there is no metric beside mqm.\n"
    assert main([*words, "--pair", "en-cs"], dict) == 0


@pytest.fixture
def pairs(tmp_path):
    """Scores of two pairs as mt-metrics-eval has them; `errors` is of one of them alone."""
    (tmp_path / "human").mkdir()
    for pair, shift in (("en-cs", 0), ("en-de", 1)):
        (tmp_path / "metrics" / pair).mkdir(parents=True)
        metrics = {"good": GOOD + shift * ERRORS, "alike": GOOD, **({} if shift else {"errors": -ERRORS})}
        scored = {tmp_path / "metrics" / pair / f"{name}-src.seg.score": scores for name, scores in metrics.items()}
        scored[tmp_path / "human" / f"{pair}.mqm.seg.score"] = QUALITY
        for path, scores in scored.items():
            path.write_text("".join(f"s{place}\t{each}\n" for place, row in enumerate(scores) for each in row))
    return [str(tmp_path / "metrics"), "--human", str(tmp_path / "human"), "--metrics-task", "--trials", "50"]


def test_a_metrics_task_is_that_of_the_arrays(pairs, capsys):
    def judged(**metrics):
        unknown = np.zeros((0, SYSTEMS))
        return JudgedScores(
            systems=tuple(f"s{place}" for place in range(SYSTEMS)),
            metrics=[
                JudgedMetric(f"{name}-src", "", True, each.mean(1), unknown, each) for name, each in metrics.items()
            ],
            human_systems=QUALITY.mean(1),
            human_segments=QUALITY,
            human_raw=np.full_like(QUALITY, np.nan),
            comparisons=np.zeros((0, 3), np.intp),
            seed=1,
            replicates=0,
        )

    given = {"en-cs": judged(good=GOOD, alike=GOOD, errors=-ERRORS), "en-de": judged(good=GOOD + ERRORS, alike=GOOD)}
    expected, reseeded = (metrics_task(given, trials=50, seed=seed) for seed in (12345, 7))
    assert expected != reseeded
    for task, words in ((expected, ()), (reseeded, ("--seed", "7"))):
        assert json.loads(run(capsys, *pairs, *words, "-f", "json")) == json.loads(json.dumps(task.to_json()))
    rows = list(csv.DictReader(run(capsys, *pairs, "-f", "tsv").splitlines(), delimiter="\t"))
    assert len(rows) == 3 + 4 * 2 + 2, "averages, and values"
    assert {(row["metric"], row["value"]) for row in rows if row["statistic"] == "average"} == {
        (each.metric, "" if each.average is None else repr(each.average)) for each in expected.metrics
    }
    for form in ("text", "markdown", "latex", "html"):
        shown = run(capsys, *pairs, "-f", form)
        assert "en-de SPA" in shown
        assert "n/a" in shown
        assert f"{expected.metrics[0].average:.3f}" in shown
        assert f"{expected.metrics[0].average:.5f}" in run(capsys, *pairs, "-f", form, "--width", "5")
    alone = json.loads(run(capsys, *pairs, "--pair", "en-cs", "-f", "json"))
    assert [task["pair"] for task in alone["tasks"]] == ["en-cs", "en-cs"]


@pytest.mark.parametrize(
    ("given", "said"), [(["--statistics", "pearson"], "--statistics"), (["--baseline", "good-src"], "--baseline")]
)
def test_a_metrics_task_chooses_what_it_compares(pairs, given, said, capsys):
    assert main(["correlate", *pairs, *given], dict) == 2
    assert said in capsys.readouterr().err
