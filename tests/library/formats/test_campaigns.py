"""Campaigns from whatever holds one: folders in the layouts, folders of marked-up files, such files one by one."""

import re
import zipfile
from itertools import product

import pytest

from steelyard.errors import BadText
from steelyard.formats.campaign.campaigns import read_any_campaign, read_test_sets
from steelyard.formats.campaign.folder import read_campaign
from steelyard.formats.campaign.layouts import BadCampaign
from steelyard.formats.campaign.test_sets import find_test_sets, has_test_sets
from steelyard.formats.campaign.zips import unpacked_paths
from steelyard.text.findings import BadMarkup
from steelyard.text.limits import DEFAULT_LIMITS
from tests.library.formats.campaign_folders import small_campaign, write

DATASET = """<?xml version='1.0' encoding='utf-8'?>
<dataset id="harbour2022.en-cs">
  <doc id="quay" origlang="en" domain="news">
    <src lang="en"><p><seg id="1">One ship.</seg><seg id="2">Two ships.</seg></p></src>
    <ref lang="cs" translator="A"><p><seg id="1">Jedna loď.</seg><seg id="2">Dvě lodi.</seg></p></ref>
    <hyp lang="cs" system="tug"><p><seg id="1">Lod</seg><seg id="2"/></p></hyp>
  </doc>
  <doc id="idioms.1" origlang="en" testsuite="idioms">
    <src lang="en"><p><seg id="1">Any port in a storm.</seg></p></src>
    <ref lang="cs" translator="A"><p><seg id="1">Nouze nezná zákon.</seg></p></ref>
    <hyp lang="cs" system="tug"><p><seg id="1">V bouři každý přístav.</seg></p></hyp>
  </doc>
</dataset>
"""
SOURCE = (
    """<srcset setid="harbour" srclang="en"><doc docid="quay" genre="news"><seg id="1">One ship.</seg></doc></srcset>"""
)
REFERENCE = """<refset setid="harbour" srclang="en" trglang="cs"><doc docid="quay" genre="news" sysid="A">
<seg id="1">Jedna loď.</seg></doc></refset>"""
OUTPUT = """<tstset setid="harbour" srclang="en" trglang="cs"><doc docid="quay" genre="news" sysid="{}">
<seg id="1">Lod</seg></doc></tstset>"""


@pytest.fixture
def folder(tmp_path):
    """A folder of mteval files, one of them below a comment, and something else."""
    (tmp_path / "src.sgm").write_text(SOURCE)
    (tmp_path / "ref.sgm").write_text("<!-- by hand -->\n" + REFERENCE)
    (tmp_path / "tug.sgm").write_text(OUTPUT.format("tug"))
    (tmp_path / "barge").write_text(OUTPUT.format("barge"))
    (tmp_path / "README").write_text("<tstset>")
    (tmp_path / "notes.txt").write_text("Not read.")
    return tmp_path


def refusal(*paths, kind=BadText, **options):
    with pytest.raises(kind) as raised:
        read_any_campaign(paths, **options)
    return str(raised.value)


def test_a_folder_of_marked_files(folder):
    campaign = read_any_campaign([folder])
    assert (campaign.name, campaign.source_language, campaign.target_language) == ("harbour", "en", "cs")
    assert (list(campaign.references), list(campaign.systems)) == (["A"], ["barge", "tug"])
    assert campaign.documents == (("quay", "news", ""),)
    assert campaign.notices == (f"{folder}: not used: notes.txt.",)
    assert read_any_campaign([folder], pair="en-cs", name="port").name == "port"


def test_marked_files_of_several_pairs_share_a_source_and_nothing_else(tmp_path):
    (tmp_path / "src.sgm").write_text(SOURCE)
    for language in ("cs", "de", "pl"):
        trglang = f'trglang="{language}"'
        (tmp_path / f"ref.{language}.sgm").write_text(REFERENCE.replace('trglang="cs"', trglang))
        for system in ("tug", language):
            output = OUTPUT.format(system).replace('trglang="cs"', trglang).replace("Lod", f"{system} {language}")
            (tmp_path / f"{system}.{language}.sgm").write_text(output)
    found = read_test_sets([tmp_path]).test_sets
    assert [each.name for each in found] == ["en-cs", "en-de", "en-pl"]
    for each in found:
        assert each.source is not None
        assert each.source.lines() == [b"One ship."]
        said = {name: text.lines() for name, text in each.systems.items()}
        language = each.target_language
        assert said == {name: [f"{name} {language}".encode()] for name in ("tug", language)}
    # One that is of none of them is not left out without a word.
    (tmp_path / "odd.sgm").write_text(SOURCE.replace('srclang="en"', 'srclang="fr"'))
    with pytest.raises(BadText):
        read_test_sets([tmp_path])


