"""`mtrics`: the command of Kos (2008, Appendix A), on the same functions as `steelyard score`."""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cli.errors import CommandError, UsageError, exit_status
from cli.options import level, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cli.inputs import Inputs
    from cli.score_output import Result
    from metrics.base import Metric
    from metrics.measure import Measurement

DESCRIPTION = "Score translations against references with the metrics and options of MTrics (Kos 2008, Appendix A)."
EPILOGUE = (
    "NGRAMS is a list of numbers and intervals, such as 6,1-3,7. Case is folded unless -s is given, and words are what "
    "white space separates unless -T is given. Exit status: 0 fine, 1 something is wrong with the files, 2 wrong usage."
)
TOKENIZER = "thesis"
"""What -T stands for."""


@dataclass(frozen=True, slots=True)
class MetricOption:
    """An option that asks for a metric, perhaps with a value."""

    short: str
    metric: str
    """Its name, which is also the long form."""
    describe: str
    metavar: str = ""
    default: str = ""
    parameters: tuple[str, ...] = ()
    """What the value sets; more than one are separated by commas."""
    fixed: tuple[tuple[str, str], ...] = ()
    """Parameters in which the thesis differs from our defaults, beside case and tokenizer."""

    def asked(self, value: str, common: dict[str, str]) -> Metric:
        """The metric with this value of the option and the settings that all metrics share. Raises UsageError."""
        from metrics.errors import BadParameter
        from metrics.registry import metric_class

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
    MetricOption("-b", "bleu", "BLEU", "NGRAMS", "1-4", ("order",), (("smooth", "none"),)),
    MetricOption("-n", "nist", "NIST", "NGRAMS", "1-5", ("order",)),
    MetricOption("-p", "per", "position-independent error rate"),
    MetricOption("-f", "fmeasure", "F-measure, weights of precision and recall", "P,R", "1,1", ("p", "r")),
    MetricOption("-g", "gtm", "GTM, exponent of the lengths of runs", "EXPONENT", "1", ("e",)),
    MetricOption("-w", "wer", "word error rate"),
    MetricOption("-t", "ter", "translation edit rate"),
    MetricOption("-m", "meteor", "Meteor; orig: its parameters of 2005", "orig", "2007", ("params",)),
    MetricOption("-sempos", "sempos", "SemPOS overlapping of tectogrammatical trees; stands alone"),
)
"""In the order in which scores are printed."""


def parser() -> argparse.ArgumentParser:
    """The options of the manual, and below them a few of ours."""
    top = argparse.ArgumentParser(prog="mtrics", description=DESCRIPTION, epilog=EPILOGUE, allow_abbrev=False)
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
        names = (option.short, f"--{option.metric}")
        if option.parameters:
            told = f"{option.describe} (default: {option.default})"
            metrics.add_argument(*names, nargs="?", const=option.default, metavar=option.metavar, help=told)
        else:
            metrics.add_argument(*names, action="store_const", const="", help=option.describe)

    form = top.add_argument_group("texts")
    form.add_argument("-s", "--case-sensitive", action="store_true", help="keep the case of letters")
    form.add_argument("-T", "--tokenize", action="store_true", help="cut off punctuation (Kos 2008, section 4.3.1)")
    form.add_argument("-M", "--mteval", action="store_true", help="all files are in mteval's format, SGML or XML")
    form.add_argument("-MT", "--mteval-tokenize", action="store_true", help="both -M and -T")
    form.add_argument(
        "-TMT", "--tectomt", nargs="?", const="", metavar="LAYER",
        help="all files are TectoMT's, words are read from this layer (default: TCzechA; TCzechT with -sempos)",
    )  # fmt: skip

    output = top.add_argument_group("output")
    output.add_argument(
        "-conf", "--confidence", nargs="?", type=whole_number, const=1000, default=0, metavar="N",
        help="bootstrap intervals from N replicates (N: 1000)",
    )  # fmt: skip
    output.add_argument("-cl", "--level", type=level, metavar="P", help="level of the intervals (default: 0.95)")
    output.add_argument("-v", "--verbose", action="store_true", help="also every segment, GTM's runs, and signatures")

    ours = top.add_argument_group("not in the manual")
    ours.add_argument("--seed", type=whole_number, default=12345, help="seed of the bootstrap (default: 12345)")
    ours.add_argument("--language-pair", metavar="SRC-TRG", help="tells Meteor the language of its lemmas, e.g. en-cs")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    options = parser().parse_args(arguments)
    return exit_status("mtrics", lambda: run(options))


