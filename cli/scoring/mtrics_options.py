"""The options of `mtrics` and the metrics that they select."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cli.errors import UsageError
from cli.options import MOST_REPLICATES, at_most, level, whole_number
from cli.parser import Parser

if TYPE_CHECKING:
    from steelyard.metrics.metric import Metric

DESCRIPTION = "Score translations against references with the metrics and options of MTrics (Kos 2008, Appendix A)."
EPILOGUE = (
    "NGRAMS is a list of numbers and intervals, such as 6,1-3,7. Texts are lowercased unless -s is given, and words "
    "are separated by white space unless -T is given. Exit status: 0 success, 1 a problem with the files, "
    "2 wrong usage."
)
TOKENIZER = "thesis"
"""The tokenizer of -T, except for languages that need another one."""
SYNONYMS = "synonyms"
"""The name of the file of --synonyms in signatures."""
LAYER_OF_WORDS, LAYER_OF_TREES = "TCzechA", "TCzechT"
"""The layers that -TMT reads by default."""


@dataclass(frozen=True, slots=True)
class MetricOption:
    """An option that selects a metric, perhaps with a value."""

    short: str
    metric: str
    """Its name in the registry."""
    title: str
    """Its name in the output."""
    describe: str
    metavar: str = ""
    default: str = ""
    parameters: tuple[str, ...] = ()
    """The parameters that the value sets; several are separated by commas."""
    fixed: tuple[tuple[str, str], ...] = ()
    """Parameters in which the thesis differs from our defaults, beside case and tokenizer."""
    long: str = ""
    """The long form; empty where it is the metric's name."""

    def asked(self, value: str, common: dict[str, str]) -> Metric:
        """The metric with this value of the option and the settings that all metrics share. Raises UsageError."""
        from steelyard.errors import BadParameter
        from steelyard.metrics.registry import metric_class

        found = metric_class(self.metric)
        values = value.split(",") if len(self.parameters) > 1 else [value][: len(self.parameters)]
        if len(values) != len(self.parameters):
            raise UsageError(f"{self.short} {value}: its value is written {self.metavar}, for example {self.default}.")
        known = {field.name for field in found.parameters()}
        texts = {key: text for key, text in common.items() if key in known}
        try:
            return found.from_texts({**texts, **dict(self.fixed), **dict(zip(self.parameters, values, strict=True))})
        except BadParameter as error:
            raise UsageError(f"{self.short} {value}: {error}") from error


METRICS = (
    MetricOption("-b", "bleu", "BLEU", "BLEU", "NGRAMS", "1-4", ("order",), (("smooth", "none"),)),
    MetricOption("-n", "nist", "NIST", "NIST", "NGRAMS", "1-5", ("order",)),
    MetricOption("-p", "per", "PER", "position-independent word error rate"),
    MetricOption("-f", "fmeasure", "F-measure", "F-measure, weights of precision and recall", "P,R", "1,1", ("p", "r")),
    MetricOption("-g", "gtm", "GTM", "GTM, exponent of the lengths of runs", "EXPONENT", "1", ("e",)),
    MetricOption("-w", "wer", "WER", "word error rate"),
    MetricOption("-t", "ter", "TER", "translation error rate"),
    MetricOption(
        "-m", "meteor", "Meteor", "Meteor, needs -TMT; orig: its parameters of 2005", "orig", "2007", ("params",)
    ),
    MetricOption(
        "-sempos", "sempos", "SemPOS", "SemPOS overlapping of tectogrammatical trees, needs -TMT; only by itself",
        long="semantic-pos-overlap",
    ),
)  # fmt: skip
"""In the order in which scores are printed."""


