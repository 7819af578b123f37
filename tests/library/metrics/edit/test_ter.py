"""TER against sacreBLEU: every segment, every option, on real and on odd texts."""

import csv
import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from sacrebleu.metrics import TER as SacreTER

from steelyard.errors import BadParameter
from steelyard.metrics.edit.ter import TER
from steelyard.metrics.references.average_length import UNIT
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.segments import Segments
from tests.library.campaigns import Campaign, campaigns, joined, read_campaign

OPTIONS = {
    "case=mixed": "case_sensitive",
    "norm=yes": "normalized",
    "punct=no": "no_punct",
    "asian=yes": "asian_support",
}
SETTINGS = {
    ":".join(["ter", *chosen]): {OPTIONS[option]: True for option in chosen}
    for count in range(len(OPTIONS) + 1)
    for chosen in combinations(OPTIONS, count)
}
"""Every combination."""
each_setting = pytest.mark.parametrize("specification", SETTINGS)

ENGLISH = Campaign(
    {
        "A": [
            "It was the dog's, he said.",
            "The cats' (or cat's) milk: 5-'s.",
            "a &amp;lt; b &quot;it's&quot; c-d",
            "",
        ],
        "B": ["He said: it's the dog's.", "The cat's!", "&amp;amp;quot; A < b's", "The end's"],
    },
    {
        "S": ["It is the dog's, he said.", "The cat's milk (5 - 's).", 'a &lt; b "it\'s" c - d', "the end"],
        "T": ["It's the dog 's , he said .", "The cats' milk's.", "a &amp;lt; b's &amp;quot; d", ""],
    },
)
CHINESE = Campaign(
    {
        "A": ["他说：“我不知道。”", "价格是3.5元，（约）", "㊗你好！A's。"],
        "B": ["他说我不知道", "约3.5元。", "你好，A's！"],
    },
    {
        "S": ["他说：我不知道。", "价格是 3.5 元（约）", "㊗ 你好A's！"],
        "T": ["“我不知道”，他说。", "3.5元", "A's，你好"],
    },
)


def assert_same_as_sacrebleu(specification: str, campaign: Campaign) -> None:
    metric = parse_metric(specification)
    references = list(campaign.references.values())
    theirs = SacreTER(references=references, **SETTINGS[specification])
    segments = Segments(
        references=[joined(lines) for lines in references],
        hypotheses=[joined(s) for s in campaign.systems.values()],
    )
    statistics = metric.segment_statistics(segments)
    for ours, lines in zip(statistics, campaign.systems.values(), strict=True):
        rows = np.array(theirs._extract_corpus_statistics(lines, None))
        assert np.array_equal(ours[:, 0], rows[:, 0])
        assert ours[:, 1] + ours[:, 2] / UNIT == pytest.approx(rows[:, 1], rel=1e-15)
        corpus = theirs._aggregate_and_compute(rows.tolist()).score
        assert metric.score(ours.sum(axis=0)) == pytest.approx(corpus, rel=1e-12)
        single = [theirs._compute_score_from_stats(row).score for row in rows.tolist()]
        assert metric.segment_score(ours) == pytest.approx(single, rel=1e-15)


def part_of(campaign: Campaign, labels: str, systems: int, segments: slice = slice(None)) -> Campaign:
    names = list(campaign.systems)[:systems]
    return Campaign(
        {label: campaign.references[label][segments] for label in labels},
        {name: campaign.systems[name][segments] for name in names},
    )


@pytest.mark.few(5)
@each_setting
@settings(deadline=None, max_examples=40)
@given(campaign=campaigns())
@example(ENGLISH)
@example(CHINESE)
@example(part_of(ENGLISH, "B", 2))
@example(part_of(CHINESE, "A", 1))
@example(Campaign({"A": ["The dog's 3.5-inch &QUOT;bone&QUOT;.", ""]}, {"S": ["3.5 inch bone: the dog's", "ΣΑΣ."]}))
def test_equals_sacrebleu_on_anything(specification, campaign):
    assert_same_as_sacrebleu(specification, campaign)


def test_equals_sacrebleu_on_all_segments(real_data):
    assert_same_as_sacrebleu("ter", part_of(read_campaign(real_data / "wmt22.en-cs"), "B", 1))


