"""Campaign folders whose texts have linguistic layers, or are packed."""

import gzip
import json

import pytest

from steelyard.errors import BadText
from steelyard.formats.campaign.folder import read_campaign
from steelyard.formats.campaign.layouts import BadCampaign
from steelyard.formats.layers import common_layers

PML = "http://ufal.mff.cuni.cz/pdt/pml/"
CONLLU = "1\t{0}\t{1}\tNOUN\t_\t_\t0\troot\t_\t_\n\n"
SHIPS = [("Lodě", "loď"), ("Člun", "člun")]


def zone(language, form, lemma):
    name, _, selector = language.partition("_")
    return (
        f'<zone language="{name}" selector="{selector}"><trees>'
        f'<a_tree id="a{language}"><children><LM id="w{language}"><form>{form}</form><lemma>{lemma}</lemma><ord>1</ord>'
        f'</LM></children></a_tree><t_tree id="t{language}"><children><LM id="n{language}"><t_lemma>{lemma}</t_lemma>'
        "<gram><sempos>n.denot</sempos></gram><ord>1</ord></LM></children></t_tree></trees></zone>"
    )


def treex(*languages, words=SHIPS):
    """A Treex document of one-word sentences, the same in all its zones."""
    bundles = [
        f'<LM id="s{number}"><zones>{"".join(zone(language, *word) for language in languages)}</zones></LM>'
        for number, word in enumerate(words)
    ]
    return f'<treex_document xmlns="{PML}"><bundles>{"".join(bundles)}</bundles></treex_document>'


def conllu(words=SHIPS):
    return "".join(CONLLU.format(*word) for word in words)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


@pytest.fixture
def folder(tmp_path):
    """A reference in Treex, systems in every way, a packed source."""
    write(tmp_path / "source.txt.gz", "Ships\nBoat\n")
    write(tmp_path / "refs" / "A.treex.gz", treex("cs"))
    write(tmp_path / "systems" / "tug.treex", treex("cs", words=[("Lodě", "loď"), ("Prám", "prám")]))
    write(tmp_path / "systems" / "barge.conllu.gz", conllu())
    return tmp_path


def test_texts_of_several_formats(folder):
    campaign = read_campaign(folder)
    assert campaign.source.lines() == [b"Ships", b"Boat"]
    assert {name: text.bytes.decode() for name, text in campaign.systems.items()} == {
        "barge": "Lodě\nČlun",
        "tug": "Lodě\nPrám",
    }
    assert campaign.references["A"].layers == {
        "lemma": "loď\nčlun".encode(),
        "sempos": "loď/n.denot\nčlun/n.denot".encode(),
    }
    assert common_layers(campaign.texts("A")) == {"lemma"}
    assert campaign.target_language == "cs"
    (folder / "systems" / "barge.conllu.gz").unlink()
    assert common_layers(read_campaign(folder).texts("A")) == {"lemma", "sempos"}
    write(folder / "systems" / "plain.txt", "Lodě\nČlun\n")
    assert common_layers(read_campaign(folder).texts("A")) == frozenset()


def test_layers_are_those_of_the_references_in_use(folder):
    write(folder / "refs" / "B.txt", "Lodě\nČlun\n")
    campaign = read_campaign(folder)
    assert [common_layers(campaign.texts(labels)) for labels in ("A", "B", "AB")] == [{"lemma"}, set(), set()]


def test_one_of_several_sides_is_named_in_the_meta_file(folder):
    write(folder / "refs" / "A.treex.gz", treex("en_src", "cs_ref"))
    with pytest.raises(BadText) as raised:
        read_campaign(folder)
    assert str(raised.value).startswith(f"{folder}/refs/A.treex.gz: has several sides; say which zone. It has: ")
    assert str(raised.value).endswith('In a campaign folder: meta.json with {"parts": {"references": "..."}}.')
    (folder / "meta.json").write_text('{"parts": {"references": "cs_ref"}}')
    # What is said of documents with sides does not concern the other references.
    write(folder / "refs" / "B.txt", "Lodě\nČluny\n")
    campaign = read_campaign(folder)
    assert campaign.references["A"].lines() == ["Lodě".encode(), "Člun".encode()]
    assert campaign.references["B"].lines()[1] == "Čluny".encode()
    (folder / "meta.json").write_text('{"parts": {"references": "cs"}}')
    with pytest.raises(BadCampaign, match="has no zone 'cs'"):
        read_campaign(folder)


@pytest.mark.parametrize("parts", [{"reference": "cs"}, {"systems": 1}, ["cs"]])
def test_parts_that_are_not_understood(folder, parts):
    (folder / "meta.json").write_text(json.dumps({"parts": parts}))
    with pytest.raises(BadText, match=r"meta.json: .parts. (names a layer or zone|must be an object)"):
        read_campaign(folder)


def test_languages_must_agree(folder):
    (folder / "meta.json").write_text('{"target_language": "cs-CZ"}')
    assert read_campaign(folder).target_language == "cs-CZ"
    (folder / "meta.json").write_text('{"target_language": "de"}')
    with pytest.raises(BadCampaign, match=r"the target language is de, but .*A\.treex\.gz is in cs"):
        read_campaign(folder)
    (folder / "meta.json").unlink()
    write(folder / "systems" / "tug.treex", treex("sk"))
    with pytest.raises(BadText, match="References and systems must be in one language"):
        read_campaign(folder)


def test_wmts_file_names_with_endings(tmp_path):
    write(tmp_path / "generaltest2022.en-cs.src.en.gz", "Ships\nBoat\n")
    write(tmp_path / "generaltest2022.en-cs.ref.A.cs.treex", treex("cs"))
    write(tmp_path / "generaltest2022.en-cs.hyp.tug.cs.conllu.gz", conllu())
    write(tmp_path / "generaltest2022.en-cs.hyp.barge.cs.txt", "Lodě\nČlun\n")
    campaign = read_campaign(tmp_path)
    assert list(campaign.references) == ["A"]
    assert {name: set(text.layers) for name, text in campaign.systems.items()} == {"barge": set(), "tug": {"lemma"}}
    assert campaign.source.segments == 2
    assert campaign.notices == ()


def test_a_text_and_its_packed_twin_are_two_files_for_one_system(folder):
    write(folder / "systems" / "tug.txt.gz", "Lodě\nPrám\n")
    with pytest.raises(BadCampaign, match="the name 'tug' for two systems"):
        read_campaign(folder)


def test_two_sources(folder):
    write(folder / "source.treex", treex("en"))
    with pytest.raises(BadCampaign, match="two sources"):
        read_campaign(folder)
