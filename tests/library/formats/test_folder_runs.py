"""Folders of a system's runs inside a campaign's folder."""

import gzip
import shutil

import pytest

from steelyard.formats.campaign.folder import read_campaign
from steelyard.formats.campaign.pairing import DifferentTexts
from steelyard.formats.plain import DifferentLengths
from tests.library.formats.campaign_folders import refusal, small_campaign, write


@pytest.fixture
def folder(tmp_path):
    return small_campaign(tmp_path)


def test_a_folder_of_a_system_holds_its_runs(folder):
    for run in ("seed2", "seed10"):
        write(folder / "systems" / "ferry" / f"{run}.txt.gz", gzip.compress(f"A\nB\n{run}\n".encode()))
    write(folder / "systems" / "ferry" / "README", "how it was trained")
    write(folder / "systems" / "ferry" / "log.json", "{}")
    write(folder / "systems" / "empty" / "notes.json", "{}")
    write(folder / "systems" / ".cache" / "x.txt", "A\nB\nC\n")
    write(folder / "meta.json", '{"systems": ["barge", "ferry", "tug"]}')
    campaign = read_campaign(folder)
    assert list(campaign.systems) == ["barge", "tug"]
    assert {system: list(runs) for system, runs in campaign.runs.items()} == {"ferry": ["seed10", "seed2"]}
    assert campaign.runs["ferry"]["seed2"].lines() == [b"A", b"B", b"seed2"]
    assert [text.lines()[2] for text in campaign.texts(["A"])] == [b"C1", b"C", b"C", b"seed10", b"seed2"]
    assert campaign.notices == (f"{folder}: not used: systems/.cache, systems/empty, systems/ferry/log.json.",)


def test_systems_may_all_have_runs(folder):
    shutil.rmtree(folder / "systems")
    write(folder / "systems" / "ferry" / "1.txt", "A\nB\nC\n")
    campaign = read_campaign(folder)
    assert (campaign.systems, list(campaign.runs)) == ({}, ["ferry"])


def test_runs_of_two_systems_may_have_the_same_names(folder):
    for system in ("ferry", "raft"):
        for run in ("1", "2"):
            write(folder / "systems" / system / f"{run}.txt", "A\nB\nC\n")
    runs = {system: list(found) for system, found in read_campaign(folder).runs.items()}
    assert runs == {"ferry": ["1", "2"], "raft": ["1", "2"]}


def test_a_system_given_both_ways(folder):
    write(folder / "systems" / "tug" / "1.txt", "A\nB\nC\n")
    assert f"{folder}/systems/tug.txt, {folder}/systems/tug: the name 'tug' for two systems." in refusal(folder)


def test_what_is_wrong_with_runs(folder):
    write(folder / "systems" / "ferry" / "1.txt", "A\nB\nC\n")
    write(folder / "systems" / "ferry" / "1.conllu", "A\nB\nC\n")
    write(folder / "systems" / "ferry" / "a;b.txt", "A\nB\nC\n")
    write(folder / "systems" / "bad;name" / "1.txt", "A\nB\nC\n")
    message = refusal(folder)
    assert f"{folder}/systems/ferry/1.conllu, {folder}/systems/ferry/1.txt: the name '1' for two runs." in message
    assert f"{folder}/systems/ferry/a;b.txt: not usable as the name of a run" in message
    assert f"{folder}/systems/bad;name: not usable as the name of a system" in message


def test_a_run_of_another_length(folder):
    write(folder / "systems" / "ferry" / "1.txt", "A\nB\n")
    assert f"{folder}/systems/ferry/1.txt" in refusal(folder, DifferentLengths)


def test_runs_must_belong_to_the_references_as_other_outputs_do(folder):
    row = "1\t{0}\t_\tNOUN\t_\t_\t0\troot\t_\t_\n"
    for place, order in (("refs/C", "123"), ("systems/ferry/1", "123"), ("systems/ferry/2", "132")):
        sentences = [f"# sent_id = {each}\n{row.format(each)}\n" for each in order]
        write(folder / f"{place}.conllu", "".join(sentences))
    message = refusal(folder, DifferentTexts)
    assert f"{folder}/systems/ferry/2.conllu" in message
    assert "refs/C.conllu" in message


def test_runs_must_be_in_the_target_language(folder):
    write(folder / "meta.json", '{"target_language": "de"}')
    bundle = '<LM id="s{0}"><zones><zone language="cs"><trees><a_tree id="a{0}"/></trees></zone></zones></LM>'
    bundles = "".join(bundle.format(number) for number in range(3))
    document = f'<treex_document xmlns="http://ufal.mff.cuni.cz/pdt/pml/"><bundles>{bundles}</bundles></treex_document>'
    write(folder / "systems" / "ferry" / "1.treex", document)
    assert "the target language is de, but" in refusal(folder)
