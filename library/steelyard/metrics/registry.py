"""From the text `NAME[:key=value]...` to a metric."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING

from steelyard.errors import BadParameter, UnknownMetric
from steelyard.metrics.parameters import without_aliases
from steelyard.tokenizers.registry import AUTO, USUAL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard.metrics.metric import Metric

PLACES = {
    "bleu": "steelyard.metrics.ngram.bleu:BLEU",
    "nist": "steelyard.metrics.ngram.nist:NIST",
    "chrf": "steelyard.metrics.ngram.chrf:ChrF",
    "ter": "steelyard.metrics.edit.ter:TER",
    "wer": "steelyard.metrics.edit.wer:WER",
    "per": "steelyard.metrics.edit.per:PER",
    "fmeasure": "steelyard.metrics.alignment.fmeasure:FMeasure",
    "gtm": "steelyard.metrics.alignment.gtm:GTM",
    "tbleu": "steelyard.metrics.alignment.tbleu:TBLEU",
    "meteor": "steelyard.metrics.alignment.meteor:Meteor",
    "sempos": "steelyard.metrics.alignment.sempos:SemPOS",
    "bleu_modif": "steelyard.metrics.embeddings.bleu_modif:BLEUModif",
    "wer_modif": "steelyard.metrics.embeddings.wer_modif:WERModif",
    "lebleu": "steelyard.metrics.ngram.lebleu:LeBLEU",
    "character": "steelyard.metrics.edit.character:CharacTER",
    "ribes": "steelyard.metrics.ngram.ribes:RIBES",
}
"""Where every metric of the library is: it is imported when somebody asks for it.

Adding one: its file, a line here, its test, its page."""

ALIASES = {"chrf++": "chrf:nw=2", "chrfpp": "chrf:nw=2"}
"""Names that people type for a metric with parameters."""


def all_metrics() -> tuple[type[Metric], ...]:
    """Every metric of the library."""
    return tuple(map(_imported, PLACES))


def metric_class(name: str) -> type[Metric]:
    """The metric class called `name`, of the house or of another distribution.

    The house comes first. Raises UnknownMetric, with the names there are, and BrokenMetric.
    """
    from steelyard.metrics.entry_points import offers, other_metric

    found = _imported(name) if name in PLACES else other_metric(name)
    if found is None:
        names = sorted({*PLACES, *ALIASES, *(offer.name for offer in offers())})
        close = get_close_matches(name, names, 1)
        hint = f' Did you mean "{close[0]}"?' if close else ""
        raise UnknownMetric(f'There is no metric "{name}".{hint} Metrics: {", ".join(names)}.')
    return found


def is_built_in(metric: type[Metric]) -> bool:
    """Whether it is the library's metric of its name; imports no other."""
    return metric.name in PLACES and _imported(metric.name) is metric


def _imported(name: str) -> type[Metric]:
    module, _, of_class = PLACES[name].partition(":")
    found: type[Metric] = getattr(import_module(module), of_class)
    return found


def parse_metric(specification: str, defaults: Mapping[str, str] | None = None) -> Metric:
    """The metric that `NAME[:key=value]...` describes.

    `defaults` are parameters to use where the specification is silent; those that a metric does not have or
    does not allow are passed over, and so is a tokenizer for a metric that by itself has none: sacreBLEU's
    `-tok` does not touch TER either. Raises UnknownMetric, BrokenMetric and BadParameter.
    """
    name, *pairs = specification.strip().split(":")
    name = name.lower()
    if name in ALIASES:
        name, *more = ALIASES[name].split(":")
        pairs = [*more, *pairs]
    return with_parameters(metric_class(name), pairs, defaults)


def with_parameters(found: type[Metric], pairs: Sequence[str], defaults: Mapping[str, str] | None = None) -> Metric:
    """The metric of this class with the parameters of `key=value` pairs; `defaults` as in `parse_metric`.

    Raises BadParameter.
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
        if key in fields and text in (choices or (text,)) and (key != "tok" or follows_language(found)):
            values.setdefault(key, text)
    return found.from_texts(values)


def follows_language(found: type[Metric]) -> bool:
    """Whether the tokenizer of these metrics is that of the target language where none is named.

    Those that by themselves have none, TER among them, go on without one, as in sacreBLEU.
    """
    return any(field.name == "tok" and field.default == USUAL for field in found.parameters())


def parse_metrics(specifications: Sequence[str], defaults: Mapping[str, str] | None = None) -> list[Metric]:
    """The metrics of a list, in its order. Raises BadParameter where one is named twice."""
    parsed = [parse_metric(text, defaults) for text in specifications]
    for position, metric in enumerate(parsed):
        if metric in parsed[:position]:
            raise BadParameter(f'The metric "{metric.specification}" is named twice.')
    return parsed


def asked_metrics(specifications: Sequence[str], defaults: Mapping[str, str] | None = None) -> list[Metric]:
    """The metrics that a user asks for, to be resolved: where no tokenizer is named, the target language chooses it.

    What is stored says it all, and is read by `parse_metrics`. Raises what that raises.
    """
    return parse_metrics(specifications, {"tok": AUTO, **(defaults or {})})
