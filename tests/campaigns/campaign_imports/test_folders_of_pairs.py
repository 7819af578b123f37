"""Folders of many language pairs as campaigns, with the scores and judgments beside their texts."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from sqlalchemy import select

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.campaign_imports.pairs import _HUMAN, _files_of, _judgments
from campaigns.errors import BadRequest
from campaigns.exports.mt_metrics_eval import export_mt_metrics_eval
from models.database.session import reading
from models.schema.corpus import Submission
from models.schema.human import HumanSegmentScore, Judgments
from steelyard.errors import BadText
from steelyard.formats.campaign.folder import CampaignFolder
from steelyard.formats.plain import Text as PlainText
from tests.campaigns.campaign_imports.zips import counted, files_of, taken_in, zipped
from tests.service.service import Service

TEXTS = (("sources", ""), ("references", ".refA"), ("system-outputs", "/mast"))


def test_a_folder_of_pairs_with_metric_and_human_scores(port: Service, tmp_path: Path) -> None:
    content = b"".join(export_mt_metrics_eval(port.engine, COMMAND_LINE, "port", ["news@2"]))
    found = taken_in(port, content, tmp_path, "again")
    assert (found.test_sets, found.submissions) == (1, 3)
    assert found.judgments == 2, "scores, and the errors that were marked"
    assert found.imported >= 3
    again = files_of(b"".join(export_mt_metrics_eval(port.engine, COMMAND_LINE, "again")))
    before = files_of(content)
    for name, each in before.items():
        if name.endswith((".txt", ".docs")) or (name.startswith("human-scores") and name.endswith("seg.score")):
            assert again[name] == each, name
        if name.startswith("metric-scores") and name.endswith(".seg.score"):
            assert _scores(again[name]) == _scores(each), name


def test_judgments_and_scores_of_a_pair_are_the_finest_there_are(tmp_path: Path) -> None:
    folder = tmp_path / "human-scores"
    folder.mkdir()
    for name in ("esa.sys", "mqm.sys", "mqm.seg"):
        score = "mast\t1\nmast\t2\n" if name.endswith("seg") else "mast\t1.5\n"
        (folder / f"en-cs.{name}.score").write_text(score)
    (folder / "en-de.esa.seg.score").write_text("mast\t1\nmast\t2\n")
    text = PlainText("t", b"a\nb", 2)
    pair = CampaignFolder(
        "en-cs", text, {"A": text}, {}, None, "en", "cs", human=(), notices=(), variable_references=False
    )
    of_pair, elsewhere = _files_of(folder, _HUMAN, ["en-cs", "en-is"])
    assert elsewhere == ["human-scores: not used, for there is no such pair: en-de.esa.seg.score."]
    found, notices = _judgments(of_pair["en-cs"], pair)
    assert {name: len(each.segments) for name, each in found.items()} == {"mqm": 2}
    assert notices == ["human-scores: not used, for there are no scores of segments: en-cs.esa.sys.score."]
    assert _files_of(tmp_path / "none", _HUMAN, ["en-cs"]) == ({"en-cs": []}, [])


def test_exports_of_annotation_tools_beside_the_texts_are_judgments(port: Service, tmp_path: Path) -> None:
    def rated(score: int, number: int, user: str = "u1") -> str:
        error = '"[{""start_i"":0,""end_i"":1,""severity"":""minor""}]"'
        return f"{user},mast,{number},TGT,eng,ces,{score},d,False,{error},1.5,9.25"

    files = {
        **{f"{place}/en-{pair}{name}.txt": b"a b\nc d\n" for pair in ("cs", "de") for place, name in TEXTS},
        "documents/en-cs.docs": b"news\td\nnews\td\n",
        "human/en-cs.wave2.csv": "\n".join([rated(40, 1), rated(70, 2), rated(60, 2, "u2")]).encode(),
        "human/en-cs.wave2.tsv": b"segment\tsystem\tannotator\tscore\n0\tmast\tu1\t1\n",
        "human/en-de.da.tsv": b"segment\tsystem\tannotator\tscore\n0\tmast\tu1\t3\n1\tmast\tu1\t5\n",
        "human/notes.md": b"of us",
        "metadata/en-cs.jsonl": b"{}\n",
    }
    found = taken_in(port, zipped(files), tmp_path, "again")
    assert (found.test_sets, found.judgments) == (2, 2)
    told = "\n".join(found.notices)
    assert "human: not used, for another file has the same name: en-cs.wave2.tsv." in told
    assert "metadata (what is known of segments)" in told
    assert "human (" not in told
    assert str(tmp_path) not in told
    with reading(port.engine) as connection:
        stored = connection.execute(select(Judgments.name, Judgments.id).where(Judgments.name != "esa")).all()
        names = {row.id: row.name for row in stored}
        scores = select(HumanSegmentScore.judgments_id, HumanSegmentScore.segment, HumanSegmentScore.score)
        scores = scores.where(HumanSegmentScore.judgments_id.in_(names))
        kept = sorted((names[row.judgments_id], row.segment, row.score) for row in connection.execute(scores))
    assert [each[:2] for each in kept] == [("da", 0), ("da", 1), ("wave2", 0), ("wave2", 1)]
    assert [score for *_, score in kept[2:]] == [40.0, 65.0], "the export, as it is, and not the table"


def test_damaged_judgments_beside_the_texts_are_refused_by_name(port: Service, tmp_path: Path) -> None:
    files = {
        **{f"{place}/en-cs{name}.txt": b"a b\nc d\n" for place, name in TEXTS},
        "human/en-cs.esa.tsv": b"segment\tsystem\tannotator\tscore\n7\tmast\tu1\tx\n",
    }
    with pytest.raises(BadText, match=r"human/en-cs\.esa\.tsv, line 2"):
        taken_in(port, zipped(files), tmp_path, "again")


def _scores(content: bytes) -> dict[str, list[str]]:
    """System -> its scores, with the digits that imported scores keep."""
    found: dict[str, list[str]] = {}
    for line in content.decode().splitlines():
        system, score = line.split()
        found.setdefault(system, []).append(f"{float(score):.5f}")
    return found


def wmt25() -> dict[str, bytes]:
    """Two pairs of WMT25 as it publishes them, with scores of metrics."""
    documents = [
        ("en-cs_CZ", "news", "a.1", 2),
        ("en-cs_CZ", "speech", "vid_b", 1),
        ("en-de_DE", "news", "a.1", 2),
    ]
    files = {"data/wmt25-genmt.jsonl": "", "data/readme.jsonl.txt": "x\n"}
    for pair, domain, name, count in documents:
        paragraphs = "\n\n".join(f"{name} {number}" for number in range(count))
        document = f"{pair}_#_{domain}_#_{name}"
        files["data/wmt25-genmt.jsonl"] += (
            json.dumps(
                {
                    "doc_id": document,
                    "collection_id": "general",
                    "domain": domain,
                    "src_text": paragraphs,
                    "refs": {"refA": {"ref": paragraphs}},
                }
            )
            + "\n"
        )
        for system in ("Yolu", "GPT-4.1"):
            given = {"doc_id": document, "hypothesis": paragraphs, "paragraphs_match": True}
            scores = {"CometKiwi-XL": [0.5 + number for number in range(count)], "MetricX-24": [None] * count}
            scored = {
                "language_pair": pair,
                "domain": domain,
                "document_id": name.removeprefix("vid_"),
                "metric_scores": scores if system == "Yolu" or domain == "news" else {},
            }
            for folder, row in (("systems", given), ("automatic_scores", scored)):
                path = f"data/{folder}/{system}.jsonl"
                files[path] = files.get(path, "") + json.dumps(row) + "\n"
    return {name: content.encode() for name, content in files.items()}


def test_automatic_scores_beside_the_texts_are_imported(service: Service, tmp_path: Path) -> None:
    found = taken_in(service, zipped(wmt25()), tmp_path)
    assert (found.test_sets, found.submissions) == (2, 4)
    assert not any("automatic_scores" in each for each in found.notices)
    files = files_of(b"".join(export_mt_metrics_eval(service.engine, COMMAND_LINE, "copy")))
    scores = {name: content.decode().split() for name, content in files.items() if "CometKiwi" in name}
    assert scores["metric-scores/en-cs_CZ/CometKiwi-XL-src.seg.score"] == (
        ["GPT-4.1", "0.5", "GPT-4.1", "1.5", "GPT-4.1", "nan", "Yolu", "0.5", "Yolu", "1.5", "Yolu", "0.5"]
    ), "what is missing is not 0"
    assert scores["metric-scores/en-de_DE/CometKiwi-XL-src.seg.score"][:4] == ["GPT-4.1", "0.5", "GPT-4.1", "1.5"]
    damaged = wmt25()
    damaged["data/automatic_scores/Yolu.jsonl"] += b'{"language_pair": "en-cs_CZ"'
    before = counted(service)
    with pytest.raises(BadRequest, match=r"automatic_scores/Yolu\.jsonl, line 4"):
        taken_in(service, zipped(damaged), tmp_path, "other")
    assert counted(service) == before


def test_scores_and_judgments_of_pairs_in_other_spellings(service: Service, tmp_path: Path) -> None:
    scores = gzip.compress(b"mast\t0.5\nmast\tnan\n")
    files = {
        "sources/en-cs.txt": b"a b\nc d\n",
        "references/eng-ces.refA.txt": b"a b\nc d\n",
        "system-outputs/en-cs_CZ/mast.txt": b"a b\nc d\n",
        "metric-scores/eng_Latn---ces_Latn/Lobe-src.seg.score.gz": scores,
        "metric-scores/en-de/Lobe-src.seg.score": b"mast\t1\n",
        "human-scores/en-cs_CZ.esa.seg.score": b"mast\t70\nmast\tNone\n",
        "human/eng-ces.da.tsv": b"segment\tsystem\tannotator\tscore\n0\tmast\tu1\t3\n1\tmast\tu1\t5\n",
        "human/en-is.da.tsv": b"x",
    }
    found = taken_in(service, zipped(files), tmp_path)
    assert (found.test_sets, found.submissions, found.judgments, found.imported) == (1, 1, 2, 1)
    told = "\n".join(found.notices)
    assert "metric-scores: not used: en-de." in told
    assert "human: not used, for there is no such pair: en-is.da.tsv." in told
    two = {f"{place}/en-sr_{script}{name}.txt": b"a\n" for place, name in TEXTS for script in ("Cyrl", "Latn")}
    with pytest.raises(BadText, match=r"human-scores/en-sr\.esa.* may be en-sr_Cyrl, en-sr_Latn"):
        taken_in(service, zipped({**two, "human-scores/en-sr.esa.seg.score": b"mast\t70\n"}), tmp_path, "other")


def test_what_is_no_score_and_judgments_of_others_are_told_and_the_rest_is_taken(
    service: Service, tmp_path: Path
) -> None:
    files = {
        **{f"{place}/en-cs{name}.txt": b"a b\nc d\n" for place, name in TEXTS},
        "metric-scores/en-cs/Lobe-src.seg.score": b"mast\t0.5\nmast\t1\n",
        "metric-scores/en-cs/Lobe-src.par.score": b"mast\t0.5\n",
        "metric-scores/en-cs/Lobe-src.seg.rating": b"x",
        "metric-scores/en-cs/.notes": b"x",
        "automatic_scores/of-drafts/mast.jsonl": b"x",
        "human-scores/.notes": b"x",
        "human-scores/en-cs.esa.seg.score": b"keel\t70\nkeel\t80\n",
        "human-scores/en-cs.da.seg.score": b"mast\t70\nmast\t80\n",
    }
    found = taken_in(service, zipped(files), tmp_path)
    assert (found.test_sets, found.submissions, found.judgments, found.imported) == (1, 1, 1, 1)
    told = [each for each in found.notices if "Lobe" in each or "esa" in each or "notes" in each or "drafts" in each]
    assert told == [
        "metric-scores: not used: en-cs/Lobe-src.par.score, en-cs/Lobe-src.seg.rating.",
        "en-cs: the judgments esa are left out. None of the judged systems has a submission here, and nothing was "
        "stored. Judged: keel. Submitted: mast. Use the leaderboard's names of systems, with or without teams, or "
        "rename them: OLD=NEW.",
    ]
    with reading(service.engine) as connection:
        assert connection.execute(select(Judgments.name)).scalars().all() == ["da"]


@pytest.mark.parametrize("part", ["compressed", "directory"])
def test_a_damaged_zip_is_refused_as_one(service: Service, tmp_path: Path, part: str) -> None:
    content, before = zipped({"sources/en-cs.txt": b"a b\nc d\n"}), counted(service)
    damaged = content[:-30] if part == "directory" else content.replace(b"a b\nc d\n", b"a b\nc e\n")
    with pytest.raises(BadRequest) as refused:
        taken_in(service, damaged, tmp_path)
    assert str(refused.value) == "This is no zip, or a damaged one. Export the campaign again."
    assert counted(service) == before


def test_folders_in_the_own_layout_are_a_campaign_of_their_test_sets(service: Service, tmp_path: Path) -> None:
    files = {
        f"{year}/{name}": content
        for year in ("y21", "y22")
        for name, content in {
            "meta.json": b'{"source_language": "en", "target_language": "cs"}',
            "source.txt": b"a b\nc d\n",
            "refs/A.txt": f"a b\n{year}\n".encode(),
            "systems/mast.txt": b"a b\nc d\n",
            "systems/keel/1.txt": b"a\nc d\n",
            "systems/keel/2.txt": b"b\nc d\n",
            "human.da.seg.tsv": b"system\tsegment\tscore\nmast\t0\t0.5\n",
        }.items()
    }
    found = taken_in(service, zipped(files), tmp_path)
    assert (found.test_sets, found.submissions, found.judgments) == (2, 6, 2)
    with reading(service.engine) as connection:
        runs = connection.execute(select(Submission.run).order_by(Submission.run)).scalars().all()
    assert runs == ["", "", "1", "1", "2", "2"]
    files["y22/human.da.seg.tsv"] = b"system\tsegment\tscore\nmast\t7\t0.5\n"
    before = counted(service)
    with pytest.raises(BadText, match=r"y22/human\.da\.seg\.tsv, line 2"):
        taken_in(service, zipped(files), tmp_path, "other")
    assert counted(service) == before