def run(options: argparse.Namespace) -> int:
    """Read, measure, write."""
    from cli.score import scored

    metrics = chosen_metrics(options)
    if options.level and not options.confidence:
        raise UsageError("-cl is the level of the intervals that -conf asks for: give -conf, too.")
    if overwrites(options.output, (*options.candidate, *options.reference)):
        raise UsageError(f"-o {options.output} is one of the files to score and would be lost. Give another name.")
    inputs = read(options)
    text = "".join(f"{line}\n" for line in lines(scored(score_options(options, metrics), metrics, inputs)))
    if options.output is None:
        print(text, end="")
        return 0
    try:
        options.output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{options.output}: cannot be written ({error.strerror}). Check the path.") from error
    return 0


def overwrites(output: Path | None, paths: Sequence[str]) -> bool:
    """Whether the output is one of these files."""
    return (
        output is not None and output.exists() and any(output.samefile(path) for path in paths if Path(path).exists())
    )


def chosen_metrics(options: argparse.Namespace) -> list[Metric]:
    """The metrics that were asked for. Raises UsageError."""
    chosen = [option for option in METRICS if getattr(options, option.metric) is not None]
    if not chosen:
        raise UsageError(f"No metric was asked for. Give one or more of {' '.join(each.short for each in METRICS)}.")
    if options.sempos is not None and len(chosen) > 1:
        others = " ".join(each.short for each in chosen if each.metric != "sempos")
        raise UsageError(
            f"-sempos stands alone: it compares trees and the other metrics words. Run mtrics again for {others}."
        )
    cut = options.tokenize or options.mteval_tokenize
    if options.tectomt is not None and (cut or options.mteval):
        raise UsageError("-TMT reads words that are cut already, from files of its own: leave out -T, -M and -MT.")
    common = {"case": "mixed" if options.case_sensitive else "lc", "tok": TOKENIZER if cut else "none"}
    return [option.asked(getattr(options, option.metric), common) for option in chosen]


def read(options: argparse.Namespace) -> Inputs:
    """References and candidates. Raises BadText and UsageError."""
    from cli.inputs import read_inputs

    return read_inputs(options.reference, options.candidate, variable_references=False)


def score_options(options: argparse.Namespace, metrics: Sequence[Metric]) -> argparse.Namespace:
    """The same as options of `score`."""
    return argparse.Namespace(
        metrics=None,
        language_pair=options.language_pair,
        resource=[],
        confidence=options.confidence,
        level=options.level or 0.95,
        seed=options.seed,
        paired=None,
        segments=options.verbose,
        runs=options.verbose and any(metric.name == "gtm" for metric in metrics),
        shard_size=None,
    )


def lines(result: Result) -> Iterator[str]:
    """`SYSTEM:  METRIC:  SCORE` for every system and metric (Kos 2008, A.4).

    With segments: theirs below it, GTM's runs below each of them, and in the end how the scores were made.
    """
    for system, name in enumerate(result.inputs.names):
        for measurement in result.measurements:
            begin = f"{name}:  {measurement.metric.title}:"
            ends = result.interval(measurement, system)
            interval = f"  [{shown(measurement, ends[0])}, {shown(measurement, ends[1])}]" if ends else ""
            yield f"{begin}  {shown(measurement, measurement.scores[system])}{interval}"
            yield from segment_lines(result, measurement, system, begin)
    if result.options.segments:
        yield from (f"{each.metric.title}|{result.signature(each)}" for each in result.measurements)
        if result.options.confidence:
            yield f"Intervals: {100 * result.options.level:g} %"


def segment_lines(result: Result, measurement: Measurement, system: int, begin: str) -> Iterator[str]:
    """`SYSTEM:  METRIC:  segment I:  SCORE`, and for GTM the runs of the segment; nothing without -v."""
    if measurement.segment_scores is None:
        return
    from cli.runs import shown_words

    runs = result.runs.of(measurement.metric, system) if result.runs else None
    for segment, score in enumerate(measurement.segment_scores[system].tolist()):
        place = f"{begin}  segment {segment + 1}:"
        yield f"{place}  {shown(measurement, score)}"
        for run in runs[segment] if runs else ():
            there = f"reference {run.reference + 1} at {run.reference_place + 1}"
            yield f"{place}  run:  {run.size:g} at {run.place + 1}, {there}:  {shown_words(run)}"


def shown(measurement: Measurement, score: float) -> str:
    """Four digits; from 0 to 1 what we count from 0 to 100."""
    scale = measurement.metric.scale
    return "n/a" if math.isnan(score) else f"{score / scale if math.isfinite(scale) else score:.4f}"


if __name__ == "__main__":
    sys.exit(main())
