"""`steelyard rank --by human:RULE`: WMT24's judgments as they are published, and small ones in every format."""

import csv
import io
import json

import pytest

from steelyard.commands.main import main
from steelyard.tables import FORMATS

PAIRS = ("en-cs", "en-zh")


def ranked(capsys, *words):
    assert main(["rank", *map(str, words), "-f", "json"]) == 0
    captured = capsys.readouterr()
    return json.loads(captured.out)["pairs"], captured.err


def expected(folder, name, **chosen):
    with (folder / name).open(encoding="utf-8") as file:
        return [row for row in csv.DictReader(file, delimiter="\t") if all(row[key] == chosen[key] for key in chosen)]


def judgments_of(folder, pair):
    """The judgments that count, with the domain of each."""
    lines = (folder / "documents" / f"{pair}.docs").read_text("utf-8").split("\n")
    with (folder / "human" / f"{pair}.esa.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [{**row, "domain": lines[int(row["segment"])].split("\t")[0]} for row in rows]


def as_json_lines(rows, pair, year):
    """The same as WMT24's and WMT25's JSON Lines."""
    lines = {}
    for row in rows:
        identifier = f"{pair}_#_{row['domain']}_#_{row['doc']}_#_{row['segment']}"
        line = lines.setdefault(identifier, {"doc_id": identifier, "src_text": "", "tgt_text": {}, "scores": {}})
        if year == 2024:
            line["scores"][row["system"]] = [
                {"score": float(row["score"]), "annotator": row["annotator"], "errors": [], "protocol": "ESA"}
            ]
        else:
            own = {"human1": float(row["score"]), "errors1": [], "annotator1": row["annotator"], "human2": None}
            line["scores"][row["system"]] = own
    empty = {"doc_id": f"{pair}_#_news_#_x_#_0", "scores": {}, "src_text": "", "tgt_text": {}}
    return "".join(json.dumps(line) + "\n" for line in [*lines.values(), empty])


def as_flat_lines(rows, pair):
    return "".join(
        json.dumps(
            {
                "langs": pair, "line_id": int(row["segment"]), "doc_id": row["doc"], "domain": row["domain"],
                "esa_score": row["score"], "esa_spans": [], "system": row["system"], "annotator": row["annotator"],
                "times": [1.0, 2.0],
            }
        ) + "\n"
        for row in rows
    )  # fmt: skip


def files_of(folder, tmp_path, form):
    """Both pairs in this format, and the words that name them."""
    if form in {"csv", "tsv"}:
        lists = [folder / "documents" / f"{pair}.docs" for pair in PAIRS]
        return [*(folder / "human" / f"{pair}.esa.{form}" for pair in PAIRS), "--documents", *lists]
    paths = []
    for pair in PAIRS:
        rows = judgments_of(folder, pair)
        text = as_flat_lines(rows, pair) if form == "flat" else as_json_lines(rows, pair, int(form))
        (tmp_path / f"{pair}.jsonl").write_text(text, "utf-8")
        paths.append(tmp_path / f"{pair}.jsonl")
    return paths


@pytest.mark.parametrize("form", ["csv", "tsv", "2024", "2025", "flat"])
def test_every_published_value_comes_out(real_data, capsys, tmp_path, form):
    folder = real_data / "wmt24"
    words = files_of(folder, tmp_path, form)
    for rule, name, average, chosen in (
        ("human:wmt24", "expected_human.tsv", "macro", {"mode": "macro"}),
        ("human:wmt24:average=micro", "expected_human.tsv", "micro", {"mode": "micro"}),
        ("human:wmt25", "expected_human_wmt25_rule.tsv", "score", {}),
    ):
        found, _ = ranked(capsys, *words, "--by", rule)
        assert [(board["pair"], board["by"]) for board in found] == [(pair, rule) for pair in PAIRS]
        for board in found:
            rows = expected(folder, name, pair=board["pair"], **chosen)
            assert [line["system"] for line in board["systems"]] == [row["system"] for row in rows]
            for line, row in zip(board["systems"], rows, strict=True):
                human = line["human"]
                assert human["score"] == pytest.approx(float(row[average]), abs=1e-9)
                for key, column in (("rank_low", "rank_top"), ("rank_high", "rank_bottom")):
                    assert human[key] == line[key] == int(row[column])
                for key in ("n", "cluster", *(("wins", "losses") if "wins" in row else ())):
                    assert human[key] == int(row[key]), (line["system"], key)


def test_our_own_rule(real_data, capsys):
    """Scores are WMT24's; who differs is decided by randomization on them."""
    folder = real_data / "wmt24"
    words = [folder / "human" / "en-cs.esa.csv", "--documents", folder / "documents" / "en-cs.docs"]
    (own,), _ = ranked(capsys, *words, "--by", "human")
    (wmt,), _ = ranked(capsys, *words, "--by", "human:wmt24")
    assert own["by"] == "human"
    scores, theirs = ([(each["system"], each["human"]["score"]) for each in board["systems"]] for board in (own, wmt))
    assert scores == theirs
    wins = [each["human"]["wins"] for each in own["systems"]]
    (holm,), _ = ranked(capsys, *words, "--by", "human", "--correction", "holm", "--trials", "20000")
    fewer = [each["human"]["wins"] for each in holm["systems"]]
    assert all(few <= many for few, many in zip(fewer, wins, strict=True))
    assert sum(fewer) < sum(wins) < sum(each["human"]["wins"] for each in wmt["systems"])
    (micro,), _ = ranked(capsys, *words, "--by", "human:average=micro")
    rows = expected(folder, "expected_human.tsv", pair="en-cs", mode="micro")
    assert [each["system"] for each in micro["systems"]] == [row["system"] for row in rows]


def test_what_does_not_count_is_reported(real_data, capsys):
    folder = real_data / "wmt24"
    _, told = ranked(capsys, folder / "human" / "en-cs.esa.csv", "--by", "human:wmt25")
    for what in ("369 of tutorials", "733 of damaged texts", "200 of fillers", "51 of repeated items"):
        assert what in told
    assert "15 judgments replaced by a later one" in told


def test_one_file_read_twice_is_no_second_wave(real_data, capsys):
    assert main(["rank", str(real_data / "wmt24" / "human"), "--by", "human:wmt25"]) == 1
    assert "hold the same judgments" in capsys.readouterr().err


@pytest.fixture
def table(tmp_path):
    """Three systems that are clearly apart, in 30 segments of two documents."""
    rows = ["segment\tdoc\tsystem\tannotator\tscore"]
    for segment in range(30):
        for system, quality in (("tug", 50), ("barge", 90), ("raft", 70)):
            rows.append(f"{segment}\td{segment // 15}\t{system}\tann{segment % 3}\t{quality + segment % 7}")
    path = tmp_path / "en-cs.esa.tsv"
    path.write_text("\n".join(rows) + "\n")
    (tmp_path / "en-cs.docs").write_text("".join(f"{'news' if n < 15 else 'talk'}\td{n // 15}\n" for n in range(30)))
    return path


def test_formats(table, capsys):
    assert main(["rank", str(table), "--by", "human:wmt25"]) == 0
    assert "en-cs: 3 systems, 30 judged segments, ranked by human:wmt25" in capsys.readouterr().out
    for form in FORMATS:
        assert main(["rank", str(table), "--by", "human:wmt24", "-f", form]) == 0
        captured = capsys.readouterr()
        assert "barge" in captured.out
        assert ("--documents" in captured.out) == (form not in ("tsv", "csv"))
        assert ("--documents" in captured.err) == (form in ("json", "tsv", "csv"))
    for form, delimiter in (("tsv", "\t"), ("csv", ",")):
        assert main(["rank", str(table), "--by", "human:wmt25", "-f", form]) == 0
        rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out), delimiter=delimiter))
        assert [(row["system"], row["rank"], row["cluster"], row["n"]) for row in rows] == [
            ("barge", "1", "1", "30"),
            ("raft", "2", "2", "30"),
            ("tug", "3", "3", "30"),
        ]


