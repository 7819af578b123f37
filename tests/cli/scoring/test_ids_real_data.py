"""WMT's texts and scores as rows with ids, shuffled, in every command: they give the figures of plain files."""

import csv
import gzip
import json
import random

import pytest

from campaigns.sandbox.limits import UNLIMITED
from campaigns.submissions.reading import ExpectedOutput, read_uploaded_output
from models.corpus.test_sets import DocumentSegments, StoredTestSet
from steelyard.formats.plain import Text
from steelyard.formats.reader import Kind
from steelyard.formats.registry import READERS
from tests.cli.status import status_of

# From Python 3.12 on; the pool of the embedded worker is forked from a thread by design.
pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

SYSTEMS = ("Online-A", "Lan-Bridge", "JDExploreAcademy")


@pytest.fixture(params=[reader.name for reader in READERS if reader.kind is Kind.IDS])
def reader(request):
    return request.param


@pytest.fixture
def wmt22(real_data):
    return real_data / "wmt22.de-en"


def rows_of(folder, name="docs.tsv"):
    with (folder / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def ids_of(wmt22):
    """Document and segment of each line."""
    return [(row["doc_id"], row["seg_in_doc"]) for row in rows_of(wmt22)]


def lines_of(path):
    # A row holds no tab; every run of white space is one blank there.
    return path.read_text("utf-8").replace("\t", " ").removesuffix("\n").split("\n")


def write_rows(path, ids, texts, field, seed):
    rows = [
        {"doc_id": document, "segment_id": each, field: text} for (document, each), text in zip(ids, texts, strict=True)
    ]
    if seed:
        random.Random(seed).shuffle(rows)
    if path.suffix == ".jsonl":
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    else:
        lines = ["\t".join(rows[0]), *("\t".join(row.values()) for row in rows)]
    path.write_text("".join(line + "\n" for line in lines), "utf-8")


@pytest.fixture
def files(wmt22, reader, tmp_path, monkeypatch):
    """The source, both references and three systems with ids; only the source's rows are in order."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEELYARD_DATABASE_URL", "sqlite:///steelyard.db")
    monkeypatch.delenv("STEELYARD_BROKER_URL", raising=False)
    ids = ids_of(wmt22)
    named = {"source": ("source.txt", "source"), "A": ("refs/A.txt", "reference")}
    named |= {system: (f"systems/{system}.txt", "hypothesis") for system in SYSTEMS}
    for seed, (name, (path, field)) in enumerate(named.items()):
        write_rows(tmp_path / f"{name}.{reader}", ids, lines_of(wmt22 / path), field, seed)
    return tmp_path


def expected(real_data, metric="BLEU"):
    rows = rows_of(real_data, "expected_sacrebleu.tsv")
    return {
        row["system"]: float(row["score"])
        for row in rows
        if (row["dataset"], row["refs"], row["metric"]) == ("wmt22.de-en", "A", metric)
    }


def test_score_gives_the_figures_of_sacrebleu(real_data, files, reader, capsys):
    outputs = [f"{system}.{reader}" for system in SYSTEMS]
    # The first text decides about the order; no score depends on it.
    assert status_of(["score", f"A.{reader}", "-i", *outputs, "-m", "bleu", "chrf", "ter", "-f", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["systems"]
    for place, metric in enumerate(("BLEU", "chrF2", "TER")):
        figures = expected(real_data, metric)
        for each in found:
            assert each["scores"][place]["score"] == pytest.approx(figures[each["system"]], abs=1e-4)


def test_a_check_finds_what_it_finds_in_plain_files(wmt22, files, reader, capsys):
    found = []
    plain = (f"systems/{SYSTEMS[0]}.txt", "source.txt", "refs/A.txt")
    with_ids = (f"{SYSTEMS[0]}.{reader}", f"source.{reader}", f"A.{reader}")
    for folder, (output, source, reference) in ((wmt22, plain), (files, with_ids)):
        given = [folder / output, "--source", folder / source, "--reference", folder / reference, "-f", "json"]
        assert status_of(["check", *map(str, given)]) in (0, 1)
        found.append(json.loads(capsys.readouterr().out.replace(str(folder), "")))
    # White space is all that such files do not keep.
    assert found[1] == found[0]


def test_a_campaign_is_evaluated_submitted_to_and_uploaded_to(real_data, wmt22, files, reader, capsys):
    folder, late = files / "port", SYSTEMS[2]
    (folder / "refs").mkdir(parents=True)
    (folder / "systems").mkdir()
    (files / f"source.{reader}").rename(folder / f"source.{reader}")
    (files / f"A.{reader}").rename(folder / "refs" / f"A.{reader}")
    for system in SYSTEMS[:2]:
        (files / f"{system}.{reader}").rename(folder / "systems" / f"{system}.{reader}")
    asked = ["-m", "bleu", "--confidence", "0", "--processes", "1", "--output", "report"]
    assert status_of(["evaluate", "port", *asked]) == 0
    submitted = ("--campaign", "port", "--team", "t", "--system", late)
    assert status_of(["submit", f"{late}.{reader}", *submitted, "--processes", "1"]) == 0
    assert "segments in another order than in the test set port" in capsys.readouterr().err
    assert status_of(["leaderboard", "port", "--all", "-f", "json"]) == 0
    (board,) = json.loads(capsys.readouterr().out)
    figures = expected(real_data)
    assert {each["system"].split("/")[-1].split(" ")[0] for each in board["systems"]} == set(SYSTEMS)
    for each in board["systems"]:
        name = each["system"].split("/")[-1].split(" ")[0]
        assert each["scores"][0]["score"] == pytest.approx(figures[name], abs=1e-4)
    # An id that is wrong, in an output that is complete by numbers.
    path = files / f"{late}.{reader}"
    (document, segment), *_ = ids_of(wmt22)
    ids = [(document, "x1"), *ids_of(wmt22)[1:]]
    write_rows(path, ids, lines_of(wmt22 / "systems" / f"{late}.txt"), "hypothesis", 0)
    assert status_of(["submit", path.name, *submitted, "--no-wait"]) == 1
    told = capsys.readouterr().err
    assert f"lacks 1 segment of the test set port: '{segment}'" in told
    assert "has 1 segment that the test set port lacks: 'x1'" in told


def test_an_upload_is_put_in_order(wmt22, files, reader):
    documents = {}
    for place, (document, segment) in enumerate(ids_of(wmt22)):
        known = documents.setdefault(document, DocumentSegments([], []))
        known.positions.append(place)
        known.ids.append(segment)
    system = SYSTEMS[1]
    plain = lines_of(wmt22 / "systems" / f"{system}.txt")
    test_set = StoredTestSet(1, "news", "1", len(plain))
    wanted = ExpectedOutput(system, "en", test_set, documents, ())
    found = read_uploaded_output(files / f"{system}.{reader}", files, "sent", UNLIMITED, wanted)
    assert isinstance(found, Text)
    assert [line.decode().split() for line in found.lines()] == [line.split() for line in plain]


def write_scores(path, rows):
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows), "utf-8")


def test_correlate_gives_the_published_agreement_from_files(real_data, wmt22, tmp_path, capsys):
    human = [("system", "metric", "score")]
    human += [(row["system"], "DA", row["score"]) for row in rows_of(wmt22, "human.sys.tsv")]
    write_scores(tmp_path / "human.tsv", human)
    scores = [("system", "metric", "score")]
    scores += [
        (system, metric, score) for metric in ("BLEU", "chrF2") for system, score in expected(real_data, metric).items()
    ]
    write_scores(tmp_path / "scores.tsv", scores)
    left_out = [row["system"] for row in rows_of(wmt22, "human.sys.tsv") if row["system"].startswith("HUMAN")]
    asked = [
        "--leave-out",
        *left_out,
        "--granularity",
        "system",
        "--statistics",
        "pearson",
        "spearman",
        "kendall",
        "pairwise",
    ]
    given = [str(tmp_path / "scores.tsv"), "--human", str(tmp_path / "human.tsv"), *asked, "--replicates", "0"]
    assert status_of(["correlate", *given, "-f", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    figures = {
        (row["metric"], row["statistic"]): float(row["value"])
        for row in rows_of(real_data, "expected_correlations.tsv")
        if (row["dataset"], row["level"], row["refs"]) == ("wmt22.de-en", "system", "A")
    }
    names = {"kendall": "kendall_tau_b", "pairwise": "pairwise_accuracy"}
    (part,) = found
    assert [row["metric"] for row in part["metrics"]] == ["BLEU", "chrF2"]
    for row in part["metrics"]:
        assert len(row["statistics"]) == 4
        for each in row["statistics"]:
            key = row["metric"], names.get(each["statistic"], each["statistic"])
            assert each["value"] == pytest.approx(figures[key], abs=1e-6)


def wmt25_lines(real_data, pair, metric):
    """By system, the lines of one pair with one metric's scores alone."""
    found = {}
    for path in sorted((real_data / "wmt25" / "automatic_scores").iterdir()):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            lines = [line for line in map(json.loads, file) if line["language_pair"] == pair]
        kept = [
            {**line, "metric_scores": {metric: line["metric_scores"][metric]}}
            for line in lines
            if metric in line["metric_scores"]
        ]
        if kept:
            found[path.name.removesuffix(".jsonl.gz")] = kept
    return found


def write_table(path, lines, pair):
    """The same as a table with ids of documents and segments, its rows shuffled."""
    rows = []
    for system, documents in lines.items():
        for line in documents:
            ((metric, scores),) = line["metric_scores"].items()
            for number, score in enumerate(scores):
                shown = "NaN" if score is None else repr(score)
                rows.append((pair, system, metric, line["domain"], line["document_id"], number, shown))
    random.Random(len(rows)).shuffle(rows)
    write_scores(path, [("pair", "system", "metric", "domain", "document", "segment", "score"), *rows])


def test_a_table_of_scores_ranks_as_the_json_lines_do(real_data, tmp_path, capsys):
    pair, metrics = "en-is_IS", ("XCOMET-XL", "MetricX-24-Hybrid-XL")
    tables = [tmp_path / f"{metric}.tsv" for metric in metrics]
    for table, metric in zip(tables, metrics, strict=True):
        write_table(table, wmt25_lines(real_data, pair, metric), pair)
    boards = []
    for given in (tables, [real_data / "wmt25" / "automatic_scores"]):
        asked = ["--pair", pair, "-m", *metrics, "--replicates", "0", "-f", "json"]
        assert status_of(["rank", *map(str, given), *asked]) == 0
        (board,) = json.loads(capsys.readouterr().out)["pairs"]
        boards.append({each["system"]: (each["autorank"]["value"], each["scores"]) for each in board["systems"]})
    assert len(boards[0]) > 30
    assert boards[0] == boards[1]


def test_correlate_matches_json_lines_and_tables_by_ids(real_data, tmp_path, capsys):
    """One metric of WMT25 stands for people, once in JSON Lines and once in a table."""
    pair, judge, metric = "en-is_IS", "GEMBA-ESA-GPT4.1", "XCOMET-XL"
    for name in (judge, metric):
        lines = wmt25_lines(real_data, pair, name)
        write_table(tmp_path / f"{name}.tsv", lines, pair)
        (tmp_path / name).mkdir()
        for system, documents in lines.items():
            text = "".join(json.dumps(line) + "\n" for line in documents)
            (tmp_path / name / f"{system}.jsonl").write_text(text, "utf-8")
    found = []
    for ending in (".tsv", ""):
        given = [str(tmp_path / f"{metric}{ending}"), "--human", str(tmp_path / f"{judge}{ending}")]
        assert status_of(["correlate", *given, "--replicates", "0", "-f", "json"]) == 0
        parts = json.loads(capsys.readouterr().out)
        every = [each for part in parts for row in part["metrics"] for each in row["statistics"]]
        # Its p-values are drawn, by the position of segments, which differs.
        values = [each["value"] for each in every if each["statistic"] != "soft-pairwise"]
        found.append(([sorted(part["systems"]) for part in parts], values))
    assert found[0][0] == found[1][0]
    assert len(found[0][1]) == 9
    # The same sums in another order.
    assert found[0][1] == pytest.approx(found[1][1], abs=1e-12)
