"""The metrics and their parameters, from the registry."""

from __future__ import annotations

from markdown import code, table

from steelyard.metrics.registry import all_metrics, learned_metrics, metric_class

TOKENIZERS = "[tokenizers](../metrics.md#text-preparation)"


def table_of_all() -> str:
    """A row for each metric that comes with the library."""
    rows = []
    for metric in (*all_metrics(), *learned_metrics()):
        arrow = "higher" if metric.higher_is_better else "lower"
        rows.append((f"[`{metric.name}`](metrics/{metric.name}.md)", (metric.__doc__ or "").split("\n\n")[0], arrow))
    return table(("metric", "definition", "better"), rows)


def parameters(name: str) -> str:
    """The parameters of a metric with their defaults and choices."""
    metric = metric_class(name)
    plain, rows = metric(), []
    for field in metric.parameters():
        text = field.metadata["describe"]
        if field.name == "tok":
            text += f" ({TOKENIZERS})"
        elif field.metadata["choices"]:
            text += ": " + ", ".join(f"`{choice}`" for choice in field.metadata["choices"])
        theirs = ", ".join(f"`{name}`" for alias in field.metadata["aliases"] for name in alias.names)
        rows.append((code(field.name), code(plain.shown(field)), text, theirs))
    return table(("parameter", "default", "meaning", "in sacreBLEU"), rows)
