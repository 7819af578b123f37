"""Files that `mtrics` reads: mteval, TectoMT, CoNLL-U, annotated samples."""

from pathlib import Path

import pytest

from steelyard.commands.mtrics.command import main
from tests.cli.scoring.mtrics_output import ALL, GOLDEN, scores_of, sections

pytestmark = pytest.mark.usefixtures("crane_and_winch")

SGML = """<refset setid="h" srclang="cs" trglang="en"><DOC docid="d" sysid="ref">
<seg id="1">The crane lifts the red box .</seg><seg id="2">Nobody waits below it .</seg></DOC>
<DOC docid="e" sysid="ref"><seg id="1">Then it stops .</seg></DOC></refset>
"""

CANDIDATE = """<tstset setid="h" srclang="cs" trglang="en"><DOC docid="e" sysid="crane">
<seg id="1">Then it stopped .</seg></DOC><DOC docid="d" sysid="crane">
<seg id="2">nobody waits under it .</seg><seg id="1">the red box the crane lifts .</seg></DOC></tstset>
"""


@pytest.mark.parametrize("how", [["-M"], ["--mteval-file-format"], []])
def test_mteval_files_are_matched_by_ids(capsys, how):
    Path("ref.sgm").write_text(SGML)
    Path("tst.sgm").write_text(CANDIDATE)
    assert scores_of(capsys, "-c", "tst.sgm", "-r", "ref.sgm", *how, *ALL) == GOLDEN


def test_a_system_that_a_file_calls_by_a_path_is_named_by_its_end(capsys):
    """As in the manual (A.3, Example 2; A.4): exp_ugly_pako_union/f-dev.std.pbt.hyp is f-dev.std.pbt.hyp."""
    Path("ref.sgm").write_text(SGML)
    Path("tst.sgm").write_text(CANDIDATE.replace('sysid="crane"', 'sysid="dock/old/crane"'))
    assert scores_of(capsys, "-c", "tst.sgm", "-r", "ref.sgm", "-M", *ALL) == GOLDEN


def test_mt_is_mteval_and_tokenized(capsys):
    Path("ref.sgm").write_text(SGML.replace(" .", "."))
    Path("tst.sgm").write_text(CANDIDATE.replace(" .", "."))
    expected = ["crane:\tPER:\t0.125"]
    for how in (["-MT"], ["-M", "-T"], ["--mteval-input"]):
        assert scores_of(capsys, "-c", "tst.sgm", "-r", "ref.sgm", *how, "-p") == expected
    assert scores_of(capsys, "-c", "tst.sgm", "-r", "ref.sgm", "-M", "-p") != expected


def tectomt(sentences):
    """A document with the layers TCzechA and TCzechT, and TEnglishA with other words, of (form, lemma, sempos)."""
    bundles = []
    for number, words in enumerate(sentences, 1):
        nodes = {"A": "", "T": "", "E": ""}
        for at, (form, lemma, sempos) in enumerate(words, 1):
            morphology = f"<m><form>{form}</form><lemma>{lemma}</lemma></m>"
            nodes["A"] += f'<LM id="a{number}-{at}">{morphology}<ord>{at}</ord></LM>'
            nodes["E"] += f'<LM id="e{number}-{at}"><m><form>no</form><lemma>no</lemma></m><ord>{at}</ord></LM>'
            nodes["T"] += f'<LM id="t{number}-{at}"><t_lemma>{lemma}</t_lemma>'
            nodes["T"] += f"<gram><sempos>{sempos}</sempos></gram><ord>{at}</ord></LM>"
        trees = "".join(
            f'<{layer} id="{letter}{number}"><children>{nodes[letter]}</children></{layer}>'
            for layer, letter in (("TCzechA", "A"), ("TCzechT", "T"), ("TEnglishA", "E"))
        )
        bundles.append(f'<LM id="s{number}"><trees>{trees}</trees></LM>')
    inside = f"<bundles>{''.join(bundles)}</bundles>"
    return f'<tmt_document xmlns="http://ufal.mff.cuni.cz/pdt/pml/">{inside}</tmt_document>'


TREES = [[("Lodi", "loď", "n.denot"), ("pluly", "plout", "v"), ("tam", "tam", "adv.pron.def")]]

