"""Type checkers know every keyword that a metric takes, sacreBLEU's among them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from metric_keywords import PLACE, written
from steelyard.metrics import keywords
from steelyard.metrics.registry import all_metrics, learned_metrics

ROOT = Path(__file__).parents[3]

PROGRAM = """
from steelyard import BLEU, CHRF, NIST, PER, TER, WER, BLEUModif, Meteor
from steelyard.metrics import BLEU as AlsoBLEU

refs = [["a b", None]]
BLEU(lowercase=True, tokenize="intl", smooth_method="floor", smooth_value=0.1, max_ngram_order=2, effective_order=True)
BLEU(force=True, trg_lang="ja", references=refs).corpus_score(["a", "b"], None)
BLEU(tokenize="flores200", resources={"flores200": "flores200.model"}).sentence_score("a", ["b"]).score.is_integer()
BLEU(order=4, smooth="floor")
BLEU(order=(1, 2), case="lc", smooth_value=None)
AlsoBLEU(lowercase=True).accumulator().update(["a"], [["b"]])
CHRF(char_order=6, word_order=2, beta=3, lowercase=True, whitespace=True, eps_smoothing=False)
TER(normalized=True, no_punct=True, asian_support=True, case_sensitive=True)
WER(lowercase=True, tokenize="13a")
PER(tok="none")
NIST(order=5)
Meteor(modules=["exact", "stem"], resources=None)
BLEUModif(vectors="news", gamma=0.2, max_ngram_order=3)

BLEU(lower=True)  # wrong: call-arg
BLEU(lowercase="yes, please")  # wrong: arg-type
BLEU(case="upper")  # wrong: arg-type
BLEU(word_order=2)  # wrong: call-arg
BLEU(smooth_value="much")  # wrong: arg-type
BLEU(references=1)  # wrong: arg-type
CHRF(nc=2.5)  # wrong: arg-type
TER(max_ngram_order=4)  # wrong: call-arg
WER(normalised=True)  # wrong: call-arg
BLEU(lowercase=True).corpus_score("a", 1)  # wrong: arg-type
BLEU(lowercase=True).corpus(["a"], [["a"]])  # wrong: attr-defined
"""


def test_the_file_is_what_the_metrics_declare():
    assert PLACE.read_text("utf-8") == written(), "run make keywords"


@pytest.mark.parametrize("metric", [*all_metrics(), *learned_metrics()], ids=lambda metric: metric.name)
def test_every_keyword_is_taken_and_no_other(metric):
    known = {*keywords.MetricKeywords.__annotations__, *getattr(keywords, f"{metric.__name__}Keywords").__annotations__}
    declared = {field.name for field in metric.parameters()}
    theirs = {name for field in metric.parameters() for each in field.metadata["aliases"] for name in each.names}
    assert known == declared | theirs | {"references", "trg_lang", "force", "resources"}
    for name in known:
        metric(**{name: None})
    with pytest.raises(TypeError, match="nonsense"):
        metric(nonsense=1)


def test_a_type_checker_accepts_right_calls_and_refuses_wrong_ones(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    found = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", f"--cache-dir={tmp_path}", str(program)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not found.stderr
    errors = set(re.findall(r"program\.py:(\d+): error: .*\[([\w-]+)\]", found.stdout))
    expected = {
        (str(number), line.partition("# wrong: ")[2])
        for number, line in enumerate(PROGRAM.split("\n"), 1)
        if "# wrong: " in line
    }
    assert errors == expected, found.stdout
