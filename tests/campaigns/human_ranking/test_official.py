"""Campaigns that are ranked officially by people: WMT24's published values, names, rules, previews, error spans."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import Engine

from analysis.meta_evaluation.human_ranking import HumanRanking
from campaigns.accounts.principal import COMMAND_LINE, Principal
from campaigns.changes import lock_for_change
from campaigns.errors import BadRequest
from campaigns.human_ranking.documents import place_documents, places_of_submissions, ranking_document, rule_document
from campaigns.human_ranking.official import read_official, submissions_of_judged
from campaigns.inspection.judgments import AddedJudgments, remove_judgments, rename_judgments, store_judgments_of
from campaigns.inspection.visible import find_test_set, visible_test_sets
from campaigns.leaderboards.cache import LeaderboardCache
from campaigns.permissions import read_access
from campaigns.rules import Rules, set_rules
from models.corpus.judgments import list_judgments, read_ratings, read_spans
from models.corpus.test_sets import segments_of_documents
from models.database.session import make_engine, reading, writing
from scheduler.ingest.campaigns import NewSubmission, store_campaign, store_submissions
from scheduler.ingest.test_sets import NewTestSet, store_test_set
from steelyard.errors import BadParameter
from steelyard.formats.input.contents import Contents
from steelyard.meta_evaluation.human.reading import Reading, read_judgments
from steelyard.ranking.human_rules import RankedSystem

ESA = "u1,{system},{segment},TGT,eng,ces,{score},d{document},False,{spans},10.0,{end}\n"


def add(
    engine: Engine, campaign: str, *files: Path | bytes, name: str = "esa", preview: bool = False
) -> AddedJudgments:
    with reading(engine) as connection:
        access = read_access(connection, COMMAND_LINE, campaign)
        chosen = find_test_set(visible_test_sets(connection, access), "")
        documents = segments_of_documents(connection, chosen.id)
    sources = [Contents(each, name="esa.csv") if isinstance(each, bytes) else each for each in files]
    judged = read_judgments(sources, Reading(chosen.segments, documents))
    return store_judgments_of(engine, access, chosen, name, judged, preview=preview)


def rank(engine: Engine, campaign: str, rule: str, judgments: str = "") -> HumanRanking | None:
    with writing(engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, campaign)
        set_rules(connection, access, Rules(human_rule=rule, human_judgments=judgments))
    with reading(engine) as connection:
        access = read_access(connection, COMMAND_LINE, campaign)
        chosen = find_test_set(visible_test_sets(connection, access), "")
        return read_official(connection, access, chosen.id, LeaderboardCache(1 << 20))


def small(engine: Engine, name: str = "bay") -> tuple[int, int]:
    """Two systems, four segments of two documents."""
    with writing(engine) as connection:
        campaign = store_campaign(connection, name)
        documents = [("d0", "news", "")] * 2 + [("d1", "talk", "")] * 2
        test_set = store_test_set(connection, campaign, NewTestSet("bay", {"A": b"a\nb\nc\nd"}, documents=documents))
        for system, text in (("tug", "\U0001f600 ahoj\nb\nc\nd"), ("raft", "a\nbe\nc\nd")):
            store_submissions(connection, campaign, test_set, [NewSubmission(system, text.encode(), "")])
        return campaign, test_set


def rows(spans: str = "[]", **scores: int) -> bytes:
    """Judgments of both systems, one every 2.5 seconds, the first with these spans in segment 0."""
    found, end = "", 10.0
    for system, score in (scores or {"tug": 90, "raft": 40}).items():
        for segment in range(4):
            own = spans if system == "tug" and segment == 0 else "[]"
            end += 2.5
            quoted = '"' + own.replace('"', '""') + '"'
            found += ESA.format(
                system=system, segment=segment, score=score + segment, document=segment // 2, spans=quoted, end=end
            )
    return found.encode()


def test_the_published_values_of_wmt24(sqlite_url: str, real_data: Path) -> None:
    folder = real_data / "wmt24"
    lines = (folder / "documents" / "en-cs.docs").read_text("utf-8").split("\n")[:-1]
    documents = [(name, domain, "") for domain, name in (line.split("\t") for line in lines)]
    engine = make_engine(sqlite_url)
    with writing(engine) as connection:
        campaign = store_campaign(connection, "wmt24")
        reference = (folder / "references" / "en-cs.refA.txt").read_bytes().rstrip(b"\n")
        test_set = store_test_set(connection, campaign, NewTestSet("en-cs", {"refA": reference}, documents=documents))
        for path in sorted((folder / "system-outputs" / "en-cs").iterdir()):
            text = path.read_bytes().removesuffix(b"\n")
            store_submissions(connection, campaign, test_set, [NewSubmission(path.stem, text, "")])
    added = add(engine, "wmt24", folder / "human" / "en-cs.esa.csv")
    assert added.ingested.matched.not_judged == ("TSU-HITs",)
    assert added.ingested.matched.references == ("refA",)
    assert any("369 of tutorials" in each for each in added.notices)
    # All lie in the outputs, and refA's in the reference.
    assert added.ingested.error_spans == len(added.judged.spans) == 3730
    for rule, name, mode, column in (
        ("human:wmt24", "expected_human.tsv", "macro", "macro"),
        ("human:wmt24:average=micro", "expected_human.tsv", "micro", "micro"),
        ("human:wmt25", "expected_human_wmt25_rule.tsv", "", "score"),
    ):
        official = rank(engine, "wmt24", rule)
        with (folder / name).open(encoding="utf-8") as file:
            found = [row for row in csv.DictReader(file, delimiter="\t") if row["pair"] == "en-cs"]
        expected = [row for row in found if row.get("mode", "") == mode]
        assert list(official.systems) == [row["system"] for row in expected]
        for row in expected:
            each = official.systems[row["system"]]
            assert each.score == pytest.approx(float(row[column]), abs=1e-9)
            assert (each.rank_low, each.rank_high) == (int(row["rank_top"]), int(row["rank_bottom"]))
            assert (each.cluster, each.n) == (int(row["cluster"]), int(row["n"]))
            low, high = official.intervals[row["system"]]
            assert low < each.score < high
    own = rank(engine, "wmt24", "human")
    assert own.board.rule.own
    assert sum(each.wins for each in own.systems.values()) == 74


def test_spans_are_code_points_of_the_outputs(database_url: str) -> None:
    engine = make_engine(database_url)
    small(engine)
    missing = '{"start_i": "missing", "end_i": "missing", "severity": "minor"}'
    spans = f'[{{"start_i": 3, "end_i": 6, "severity": "major"}}, {missing}]'
    added = add(engine, "bay", rows(spans))
    with reading(engine) as connection:
        stored = read_spans(connection, added.ingested.stored.id)
        assert [("\U0001f600 ahoj"[each.begins : each.ends], each.missing) for each in stored] == [
            ("", True),
            ("ahoj", False),
        ]
        ratings = read_ratings(connection, added.ingested.stored.id)
        assert {each.seconds for each in ratings} == {2.5}
    with pytest.raises(BadRequest, match=r"errors are marked where there is no text\. Segment 1 of 'tug': an error"):
        add(engine, "bay", rows('[{"start_i": 30, "end_i": 31, "severity": "major"}]'))
    with reading(engine) as connection:
        assert len(list_judgments(connection, *small_ids(connection))) == 1


def small_ids(connection: object) -> tuple[int, int]:
    access = read_access(connection, COMMAND_LINE, "bay")
    return access.campaign_id, next(iter(access.test_sets))


def test_a_preview_stores_nothing(database_url: str) -> None:
    engine = make_engine(database_url)
    campaign, test_set = small(engine)
    seen = add(engine, "bay", rows(tug=90, raft=40, heron=10, refB=95), preview=True)
    assert (seen.preview, seen.ingested.new, seen.ingested.stored.title) == (True, True, "esa@1")
    assert seen.ingested.matched.unknown == ("heron",)
    with reading(engine) as connection:
        assert list_judgments(connection, campaign, test_set) == []
    assert add(engine, "bay", rows()).ingested.stored.title == "esa@1"
    assert not add(engine, "bay", rows(), preview=True).ingested.new


def test_rules_are_checked_and_judgments_are_chosen(database_url: str) -> None:
    engine = make_engine(database_url)
    small(engine)
    # Those of another campaign rank nothing here.
    small(engine, "cove")
    add(engine, "cove", rows(), name="da")
    with pytest.raises(BadRequest, match=r"Say which judgments rank\. Import some first"):
        rank(engine, "bay", "human")
    add(engine, "bay", rows())
    with pytest.raises(BadParameter, match='no rule "human:wmt26"'):
        rank(engine, "bay", "human:wmt26")
    with pytest.raises(BadRequest, match=r"no human judgments 'da'\. There are: esa"):
        rank(engine, "bay", "human", "da")
    official = rank(engine, "bay", "human:wmt25")
    assert official.judgments.title == "esa@1"
    assert {name: (each.score, each.n) for name, each in official.systems.items()} == {
        "tug": (91.5, 4),
        "raft": (41.5, 4),
    }
    # A new version takes its place, but for a ranking by one version.
    add(engine, "bay", rows(tug=10, raft=40))
    assert next(iter(rank(engine, "bay", "human:wmt25").systems)) == "raft"
    assert next(iter(rank(engine, "bay", "human:wmt25", "esa@1").systems)) == "tug"
    with writing(engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "bay")
        rename_judgments(connection, access, "", "esa", "people")
    with reading(engine) as connection:
        access = read_access(connection, COMMAND_LINE, "bay")
        assert (access.human_rule, access.human_judgments) == ("human:wmt25", "people@1")
    assert rank(engine, "bay", "") is None


def test_names_without_a_submission_are_for_those_who_see_names(database_url: str) -> None:
    engine = make_engine(database_url)
    small(engine)
    add(engine, "bay", rows(tug=90, raft=40, heron=10, refB=95))
    official = rank(engine, "bay", "human:wmt25")
    with writing(engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "bay")
        set_rules(connection, access, Rules(anonymous=True, visibility="public"))
    with reading(engine) as connection:
        access = read_access(connection, COMMAND_LINE, "bay")
        chosen = find_test_set(visible_test_sets(connection, access), "")
        assert [each.name for each in ranking_document(connection, access, chosen, official).systems] == [
            "refB", "tug", "raft", "heron",
        ]  # fmt: skip


def test_errors_and_scores_of_segments_rank_too(database_url: str) -> None:
    engine = make_engine(database_url)
    small(engine)
    mqm = "system\tdoc\tseg_id\trater\ttarget\tcategory\tseverity\n" + "".join(
        f"{system}\td{segment // 2}\t{segment + 1}\tr{rater}\tx\tAccuracy\t{severity}\n"
        for system, severity in (("tug", "Minor"), ("raft", "Major"))
        for segment in range(4)
        for rater in range(2)
    )
    add(engine, "bay", mqm.encode(), name="mqm")
    official = rank(engine, "bay", "human:wmt25", "mqm")
    assert {name: (each.score, each.n) for name, each in official.systems.items()} == {
        "tug": (-1.0, 4),
        "raft": (-5.0, 4),
    }
    scores = "".join(f"{system}\t{score}\n" for system in ("tug", "raft") for score in (5, 6, None, 7))
    add(engine, "bay", scores.encode(), name="seg")
    official = rank(engine, "bay", "human:wmt25", "seg")
    assert {name: (each.score, each.n) for name, each in official.systems.items()} == {
        "tug": (6.0, 3),
        "raft": (6.0, 3),
    }
    systems = b"system\tscore\ntug\t1\nraft\t2\n"
    add(engine, "bay", systems, name="sys")
    official = rank(engine, "bay", "human", "sys")
    assert "no judgment" in official.fault
    said = rule_document(official)
    assert (said.rule, said.judgments, said.fault, said.notices) == ("human", "sys@1", official.fault, [])


def test_equal_scores_share_a_rank_and_places_belong_to_all_submissions_of_a_system(sqlite_url: str) -> None:
    engine = make_engine(sqlite_url)
    campaign, test_set = small(engine)
    add(engine, "bay", rows(tug=90, raft=40, heron=90, refB=95, otter=10))
    official = rank(engine, "bay", "human:wmt25")
    assert official.ranks == {"refB": 1, "tug": 2, "heron": 2, "raft": 4, "otter": 5}
    with writing(engine) as connection:
        # A second output of one system, another campaign's output, and one of a team.
        store_submissions(connection, campaign, test_set, [NewSubmission("tug", b"a\nb\nc\nzz", "")])
        other = store_campaign(connection, "cove")
        store_submissions(connection, other, test_set, [NewSubmission("raft", b"a\nb\nc\nyy", "")])
        store_submissions(connection, campaign, test_set, [NewSubmission("otter", b"a\nb\nc\nxx", "otters")])
    with reading(engine) as connection:
        access = read_access(connection, COMMAND_LINE, "bay")
        places = places_of_submissions(connection, access, test_set, official)
        judged = submissions_of_judged(connection, campaign, test_set)
        assert {name: len(numbers) for name, numbers in judged.items()} == {"tug": 2, "raft": 1, "otter": 1}
        assert {number: each.rank for number, each in places.items()} == {
            **dict.fromkeys(judged["tug"], 2), **dict.fromkeys(judged["raft"], 4), **dict.fromkeys(judged["otter"], 5),
        }  # fmt: skip
        chosen = find_test_set(visible_test_sets(connection, access), "")
        document = ranking_document(connection, access, chosen, official)
    # The newest output of a system stands for it.
    assert {each.name: each.submission for each in document.systems} == {
        "tug": max(judged["tug"]), "raft": judged["raft"][0], "otters/otter": judged["otter"][0],
        "heron": None, "refB": None,
    }  # fmt: skip


def test_a_place_says_all_that_is_known_of_a_system() -> None:
    raft = RankedSystem(0, 41.5, n=9, rank_low=2, rank_high=7, wins=3, losses=4, cluster=5)
    board = SimpleNamespace(systems=(("tug", replace(raft, score=50.0)), ("raft", raft)), notices=())
    official = HumanRanking("human", None, board, {"raft": (40.0, 43.0)}, level=0.9, replicates=77)
    place = place_documents(official)["raft"]
    assert place.model_dump() == {
        "score": 41.5,
        "interval": {"level": 0.9, "low": 40.0, "high": 43.0, "n": 77},
        "rank": 2,
        "rank_low": 2,
        "rank_high": 7,
        "wins": 3,
        "losses": 4,
        "cluster": 5,
        "n": 9,
    }
    assert place_documents(official)["tug"].interval is None


def test_what_may_not_be_named_is_counted(sqlite_url: str) -> None:
    engine = make_engine(sqlite_url)
    small(engine)
    add(engine, "bay", rows(tug=90, raft=40, heron=10, otter=20, refB=95))
    official = rank(engine, "bay", "human:wmt25")
    with writing(engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "bay")
        set_rules(connection, access, Rules(visibility="public", anonymous=True))
    with reading(engine) as connection:
        access = replace(read_access(connection, COMMAND_LINE, "bay"), organises=False, principal=Principal())
        assert not access.sees_names
        chosen = find_test_set(visible_test_sets(connection, access), "")
        document = ranking_document(connection, access, chosen, official)
    assert "heron" not in {each.name for each in document.systems}
    assert len(document.systems) + document.hidden == 5
    assert document.hidden >= 2


def test_a_version_of_a_ranking_changes_with_all_that_it_shows(sqlite_url: str) -> None:
    engine = make_engine(sqlite_url)
    small(engine)
    add(engine, "bay", rows())
    seen = {rank(engine, "bay", "human:wmt25").version, rank(engine, "bay", "human:wmt24").version}
    add(engine, "bay", rows(tug=10, raft=40))
    seen.add(rank(engine, "bay", "human:wmt24").version)
    with writing(engine) as connection:
        rename_judgments(connection, lock_for_change(connection, COMMAND_LINE, "bay"), "", "esa", "people")
    seen.add(rank(engine, "bay", "human:wmt24", "people").version)
    assert len(seen) == 4


def test_a_cache_holds_one_ranking_for_each_rule_and_version(sqlite_url: str) -> None:
    engine = make_engine(sqlite_url)
    _, test_set = small(engine)
    add(engine, "bay", rows(tug=90, raft=40))
    add(engine, "bay", rows(tug=10, raft=40))
    memory = LeaderboardCache(1 << 20)
    found = {}
    for rule in ("human:wmt25", "human:wmt24"):
        for judgments in ("esa@1", "esa@2", "esa"):
            rank(engine, "bay", rule, judgments)
            with reading(engine) as connection:
                access = read_access(connection, COMMAND_LINE, "bay")
                official = read_official(connection, access, test_set, memory)
                assert read_official(connection, access, test_set, memory) is official
            assert official.rule == rule
            found[rule, judgments] = official, next(iter(official.systems))
    assert {key[1]: best for key, (_, best) in found.items()} == {"esa@1": "tug", "esa@2": "raft", "esa": "raft"}
    assert len({id(official) for official, _ in found.values()}) == 4


def test_a_cache_knows_judgments_that_took_the_id_of_deleted_ones(sqlite_url: str) -> None:
    """SQLite gives the largest id again once its row is gone."""
    engine = make_engine(sqlite_url)
    _, test_set = small(engine)
    memory, best, ids = LeaderboardCache(1 << 20), [], set()
    for tug in (90, 10):
        ids.add(add(engine, "bay", rows(tug=tug, raft=40)).ingested.stored.id)
        rank(engine, "bay", "human:wmt24", "esa")
        with writing(engine) as connection:
            access = read_access(connection, COMMAND_LINE, "bay")
            best.append(next(iter(read_official(connection, access, test_set, memory).systems)))
            remove_judgments(connection, access, "bay", "esa")
    assert len(ids) == 1
    assert best == ["tug", "raft"]