def parser() -> argparse.ArgumentParser:
    """The options of the manual, and a few additional ones."""
    top = Parser(prog="mtrics", description=DESCRIPTION, epilog=EPILOGUE)
    files = top.add_argument_group("files")
    files.add_argument(
        "-c", "--candidate", nargs="+", action="extend", required=True, metavar="FILE",
        help="translations to score: a system in each file, or several in one of mteval's",
    )  # fmt: skip
    files.add_argument(
        "-r", "--reference", nargs="+", action="extend", required=True, metavar="FILE", help="reference translations"
    )
    files.add_argument("-o", "--output", metavar="FILE", type=Path, help="where to write (default: standard output)")

    metrics = top.add_argument_group("metrics")
    for option in METRICS:
        names = (option.short, f"--{option.long or option.metric}")
        if option.parameters:
            told = f"{option.describe} (default: {option.default})"
            metrics.add_argument(
                *names, dest=option.metric, nargs="?", const=option.default, metavar=option.metavar, help=told
            )
        else:
            metrics.add_argument(*names, dest=option.metric, action="store_const", const="", help=option.describe)

    form = top.add_argument_group("texts")
    form.add_argument("-s", "--case-sensitive", action="store_true", help="keep the case of letters")
    form.add_argument("-T", "--tokenize", action="store_true", help="cut off punctuation (Kos 2008, section 4.3.1)")
    form.add_argument(
        "-M", "--mteval-file-format", action="store_true", help="all files are in mteval's format, SGML or XML"
    )
    form.add_argument("-MT", "--mteval-input", action="store_true", help="both -M and -T")
    form.add_argument(
        "-TMT", "--tectomt-input", nargs="?", const="", metavar="LAYER",
        help="all files are TectoMT's, words are read from this layer "
        f"(default: {LAYER_OF_WORDS}, with -sempos {LAYER_OF_TREES})",
    )  # fmt: skip

    output = top.add_argument_group("output")
    output.add_argument(
        "-conf", "--confidence-intervals", nargs="?", type=at_most(MOST_REPLICATES), const=1000, default=0, metavar="N",
        help="bootstrap intervals from N replicates (N: 1000)",
    )  # fmt: skip
    output.add_argument(
        "-cl", "--confidence-level", type=level, metavar="LEVEL", help="level of the intervals (default: 0.95)"
    )
    output.add_argument("-v", "--verbose", action="store_true", help="also every segment, GTM's runs, and signatures")

    ours = top.add_argument_group("not in the manual")
    ours.add_argument("--seed", type=whole_number, default=12345, help="seed of the bootstrap (default: 12345)")
    ours.add_argument(
        *("-l", "--language-pair"), metavar="SRC-TRG",
        help="language of Meteor's lemmas, e.g. en-cs, and of the words for -T (zh, ja, ko)",
    )  # fmt: skip
    ours.add_argument("--synonyms", type=Path, metavar="FILE", help="synonyms for Meteor, one group on a line")
    return top


def chosen_options(options: argparse.Namespace) -> list[MetricOption]:
    """Those of METRICS that were given, in the order of METRICS."""
    return [option for option in METRICS if getattr(options, option.metric) is not None]


def tokenizer_for(options: argparse.Namespace) -> str:
    """The tokenizer of -T: the rules of the manual, or the one that the target language of -l needs."""
    from steelyard.tokenizers.registry import USUAL, tokenizer_of

    asked_for = tokenizer_of((options.language_pair or "").partition("-")[2])
    return TOKENIZER if asked_for == USUAL else asked_for


def chosen_metrics(options: argparse.Namespace) -> list[Metric]:
    """The selected metrics. Raises UsageError."""
    chosen = chosen_options(options)
    if not chosen:
        raise UsageError(f"No metric is selected. Give one or more of {' '.join(each.short for each in METRICS)}.")
    if options.sempos is not None and len(chosen) > 1:
        others = " ".join(each.short for each in chosen if each.metric != "sempos")
        raise UsageError(
            f"-sempos cannot be combined: it compares trees and the other metrics words. Run mtrics again for {others}."
        )
    cut = options.tokenize or options.mteval_input
    if options.tectomt_input is not None and (cut or options.mteval_file_format):
        raise UsageError("-TMT reads tokenized words from files of its own: leave out -T, -M and -MT.")
    common = {"case": "mixed" if options.case_sensitive else "lc", "tok": tokenizer_for(options) if cut else "none"}
    if options.synonyms:
        common["synonyms"] = SYNONYMS
    return [option.asked(getattr(options, option.metric), common) for option in chosen]
