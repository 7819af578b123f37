"""What people import: accumulators, pairwise utilities, `evaluate`; as sacreBLEU: test_sacrebleus_programs.py."""

import doctest
import json
import math
import random
import subprocess
import sys
from dataclasses import dataclass, replace
from itertools import product
from typing import ClassVar

import numpy as np
import pytest

import steelyard
from steelyard import BLEU, NIST, TER, ChrF, Meteor, SegmentMetric, evaluate
from steelyard.errors import BadParameter, BadText
from steelyard.metrics.registry import all_metrics
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.scoring import as_segments
from steelyard.resampling.documents import Documents
from steelyard.resampling.paired import paired_bootstrap, paired_randomization

# The example of sacreBLEU's README.
REFS = [
    ["The dog bit the man.", "It was not unexpected.", "The man bit him first."],
    ["The dog had bit the man.", "No one was surprised.", "The man had bitten the dog."],
]
SYS = ["The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."]
WORDS = [
    "the",
    "dog",
    "Dog",
    "bit",
    "man",
    "man's",
    ".",
    ",",
    "isn't",
    "&lt;",
    "3.14",
    "été",
    "x-y",
    "日本",
    "“",
    "unexpected",
]


def texts(generator: random.Random, segments: int) -> list[str]:
    return [" ".join(generator.choices(WORDS, k=generator.randrange(1, 9))) for _ in range(segments)]


def test_a_bootstrap_gives_an_interval():
    score = BLEU().corpus_score(SYS * 20, [ref * 20 for ref in REFS], n_bootstrap=200)
    low, high = score.interval()
    assert low < score.score < high
    assert len(score.replicates) == 200
    assert "bs:200|seed:12345" in score.signature
    assert f"± {(high - low) / 2:.2f}" in str(score)
    assert BLEU().corpus_score(SYS, REFS, 1).interval() is None


@pytest.mark.parametrize(
    "call",
    [
        lambda: BLEU().corpus_score("a single string", REFS),
        lambda: BLEU().corpus_score(SYS, REFS[0]),
        # Of one letter each they would be taken for references of one segment.
        lambda: BLEU().corpus_score(["a"], ["a"]),
        lambda: BLEU().corpus_score(["a"], "a"),
        lambda: BLEU().corpus_score(SYS[:2], REFS),
        lambda: BLEU().corpus_score([1, 2, 3], REFS),
        lambda: BLEU().corpus_score([], [[]]),
        lambda: ChrF(whitespace=True).corpus_score(["a", "b"], [["a", "b"], [None, ""]]),
        lambda: BLEU().sentence_score(SYS, REFS),
        lambda: BLEU().sentence_score("a", "b"),
        lambda: BLEU().pairwise([], ["a"]),
        lambda: BLEU().pairwise("ab", ["a"]),
        lambda: BLEU().accumulator().compute(),
        lambda: evaluate({}, references=REFS),
        lambda: evaluate([SYS], references=REFS),
        lambda: evaluate({"ours": SYS[:2]}, references=REFS),
    ],
)
def test_what_is_no_list_of_segments_is_refused(call):
    with pytest.raises(BadText):
        call()


ADDITIVE = [
    each
    for each in all_metrics()
    if each().corpus_statistics is None
    and not each().layers
    and "vectors" not in {field.name for field in each.parameters()}
]
"""Those that need nothing but the texts."""


@pytest.mark.parametrize("metric", ADDITIVE)
def test_sums_of_parts_are_the_whole_to_the_last_bit(metric):
    metric = Meteor(modules="exact") if metric is Meteor else metric()
    generator = random.Random(5)
    hypotheses, references = texts(generator, 40), [texts(generator, 40), texts(generator, 40)]
    parts = [metric.accumulator() for _ in range(3)]
    for part, (begin, end) in zip(parts, ((30, 40), (0, 7), (7, 30)), strict=True):
        part.update(hypotheses[begin:end], [each[begin:end] for each in references])
    whole = metric.corpus_score(hypotheses, references)
    found = (parts[0] + parts[1] + parts[2]).compute()
    assert np.array([found.score]).tobytes() == np.array([whole.score]).tobytes()
    assert found.signature == whole.signature
    assert parts[0].segments == 10, "a sum leaves its terms as they are"


def test_what_cannot_be_added_is_refused():
    with pytest.raises(BadParameter, match="cannot be added"):
        BLEU().accumulator().__iadd__(ChrF().accumulator())
    for ask in (NIST().accumulator, lambda: NIST().pairwise(SYS, REFS[0])):
        with pytest.raises(BadParameter, match="nist"):
            ask()


@pytest.mark.parametrize("metric", [BLEU(effective_order=True), ChrF(), TER()])
def test_pairs_are_sentences(metric, monkeypatch):
    monkeypatch.setattr("steelyard.metrics.scoring.PAIRS_AT_ONCE", 8)
    generator = random.Random(9)
    candidates, others = texts(generator, 5), texts(generator, 4)
    found = metric.pairwise(candidates, others)
    assert found.shape == (5, 4)
    for row, candidate in zip(found, candidates, strict=True):
        assert row.tolist() == [metric.sentence_score(candidate, [other]).score for other in others]


