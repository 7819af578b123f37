"""The options of `mtrics` and the metrics that they select."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.commands.errors import UsageError
from steelyard.commands.options import many, option, together
from steelyard.commands.parsing import Value
from steelyard.commands.values import MOST_REPLICATES, at_most, level, whole_number

if TYPE_CHECKING:
    from types import SimpleNamespace

    from steelyard.commands.options import Decorator
    from steelyard.metrics.metric import Metric

DESCRIPTION = "Score translations against references with the metrics and options of MTrics (Kos 2008, Appendix A)."
EPILOGUE = (
    "NGRAMS is a list of numbers and intervals, such as 6,1-3,7. Texts are lowercased unless -s is given, and words "
    "are separated by white space unless -T is given. Exit status: 0 success, 1 a problem with the files, "
    "2 wrong usage."
)
FILES, TEXTS, OUTPUT, OURS = "Files", "Texts", "Output", "Not in the manual"
"""Sections of the help."""
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
        """The metric with this value of the option and the settings that all metrics share. Raises UsageError.

        Parameters
        ----------
        value : str
        common : dict of str to str

        Returns
        -------
        Metric
        """
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


def mtrics_options() -> Decorator:
    """The options of the manual, and a few additional ones.

    Returns
    -------
    Decorator
    """
    return together(
        many(
            "-c", "--candidate", required=True, section=FILES, metavar="FILE...",
            help="translations to score: a system in each file, or several in one of mteval's",
        ),
        many("-r", "--reference", required=True, section=FILES, metavar="FILE...", help="reference translations"),
        option(
            "-o", "--output", section=FILES, metavar="FILE", type=Value(Path),
            help="where to write (default: standard output)",
        ),
        *map(_metric_option, METRICS),
        option("-s", "--case-sensitive", section=TEXTS, is_flag=True, help="keep the case of letters"),
        option("-T", "--tokenize", section=TEXTS, is_flag=True, help="cut off punctuation (Kos 2008, section 4.3.1)"),
        option(
            "-M", "--mteval-file-format", section=TEXTS, is_flag=True,
            help="all files are in mteval's format, SGML or XML",
        ),
        option("-MT", "--mteval-input", section=TEXTS, is_flag=True, help="both -M and -T"),
        option(
            "-TMT", "--tectomt-input", section=TEXTS, is_flag=False, flag_value="", metavar="[LAYER]",
            help="all files are TectoMT's, words are read from this layer "
            f"(default: {LAYER_OF_WORDS}, with -sempos {LAYER_OF_TREES})",
        ),
        option(
            "-conf", "--confidence-intervals", section=OUTPUT, is_flag=False, flag_value=1000, default=0,
            type=Value(at_most(MOST_REPLICATES)), metavar="[N]", help="bootstrap intervals from N replicates (N: 1000)",
        ),
        option(
            "-cl", "--confidence-level", section=OUTPUT, type=Value(level), metavar="LEVEL",
            help="level of the intervals (default: 0.95)",
        ),
        option(
            "-v", "--verbose", section=OUTPUT, is_flag=True, help="also every segment, GTM's runs, and signatures"
        ),
        option(
            "--seed", section=OURS, type=Value(whole_number), default=12345, metavar="N",
            help="seed of the bootstrap (default: 12345)",
        ),
        option(
            "-l", "--language-pair", section=OURS, metavar="SRC-TRG",
            help="language of Meteor's lemmas, e.g. en-cs, and of the words for -T (zh, ja, ko)",
        ),
        option(
            "--synonyms", section=OURS, type=Value(Path), metavar="FILE",
            help="synonyms for Meteor, one group on a line",
        ),
    )  # fmt: skip


def _metric_option(asked: MetricOption) -> Decorator:
    names = (asked.metric, asked.short, f"--{asked.long or asked.metric}")
    if not asked.parameters:
        return option(*names, section="Metrics", flag_value="", default=None, help=asked.describe)
    return option(
        *names, section="Metrics", is_flag=False, flag_value=asked.default, metavar=f"[{asked.metavar}]",
        help=f"{asked.describe} (default: {asked.default})",
    )  # fmt: skip


def chosen_options(options: SimpleNamespace) -> list[MetricOption]:
    """Those of METRICS that were given, in the order of METRICS.

    Parameters
    ----------
    options : SimpleNamespace

    Returns
    -------
    list of MetricOption
    """
    return [option for option in METRICS if getattr(options, option.metric) is not None]


def tokenizer_for(options: SimpleNamespace) -> str:
    """The tokenizer of -T: the rules of the manual, or the one that the target language of -l needs.

    Parameters
    ----------
    options : SimpleNamespace

    Returns
    -------
    str
    """
    from steelyard.tokenizers.registry import USUAL, tokenizer_of

    asked_for = tokenizer_of((options.language_pair or "").partition("-")[2])
    return TOKENIZER if asked_for == USUAL else asked_for


def chosen_metrics(options: SimpleNamespace) -> list[Metric]:
    """The selected metrics. Raises UsageError.

    Parameters
    ----------
    options : SimpleNamespace

    Returns
    -------
    list of Metric
    """
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
