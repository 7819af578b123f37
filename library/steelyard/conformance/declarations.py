"""What a metric promises about itself: its names, its parameters, its signature, its best score."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.conformance.campaign import Campaign
from steelyard.conformance.subject import PromiseBroken, Subject
from steelyard.errors import BadParameter, MetricsError
from steelyard.metrics.registry import with_parameters
from steelyard.metrics.resolution import resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from steelyard.metrics.metric import Metric

    Declaration = Callable[[Subject], None]

HOSTILE = (
    "", " ", "-1", "nan", "inf", "-inf", "1e999", "9" * 400, "9" * 5000, "0x10", "1_0", "١", "\0", "a\nb", "a:b", "a|b",
    "a=b", "é", "YES", "true", "None", "1-99999999", "floor[" + "9" * 400 + "]", "add-k[0.0]", "../../etc/passwd",
    "@", "x@y",
)  # fmt: skip
"""Values that somebody might give to a parameter."""


def it_says_what_it_is(subject: Subject) -> None:
    """It has a name in lower case, a source, a docstring, a cost, distinct columns, and described parameters.

    Parameters
    ----------
    subject : Subject
    """
    metric = subject.metric
    if not metric.name or metric.name != metric.name.lower() or set(metric.name) & set(":=|@ \n"):
        raise PromiseBroken(f'"{metric.name}" cannot be a name: give lower case letters, digits, "_" and "-".')
    for what, found in (("source", metric.source), ("docstring", type(metric).__doc__), ("title", metric.title)):
        if not found:
            raise PromiseBroken(f"It has no {what}.")
    if not metric.cost > 0:
        raise PromiseBroken("Its cost is not above 0.")
    if not metric.columns or len(set(metric.columns)) < len(metric.columns):
        raise PromiseBroken(f"Its columns are not distinct: {', '.join(metric.columns) or 'there are none'}.")
    for field in metric.parameters():
        if not field.metadata["describe"]:
            raise PromiseBroken(f"The parameter {field.name} has no description.")


def it_can_be_written_and_read(subject: Subject) -> None:
    """Its specification parses back to an equal metric, and resolving it again changes nothing.

    Parameters
    ----------
    subject : Subject
    """
    _read_back(subject.metric)
    (again,), _ = resolve([subject.metric], subject.context)
    if again != subject.metric:
        raise PromiseBroken(f"{subject.metric.specification} resolves to something else: {again.specification}.")


def the_signature_names_every_parameter(subject: Subject) -> None:
    """Changing any parameter changes the signature; references, replicates and seed are in it, each key once.

    Parameters
    ----------
    subject : Subject
    """
    metric = subject.metric
    for field in metric.parameters():
        before, changed = _change(metric, field)
        if changed.signature(1) == before.signature(1):
            raise PromiseBroken(f"The parameter {field.name} is not in the signature.")
        _read_back(changed)
    signature = metric.signature(2, 1000, 7)
    keys = [part.partition(":")[0] for part in signature.split("|")]
    if len(set(keys)) < len(keys) or "|bs:1000|seed:7|" not in signature or keys[0] != "nrefs":
        raise PromiseBroken(f"The signature is not well formed: {signature}")


def bad_values_are_refused(subject: Subject) -> None:
    """Any text given to a parameter is refused with BadParameter, or makes a metric that works.

    Parameters
    ----------
    subject : Subject
    """
    line = "the cat sat on the mat and slept"
    campaign = Campaign({"R": [line]}, {"S": ["a cat lay on the mat or slept not"]}, [line])
    for field in subject.metric.parameters():
        for text in HOSTILE:
            try:
                given = {field.name: text}
                metric = type(subject.metric).from_texts(given)
            except BadParameter:
                continue
            except Exception as error:
                raise PromiseBroken(f"{field.name}={text[:30]!r} raises {error!r:.200}, not BadParameter.") from error
            _read_back(metric)
            try:
                (resolved,), _ = resolve([metric], subject.context)
            except MetricsError:
                continue
            score = Subject(resolved, subject.context).scores(campaign)
            if np.isinf(score).any():
                raise PromiseBroken(f"With {field.name}={text[:30]!r} the score is infinite.")


def a_perfect_text_scores_best(subject: Subject) -> None:
    """A text equal to its reference gets `scale` (0 for an error rate), within 1 %, and more than a spoilt one.

    Parameters
    ----------
    subject : Subject
    """
    metric = subject.metric
    lines = [" ".join(f"word{number}{letter}" for number in range(200)) for letter in "ab"]
    spoilt = [" ".join(line.split()[::-3]) + " wrong" for line in lines]
    perfect, worse = metric_scores = subject.scores(Campaign({"R": lines}, {"S": lines, "T": spoilt}, lines))
    if not np.isfinite(metric_scores).all():
        raise PromiseBroken(f"A perfect text scores {perfect}, a spoilt one {worse}.")
    best = metric.scale if metric.higher_is_better else 0.0
    # An infinite scale says that there is no best score.
    if abs(perfect - best) > 0.01 * metric.scale:
        raise PromiseBroken(f"A perfect text scores {perfect:.4f}, not {best:g}.")
    if not (perfect > worse if metric.higher_is_better else perfect < worse):
        raise PromiseBroken(f"A perfect text scores {perfect:.4f}, a spoilt one {worse:.4f}: that is not better.")


DECLARATIONS: tuple[Declaration, ...] = (
    it_says_what_it_is,
    it_can_be_written_and_read,
    the_signature_names_every_parameter,
    bad_values_are_refused,
    a_perfect_text_scores_best,
)
"""Each holds for every metric."""


def _read_back(metric: Metric) -> None:
    name, *pairs = metric.specification.split(":")
    if name != metric.name or metric.specification != metric.specification.strip():
        raise PromiseBroken(f"{metric.specification!r} is not NAME[:key=value]...")
    if with_parameters(type(metric), pairs) != metric:
        raise PromiseBroken(f"{metric.specification!r} does not parse back to an equal metric.")


def _change(metric: Metric, field: dataclasses.Field[Any]) -> tuple[Metric, Metric]:
    """Two metrics that differ in this parameter alone, the first being this one where its others allow it."""
    for before in (metric, type(metric)()):
        for text in _candidates(metric, field):
            try:
                values = {each.name: before.shown(each) for each in before.parameters()} | {field.name: text}
                changed = type(metric).from_texts(values)
            except BadParameter:
                continue
            if changed != before:
                return before, changed
    raise PromiseBroken(f"No other value is known for {field.name}: give one in `examples`.")


def _candidates(metric: Metric, field: dataclasses.Field[Any]) -> Iterator[str]:
    yield from field.metadata["choices"]
    for example in metric.examples:
        yield from (text for key, _, text in (pair.partition("=") for pair in example.split(":")) if key == field.name)
    yield type(metric)().shown(field)
    yield from ("yes", "no", "1", "2", "3", "0.5", "1-2", "none", "other")