def test_domains_that_are_not_known_are_reported(table, capsys):
    _, told = ranked(capsys, table, "--by", "human:wmt24")
    assert "--documents" in told
    assert "30 judgments a system are few: WMT left out pairs with fewer than 100" in told
    _, told = ranked(capsys, table, "--by", "human:wmt24", "--documents", table.parent / "en-cs.docs")
    assert "--documents" not in told


def test_domains_by_line_and_by_header(table, tmp_path, capsys):
    """Judgments without documents are found by the number of their line."""
    bare = tmp_path / "bare.tsv"
    lines = [line.split("\t") for line in table.read_text().splitlines()]
    bare.write_text("".join("\t".join([cells[0], *cells[2:]]) + "\n" for cells in lines))
    headed = tmp_path / "docs.tsv"
    rows = [f"{n}\td{n // 15}\t{n % 15 + 1}\t{'news' if n < 15 else 'talk'}\n" for n in range(30)]
    headed.write_text("segment\tdoc_id\tseg_in_doc\tdomain\n" + "".join(rows))
    by_rule = "human:wmt24"
    (whole,), _ = ranked(capsys, table, "--by", by_rule, "--documents", tmp_path / "en-cs.docs")
    for judgments in (table, bare):
        (found,), _ = ranked(capsys, judgments, "--by", by_rule, "--documents", headed)
        assert found["systems"] == whole["systems"]


