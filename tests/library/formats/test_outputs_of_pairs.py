"""Outputs for many language pairs: which belongs to which test set."""

import gzip
import json
from pathlib import Path

import pytest

from steelyard.formats.campaign.outputs_of_pairs import OutputOfPair, each_pair_alone, outputs_in, pairs_of_documents
from steelyard.formats.campaign.outputs_of_pairs import outputs_of_pairs as match

TEST_SETS = {
    "news": "en-cs_CZ",
    "en-sr_Cyrl_RS": "en-sr_Cyrl_RS",
    "en-sr_Latn_RS": "en-sr_Latn_RS",
    "old": "",
    "new": "en-de",
}


def outputs_of_pairs(folder: Path, test_sets: dict[str, str]) -> tuple[dict[str, OutputOfPair], dict[str, str]]:
    return match(outputs_in(folder), test_sets)


def put(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x\n")
    return folder


def test_pairs_in_any_spelling_and_names_of_test_sets(tmp_path: Path) -> None:
    files = ("eng-ces.txt", "en-sr_Latn.tsv", "old.txt.gz", "en-deu/GPT-4.1.txt")
    hidden = (".hidden.txt", "__MACOSX/en-cs.txt", "en-deu/.GPT-4.1.txt", ".old/en-cs.txt")
    found, refused = outputs_of_pairs(put(tmp_path, *files, *hidden), TEST_SETS)
    assert {name: output.shown for name, output in found.items()} == {
        "news": "eng-ces.txt",
        "en-sr_Latn_RS": "en-sr_Latn.tsv",
        "old": "old.txt.gz",
        "new": "en-deu/GPT-4.1.txt",
    }
    assert not refused


@pytest.mark.parametrize(
    ("files", "refused", "why"),
    [
        (["en-sr.txt"], "en-sr.txt", "may be en-sr_Cyrl_RS, en-sr_Latn_RS"),
        (["en-fr.txt"], "en-fr.txt", "There is no pair en-fr"),
        (["output.txt"], "output.txt", "There is no pair output"),
    ],
)
def test_what_fits_nothing_or_two_is_named(files: list[str], refused: str, why: str, tmp_path: Path) -> None:
    found, reasons = outputs_of_pairs(put(tmp_path, *files), TEST_SETS)
    assert list(reasons) == [refused]
    assert why in reasons[refused]
    assert not found


@pytest.mark.parametrize(
    "files", [["en-cs.txt", "eng-ces.txt"], ["en-cs/a.txt", "en-cs/b.txt"], ["en-cs.tsv", "eng-ces.txt", "news.txt"]]
)
def test_of_files_for_one_test_set_none_is_taken(files: list[str], tmp_path: Path) -> None:
    """Which of them is meant nobody can say, least of all the order of their names."""
    found, reasons = outputs_of_pairs(put(tmp_path, *files, "en-de.txt"), TEST_SETS)
    assert list(found) == ["new"]
    assert list(reasons) == files
    for file in files:
        for other in files:
            assert other in reasons[file]
        assert "Send one of them" in reasons[file]


def test_a_pair_with_two_test_sets_must_be_named_by_one_of_them(tmp_path: Path) -> None:
    found, refused = outputs_of_pairs(put(tmp_path, "en-cs.txt", "b.txt"), {"a": "en-cs", "b": "en-cs"})
    assert list(found) == ["b"]
    assert "has several test sets: a, b" in refused["en-cs.txt"]


def test_files_may_lie_elsewhere_under_other_names(tmp_path: Path) -> None:
    sent = rows(tmp_path / "sent", "en-cs_CZ_#_news_#_a.1")
    found, refused = match({"Yolu.jsonl.gz": sent, "en-de/x.txt": sent, "en-fr.pdf": sent}, TEST_SETS)
    assert found == {
        "news": OutputOfPair("Yolu.jsonl.gz (en-cs_CZ)", sent, "en-cs_CZ"),
        "new": OutputOfPair("en-de/x.txt", sent),
    }
    assert refused == {"en-fr.pdf": "en-fr.pdf: Name a text after its language pair, such as en-cs.txt."}
    assert (pairs_of_documents(sent), pairs_of_documents(sent, "Yolu.jsonl")) == ([], ["en-cs_CZ"])


def rows(path: Path, *documents: str, **others: object) -> Path:
    path.write_text("".join(json.dumps({"doc_id": each, "hypothesis": "x", **others}) + "\n" for each in documents))
    return path


def test_one_file_of_a_system_is_for_all_pairs_that_its_documents_name(tmp_path: Path) -> None:
    path = rows(
        *(tmp_path / "Yolu.jsonl", "en-cs_CZ_#_news_#_a.1", "en-de_DE_#_news_#_a.1", "en-cs_CZ_#_speech_#_vid_b"),
        "en-sr_Cyrl_RS_#_news_#_a.1",
    )
    found, refused = outputs_of_pairs(tmp_path, TEST_SETS)
    assert found == {
        "news": OutputOfPair("Yolu.jsonl (en-cs_CZ)", path, "en-cs_CZ"),
        "new": OutputOfPair("Yolu.jsonl (en-de_DE)", path, "en-de_DE"),
        "en-sr_Cyrl_RS": OutputOfPair("Yolu.jsonl (en-sr_Cyrl_RS)", path, "en-sr_Cyrl_RS"),
    }
    assert not refused
    rows(path, "WMT26_###_speech_###_eng_Latn_###_ces_Latn_###_id_x", "en-fr_#_news_#_a", "en-sr_#_news_#_a")
    found, refused = outputs_of_pairs(put(tmp_path, "en-cs.txt"), TEST_SETS)
    assert not found
    assert list(refused) == ["Yolu.jsonl (en-fr)", "Yolu.jsonl (en-sr)", "Yolu.jsonl (eng_Latn-ces_Latn)", "en-cs.txt"]
    assert "is for news, and so is en-cs.txt" in refused["Yolu.jsonl (eng_Latn-ces_Latn)"]
    assert "There is no pair en-fr" in refused["Yolu.jsonl (en-fr)"]
    assert "may be en-sr_Cyrl_RS, en-sr_Latn_RS" in refused["Yolu.jsonl (en-sr)"]
    assert "is for news, and so is Yolu.jsonl" in refused["en-cs.txt"]


def test_each_pair_of_a_file_for_many_is_cut_out_once_with_its_line_numbers(tmp_path: Path) -> None:
    (tmp_path / "sent").mkdir()
    documents = ("en-cs_CZ_#_news_#_a.1", "en-de_DE_#_news_#_a.1", "en-cs_CZ_#_speech_#_vid_b", "en-fr_#_news_#_a")
    path = rows(tmp_path / "sent" / "Yolu.jsonl", *documents)
    put(tmp_path / "sent", "en-sr_Latn.txt")
    found, _ = outputs_of_pairs(tmp_path / "sent", TEST_SETS)
    alone = each_pair_alone(found, tmp_path / "cut")
    assert {name: (each.shown, each.pair) for name, each in alone.items()} == {
        name: (each.shown, each.pair) for name, each in found.items()
    }
    assert alone["en-sr_Latn_RS"] == found["en-sr_Latn_RS"]
    lines = path.read_text().split("\n")
    assert alone["news"].path.name == alone["new"].path.name == "Yolu.jsonl"
    assert alone["news"].path.read_text().split("\n") == [lines[0], "", lines[2], "", ""]
    assert alone["new"].path.read_text().split("\n") == ["", lines[1], "", "", ""]


def test_pieces_of_a_packed_file_are_not_packed_and_not_called_so(tmp_path: Path) -> None:
    """Whoever is sent a file that is called `.gz` and is not may refuse it."""
    path = rows(tmp_path / "Yolu.jsonl", "en-cs_CZ_#_news_#_a.1", "en-de_DE_#_news_#_a.1")
    plain, packed = path.read_bytes(), tmp_path / "sent" / "Yolu.jsonl.gz"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress(plain))
    alone = each_pair_alone(match({"Yolu.jsonl.gz": packed}, TEST_SETS)[0], tmp_path / "cut")
    assert {
        name: (each.path.name, each.path.read_bytes().split(b"\n")[at]) for at, (name, each) in enumerate(alone.items())
    } == {name: ("Yolu.jsonl", plain.split(b"\n")[at]) for at, name in enumerate(alone)}
    assert len(alone) == 2


