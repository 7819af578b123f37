"""From the text `NAME[:key=value]...` to a metric."""

from __future__ import annotations

from contextlib import suppress
from difflib import get_close_matches
from typing import TYPE_CHECKING, cast

from steelyard.errors import BadParameter, MetricsError, UnknownMetric
from steelyard.metrics.built_in import BUILT_IN, LEARNED, PLACES, built_in_class
from steelyard.metrics.parameters import without_aliases
from steelyard.tokenizers.registry import AUTO

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard.metrics.metric import Metric

ALIASES = {"chrf++": "chrf:nw=2", "chrfpp": "chrf:nw=2"}
"""Names that people type for a metric with parameters."""


def all_metrics() -> tuple[type[Metric], ...]:
    """Every metric of the library that needs neither a model nor a program, imported now.

    Returns
    -------
    tuple of type of Metric
    """
    return tuple(map(built_in_class, PLACES))


def learned_metrics() -> tuple[type[Metric], ...]:
    """The library's metrics that need a model, imported now; the packages that run models are not.

    Returns
    -------
    tuple of type of Metric
    """
    return tuple(map(built_in_class, LEARNED))


def metric_class(name: str) -> type[Metric]:
    """The metric class of a name, of the library or of another distribution; the library's come first.

    Parameters
    ----------
    name : str

    Returns
    -------
    type of Metric

    Raises
    ------
    UnknownMetric
        With the names there are.
    BrokenMetric
        Where another distribution's cannot be used.
    """
    from steelyard.metrics.entry_points import offers, other_metric

    found = built_in_class(name) if name in BUILT_IN else other_metric(name)
    if found is None:
        names = sorted({*PLACES, *LEARNED, *ALIASES, *(offer.name for offer in offers())})
        close = get_close_matches(name, names, 1)
        hint = f' Did you mean "{close[0]}"?' if close else ""
        raise UnknownMetric(f'There is no metric "{name}".{hint} Metrics: {", ".join(names)}.')
    return cast("type[Metric]", found)


def parse_metric(specification: str, defaults: Mapping[str, str] | None = None) -> Metric:
    """The metric that a specification describes.

    Parameters
    ----------
    specification : str
        `NAME[:key=value]...`, such as "bleu:order=1-2:tok=intl".
    defaults : mapping of str to str, optional
        Parameters to use where the specification is silent. Those that a metric does not have or does not allow are
        passed over, and so is a tokenizer for a metric that by itself has none: sacreBLEU's `-tok` does not touch TER
        either.

    Returns
    -------
    Metric

    Raises
    ------
    UnknownMetric, BrokenMetric, BadParameter
    """
    name, *pairs = specification.strip().split(":")
    name = name.lower()
    if name in ALIASES:
        name, *more = ALIASES[name].split(":")
        pairs = [*more, *pairs]
    if name == "autorank" and pairs and "=" not in pairs[0]:
        # Its version alone, as shared tasks name it: autorank:wmt25.
        pairs[0] = f"rule={pairs[0]}"
    return with_parameters(metric_class(name), pairs, defaults)


def with_parameters(found: type[Metric], pairs: Sequence[str], defaults: Mapping[str, str] | None = None) -> Metric:
    """The metric of a class with some parameters.

    Parameters
    ----------
    found : type of Metric
    pairs : list of str
        Each `key=value`.
    defaults : mapping of str to str, optional
        As in `parse_metric`.

    Returns
    -------
    Metric

    Raises
    ------
    BadParameter
    """
    fields = {field.name: field for field in found.parameters()}
    given: dict[str, str] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals:
            raise BadParameter(f'{found.name}: "{pair}" is not of the form key=value.')
        if key in given:
            raise BadParameter(f"{found.name}: {key} is given twice, as {given[key]} and as {text}. Give it once.")
        given[key] = text
    values = without_aliases(found.name, found.parameters(), given)
    for key, text in (defaults or {}).items():
        choices = fields[key].metadata["choices"] if key in fields else ()
        if key in fields and text in (choices or (text,)) and (key != "tok" or found.follows_language()):
            values.setdefault(key, text)
    return found.from_texts(values)


def parse_metrics(specifications: Sequence[str], defaults: Mapping[str, str] | None = None) -> list[Metric]:
    """The metrics of a list.

    Parameters
    ----------
    specifications : list of str
    defaults : mapping of str to str, optional
        As in `parse_metric`.

    Returns
    -------
    list of Metric
        In its order.

    Raises
    ------
    BadParameter
        Where one is named twice, and what `parse_metric` raises.
    """
    parsed = [parse_metric(text, defaults) for text in specifications]
    for position, metric in enumerate(parsed):
        if metric in parsed[:position]:
            raise BadParameter(f'The metric "{metric.specification}" is named twice.')
    return parsed


def asked_metrics(
    specifications: Sequence[str], defaults: Mapping[str, str] | None = None, *, columns: Sequence[str] = ()
) -> list[Metric]:
    """The metrics that a user asks for, to be resolved: where no tokenizer is named, the target language chooses it.

    What is stored says it all, and is read by `parse_metrics`.

    Parameters
    ----------
    specifications : list of str
    defaults : mapping of str to str, optional
        As in `parse_metric`.
    columns : list of str
        Names of columns without texts that may be asked for, too.

    Returns
    -------
    list of Metric

    Raises
    ------
    UnknownMetric, BrokenMetric, BadParameter
    """
    metrics = parse_metrics(specifications, {"tok": AUTO, **(defaults or {})})
    for metric in metrics:
        if not metric.reads_texts and metric.name not in columns:
            raise BadParameter(
                f"{metric.name} is a column of a campaign's leaderboard, and is not computed from texts."
            )
    return metrics


def installed_metrics(specifications: Sequence[str]) -> list[Metric]:
    """The metrics of specifications as they are stored; those that are not installed here are passed over.

    Parameters
    ----------
    specifications : list of str

    Returns
    -------
    list of Metric
    """
    found = []
    for specification in specifications:
        with suppress(MetricsError):
            found.append(parse_metric(specification))
    return found
