"""`mtrics`: the command of Kos (2008, Appendix A), on the same functions as `steelyard score`."""

from __future__ import annotations

import dataclasses
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.mtrics.options import (
    DESCRIPTION,
    EPILOGUE,
    LAYER_OF_TREES,
    LAYER_OF_WORDS,
    SYNONYMS,
    chosen_metrics,
    chosen_options,
    mtrics_options,
)
from steelyard.commands.parsing import ARGUMENTS, Command, run
from steelyard.commands.startup import collect_rarely, compute_in_one_thread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.commands.scoring.inputs import Inputs
    from steelyard.commands.scoring.score_options import ScoreOptions
    from steelyard.metrics.metric import Metric


@click.command(
    "mtrics",
    cls=Command,
    help=DESCRIPTION,
    epilog=EPILOGUE,
    example="mtrics -c output.txt -r reference.txt -b -n -t -conf",
)
@mtrics_options()
@click.pass_context
def mtrics(context: click.Context, /, **given: Any) -> int:
    """Score as the options of the manual say; the exit status."""
    return score_files(SimpleNamespace(**given), context.meta[ARGUMENTS])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status.

    Parameters
    ----------
    arguments : sequence of str or None, optional

    Returns
    -------
    int
    """
    collect_rarely()
    compute_in_one_thread()
    return run(mtrics, "mtrics", sys.argv[1:] if arguments is None else arguments)


def score_files(options: SimpleNamespace, given: Sequence[str]) -> int:
    """Read, score and write; the exit status. `given` are the arguments of the command line.

    Parameters
    ----------
    options : SimpleNamespace
    given : sequence of str

    Returns
    -------
    int
    """
    from steelyard.commands.mtrics.output import Run, report
    from steelyard.commands.scoring.score import scored

    started, clock = time.time(), time.monotonic()
    metrics = chosen_metrics(options)
    if options.confidence_level and not options.confidence_intervals:
        raise UsageError("-cl is the level of the intervals of -conf: give -conf, too.")
    if overwrites(options.output, (*options.candidate, *options.reference)):
        raise UsageError(f"-o {options.output} is one of the files to score and would be lost. Give another name.")
    inputs = read(options)
    metrics = annotated(options, metrics, inputs)
    result = scored(score_options(options, metrics), metrics, inputs)
    titles = [option.title for option in chosen_options(options)]
    text = "".join(f"{line}\n" for line in report(result, titles, Run(started, time.monotonic() - clock, given)))
    if options.output is None:
        print(text, end="")
        return 0
    try:
        options.output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{options.output}: cannot be written ({error.strerror}). Check the path.") from error
    return 0


def annotated(options: SimpleNamespace, metrics: Sequence[Metric], inputs: Inputs) -> list[Metric]:
    """The metrics, where the input has the lemmas and types that they compare (A.2: -m and -sempos need -TMT).

    Beyond the manual Meteor takes lemmas from other annotated files, too, and looks them up for text whose language is
    known. Raises UsageError.

    Parameters
    ----------
    options : SimpleNamespace
    metrics : sequence of Metric
    inputs : Inputs

    Returns
    -------
    list of Metric
    """
    from steelyard.formats.layers import common_layers
    from steelyard.metrics.alignment.meteor import Meteor

    layers = common_layers(inputs.texts)
    if options.sempos is not None and "sempos" not in layers and options.tectomt_input is None:
        raise UsageError(
            "-sempos compares tectogrammatical trees: give files in TectoMT's format and -TMT LAYER, or Treex files."
        )
    if options.meteor is None:
        return list(metrics)
    lemmas = "layer" if "lemma" in layers or options.tectomt_input is not None else "simplemma"
    if lemmas == "simplemma" and not (options.language_pair or inputs.language):
        raise UsageError(
            "-m compares lemmas: give files in TectoMT's format and -TMT, or CoNLL-U or Treex files. For plain text -l "
            "names the language whose lemmas are looked up, for example -l en-cs."
        )
    return [dataclasses.replace(each, lemmas=lemmas) if isinstance(each, Meteor) else each for each in metrics]


def overwrites(output: Path | None, files: Sequence[str]) -> bool:
    """Whether the output is one of the input files.

    Parameters
    ----------
    output : Path or None
    files : sequence of str

    Returns
    -------
    bool
    """
    from steelyard.commands.scoring.inputs import input_file

    paths = [Path(input_file(file).path) for file in files]
    return output is not None and output.exists() and any(path.exists() and output.samefile(path) for path in paths)


def read(options: SimpleNamespace) -> Inputs:
    """References and candidates. Raises BadText and UsageError.

    Parameters
    ----------
    options : SimpleNamespace

    Returns
    -------
    Inputs
    """
    from steelyard.commands.scoring.inputs import GivenSystem, read_inputs

    form: str | None = None
    part = None
    if options.mteval_file_format or options.mteval_input:
        form = "mteval"
    elif options.tectomt_input is not None:
        form, part = (
            "tectomt",
            options.tectomt_input or (LAYER_OF_TREES if options.sempos is not None else LAYER_OF_WORDS),
        )
    systems = [GivenSystem([file]) for file in options.candidate]
    return read_inputs(options.reference, systems, variable_references=False, input_format=form, part=part)


def score_options(options: SimpleNamespace, metrics: Sequence[Metric]) -> ScoreOptions:
    """The equivalent options of `score`.

    Parameters
    ----------
    options : SimpleNamespace
    metrics : sequence of Metric

    Returns
    -------
    ScoreOptions
    """
    from steelyard.commands.scoring.score_options import ScoreOptions

    return ScoreOptions(
        language_pair=options.language_pair,
        resource=[(SYNONYMS, options.synonyms)] if options.synonyms else [],
        confidence=options.confidence_intervals,
        level=options.confidence_level or 0.95,
        seed=options.seed,
        segments=options.verbose,
        runs=options.verbose and any(metric.name == "gtm" for metric in metrics),
        width=4,
    )


if __name__ == "__main__":
    sys.exit(main())
