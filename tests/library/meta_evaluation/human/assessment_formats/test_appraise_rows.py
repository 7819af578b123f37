"""Rows of Appraise's export and of tables: which segment one is of, whether it counts, and how long it took."""

from pathlib import Path

import pytest

from steelyard.meta_evaluation.human.assessment_formats.reading import AssessmentFiles


def read(text: str) -> AssessmentFiles:
    files = AssessmentFiles()
    files.read_one(text.encode(), 0)
    return files


def row(item: int, begun: float, ended: float, system: str = "tug", *, whole: str = "False", who: str = "u1") -> str:
    return f"{who},{system},{item},TGT,eng,ces,90,quay,{whole},[],{begun},{ended}\n"


def test_systems_beside_each_other_have_numbers_of_their_own_for_a_segment() -> None:
    beside = "".join(
        row(number + place * 10_000_000, 0.0, 1.0, system)
        for number in (0, 7)
        for place, system in enumerate(("tug", "raft", "barge"))
    )
    found = [(each.system, each.segment) for each in read(beside).assessments]
    assert found == [(system, number) for number in ("0", "7") for system in ("tug", "raft", "barge")]


@pytest.mark.parametrize("whole", ["True", "true", "TRUE"])
def test_scores_of_whole_documents_are_left_out_however_they_are_spelt(whole: str) -> None:
    files = read(row(0, 0.0, 1.0) + row(1, 1.0, 2.0, whole=whole) + row(2, 2.0, 3.0))
    assert [each.segment for each in files.assessments] == ["0", "2"]
    assert any("whole documents" in each for each in files.notices)


def test_long_work_is_no_pause_and_a_pause_is_no_work() -> None:
    """Of two annotators at once, each by their own clock."""
    times = [(100.0, 110.0, 10.0), (120.0, 1100.0, 990.0), (1699.0, 1705.0, 605.0), (2305.0, 2310.0, 5.0)]
    rows = [row(number, begun, ended) for number, (begun, ended, _) in enumerate(times)]
    others = [row(number, begun + 30.0, ended + 30.0, who="u2") for number, (begun, ended, _) in enumerate(times)]
    mixed = "".join(text for both in zip(rows, others, strict=True) for text in both)
    found = read(mixed).assessments
    assert [each.seconds for each in found] == [seconds for *_, seconds in times for _ in "12"]


def test_an_export_need_not_be_in_the_order_of_time() -> None:
    rows = [row(0, 100.0, 110.0), row(1, 120.0, 150.0), row(2, 151.0, 155.0)]
    assert [each.seconds for each in read("".join(rows[::-1])).assessments] == [5.0, 40.0, 10.0]


def test_a_clock_that_was_set_back_makes_no_time_negative() -> None:
    table = "system,segment,score,annotator,timestart,timeend\ntug,1,90,u1,50,40\ntug,2,80,u1,60,75\n"
    assert [each.seconds for each in read(table).assessments] == [0.0, 15.0]


def test_each_file_is_a_wave_and_a_name_tells_the_pair_of_one_alone(tmp_path: Path) -> None:
    """A file of several pairs may be called by the first of them."""
    header = "lp,system,segment,score\n"
    (tmp_path / "en-cs.esa.csv").write_text(header + "en-cs,tug,1,90\nen-de,raft,1,80\n")
    (tmp_path / "eng-ces.second.csv").write_text(header + "en-cs,tug,1,70\n")
    files = AssessmentFiles()
    files.read([tmp_path])
    found = [(each.pair, each.system, each.wave) for each in files.assessments]
    assert found == [("en-cs", "tug", 0), ("en-de", "raft", 0), ("eng-ces", "tug", 1)]
