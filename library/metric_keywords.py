"""Writes `steelyard/metrics/keywords.py`: what type checkers and editors know of the keywords that metrics take.

`make keywords` runs it. The parameters that metrics declare are the only source, for sacreBLEU's names as well.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.metrics.registry import all_metrics, learned_metrics

if TYPE_CHECKING:
    import dataclasses
    from collections.abc import Iterator
    from typing import Any

    from steelyard.metrics.metric import Metric

PLACE = Path(__file__).parent / "steelyard" / "metrics" / "keywords.py"

HEAD = '''"""The keywords that metrics take, for type checkers and editors; `make keywords` writes this file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypedDict

from steelyard.metrics.resources import Resources
from steelyard.metrics.smoothing import Smoothing


class MetricKeywords(TypedDict, total=False):
    """What every metric takes beside its parameters: see `steelyard.metrics.metric.MetricType`."""

    references: Sequence[Sequence[str | None]] | None
    trg_lang: str | None
    force: bool | None
    resources: Resources | Mapping[str, str | Path] | None
'''


def written() -> str:
    """The whole file."""
    metrics = sorted([*all_metrics(), *learned_metrics()], key=lambda metric: metric.__name__)
    return "\n\n".join([HEAD, *map(_of_metric, metrics)])


def _of_metric(metric: type[Metric]) -> str:
    lines = [f"    {name}: {kind}" for field in metric.parameters() for name, kind in _keywords(field)]
    name = metric.__name__
    head = [f"class {name}Keywords(MetricKeywords, total=False):", f'    """Of `steelyard.{name}`."""', ""]
    return "\n".join([*head, *lines, ""])


def _keywords(field: dataclasses.Field[Any]) -> Iterator[tuple[str, str]]:
    """The parameter and sacreBLEU's names for it, with what each takes; None is as if it were not given."""
    own = _accepted(field)
    yield field.name, f"{own} | None"
    for alias in field.metadata["aliases"]:
        for name, kind in zip(alias.names, alias.types or (own,) * len(alias.names), strict=True):
            yield name, f"{kind} | None"


def _accepted(field: dataclasses.Field[Any]) -> str:
    if field.metadata["accepts"]:
        return str(field.metadata["accepts"])
    # A choice that can be written with more behind it is not known in advance.
    if field.metadata["choices"] and field.metadata["choice_of"] is str:
        choices = ", ".join(f'"{choice}"' for choice in field.metadata["choices"])
        return f"Literal[{choices}]"
    return str(field.type)


if __name__ == "__main__":
    PLACE.write_text(written(), "utf-8")
