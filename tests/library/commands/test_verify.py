"""`steelyard verify`: published scores computed again."""

import json
from pathlib import Path

import pytest
import sacrebleu

from steelyard.commands.main import main
from steelyard.metrics.metric import VERSION

REFERENCE = ["The crane lifts a heavy load .", "Nobody saw the winch .", "It rained all day in the harbour ."]
OTHER = ["A crane lifts the heavy load .", "No one saw the winch .", "All day it rained in the harbour ."]
SYSTEMS = {
    "tug": ["The crane lifts a load .", "Nobody saw a winch .", "It rained all day at the harbour ."],
    "raft": ["The crane raises a heavy load .", "No one saw the winch .", "It rained in the harbour all day ."],
    "barge": ["A crane lift load .", "Nobody winch .", "It rain day harbour ."],
}
SIGNATURE = "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"


@pytest.fixture(autouse=True)
def texts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, lines in {"ref": REFERENCE, "other": OTHER, **SYSTEMS}.items():
        Path(f"{name}.txt").write_text("\n".join(lines) + "\n")


def run(capsys, *words, status=0):
    assert main([*words]) == status
    return capsys.readouterr()


def verified(capsys, *words, status=0):
    return json.loads(run(capsys, "verify", *words, "-f", "json", status=status).out)


def scored(capsys, *words):
    """Of `score`, into result.json."""
    found = run(capsys, "score", "ref.txt", "other.txt", *words, "-f", "json").out
    Path("result.json").write_text(found)
    return json.loads(found)


OUTPUTS = ("tug.txt", "raft.txt", "barge.txt")


def test_a_score_of_sacrebleu_as_it_prints_it(capsys):
    theirs = sacrebleu.corpus_bleu(SYSTEMS["tug"], [REFERENCE]).score
    for words in (("ref.txt", "tug.txt"), ("ref.txt", "-i", "tug.txt")):
        found = verified(capsys, f"{SIGNATURE} = {theirs:.1f} 80.0/60.0 (BP = 0.9)", *words)
        (score,) = found["scores"]
        assert found["verified"]
        assert (score["system"], score["metric"], score["equal"]) == ("tug", "BLEU", True)
        assert score["recomputed"] == pytest.approx(theirs, abs=1e-9)
        assert "sacreBLEU 2.6.0" in found["notes"][0]
    wrong = verified(capsys, SIGNATURE, "ref.txt", "tug.txt", "--score", f"{theirs + 0.1:.1f}", status=1)
    assert not wrong["verified"]
    assert wrong["scores"][0]["verdict"].startswith("differs by -0.")


def test_a_signature_that_names_texts_and_a_language(capsys):
    published = f"{SIGNATURE}|test:wmt22|lang:en-cs|subset:news|origlang:en"
    texts = "The signature names the texts: test:wmt22, subset:news, origlang:en. They were taken from the files given."
    assert verified(capsys, published, "ref.txt", "tug.txt")["notes"][1:] == [texts]
    found = verified(capsys, "Meteor|nrefs:1|lang:cs", "ref.txt", "tug.txt")
    assert found["scores"][0]["differences"] == ["lang was cs, and is none here"]
    ours = f"Meteor|nrefs:1|lang:cs|version:steelyard-{VERSION}"
    found = verified(capsys, ours, "ref.txt", "tug.txt")
    assert (found["notes"], found["scores"][0]["differences"]) == ([], [])


def test_without_a_score_it_is_computed(capsys):
    found = verified(capsys, "chrF2++|nrefs:2|nw:2", "ref.txt", "other.txt", "-i", "tug.txt", "raft.txt")
    theirs = [sacrebleu.corpus_chrf(SYSTEMS[name], [REFERENCE, OTHER], word_order=2).score for name in ("tug", "raft")]
    assert [each["recomputed"] for each in found["scores"]] == pytest.approx(theirs, abs=1e-9)
    assert {each["verdict"] for each in found["scores"]} == {"nothing to compare with"}


def test_the_json_of_sacrebleu(capsys):
    metric = sacrebleu.TER(references=[REFERENCE])
    theirs = metric.corpus_score(SYSTEMS["raft"], None)
    text = theirs.format(width=4, signature=metric.get_signature().format(), is_json=True)
    Path("theirs.json").write_text(text)
    assert verified(capsys, "theirs.json", "ref.txt", "raft.txt")["verified"]
    assert not verified(capsys, "theirs.json", "ref.txt", "tug.txt", status=1)["verified"]


RESULTS = [
    ("-i", *OUTPUTS, "-m", "bleu", "chrf", "ter", "nist"),
    ("-i", *OUTPUTS, "-m", "bleu", "gtm", "--confidence", "50", "--level", "0.9", "--segments"),
    ("-i", *OUTPUTS, "-m", "chrf", "--confidence", "50", "--interval", "bca", "--seed", "3"),
    ("-i", *OUTPUTS, "-m", "bleu", "--paired", "bootstrap", "--confidence", "50"),
    ("-i", *OUTPUTS, "-m", "bleu:order=1-2", "--paired", "randomization", "--trials", "40", "--all-pairs"),
    ("-i", *OUTPUTS, "-m", "ter", "wer", "--paired", "bootstrap", "--baseline", "raft", "--correction", "none"),
    ("--system", "Fleet", "tug.txt", "raft.txt", "-i", "barge.txt", "-m", "bleu", "--confidence", "20"),
]