def test_files_one_by_one(folder):
    campaign = read_any_campaign([str(folder / name) for name in ("ref.sgm", "tug.sgm")])
    assert campaign.source is None
    assert list(campaign.systems) == ["tug"]
    assert campaign.notices == ()


def test_hidden_folders_hold_no_test_sets(tmp_path):
    """What version control, editors and archives of other systems leave beside the folders of people."""
    for name in (".harbour.orig", ".snapshots"):
        small_campaign(tmp_path / "made").rename(tmp_path / name)
    for place in ("sources/en-cs.txt", "references/en-cs.refA.txt", "system-outputs/en-cs/tug.txt"):
        write(tmp_path / ".wmt" / place, "a\n")
    (tmp_path / "made").rmdir()
    assert not has_test_sets(tmp_path)
    with pytest.raises(BadCampaign, match="no campaign in this folder"):
        find_test_sets(tmp_path)
    small_campaign(tmp_path)
    assert has_test_sets(tmp_path)
    assert [each.name for each in find_test_sets(tmp_path)] == ["harbour"]


def test_one_file_in_wmts_xml(tmp_path):
    file = tmp_path / "wmt.xml"
    file.write_text(DATASET)
    campaign = read_any_campaign([file])
    assert (campaign.name, campaign.segments) == ("harbour2022.en-cs", 2)
    assert campaign.documents == (("quay", "news", ""), ("quay", "news", ""))
    assert campaign.notices == (f"{file}: 1 document of test suites left out.",)
    whole = read_any_campaign([file], test_suites=True)
    assert whole.documents == (("quay", "news", ""), ("quay", "news", ""), ("idioms.1", "", "idioms"))
    assert whole.references["A"].lines()[-1] == "Nouze nezná zákon.".encode()


def test_a_set_whose_id_cannot_be_a_name_can_be_given_one(tmp_path):
    file = tmp_path / "wmt.xml"
    file.write_text(DATASET.replace("harbour2022.en-cs", "har:bour"))
    assert "the campaign cannot be called 'har:bour'" in refusal(file, kind=BadMarkup)
    assert read_any_campaign([file], name="harbour").name == "harbour"


@pytest.mark.parametrize("dataset", [DATASET, re.sub("<hyp.*</hyp>", "", DATASET)], ids=["systems", "a test set alone"])
def test_a_folder_takes_every_option_as_its_files_do(tmp_path, dataset):
    """All combinations; a refusal names the files alike."""
    (tmp_path / "wmt.xml").write_text(dataset)

    def outcome(place, **options):
        try:
            campaign = read_any_campaign([place], **options)
        except BadText as error:
            return str(error)
        texts = {name: text.lines() for name, text in (*campaign.references.items(), *campaign.systems.items())}
        return (
            campaign.name,
            campaign.source_language,
            campaign.target_language,
            campaign.documents,
            campaign.notices,
            texts,
        )

    found = []
    for pair, name, suites, alone in product((None, "en-cs", "en-de"), (None, "port"), (False, True), (False, True)):
        options = {"pair": pair, "name": name, "test_suites": suites, "without_systems": alone}
        found.append(outcome(tmp_path, **options))
        assert found[-1] == outcome(tmp_path / "wmt.xml", **options), options
    assert sum(isinstance(each, str) for each in found) == (8 if "<hyp" in dataset else 16)
    assert len({str(each) for each in found}) == (5 if "<hyp" in dataset else 7)


def test_the_layouts_win_over_marked_files_beside_them(folder):
    (folder / "newstest2021.en-cs.ref.A.cs").write_text("Jedna\n")
    (folder / "newstest2021.en-cs.hyp.tug.cs").write_text("Lod\n")
    assert read_any_campaign([folder]).name == "newstest2021.en-cs"
    for room in ("refs", "systems"):
        (folder / room).mkdir()
        (folder / room / "A.txt").write_text("Jedna\n")
    campaign = read_any_campaign([folder], name="mine")
    assert campaign.name == "mine"
    assert campaign.systems == read_campaign(folder).systems