def test_all_systems_at_once():
    generator = random.Random(3)
    refs = {"A": texts(generator, 60), "B": texts(generator, 60)}
    systems = {"ours": texts(generator, 60), "theirs": refs["A"][:30] + texts(generator, 30)}
    metrics = ["bleu", "chrf:nw=2", "nist"]
    found = evaluate(systems, references=refs, metrics=[*metrics[:2], NIST()], bootstrap=300, seed=7)
    assert found.metrics == tuple(metrics)
    assert list(found) == ["ours", "theirs"]
    segments = as_segments(list(systems.values()), list(refs.values()))
    wanted = score_systems(
        segments, [steelyard.parse_metric(each) for each in metrics],
        replicates=300, seed=7, segment_scores=True, keep_statistics=True,
    )  # fmt: skip
    for each in wanted:
        key = each.metric.specification
        for place, name in enumerate(systems):
            assert found[name][key].score == each.scores[place]
            assert (found[name][key].replicates == each.replicate_scores[place]).all()
        assert (found.segments(key) == each.segment_scores).all()
    (one, *_), (other, *_) = found.compare("ours", "theirs"), paired_bootstrap(wanted)
    assert (one.metric, one.difference, one.p, one.interval) == ("bleu", other.difference, other.p, other.interval)
    back = found.compare("theirs", "ours", test="randomization", trials=200)
    (forth, *_) = paired_randomization(wanted, trials=200, seed=7)
    assert (back[0].difference, back[0].p) == (-forth.difference, forth.p)
    with pytest.raises(BadParameter, match="no test"):
        found.compare("ours", "theirs", test="t")
    with pytest.raises(KeyError):
        found.compare("ours", "nobody")
    with pytest.raises(KeyError):
        found.segments("wer")
    document = json.loads(found.to_json())
    assert document["systems"][1]["scores"][0]["score"] == found["theirs"]["bleu"].score
    assert document["systems"][1]["scores"][0]["interval"]["n"] == 300
    assert repr(found).splitlines()[2].split()[:2] == ["theirs", f"{found['theirs']['bleu'].score:.2f}"]


@pytest.mark.parametrize(("first", "second"), list(product((1, 2, None), repeat=2)))
def test_a_sum_says_how_many_references_its_parts_had(first, second):
    """None: as many as the segment has."""
    total = BLEU().accumulator()
    for count in (first, second):
        total.update(SYS, [REFS[0], [None, *REFS[1][1:]]] if count is None else REFS[:count])
    wanted = first if first == second and first else "var"
    assert total.compute().signature.startswith(f"nrefs:{wanted}|")


def test_a_comparison_takes_the_seed_the_level_and_the_trials():
    generator = random.Random(11)
    refs = texts(generator, 30)
    systems = {
        name: [
            ref if generator.random() < 0.5 else other for ref, other in zip(refs, texts(generator, 30), strict=True)
        ]
        for name in ("first", "ours", "theirs")
    }
    outcomes = set()
    for seed in (12345, 7):
        found = evaluate(systems, references=[refs], metrics=["bleu", "ter"], bootstrap=200, seed=seed)
        wanted = score_systems(
            as_segments([systems["theirs"], systems["ours"]], [refs]), [BLEU(), TER()],
            replicates=200, seed=seed, segment_scores=True, keep_statistics=True,
        )  # fmt: skip
        for level, trials in product((0.95, 0.6), (100, 150)):
            for test, results in (
                ("bootstrap", paired_bootstrap(wanted, level=level)),
                ("randomization", paired_randomization(wanted, trials=trials, seed=seed, level=level)),
            ):
                compared = found.compare("theirs", "ours", test=test, level=level, trials=trials)
                outcome = [(each.difference, each.p, each.interval) for each in compared]
                assert outcome == [(each.difference, each.p, each.interval) for each in results]
                outcomes.add((test, str(outcome)))
    assert len(outcomes) == 4 + 8, "a bootstrap has no trials"


def test_documents_are_drawn_and_signatures_say_so():
    generator = random.Random(13)
    refs, names = texts(generator, 12), ["a"] * 5 + ["b"] * 3 + ["a"] * 4
    system = [f"{line} more" for line in texts(generator, 12)]
    score = evaluate({"ours": system}, references=[refs], metrics=["chrf"], bootstrap=50, documents=names)["ours"]
    (wanted,) = score_systems(
        as_segments([system], [refs]), [ChrF()], replicates=50, seed=12345, documents=Documents.from_names(names)
    )
    assert score["chrf"].replicates.tolist() == wanted.replicate_scores[0].tolist()
    assert score["chrf"].signature == ChrF().signature(1, 50, 12345, "document") != ChrF().signature(1, 50, 12345)
    with pytest.raises(BadParameter, match="Documents are given for 11 segments, and there are 12"):
        evaluate({"ours": system}, references=[refs], metrics=["chrf"], bootstrap=50, documents=names[:11])


