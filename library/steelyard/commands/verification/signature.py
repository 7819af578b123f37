"""One score by its signature, as papers and sacreBLEU print it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.scoring.inputs import GivenSystem, read_inputs
from steelyard.commands.scoring.score import scored
from steelyard.commands.scoring.score_options import ScoreOptions
from steelyard.commands.verification.printed_signatures import BESIDE_PARAMETERS, parse_signature
from steelyard.commands.verification.verdicts import NOT_COMPARED, Verdict, Verification, compared

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from steelyard.commands.verification.printed_signatures import Signature

RESAMPLED = ("bs", "seed", "ar")


def verify_signature(
    signature: Signature,
    files: Sequence[str],
    systems: Sequence[str],
    *,
    score: str | None = None,
    source: str | None = None,
    resources: Sequence[tuple[str, Path]] = (),
) -> Verification:
    """Score outputs again as a signature says.

    Parameters
    ----------
    signature : Signature
        With the score behind it, or `score` gives that.
    files : list of str
        References; without `systems` the signature says how many, and the rest are outputs.
    systems : list of str
        Files of outputs.
    score : str, optional
        The published score, as it was written.
    source : str, optional
        The file of what was translated.
    resources : list of (str, Path)
        Files that the metric asks for.

    Returns
    -------
    Verification

    Raises
    ------
    CommandError, MetricsError
    """
    references, outputs = _parted(signature, files, systems)
    published = score if score is not None else signature.score
    if published is not None and len(outputs) > 1:
        raise UsageError("A published score is that of one system: give one output.")
    metric = signature.metric()
    inputs = read_inputs(
        references,
        [GivenSystem([file]) for file in outputs],
        variable_references=signature.fields.get("nrefs") == "var",
        source=source,
    )
    options = ScoreOptions(metrics=[metric.specification], resource=resources)
    result = scored(options, [metric], inputs)
    (found,) = result.metrics
    verification = Verification(notes=[*_version(signature)])
    again = parse_signature(found.signature, found.measurement.metric.title)
    differing = [*_differing(signature, again)]
    for name, each in zip(result.names, found.systems, strict=True):
        equal, verdict = (True, NOT_COMPARED) if published is None else compared(published, each.score)
        verification.verdicts.append(
            Verdict(
                name, again.title, found.signature, published, None if each.score != each.score else each.score,
                equal, verdict, differing,
            )
        )  # fmt: skip
    return verification


def _parted(signature: Signature, files: Sequence[str], systems: Sequence[str]) -> tuple[list[str], list[str]]:
    """References and outputs. Raises UsageError and CommandError."""
    count = signature.references
    if not systems:
        if count is None:
            raise UsageError("The signature does not say how many references there are: give the outputs after -i.")
        if len(files) <= count:
            raise UsageError(
                f"The signature says {count} reference{'s'[: count > 1]}: give as many files, and then the output."
            )
        return [*files[:count]], [*files[count:]]
    if not files:
        raise UsageError("Give the references after the signature.")
    if count is not None and count != len(files):
        raise CommandError(f"The signature says nrefs:{count}, and {len(files)} references are given.")
    return [*files], [*systems]


def _version(signature: Signature) -> Iterator[str]:
    from steelyard.metrics.metric import VERSION

    version = signature.fields.get("version", "")
    if version and not signature.ours:
        yield f"The score was made by sacreBLEU {version}; this is Steelyard {VERSION}, which makes the same numbers."
    elif version and version != f"steelyard-{VERSION}":
        yield f"The score was made by {version}; this is version {VERSION}."
    where = [f"{key}:{signature.fields[key]}" for key in ("test", "subset", "origlang") if key in signature.fields]
    if where:
        yield f"The signature names the texts: {', '.join(where)}. They were taken from the files given."


def _differing(published: Signature, again: Signature) -> Iterator[str]:
    """Fields of both that differ, beside versions and resampling."""
    for key, value in published.fields.items():
        if key in again.fields and again.fields[key] != value and key not in ("version", *RESAMPLED):
            yield f"{key} was {value}, and is {again.fields[key]} here"
        elif key in BESIDE_PARAMETERS and key in ("from", "changed", "dict") and key not in again.fields:
            yield f"{key} was {value}, and is nothing here"
