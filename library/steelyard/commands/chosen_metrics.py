"""From the options about metrics to metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from steelyard.commands.errors import UsageError
from steelyard.commands.notices import note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.formats.plain import Text
    from steelyard.metrics.metric import Metric
    from steelyard.metrics.resources import Resources

DEFAULT_METRICS = ("bleu", "chrf", "ter")


class MetricOptions(Protocol):
    """What -m, -lc, -tok and -l gave."""

    metrics: Sequence[str] | None
    lowercase: bool
    tokenize: str | None
    language_pair: str | None


def chosen_metrics(options: MetricOptions) -> list[Metric]:
    """The metrics of -m with the defaults of -lc and -tok, before `resolved_metrics`.

    Raises UnknownMetric, BadParameter and UsageError.

    Parameters
    ----------
    options : MetricOptions

    Returns
    -------
    list of Metric
    """
    from steelyard.metrics.registry import asked_metrics

    if options.language_pair:
        source, dash, target = options.language_pair.partition("-")
        if not (source and dash and target):
            raise UsageError(f'-l {options.language_pair}: a language pair is written SRC-TRG, e.g. "en-cs".')
    return asked_metrics(_named(options), _defaults(options))


def asked_for(options: MetricOptions) -> list[str]:
    """The specifications of the same metrics as the user wrote them, independent of the target language.

    Parameters
    ----------
    options : MetricOptions

    Returns
    -------
    list of str
    """
    from steelyard.metrics.registry import parse_metrics

    metrics = parse_metrics(_named(options), _defaults(options))
    return [metric.specification for metric in metrics]


def _named(options: MetricOptions) -> Sequence[str]:
    from steelyard.commands.registered import registered_resources
    from steelyard.metrics.programs.registration import with_programs

    return with_programs(options.metrics or DEFAULT_METRICS, registered_resources())


def _defaults(options: MetricOptions) -> dict[str, str]:
    defaults = {}
    if options.lowercase:
        defaults["case"] = "lc"
    if options.tokenize:
        defaults["tok"] = checked_tokenizer(options.tokenize)
    return defaults


def checked_tokenizer(name: str) -> str:
    """The name, if a tokenizer has it. Raises UsageError.

    Parameters
    ----------
    name : str

    Returns
    -------
    str
    """
    from steelyard.tokenizers.registry import AUTO, TOKENIZERS

    if name not in (AUTO, *TOKENIZERS):
        raise UsageError(f'There is no tokenizer "{name}". Tokenizers: {", ".join((AUTO, *TOKENIZERS))}.')
    return name


def resolved_metrics(
    options: MetricOptions, metrics: Sequence[Metric], resources: Resources, language: str, texts: Sequence[Text]
) -> list[Metric]:
    """The metrics with everything pinned that they take from language, texts and resources; prints the notices.

    `language` is the target language where the input names it; -l takes precedence. Raises MetricsError.

    Parameters
    ----------
    options : MetricOptions
    metrics : sequence of Metric
    resources : Resources
    language : str
    texts : sequence of Text

    Returns
    -------
    list of Metric
    """
    from steelyard.formats.layers import common_layers
    from steelyard.metrics.resolution import resolve
    from steelyard.metrics.run_context import RunContext

    _, _, target = (options.language_pair or "").partition("-")
    found = {text.name: tuple(text.layers) for text in texts}
    resolved, notices = resolve(metrics, RunContext(target or language, common_layers(texts), resources, found))
    note(notices)
    return resolved
