"""The tokenizer follows the target language, and the numbers are sacreBLEU's."""

import numpy as np
import pytest
from sacrebleu.metrics import BLEU as SacreBLEU
from sacrebleu.metrics import TER as SacreTER

from steelyard.errors import BadParameter
from steelyard.metrics.alignment.meteor import Meteor
from steelyard.metrics.edit.ter import TER
from steelyard.metrics.ngram.bleu import BLEU
from steelyard.metrics.ngram.nist import NIST
from steelyard.metrics.registry import all_metrics, asked_metrics, installed_metrics, parse_metric
from steelyard.metrics.resolution import resolve
from steelyard.metrics.run_context import RunContext
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segmentation import unsegmented, without_tokenizer
from steelyard.metrics.segments import Segments
from steelyard.tokenizers.registry import AUTO, tokenizer_name
from tests.library.campaigns import Campaign, joined
from tests.library.target_languages import CAMPAIGNS, with_odd_segments

EXACT = {"rel": 1e-12, "abs": 1e-9}


def measured(campaign: Campaign, specification: str, language: str):
    metrics, notices = resolve(asked_metrics([specification]), RunContext(language))
    (found,) = score_systems(
        Segments(
            references=[joined(lines) for lines in campaign.references.values()],
            hypotheses=[joined(lines) for lines in campaign.systems.values()],
        ),
        metrics,
        segment_scores=True,
    )
    return found, notices


@pytest.mark.parametrize("language", CAMPAIGNS)
@pytest.mark.parametrize("labels", ["A", "B", "AB"])
@pytest.mark.parametrize("odd", [False, True], ids=["plain", "odd"])
@pytest.mark.parametrize(("ours", "theirs"), [("bleu", {}), ("bleu:case=lc:smooth=add-k", {"lowercase": True})])
def test_bleu_is_sacrebleus(language, labels, odd, ours, theirs):
    campaign = CAMPAIGNS[language]
    campaign = with_odd_segments(campaign) if odd else campaign
    campaign = Campaign({label: campaign.references[label] for label in labels}, campaign.systems)
    found, notices = measured(campaign, ours, language)
    assert not notices
    theirs = theirs | ({"smooth_method": "add-k"} if theirs else {})
    corpus = SacreBLEU(trg_lang=language, force=True, **theirs)
    single = SacreBLEU(trg_lang=language, force=True, effective_order=True, **theirs)
    references = list(campaign.references.values())
    for score, by_segment, lines in zip(found.scores, found.segment_scores, campaign.systems.values(), strict=True):
        expected = corpus.corpus_score(lines, references)
        assert score == pytest.approx(expected.score, **EXACT)
        alone = [single.sentence_score(line, list(of)).score for line, *of in zip(lines, *references, strict=True)]
        assert by_segment.tolist() == pytest.approx(alone, **EXACT)
    theirs = str(corpus.get_signature()).split("|version:")[0].split("|", 1)[1]
    assert found.metric.signature(len(labels)).split("|version:")[0].split("|", 1)[1] == theirs
    assert found.scores[0] > 20


def test_bleu_is_sacrebleus_on_real_chinese(real_data):
    def read(path):
        return path.read_bytes().decode().removesuffix("\n").split("\n")

    data = real_data / "wmt24"
    if not data.exists():
        pytest.skip(f"no data of WMT24 at {data}")
    campaign = Campaign(
        {"A": read(data / "references/en-zh.refA.txt")},
        {path.stem: read(path) for path in sorted((data / "system-outputs/en-zh").iterdir())},
    )
    found, _ = measured(campaign, "bleu", "zh")
    theirs = SacreBLEU(trg_lang="zh", references=list(campaign.references.values()))
    expected = [theirs.corpus_score(lines, None).score for lines in campaign.systems.values()]
    assert found.scores.tolist() == pytest.approx(expected, **EXACT)
    assert len(expected) == 12


@pytest.mark.parametrize("language", CAMPAIGNS)
def test_ter_has_no_tokenizer_of_a_language_as_in_sacrebleu(language):
    campaign = CAMPAIGNS[language]
    found, notices = measured(campaign, "ter", language)
    assert found.metric == TER()
    references = list(campaign.references.values())
    expected = [SacreTER().corpus_score(lines, references).score for lines in campaign.systems.values()]
    assert found.scores.tolist() == pytest.approx(expected, **EXACT)
    # Blanks are between Korean words, but not between those of the others.
    assert len(notices) == (language != "ko")
    assert not resolve([parse_metric("ter:norm=yes:asian=yes")], RunContext(language))[1]


