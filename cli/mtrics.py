"""`mtrics`: the command of Kos (2008, Appendix A), on the same functions as `steelyard score`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cli.collecting import collect_rarely
from cli.errors import CommandError, UsageError, exit_status
from cli.mtrics_options import LAYER_OF_TREES, LAYER_OF_WORDS, SYNONYMS, chosen_metrics, parser
from cli.threads import compute_in_one_thread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cli.inputs import Inputs
    from metrics.base import Metric
    from metrics.text.formats import Format


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    collect_rarely("mtrics")
    compute_in_one_thread()
    options = parser().parse_args(arguments)
    return exit_status("mtrics", lambda: run(options))


def run(options: argparse.Namespace) -> int:
    """Read, measure, write."""
    from cli.mtrics_output import lines
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


def overwrites(output: Path | None, files: Sequence[str]) -> bool:
    """Whether the output is one of these files."""
    from cli.inputs import input_file

    paths = [Path(input_file(file).path) for file in files]
    return output is not None and output.exists() and any(path.exists() and output.samefile(path) for path in paths)


def read(options: argparse.Namespace) -> Inputs:
    """References and candidates. Raises BadText and UsageError."""
    from cli.inputs import GivenSystem, read_inputs

    form: Format | None = None
    part = None
    if options.mteval or options.mteval_tokenize:
        form = "mteval"
    elif options.tectomt is not None:
        form, part = "tectomt", options.tectomt or (LAYER_OF_TREES if options.sempos is not None else LAYER_OF_WORDS)
    systems = [GivenSystem([file]) for file in options.candidate]
    return read_inputs(options.reference, systems, variable_references=False, input_format=form, part=part)


def score_options(options: argparse.Namespace, metrics: Sequence[Metric]) -> argparse.Namespace:
    """The same as options of `score`."""
    return argparse.Namespace(
        metrics=None,
        language_pair=options.language_pair,
        resource=[(SYNONYMS, options.synonyms)] if options.synonyms else [],
        confidence=options.confidence,
        interval="percentile",
        level=options.level or 0.95,
        seed=options.seed,
        paired=None,
        segments=options.verbose,
        runs=options.verbose and any(metric.name == "gtm" for metric in metrics),
        shard_size=None,
        width=4,
    )


if __name__ == "__main__":
    sys.exit(main())
