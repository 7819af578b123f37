"""chrF and chrF++ against sacreBLEU: the same bits, not nearly the same number."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from sacrebleu.metrics import CHRF

from steelyard.errors import BadParameter
from steelyard.metrics.ngram.chrf import ChrF
from steelyard.metrics.segments import Segments
from tests.library.campaigns import Campaign, campaigns, joined, read_campaign

EVERY_OPTION = {
    f"{formula}, {spaces}, {words} words, {case}": (
        ChrF(case=case, eff=formula == "eff", nw=words, space=spaces == "spaces"),
        {
            "lowercase": case == "lc",
            "eps_smoothing": formula == "eps",
            "whitespace": spaces == "spaces",
            "word_order": words,
        },
    )
    for formula in ("eff", "eps")
    for spaces in ("no spaces", "spaces")
    for words in (0, 2)
    for case in ("mixed", "lc")
}
SETTINGS = {
    **EVERY_OPTION,
    "eps, words only": (ChrF(nc=0, nw=2, eff=False), {"char_order": 0, "word_order": 2, "eps_smoothing": True}),
    "eps, recall alone": (ChrF(beta=1000, eff=False), {"beta": 1000, "eps_smoothing": True}),
    "eps, precision alone": (ChrF(beta=0, eff=False), {"beta": 0, "eps_smoothing": True}),
    "chrF2": (ChrF(), {}),
    "chrF2++": (ChrF(nw=2), {"word_order": 2}),
    "lowercased": (ChrF(case="lc", nw=2), {"lowercase": True, "word_order": 2}),
    "short": (ChrF(nc=2, beta=1), {"char_order": 2, "beta": 1}),
    "long": (ChrF(nc=9, nw=3), {"char_order": 9, "word_order": 3}),
    "words only": (ChrF(nc=0, nw=2), {"char_order": 0, "word_order": 2}),
    "precise": (ChrF(beta=0.5), {"beta": 0.5}),
}
each_setting = pytest.mark.parametrize("setting", SETTINGS)


def batch_of(campaign: Campaign) -> Segments:
    references = [joined(lines) for lines in campaign.references.values()]
    return Segments(references=references, hypotheses=[joined(lines) for lines in campaign.systems.values()])


def assert_same_as_sacrebleu(setting: str, campaign: Campaign) -> None:
    ours, arguments = SETTINGS[setting]
    theirs = CHRF(references=list(campaign.references.values()), **arguments)
    statistics = ours.segment_statistics(batch_of(campaign))
    for of_system, lines in zip(statistics, campaign.systems.values(), strict=True):
        rows = theirs._extract_corpus_statistics(lines, None)
        assert np.array_equal(of_system, rows)
        assert ours.score(of_system.sum(axis=0)) == theirs._aggregate_and_compute(rows).score
        assert ours.segment_score(of_system).tolist() == [theirs._compute_f_score(row) for row in rows]


@each_setting
@settings(deadline=None, max_examples=40)
@given(campaign=campaigns())
# Sides that are too short for an order, which the two formulas see differently, and white space everywhere.
@example(Campaign({"A": ["b", "ab", "", "a b c"]}, {"S": ["", "aa", "a", "abc"]}))
@example(Campaign({"A": ["  a\u3000b "], "B": ["a b"]}, {"S": [" a b \t"], "T": ["ab"]}))
# A white space that only str.split() knows, and words that are cut at the end, at the start and not at all.
@pytest.mark.few(9)
@example(Campaign({"A": ["a\x1cb\x85c (hi) 'tis -- - x."]}, {"S": ["a b c\u205f(hi '\u3000tis -- - x ."]}))
@example(Campaign({"A": [""], "B": ["a"]}, {"S": [""], "T": ["a"]}))
def test_same_bits_as_sacrebleu_on_anything(setting, campaign):
    assert_same_as_sacrebleu(setting, campaign)


OWN_KINDS: dict[str, tuple[list[str], list[str]]] = {
    "no letter in common": (["mnopqrs"], ["abcdefghi"]),
    "another letter": (["x"], ["y"]),
    "no hypothesis, one letter": ([""], ["y"]),
    "no hypothesis, one word": ([""], ["wind"]),
    "no hypothesis, a long word": ([""], ["windmills"]),
    "nothing at all": ([""], [""]),
    "no reference": (["wind"], [""]),
    "one of two letters": (["xx"], ["xy"]),
    "one of two segments": (["x", "y"], ["x", "z"]),
    "the same letter": (["x"], ["x"]),
    "the same words of one letter": (["x y z"], ["x y z"]),
    "the same letters, spaces elsewhere": (["x y z"], ["xyz"]),
    "a space in front, a full stop apart": (
        [" the mill by the river was built of what they found - these are old stones ."],
        ["the mill at the river has been built out of what was found - those are old bricks ."],
    ),
    "several spaces and one at the end": (
        [" Das Schiff    fährt  heute  nicht über den   See. "],
        ["Heute überquert das Schiff den See nicht."],
    ),
    "the same sentence": (["Wer früh aufsteht, sieht den Nebel"], ["Wer früh aufsteht, sieht den Nebel"]),
    "letters of several bytes": (
        ["Loď dnes přes jezero nejede, řekl převozník."],
        ["Převozník oznámil, že dnes loď přes jezero nepluje."],
    ),
}
"""Texts of the kinds that sacreBLEU's own tests of chrF are made of."""