def test_several_annotators_of_a_segment_are_averaged_and_files_are_waves(table, tmp_path, capsys):
    second = tmp_path / "en-cs.second.tsv"
    second.write_text("segment\tdoc\tsystem\tannotator\tscore\n0\td0\ttug\tx\t10\n0\td0\ttug\ty\t20\n")
    (found,), _ = ranked(capsys, table, second, "--by", "human:wmt25")
    (tug,) = (line["human"] for line in found["systems"] if line["system"] == "tug")
    first = [50 + segment % 7 for segment in range(30)]
    assert (tug["n"], tug["score"]) == (31, pytest.approx((sum(first) + 15) / 31))


def test_only_judgments_of_error_span_annotation_count(tmp_path, capsys):
    entries = [{"score": 80, "annotator": "a", "protocol": "ESA"}, {"score": 1, "annotator": "b", "protocol": "MQM"}]
    line = {"doc_id": "en-cs_#_news_#_d_#_0", "scores": {"tug": entries, "barge": [{"score": None}]}}
    path = tmp_path / "judged.jsonl"
    path.write_text(json.dumps(line) + "\n")
    (found,), told = ranked(capsys, path, "--by", "human:wmt25")
    assert [(each["system"], each["human"]["score"]) for each in found["systems"]] == [("tug", 80.0)]
    assert "1 of the protocol MQM" in told


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (["--by", "human:wmt20"], 2, "human, human:wmt24, human:wmt25"),
        (["--by", "human:wmt25:average=micro"], 2, "human:wmt25:average=micro"),
        (["--by", "human:average=mean"], 2, "average=macro or micro"),
        (["--by", "human:wmt24:mean=micro"], 2, "no option"),
        (["--by", "human", "-m", "X"], 2, "ranks judgments"),
        (["--by", "human", "--paired", "randomization"], 2, "ranks judgments"),
        (["--by", "human:wmt24", "--seed", "7"], 2, "tests of its own"),
        (["--by", "human", "--trials", "0"], 2, "at least one trial"),
        (["--by", "human:wmt25", "--correction", "holm"], 2, "tests of its own"),
        (["--by", "human:wmt25", "--pair", "en-de"], 1, "en-de"),
        (["--documents", "{folder}/en-cs.docs"], 2, "--by human"),
        (["--by", "human:wmt24", "--documents", "{folder}/other.docs"], 1, "has no document 'd0'"),
        (["--by", "human:wmt24", "--documents", "{folder}/short.docs"], 1, "line 2"),
        (["--by", "human:wmt24", "--documents", "{folder}/two.docs"], 1, "is in the domains"),
        (["--by", "human:wmt24", "--documents", "{folder}/other.docs", "{folder}/en-cs.docs"], 1, "begins with none"),
    ],
)
def test_what_is_wrong_is_reported(table, capsys, words, status, told):
    (table.parent / "other.docs").write_text("news\tx\n")
    (table.parent / "short.docs").write_text("news\td0\nnews\n")
    (table.parent / "two.docs").write_text("news\td0\ntalk\td0\n")
    assert main(["rank", str(table), *(word.format(folder=table.parent) for word in words)]) == status
    captured = capsys.readouterr()
    assert told in captured.err
    assert captured.out == ""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"doc_id": "en-cs_#_d_#_0", "scores": {}}\n', "line 1: 'en-cs_#_d_#_0' is no id"),
        ('{"scores": {}}\n', '"doc_id"'),
        ('{"doc_id": "a_#_b_#_c_#_0", "scores": 3}\n', '"scores"'),
        ('{"doc_id": "a_#_b_#_c_#_0", "scores": {"x": 3}}\n', "a list or an object"),
        ('{"doc_id": "a_#_b_#_c_#_0", "scores": {"x": [3]}}\n', "an object with a score"),
        ('{"doc_id": "a_#_b_#_c_#_0", "scores": {"x": {"human1": "good"}}}\n', "'good' is no score"),
        ('{"doc_id": "d", "esa_score": "3"}\n', '"system"'),
        ('{"doc_id"\n', "is not JSON"),
        ('{"doc_id": "a_#_b_#_c_#_0", "scores": {}}\n', "There is no judgment"),
        ("system\tscore\nx\t3\n", "segment"),
        ("system\tsegment\tscore\nx\t0\tgood\n", "line 2: the score is 'good'"),
    ],
)
def test_broken_judgments_are_refused(tmp_path, capsys, text, told):
    path = tmp_path / "judged"
    path.write_text(text)
    assert main(["rank", str(path), "--by", "human:wmt25"]) == 1
    assert told in capsys.readouterr().err


def test_a_folder_without_judgments(tmp_path, capsys):
    assert main(["rank", str(tmp_path), "--by", "human:wmt25"]) == 1
    assert "holds no files of judgments" in capsys.readouterr().err