@pytest.mark.parametrize("metrics", [["bleu", "chrf:space=yes"], ["chrf:space=yes", "bleu"]])
def test_an_empty_reference_beside_none_is_refused_where_any_metric_counts_blanks(metrics):
    with pytest.raises(BadText, match="A reference is empty, and another is None"):
        evaluate({"ours": ["a", "b"]}, references=[["a", "b"], [None, ""]], metrics=metrics)
    assert evaluate({"ours": ["a", "b"]}, references=[["a", "b"], [None, ""]], metrics=["bleu"])


@dataclass(frozen=True)
class SourceRatio(SegmentMetric):
    """Characters of the hypothesis per character of the source."""

    name: ClassVar[str] = "source_ratio"
    title: ClassVar[str] = "source ratio"
    source: ClassVar[str] = "this test"
    inputs: ClassVar[frozenset[str]] = frozenset({"source"})
    columns: ClassVar[tuple[str, ...]] = ("ratio", "segments")

    def score_segments(self, segments):
        source = [len(line) for line in segments.source.decode().split("\n")]
        return np.array([[len(line) for line in each.decode().split("\n")] for each in segments.hypotheses]) / source


def test_the_source_is_read_by_metrics_that_ask_for_it():
    metric, source = SourceRatio(), ["ab", "abcd"]
    system, references = ["abcd", "ab"], [["x", "y"]]
    found = evaluate({"ours": system}, references=references, source=source, metrics=[metric])
    assert found.segments("source_ratio").ravel().tolist() == [2, 0.5]
    score = metric.corpus_score(system, references, source=source)
    assert score.score == found["ours"]["source_ratio"].score
    parts = metric.accumulator()
    parts.update(system, references, source=source)
    assert parts.compute().score == score.score
    assert metric.pairwise(system, ["x"], source="ab").ravel().tolist() == [2, 1]
    assert metric.sentence_score("abcd", ["x"], source="ab").sums.tolist() == [2, 1]
    for call in (
        lambda: metric.corpus_score(system, references),
        lambda: metric.corpus_score(system, references, source="ab"),
        lambda: metric.corpus_score(system, references, source=["ab"]),
        lambda: evaluate({"ours": system}, references=references, metrics=[metric]),
    ):
        with pytest.raises(BadText, match="source"):
            call()


@pytest.mark.parametrize("references", [REFS, [REFS[0], [REFS[1][0], None, ""]]])
def test_references_that_a_metric_was_made_with_are_prepared_once(references, monkeypatch):
    given = [list(each) for each in references]
    metric, wanted = BLEU(references=given), BLEU().corpus_score(SYS, references)
    given[0][0] = "changed"
    monkeypatch.delattr("steelyard.metrics.scoring.prepared_references")
    for _ in range(2):
        found = metric.corpus_score(SYS)
        assert (found.score, found.signature) == (wanted.score, wanted.signature)


def test_undefined_scores_are_null_in_json():
    found = evaluate({"empty": [""]}, references=[[""]], metrics=["lebleu"])
    assert math.isnan(found["empty"]["lebleu"].score)
    assert json.loads(found.to_json())["systems"][0]["scores"][0]["score"] is None


@pytest.mark.parametrize("resources", [None, {}, {"anything": __file__}])
def test_the_target_language_chooses_the_tokenizer(resources):
    found = evaluate(
        {"ours": ["我们走"]}, references=[["我们走"]], metrics=["bleu"], language="zh", resources=resources
    )
    assert found.metrics == ("bleu:tok=zh",)
    assert BLEU(trg_lang="zh") == BLEU(tokenize="zh") == replace(BLEU(), tok="zh")


def test_a_table_needs_pandas():
    found = evaluate({"ours": SYS}, references=REFS, metrics=["bleu"])
    try:
        import pandas
    except ImportError:
        with pytest.raises(ImportError):
            found.to_frame()
    else:
        assert isinstance(found.to_frame(), pandas.DataFrame)


def test_the_package_imports_nothing_before_it_is_used():
    program = "import sys, steelyard; print([m for m in sys.modules if m.startswith(('numpy', 'steelyard.'))])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"
    assert {*steelyard.__all__} <= {*dir(steelyard)}
    for name in steelyard.__all__:
        assert getattr(steelyard, name) is not None
    with pytest.raises(AttributeError):
        _ = steelyard.nothing


@pytest.mark.parametrize("module", ["steelyard.evaluation", "steelyard.metrics.scoring"])
def test_examples(module):
    __import__(module)
    failed, tried = doctest.testmod(sys.modules[module])
    assert tried
    assert not failed