def test_what_is_no_campaign(folder, tmp_path):
    notes = tmp_path / "notes.txt"
    assert refusal(notes).startswith(f"{notes}: does not say which texts it holds. Give files in mteval's SGML")
    assert refusal(folder, notes) == f"{folder}: is a folder. Give one folder, or files; not several folders, nor both."
    assert "there is no such file" in refusal(tmp_path / "gone")
    empty = tmp_path / "empty"
    empty.mkdir()
    assert refusal(empty).startswith(f"{empty}: no campaign in this folder (it is empty).")
    assert "no systems. Give the file that holds them too." in refusal(folder / "ref.sgm")


def test_another_language_pair(folder):
    assert refusal(folder / "ref.sgm", folder / "tug.sgm", pair="de-cs") == (
        f"{folder}/ref.sgm, {folder}/tug.sgm: not for the language pair de-cs, but for en-cs."
    )


def test_real_marked_files_have_the_segments_of_the_plain_ones(real_data):
    folder = real_data / "mteval"
    if not folder.exists():
        pytest.skip(f"no mteval files at {folder}")
    for kind in ("sgm", "xml"):
        files = [folder / f"wmt22.en-cs.{part}.{kind}" for part in ("src", "ref", "tst")]
        marked, plain = read_any_campaign(files), read_campaign(real_data / "wmt22.en-cs")
        assert (marked.segments, list(marked.systems)) == (49, list(plain.systems))
        for name, text in marked.systems.items():
            normalised = {b" ".join(line.split()) for line in plain.systems[name].lines()}
            assert normalised.issuperset(text.lines())


@pytest.mark.parametrize("names", [["ref.sgm", "tug.sgm"], ["ref.sgm", "tug.sgm", "barge"], ["."]])
def test_marked_files_of_one_pair_are_one_test_set_which_several_pairs_cannot_be(folder, names):
    paths = [folder / name for name in names]
    campaign = read_test_sets(paths, pairs=["en-cs"])
    assert campaign.name == "harbour"
    (only,) = campaign.test_sets
    assert only == read_any_campaign(paths)
    assert read_test_sets(paths).test_sets == campaign.test_sets
    with pytest.raises(BadCampaign) as raised:
        read_test_sets(paths, pairs=["en-cs", "en-de"])
    assert str(raised.value) == "These files are one test set: choose one language pair, not en-cs, en-de."
    with pytest.raises(BadCampaign, match=r"not for the language pair en-de, but for en-cs\.$"):
        read_test_sets(paths, pairs=["en-de"])


def test_a_damaged_zip_and_one_that_is_cut_are_refused(folder, tmp_path):
    path = tmp_path / "harbour.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("src.sgm", "ref.sgm", "tug.sgm"):
            archive.write(folder / name, f"harbour/{name}")
    with unpacked_paths([str(path)], DEFAULT_LIMITS) as places:
        assert read_test_sets(places).name == "harbour"
    whole = path.read_bytes()
    begin = whole.index(b"src.sgm") + len("src.sgm")
    path.write_bytes(whole[:begin] + b"\xff" * 20 + whole[begin + 20 :])
    told = rf"^{re.escape(str(path))}: is a damaged zip, or an encrypted one\.$"
    with pytest.raises(BadCampaign, match=told), unpacked_paths([str(path)], DEFAULT_LIMITS):
        pass
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith("steelyard-")] == []


def test_runs_of_a_system_are_matched_by_position(tmp_path):
    for place, field in (("refs/A", "ref"), ("systems/tug/1", "mt"), ("systems/raft", "mt")):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / f"{place}.jsonl").write_text(f'{{"id": 1, "{field}": "Loď"}}\n')
    told = f"{tmp_path}/systems/tug/1.jsonl: has ids, and runs are matched by position. Give plain text for runs."
    assert refusal(tmp_path, kind=BadCampaign) == told
    (tmp_path / "systems" / "tug" / "1.jsonl").unlink()
    assert list(read_any_campaign([tmp_path]).systems) == ["raft"]