@pytest.mark.parametrize("metric", all_metrics(), ids=lambda metric: metric.name)
def test_every_metric_with_a_tokenizer_has_that_of_the_language(metric):
    (asked,) = asked_metrics([metric.name])
    assert getattr(asked, "tok", None) == (AUTO if metric.follows_language() else getattr(metric(), "tok", None))
    if metric.follows_language() and metric.name not in ("bleu_modif", "wer_modif"):
        for language, name in (("ja", "ja-mecab"), ("zh", "zh"), ("ko", "ko-mecab"), ("cs", "13a"), ("", "13a")):
            (resolved,), _ = resolve([asked], RunContext(language))
            assert tokenizer_name(resolved.tok) == name
            assert parse_metric(resolved.specification) == resolved


def test_what_is_pinned_is_in_what_statistics_are_known_by():
    (bleu, nist), _ = resolve(asked_metrics(["bleu", "nist"]), RunContext("ja"))
    assert bleu.specification.startswith("bleu:tok=ja-mecab-0.996-IPA@ipadic-")
    assert f":tok={nist.tok}:" in nist.corpus_statistics.key
    assert bleu.signature(1).endswith("|order:1-4|dict:" + bleu.tok.partition("@")[2])
    assert "|tok:ja-mecab-0.996-IPA|" in bleu.signature(1)
    # What was stored before tokenizers followed the language goes on to mean 13a.
    assert parse_metric("bleu") == BLEU(tok="13a") == resolve([parse_metric("bleu")], RunContext("ja"))[0][0]


def test_a_tokenizer_that_is_named_stays_and_is_reported_where_it_does_not_fit():
    asked = asked_metrics(["bleu:tok=13a", "nist:tok=13a", "bleu:tok=char", "bleu:tok=intl", "chrf", "bleu"])
    resolved, notices = resolve(asked, RunContext("zh-TW"))
    assert resolved == [*asked[:-1], BLEU(tok="zh")]
    assert notices == [
        "bleu, nist: in zh text the tokenizer 13a leaves whole clauses as one word, so scores mean little. Use tok=zh, "
        "the tokenizer of zh.",
        "bleu:tok=intl: in zh text the tokenizer intl leaves whole clauses as one word, so scores mean little. Use "
        "tok=zh, the tokenizer of zh.",
    ]
    assert unsegmented(installed_metrics([each.specification for each in resolved]), "zh") == notices
    assert (
        unsegmented(installed_metrics([*(each.specification for each in resolved), "gone", "bleu:gone=1"]), "zh")
        == notices
    )
    assert unsegmented(installed_metrics(["bleu", "gone"]), "") == unsegmented(installed_metrics(["bleu"]), "cs") == []


def test_a_language_without_a_tokenizer_is_reported_too():
    resolved, notices = resolve(asked_metrics(["bleu", "chrf"]), RunContext("th"))
    assert resolved == [BLEU(), parse_metric("chrf")]
    assert notices == [
        "bleu: in th text the tokenizer 13a leaves whole clauses as one word, so scores mean little. There is no "
        "tokenizer for th: use tok=char, or chrf, which needs no words."
    ]
    assert unsegmented([BLEU()], "ko") == [
        "bleu: in ko text the tokenizer 13a leaves particles attached to words. Use tok=ko-mecab, the tokenizer of ko."
    ]


def test_words_of_annotated_texts_are_those_of_the_annotation():
    annotated = RunContext("ja", frozenset({"lemma"}))
    resolved, notices = resolve([parse_metric("ter"), *asked_metrics(["meteor"])], annotated)
    assert resolved[1].tok == "none"
    assert not [notice for notice in notices if "whole clauses" in notice]
    assert Meteor(tok="none", lemmas="layer").separates_words("ja")


def test_the_same_metric_asked_for_in_two_ways_is_named_twice():
    both = asked_metrics(["bleu", "bleu:tok=13a"])
    with pytest.raises(BadParameter, match='"bleu" is named twice'):
        resolve(both, RunContext("cs"))
    assert len(resolve(both, RunContext("ja"))[0]) == 2


def test_a_tokenizer_is_left_open_again_only_where_the_language_chose_it():
    (resolved,), _ = resolve(asked_metrics(["bleu"]), RunContext("ja"))
    assert without_tokenizer(resolved, "ja") == BLEU(tok=AUTO)
    assert without_tokenizer(BLEU(), "cs") == BLEU(tok=AUTO)
    assert without_tokenizer(NIST(tok="zh"), "zh") == NIST(tok=AUTO)
    for metric, language in ((BLEU(), "zh"), (BLEU(tok="intl"), "cs"), (TER(tok="zh"), "zh"), (TER(), "cs")):
        assert without_tokenizer(metric, language) == metric


def test_scores_of_a_language_differ_from_those_of_13a():
    """Else nothing above would say anything."""
    for language, campaign in CAMPAIGNS.items():
        by_language, _ = measured(campaign, "bleu", language)
        by_usual, _ = measured(campaign, "bleu:tok=13a", language)
        assert (np.abs(by_language.scores - by_usual.scores) > 1).any()