@pytest.mark.parametrize("words", [0, 2])
@pytest.mark.parametrize("spaces", [False, True], ids=["letters", "spaces"])
@pytest.mark.parametrize("eps", [False, True], ids=["eff", "eps"])
@pytest.mark.parametrize("kind", OWN_KINDS)
def test_the_cases_of_sacrebleus_own_tests(kind, eps, spaces, words):
    """By corpus and by sentence, to the bit."""
    hypotheses, references = OWN_KINDS[kind]
    segments = batch_of(Campaign({"A": references}, {"S": hypotheses}))
    for beta in (1, 2, 3):
        theirs = CHRF(word_order=words, beta=beta, whitespace=spaces, eps_smoothing=eps)
        ours = ChrF(nw=words, beta=beta, space=spaces, eff=not eps)
        (statistics,) = ours.segment_statistics(segments)
        assert float(ours.score(statistics.sum(axis=0))) == theirs.corpus_score(hypotheses, [references]).score
        sentences = zip(hypotheses, references, strict=True)
        expected = [theirs.sentence_score(hypothesis, [reference]).score for hypothesis, reference in sentences]
        assert ours.segment_score(statistics).tolist() == expected


@pytest.mark.few(9)
@pytest.mark.parametrize("setting", list(SETTINGS)[1::2])
@pytest.mark.parametrize("labels", ["B", "CB"])
def test_same_bits_as_sacrebleu_on_real_data(real_data, setting, labels):
    campaign = read_campaign(real_data / "wmt22.en-cs")
    campaign.references = {label: campaign.references[label][:500] for label in labels}
    campaign.systems = {name: lines[:500] for name, lines in list(campaign.systems.items())[:1]}
    assert_same_as_sacrebleu(setting, campaign)


@pytest.mark.parametrize("name", ["wmt21.en-cs", "wmt22.en-cs", "wmt22.de-en"])
def test_published_scores(real_data, name):
    """The scores that the shared task published, to all printed digits, with each reference and with all."""
    campaign = read_campaign(real_data / name)
    lines = (real_data / name / "automatic-scores.tsv").read_text().splitlines()
    rows = [dict(zip(lines[0].split("\t"), line.split("\t"), strict=True)) for line in lines[1:]]
    checked = 0
    for label in [*campaign.references, "all"]:
        references = campaign.references if label == "all" else {label: campaign.references[label]}
        statistics = ChrF().segment_statistics(batch_of(Campaign(references, campaign.systems)))
        scores = ChrF().score(statistics.sum(axis=1))
        for system, score in zip(campaign.systems, scores, strict=True):
            for row in rows:
                if (row["system"], row["metric"]) == (system, f"chrf-{label}"):
                    digits = len(row["score"].partition(".")[2])
                    assert f"{score:.{digits}f}" == row["score"]
                    checked += 1
    assert checked == len(campaign.systems) * (len(campaign.references) + 1)


