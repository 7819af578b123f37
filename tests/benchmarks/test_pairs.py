"""Pairs: ratios by turn, rows, peers that are missing, and commands that are measured."""

import sys

import pytest

from benchmarks.harness import timing
from benchmarks.harness.campaign import Campaign
from benchmarks.harness.generated import write_campaign
from benchmarks.harness.timing import Pair, turns, whole_process
from benchmarks.peers import libraries as peers
from benchmarks.peers import programs
from benchmarks.peers.sacre import printed_scores
from benchmarks.report.pairs import PairTable


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    folder = write_campaign(tmp_path_factory.mktemp("bench") / "tiny", 2, 50)
    return Campaign("tiny", folder / "refs" / "A.txt", sorted((folder / "systems").iterdir()))


def test_ratios_are_taken_turn_by_turn():
    pair = Pair([1.0, 2.0, 1.0], [10.0, 40.0, 30.0])
    assert pair.ratios == [10, 20, 30]
    assert pair.ratio == 20


def test_no_turn_begins_once_it_took_long_enough(monkeypatch):
    clock = iter([0.0, 5.0, 20.0, 31.0, 32.0])
    monkeypatch.setattr(timing.time, "monotonic", lambda: next(clock))
    assert list(turns(10, enough=30)) == [0, 1, 2]
    monkeypatch.setattr(timing.time, "monotonic", lambda: 1e9)
    assert list(turns(3, enough=30)) == [0, 1, 2]


def test_there_is_always_a_first_turn():
    assert list(turns(5, enough=0.0)) == [0]


def test_a_row_has_rates_and_the_first_campaign_the_short_names(campaign):
    table = PairTable("warm", campaign, first=True)
    table.add("bleu", "BLEU", "sacreBLEU", Pair([0.001, 0.002], [0.1, 0.1]), systems=2, equal="1e-9")
    assert table.rows == [
        ["BLEU, 2 systems", "0.0015", "66,667", "0.100 (sacreBLEU)", "1,000", "**75.0×** (50.0 to 100)", "2", "1e-9"]
    ]
    assert table.figures["bleu.ratio"] == 75
    assert {"bleu.ratio", "bleu.ours", "bleu.theirs"} <= {*table.figures}
    later = PairTable("warm", campaign, first=False)
    later.add("bleu", "BLEU", "sacreBLEU", Pair([0.1], [0.1]), systems=2, equal="1e-9")
    assert "tiny:bleu.ratio" in later.figures


def test_what_was_left_out_is_said_with_its_reason(campaign):
    table = PairTable("cold", campaign, first=True)
    table.left_out["multi-bleu"] = "no multi-bleu.perl on PATH"
    assert table.parts("Cold")[1:] == ["multi-bleu was left out: no multi-bleu.perl on PATH."]


def test_a_peer_that_is_not_installed_is_not_there(monkeypatch):
    monkeypatch.setattr(peers, "MODULES", {"NLTK": ("nltk",), "nobody": ("no_such_module_anywhere",)})
    assert peers.imported() == {"NLTK"}


def test_jiwer_and_rapidfuzz_find_the_same(campaign):
    given = (campaign.reference, campaign.systems)
    assert peers.jiwer_wer(*given) == pytest.approx(peers.rapidfuzz_wer(*given))


def test_scripts_in_perl_are_looked_for(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("STEELYARD_MULTI_BLEU", raising=False)
    assert "no multi-bleu.perl on PATH" in programs.find("multi-bleu").missing
    script = tmp_path / "own.perl"
    script.write_text("")
    monkeypatch.setenv("STEELYARD_MULTI_BLEU", str(script))
    assert programs.find("multi-bleu").missing == "there is no perl on PATH"
    (tmp_path / "perl").symlink_to(sys.executable)
    assert programs.find("multi-bleu").path == str(script)
    monkeypatch.setenv("STEELYARD_MULTI_BLEU", str(tmp_path / "nowhere"))
    assert programs.find("multi-bleu").missing


def test_words_are_set_apart():
    assert programs.words_apart('"Ahoj," řekl.\n\nx'.encode()) == '" Ahoj , " řekl .\n\nx\n'.encode()


def test_sgml_has_every_segment_in_documents(campaign, tmp_path):
    command = programs.write_sgml(campaign, campaign.systems[0], tmp_path)
    assert command[::2] == ["-s", "-r", "-t"]
    text = (tmp_path / "tst.sgm").read_text()
    assert text.count("<seg ") == 50
    assert text.count("<doc ") == 3
    assert text.startswith("<tstset ")


def test_what_the_scripts_print_is_read():
    assert programs.multi_bleu_score("BLEU = 38.62, 67.3/44.4/31.8/23.5 (BP=1.000, ...)\n") == [38.62]
    printed = 'x\nNIST score = 5.0025  BLEU score = 0.2533 for system "a"\n'
    assert programs.mteval_scores(printed) == [pytest.approx(25.33), 5.0025]


def test_what_meteor_prints_is_read():
    assert programs.meteor_score("Recall: 0.6\n\nFinal score:            0.5883270579562683\n") == pytest.approx(
        58.8327
    )


def test_what_sacrebleu_prints_is_read():
    assert printed_scores('{"name": "BLEU", "score": 38.6}') == [38.6]
    assert printed_scores('[{"score": 1.5}, {"score": 2.5}]') == [1.5, 2.5]
    table = """
│        System │  BLEU (μ ± 95% CI)   │   TER (μ ± 95% CI)   │
│ Baseline: a-1 │ 24.801 (24.7 ± 0.94) │ 64.665 (64.6 ± 1.15) │
│             b │ 20.160 (20.1 ± 0.88) │ 68.449 (68.4 ± 1.02) │
│               │    (p = 0.0010)*     │    (p = 0.0010)*     │
 - Paired bootstrap with 1000 resampling trials
"""
    assert printed_scores(table) == [24.801, 64.665, 20.160, 68.449]


def test_a_command_is_measured_without_who_starts_it():
    ballast = bytearray(200 * 2**20)
    ballast[::4096] = b"x" * len(ballast[::4096])
    run = whole_process([sys.executable, "-S", "-c", "print('said')"])
    assert run.output == "said\n"
    assert 0 < run.cpu < 30
    assert run.peak < 100, "the memory of this process does not count"


def test_a_command_that_fails_tells_why():
    with pytest.raises(RuntimeError, match=r"ended with 3: .*because"):
        whole_process([sys.executable, "-c", "import sys; sys.stderr.write('because'); sys.exit(3)"])