CANDIDATE_TREES = [[("Loď", "loď", "n.denot"), ("pluje", "plout", "v"), ("tam", "sem", "adv.pron.def")]]


@pytest.fixture
def tectomt_files():
    """A reference and a candidate: one form of three in common, two lemmas, two of three nodes."""
    Path("ref.tmt").write_text(tectomt(TREES), encoding="utf-8")
    Path("boat.tmt").write_text(tectomt(CANDIDATE_TREES), encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["-TMT", "-p"], "PER:\t0.6667"),
        (["--tectomt-input", "TCzechA", "-p"], "PER:\t0.6667"),
        (["-TMT", "TEnglishA", "-p"], "PER:\t0"),
        (["-sempos", "-TMT"], "SemPOS:\t0.6667"),
        (["-sempos", "-TMT", "TCzechT"], "SemPOS:\t0.6667"),
        (["--semantic-pos-overlap", "--tectomt-input"], "SemPOS:\t0.6667"),
        # Three links, two of them by lemma, in one chunk: F = 1 and penalties 0.28 (1/3)^0.83, 0.5 (1/3)^3.
        (["-TMT", "-m"], "Meteor:\t0.8875"),
        (["-TMT", "-m", "orig"], "Meteor:\t0.9815"),
    ],
)
def test_tectomt(capsys, tectomt_files, arguments, line):
    assert scores_of(capsys, "-c", "boat.tmt", "-r", "ref.tmt", *arguments) == [f"boat:\t{line}"]


def test_tectomt_layers_that_are_not_there(capsys, tectomt_files):
    assert main(["-c", "boat.tmt", "-r", "ref.tmt", "-TMT", "TCzechM", "-m"]) == 1
    err = capsys.readouterr().err
    assert "ref.tmt: has no layer" in err
    assert "TCzechA, TCzechT" in err


def test_annotated_samples(real_data, capsys):
    """Their makers give these scores."""
    folder = real_data.parent / "samples"
    if not folder.is_dir():
        pytest.skip(f"no samples at {folder}")
    candidate, reference = (str(folder / f"sample{part}.tmt") for part in ("_cand", ""))
    for arguments, score in (
        (["-TMT", "-m"], "Meteor:\t0.7476"),
        (["-TMT", "TCzechA", "-m", "orig"], "Meteor:\t0.8319"),
        (["-TMT", "-sempos"], "SemPOS:\t0.8021"),
    ):
        assert scores_of(capsys, "-c", candidate, "-r", reference, *arguments) == [f"sample_cand:\t{score}"]


def test_synonyms_and_language(capsys):
    Path("groups.txt").write_text("below under\n")
    assert main(["-c", "crane.txt", "-r", "ref.txt", "-m", "-v", "--synonyms", "groups.txt", "-l", "cs-en"]) == 0
    (signature,) = sections(capsys.readouterr().out)["Signatures"]
    assert "|modules:exact,lemma,synonym|" in signature
    assert "|synonyms:synonyms@" in signature
    assert "|lang:en|" in signature
    assert "|lemmas:simplemma-" in signature


CONLLU = "1\tthe\tthe\tDET\t_\t_\t_\t_\t_\t_\n2\tbox\tbox\tNOUN\t_\t_\t_\t_\t_\t_\n\n"


def test_meteor_takes_lemmas_where_it_finds_them(capsys):
    """Beyond the manual: from other annotated files, and looked up where the files or -l say the language."""
    Path("ref.conllu").write_text(CONLLU)
    Path("out.conllu").write_text(CONLLU.replace("\tbox\t", "\tboxes\t", 1))
    assert scores_of(capsys, "-c", "out.conllu", "-r", "ref.conllu", "-m") == ["out:\tMeteor:\t0.8425"]
    Path("ref.sgm").write_text(SGML)
    Path("tst.sgm").write_text(CANDIDATE)
    assert main(["-c", "tst.sgm", "-r", "ref.sgm", "-M", "-m", "-v"]) == 0
    (signature,) = sections(capsys.readouterr().out)["Signatures"]
    assert "|lemmas:simplemma-" in signature
    assert "|lang:en|" in signature