@pytest.mark.parametrize("words", RESULTS, ids=lambda words: " ".join(words))
def test_a_result_of_ours_by_its_texts_in_any_order(capsys, words):
    published = scored(capsys, *words)
    found = verified(capsys, "result.json", "barge.txt", "other.txt", "tug.txt", "ref.txt", "raft.txt")
    assert found["verified"]
    assert found["problems"] == found["notes"] == []
    assert len(found["scores"]) == sum(len(system["scores"]) for system in published["systems"])
    assert all(each["verdict"].startswith("equal to the bit") for each in found["scores"])


def change(document, path, value):
    *way, last = path
    for step in way:
        document = document[step]
    document[last] = value


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("systems", 0, "scores", 0, "score"), 50.25, "differs by"),
        (("systems", 1, "scores", 0, "interval", "low"), 1.5, "interval.low is 1.5"),
        (("systems", 2, "scores", 0, "segments", 1), 99.0, "segments[1] is 99.0"),
        (("systems", 0, "scores", 0, "details", "BP"), 0.5, "details.BP is 0.5"),
        (("paired", 0, "p"), 0.5, "tug against raft by bleu: p is 0.5"),
        (("paired", 1, "difference"), 4.0, "difference is 4.0"),
    ],
)
def test_each_changed_number_is_found(capsys, path, value, says):
    document = scored(capsys, "-i", *OUTPUTS, "-m", "bleu", "--paired", "bootstrap", "--segments")
    change(document, path, value)
    Path("result.json").write_text(json.dumps(document))
    text = run(capsys, "verify", "result.json", "ref.txt", "other.txt", "-i", *OUTPUTS, status=1).out
    assert says in text


def test_other_texts_are_named(capsys):
    scored(capsys, "-i", *OUTPUTS, "-m", "bleu", "--paired", "bootstrap")
    Path("tug.txt").write_text("\n".join([*SYSTEMS["tug"][:2], "It rained ."]) + "\n")
    by_content = verified(capsys, "result.json", "ref.txt", "other.txt", *OUTPUTS, status=1)
    assert by_content["problems"] == [
        'No file has the output of "tug" that was scored.',
        "Not among the texts that were scored: tug.txt.",
        "Tests of pairs, and their correction, need the outputs of all systems.",
    ]
    assert [each["system"] for each in by_content["scores"] if each["equal"]] == ["raft", "barge"]
    by_name = verified(capsys, "result.json", "ref.txt", "other.txt", "-i", *OUTPUTS, status=1)
    assert 'The output of "tug" is not the one that was scored.' in by_name["problems"]
    Path("other.txt").write_text("\n".join(REFERENCE) + "\n")
    wrong = verified(capsys, "result.json", "ref.txt", "other.txt", "-i", *OUTPUTS, status=1)
    assert "Reference 2 is not the one that was scored." in wrong["problems"]


def test_a_parameter_and_a_version_that_differ(capsys):
    document = scored(capsys, "-i", *OUTPUTS, "-m", "bleu")
    document["version"] = "0.0.9"
    for system in document["systems"]:
        for score in system["scores"]:
            score["signature"] += "|dict:other"
    Path("result.json").write_text(json.dumps(document))
    found = verified(capsys, "result.json", "ref.txt", "other.txt", "-i", *OUTPUTS)
    assert [note.split(";")[0] for note in found["notes"]] == ["The scores were made by version 0.0.9"]
    assert found["scores"][0]["differences"] == ["dict was other, and is nothing here"]


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (("BLEU|nrefs:2", "ref.txt", "-i", "tug.txt"), 1, "nrefs:2, and 1 references are given"),
        (("BLEU|nrefs:2", "ref.txt", "tug.txt"), 2, "as many files, and then the output"),
        (("BLEU|nrefs:var", "ref.txt", "tug.txt"), 2, "give the outputs after -i"),
        (("BLEU|nrefs:1 = 5", "ref.txt", "-i", "tug.txt", "raft.txt"), 2, "give one output"),
        (("BLEU|nrefs:1", "ref.txt", "tug.txt", "--score", "much"), 2, "must be a number"),
        (("nothing", "ref.txt"), 2, "neither a file nor a signature"),
        (
            ("nothing.json", "ref.txt"),
            1,
            "nothing.json: there is no such file. Check the path. `steelyard campaign exp",
        ),
        (("nothing.ZIP",), 1, "nothing.ZIP: there is no such file."),
        (("here/nothing",), 1, "here/nothing: there is no such file."),
        (("./folder", "ref.txt"), 1, "./folder: is a folder, and no file. `steelyard campaign export"),
        (("ref.txt", "ref.txt", "tug.txt"), 1, "ref.txt: "),
        (("empty.json", "ref.txt", "tug.txt"), 1, "is not what `steelyard score -f json` prints"),
        (("broken.json", "ref.txt", "tug.txt"), 1, "is no JSON"),
        (("list.json", "ref.txt", "tug.txt"), 1, "nor the JSON of one score of sacreBLEU"),
        (("latin.json", "ref.txt", "tug.txt"), 1, "not UTF-8"),
    ],
)
def test_what_cannot_be_verified(capsys, words, status, says):
    Path("folder").mkdir()
    Path("empty.json").write_text('{"systems": []}')
    Path("broken.json").write_text("{")
    Path("list.json").write_text("[1, 2]")
    Path("latin.json").write_bytes(b'{"a": "\xe9"}')
    assert says in run(capsys, "verify", *words, status=status).err