@pytest.mark.thorough
def test_equals_sacrebleu_on_long_segments(real_data):
    campaign = part_of(read_campaign(real_data / "wmt22.de-en"), "A", 1)
    lengths = [len(line.split()) for line in campaign.references["A"]]
    keep = [i for i, length in enumerate(lengths) if length > 45]
    assert max(lengths) > 100
    assert len(keep) > 30
    long = Campaign(
        {"A": [campaign.references["A"][i] for i in keep]},
        {name: [lines[i] for i in keep] for name, lines in campaign.systems.items()},
    )
    assert_same_as_sacrebleu("ter", long)


def paragraphs(campaign: Campaign, length: int) -> Campaign:
    """So many lines joined to one, each."""

    def join(lines: list[str]) -> list[str]:
        return [" ".join(lines[at : at + length]) for at in range(0, len(lines), length)]

    return Campaign(
        {label: join(lines) for label, lines in campaign.references.items()},
        {name: join(lines) for name, lines in campaign.systems.items()},
    )


@pytest.mark.parametrize("length", [4, 8])
def test_equals_sacrebleu_on_paragraphs(real_data, length):
    sentences = part_of(read_campaign(real_data / "wmt22.de-en"), "A", 1, slice(400, 424))
    assert_same_as_sacrebleu("ter", paragraphs(sentences, length))


@each_setting
def test_every_setting_equals_sacrebleu_on_a_paragraph(real_data, specification):
    sentences = part_of(read_campaign(real_data / "wmt22.en-cs"), "B", 1, slice(1000, 1005))
    assert_same_as_sacrebleu(specification, paragraphs(sentences, 5))


@pytest.mark.parametrize("labels", ["BC", "CB"])
def test_equals_sacrebleu_with_several_references(real_data, labels):
    assert_same_as_sacrebleu("ter", part_of(read_campaign(real_data / "wmt22.en-cs"), labels, 1, slice(0, 700)))


@each_setting
def test_every_setting_equals_sacrebleu_on_real_data(real_data, specification):
    campaign = part_of(read_campaign(real_data / "wmt22.en-cs"), "BC", 1, slice(1000, 1050))
    assert_same_as_sacrebleu(specification, campaign)


@pytest.mark.few(4)
@each_setting
def test_every_setting_equals_sacrebleu_on_real_possessives(real_data, specification):
    lines = (real_data / "wmt24" / "sources" / "en-cs.txt").read_text("utf-8").replace("’", "'").split("\n")
    around = [re.search(r"(\S+ ){0,10}\S*'s[.,)!?:;]\S*( \S+){0,10}", line) for line in lines]
    references = [found[0] for found in around if found]
    assert len(references) > 3
    shortened = [re.sub(r"(\w+ )\w+ ", r"\1", line) for line in references]
    turned = [" ".join(line.split()[::-1]) for line in references]
    assert_same_as_sacrebleu(specification, Campaign({"A": references, "B": turned}, {"S": shortened}))


@each_setting
def test_every_setting_equals_sacrebleu_on_real_chinese(real_data, specification):
    def lines(path: Path) -> list[str]:
        return path.read_text("utf-8").split("\n")[200:230]

    folder = real_data / "wmt24"
    system = min((folder / "system-outputs" / "en-zh").glob("*.txt"))
    campaign = Campaign({"A": lines(folder / "references" / "en-zh.refA.txt")}, {"S": lines(system)})
    assert_same_as_sacrebleu(specification, campaign)


@pytest.mark.parametrize("name", ["wmt21.en-cs", "wmt22.en-cs", "wmt22.de-en"])
def test_known_scores_of_all_systems(real_data, name):
    """What sacreBLEU 2.6 says of every system, with each reference and with all."""
    campaign = read_campaign(real_data / name)
    with (real_data / "expected_sacrebleu.tsv").open(encoding="utf-8") as handle:
        rows = [r for r in csv.DictReader(handle, delimiter="\t") if (r["dataset"], r["metric"]) == (name, "TER")]
    assert len(rows) == len(campaign.systems) * (len(campaign.references) + 1)
    scores: dict[str, dict[str, float]] = {}
    for row in rows:
        if row["refs"] not in scores:
            references = [joined(campaign.references[label]) for label in row["refs"].split(",")]
            statistics = TER().segment_statistics(
                Segments(references=references, hypotheses=[joined(s) for s in campaign.systems.values()])
            )
            of_all = TER().score(statistics.sum(axis=1)).tolist()
            scores[row["refs"]] = dict(zip(campaign.systems, of_all, strict=True))
        assert scores[row["refs"]][row["system"]] == pytest.approx(float(row["score"]), rel=1e-9)