@pytest.mark.parametrize("references", [["abxy", "abcdxyzuv"], ["x", "xy"], ["q", ""], ["ab", "ab"]])
def test_the_better_reference_counts_and_the_first_on_ties(references):
    """Scores that are equal on paper, by different counts; which floating-point number is larger decides."""
    for order in (references, references[::-1]):
        wanted = CHRF(char_order=1)._extract_corpus_statistics(["abcd"], [[line] for line in order])
        segments = Segments(references=[line.encode() for line in order], hypotheses=[b"abcd"])
        assert ChrF(nc=1).segment_statistics(segments)[0].tolist() == wanted
    without_match = ChrF(nc=0, nw=1).segment_statistics(Segments(references=[b"x y", b"x y z"], hypotheses=[b"q"]))
    assert without_match[0, 0].tolist() == [1, 2, 0]


def test_worked_example():
    """By hand: of "abc" and "abd", 2 of 3 characters and 1 of 2 pairs are common."""
    metric = ChrF(nc=2, beta=2)
    statistics = metric.segment_statistics(Segments(references=[b"a b d"], hypotheses=[b"abc"]))
    assert dict(zip(metric.columns, statistics[0, 0], strict=True)) == {
        "hyp_char_1": 3, "ref_char_1": 3, "match_char_1": 2,
        "hyp_char_2": 2, "ref_char_2": 2, "match_char_2": 1,
    }  # fmt: skip
    assert metric.score(statistics[0, 0]) == pytest.approx(100 * (2 / 3 + 1 / 2) / 2)


def test_a_missing_reference_is_no_empty_reference():
    metric = ChrF(nc=1)
    references = [b"\nabc", b"xyz\nabc"]
    missing = metric.segment_statistics(
        Segments(references=references, hypotheses=[b"\nabc"], variable_references=True)
    )
    empty = metric.segment_statistics(Segments(references=references, hypotheses=[b"\nabc"]))
    assert missing[0].tolist() == [[0, 3, 0], [3, 3, 3]]
    assert empty[0].tolist() == [[0, 0, 0], [3, 3, 3]]


@each_setting
def test_title_and_signature_are_sacrebleus(setting):
    ours, arguments = SETTINGS[setting]
    theirs = CHRF(**arguments)
    score = theirs.corpus_score(["a"], [["a"]])
    assert ours.title == score.name
    assert ours.signature(1).split("|version:")[0] == str(theirs.get_signature()).split("|version:")[0]
    assert ours.signature(1).endswith(f"|beta:{arguments.get('beta', 2)}")


@pytest.mark.parametrize("beta", ["1", "0.5", "1.23456789"])
def test_beta_is_written_as_it_was_given(beta):
    metric = ChrF.from_texts({"beta": beta})
    assert metric.title == f"chrF{beta}"
    assert metric.specification == f"chrf:beta={beta}"


@pytest.mark.parametrize(
    ("key", "value"),
    [("nc", -1), ("nc", 65), ("nw", "two"), ("nw", "²"), ("beta", float("nan")), ("beta", -1), ("nc", 0)],
)
def test_bad_parameters_are_refused_as_text_and_as_values(key, value):
    with pytest.raises(BadParameter, match=r"chrf: .*(0 to|both 0)"):
        ChrF.from_texts({key: str(value)})
    with pytest.raises(BadParameter, match=r"chrf: .*(0 to|both 0)"):
        ChrF(**{key: value})