def test_a_file_for_one_pair_is_not_copied(tmp_path: Path) -> None:
    rows(tmp_path / "Yolu.jsonl", "en-cs_CZ_#_news_#_a.1")
    found, _ = outputs_of_pairs(tmp_path, TEST_SETS)
    assert each_pair_alone(found, tmp_path / "cut") == found
    assert not (tmp_path / "cut").exists()


@pytest.mark.parametrize("content", ['{"doc_id": "a"}\n', "{\n", '{"doc_id": 3}\n', "[]\n", "", '\xff{"doc_id": "a"}'])
def test_other_json_lines_are_called_by_their_names(tmp_path: Path, content: str) -> None:
    (tmp_path / "en-cs.jsonl").write_text(content, encoding="latin-1")
    assert list(outputs_of_pairs(tmp_path, TEST_SETS)[0]) == ["news"]


@pytest.mark.parametrize("odd", ["a.1", "", 5, None])
def test_a_file_with_a_document_of_no_pair_is_not_for_many(tmp_path: Path, odd: object) -> None:
    """Taken for the pairs of the others, it would be scored without what that document says."""
    path = rows(tmp_path / "Yolu.jsonl", "en-cs_CZ_#_news_#_a.1", "en-de_DE_#_news_#_a.1")
    assert pairs_of_documents(path) == ["en-cs_CZ", "en-de_DE"]
    with path.open("a") as file:
        file.write(json.dumps({"doc_id": odd, "hypothesis": "x"}) + "\n")
    assert pairs_of_documents(path) == []
    found, refused = outputs_of_pairs(tmp_path, TEST_SETS)
    assert not found
    assert list(refused) == ["Yolu.jsonl"]