def test_variable_number_of_references():
    """sacreBLEU leaves out a reference that is None, and averages over those that remain, segment by segment."""
    references = [["a b c", "a b c d", "x y"], ["", "b c d", "x y z u"], ["a c", "", ""]]
    hypotheses = ["c a b", "a d", "u x y"]
    theirs = SacreTER(references=[[line or None for line in lines] for lines in references])
    segments = Segments(
        references=[joined(lines) for lines in references],
        hypotheses=[joined(hypotheses)],
        variable_references=True,
    )
    statistics = TER().segment_statistics(segments)[0]
    rows = theirs._extract_corpus_statistics(hypotheses, None)
    assert statistics.tolist() == [[1, 2, UNIT // 2], [2, 3, UNIT // 2], [1, 3, 0]]
    assert TER().score(statistics.sum(axis=0)) == pytest.approx(theirs._aggregate_and_compute(rows).score, rel=1e-15)


def test_worked_example():
    """Snover et al. 2006, section 3: one move, one replaced word and two inserted words make 4 of 13 words."""
    reference = "SAUDI ARABIA denied THIS WEEK information published in the AMERICAN new york times"
    hypothesis = "THIS WEEK THE SAUDIS denied information published in the new york times"
    statistics = TER(case="mixed").segment_statistics(
        Segments(references=[reference.encode()], hypotheses=[hypothesis.encode()])
    )
    assert statistics[0, 0].tolist() == [4, 13, 0]
    assert TER().score(statistics[0, 0]) == pytest.approx(100 * 4 / 13)


def test_words_against_no_words_are_wholly_wrong():
    statistics = TER().segment_statistics(Segments(references=[b"\n\na"], hypotheses=[b"a b\n\n"]))
    assert TER().segment_score(statistics).tolist() == [[100, 0, 100]]


def test_other_tokenizers():
    segments = Segments(references=[b"Well, 3-4 (or 5)."], hypotheses=[b"well , 3 - 4 ( or 5 ) ."])
    assert TER(tok="13a").segment_statistics(segments)[0, 0].tolist() == [0, 10, 0]
    assert TER().segment_statistics(segments)[0, 0].tolist() == [10, 4, 0]


@each_setting
def test_signature_is_sacrebleus(specification):
    theirs = SacreTER(**SETTINGS[specification])
    theirs.corpus_score(["a"], [["a"]])
    ours = parse_metric(specification).signature(1)
    assert ours.split("|version:")[0] == str(theirs.get_signature()).split("|version:")[0]


def test_tercom_is_a_name_for_norm():
    assert parse_metric("ter:tok=tercom") == parse_metric("ter:norm=yes")
    assert parse_metric("ter:tok=tercom").specification == "ter:norm=yes"
    assert "|tok:13a|" in parse_metric("ter:tok=13a").signature(1)


@pytest.mark.parametrize("more", ["norm=yes", "punct=no", "asian=yes"])
def test_rules_of_tercom_do_not_go_with_other_tokenizers(more):
    with pytest.raises(BadParameter, match="do not go with tok=13a"):
        parse_metric(f"ter:tok=13a:{more}")


def test_characters_are_parted_by_norm_and_asian_together():
    parted = [
        (norm, asian, language)
        for norm in (False, True)
        for asian in (False, True)
        for language in ("zh-TW", "yue", "ja", "ko", "th", "cs", "")
        if TER(norm=norm, asian=asian).separates_words(language)
    ]
    always = [each for each in parted if each[2] in ("ko", "cs", "")]
    assert [each for each in parted if each not in always] == [(True, True, each) for each in ("zh-TW", "yue", "ja")]
    assert TER(tok="char").separates_words("th")
