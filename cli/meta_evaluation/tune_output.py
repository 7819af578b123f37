"""The results of `steelyard tune` as text, JSON, TSV and a chart."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from steelyard.tables import delimited
from steelyard.tables.text import aligned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.meta_evaluation.parameter_sweep import SweepCorrelation, SweepOptions
    from analysis.meta_evaluation.tuning import Choice, CrossFit, Tuned
    from steelyard.meta_evaluation.parameter_choice import Gain
    from steelyard.tables.delimited import Cell

BARS = "▁▂▃▄▅▆▇█"
FEW_SYSTEMS = 20
"""With fewer systems, a correlation at the system level does not generalise: Mathur et al. 2020."""
TSV_COLUMNS = (
    *("test_set", "references", "variant", "level", "statistic", "parameter", "value", "metric", "observed"),
    *("low", "high", "interval_level", "items", "unit", "chosen"),
)


def as_text(tuned: Sequence[Tuned], level: float) -> str:
    """Tables for a terminal."""
    from analysis.meta_evaluation.tuning import best_value

    blocks = [_heading(tuned[0], level)]
    for each in tuned:
        if each.label:
            blocks.append(f"== {each.label}")
        for together in _by_set(each.agreements):
            best = [best_value(each.sweep, agreement) for agreement in together]
            blocks.append(_curve_table(each, together, best, level))
        if each.choices:
            blocks.append(_choice_table(each))
        if each.cross_fits:
            blocks.append(_fold_table(each))
    blocks.append("\n".join(_remarks(tuned)))
    return "\n\n".join(block for block in blocks if block) + "\n"


def _heading(tuned: Tuned, level: float) -> str:
    listed, sweep = tuned.agreements[0].listed, tuned.sweep
    intervals = "no intervals"
    if listed.replicates:
        intervals = f"{100 * level:g} % intervals from {listed.replicates:,} bootstrap replicates, seed {listed.seed}"
    return f"{sweep.metrics[0].name}: {len(sweep.values)} values of {sweep.parameter}; {intervals}."


def _by_set(agreements: Sequence[SweepCorrelation]) -> list[list[SweepCorrelation]]:
    """The correlations grouped by test set and question; in each group one for each choice of references."""
    found: dict[tuple[int, str, SweepOptions], list[SweepCorrelation]] = {}
    for each in agreements:
        found.setdefault((each.listed.campaign_id, each.listed.name, each.question), []).append(each)
    return list(found.values())


def _curve_table(tuned: Tuned, together: Sequence[SweepCorrelation], best: Sequence[int | None], level: float) -> str:
    sweep, first = tuned.sweep, together[0]
    table = [[sweep.parameter, *("+".join(each.listed.references) for each in together)]]
    for row, value in enumerate(sweep.values):
        cells = [
            _shown(each, row, level) + (" *" if row == top else "") for each, top in zip(together, best, strict=True)
        ]
        table.append([value, *cells])
    for rival, metric in zip(_rivals(tuned), sweep.rivals, strict=True):
        table.append([metric.title, *(_shown(each, rival, level) for each in together)])
    table.append(["curve", *(sparkline(each.observed[: len(sweep.values)].tolist()) for each in together)])
    return f"{first.listed.name}, {_asked(first)}\n{aligned(table).rstrip()}"


def _asked(agreement: SweepCorrelation) -> str:
    question = agreement.question
    drawn = f", intervals draw {agreement.resampled}" if agreement.resampled else ""
    return (
        f"{question.level} level: {title_of(question)} with human scores, {agreement.items:,} {agreement.unit}{drawn}"
    )


def title_of(question: SweepOptions) -> str:
    """The statistic's name for people."""
    from steelyard.meta_evaluation.statistics import segment_statistic, system_statistic

    if question.level == "system":
        return system_statistic(question.statistic).title
    return segment_statistic(question.statistic).title


def sparkline(values: Sequence[float]) -> str:
    """A bar for each value, from the lowest to the highest; a blank where it is undefined."""
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return ""
    low, width = min(known), max(known) - min(known)
    steps = [0.0 if not width else (value - low) / width * (len(BARS) - 1) for value in values]
    return "".join(" " if math.isnan(step) else BARS[round(step)] for step in steps)


def _choice_table(tuned: Tuned) -> str:
    sweep = tuned.sweep
    table = [
        ["Chosen on", "Reported on", "Level", "Statistic", sweep.parameter, "There", "Best there"]
        + [f"Gain over {rival.title}" for rival in sweep.rivals]
    ]
    for choice in tuned.choices:
        there = choice.reported_on
        table.append(
            [
                _where(choice.chosen_on),
                "the same data" if choice.same_data else _where(there),
                there.question.level,
                title_of(there.question),
                sweep.values[choice.value],
                _number(there.observed[choice.value]),
                f"{_number(there.observed[choice.best])} at {sweep.values[choice.best]}",
                *(_gain(gain) for gain in choice.gains),
            ]
        )
    loud = ""
    if any(choice.same_data for choice in tuned.choices):
        loud = (
            "\nWARNING: chosen and reported on the same data. The best of many values looks good by chance alone; give "
            "a second test set to see what the choice is worth."
        )
    return f"Chosen values, and their gain elsewhere\n{aligned(table).rstrip()}{loud}"


def _fold_table(tuned: Tuned) -> str:
    sweep = tuned.sweep
    table = [
        ["Test set", "Level", "Statistic", f"{sweep.parameter} by fold", "Documents", "Unseen"]
        + [f"Gain over {rival.title}" for rival in sweep.rivals]
    ]
    for each in tuned.cross_fits:
        table.append(
            [
                f"{each.listed.name} ({'+'.join(each.listed.references)})",
                each.question.level,
                title_of(each.question),
                " ".join(sweep.values[value] for value in each.choice.values),
                "+".join(map(str, each.choice.documents)),
                _number(each.choice.observed),
                *(_gain(gain) for gain in each.choice.gains),
            ]
        )
    return (
        "Cross-fitting: each fold's documents measured with the value chosen on the other folds\n"
        + aligned(table).rstrip()
    )


def _remarks(tuned: Sequence[Tuned]) -> list[str]:
    agreements = [agreement for each in tuned for agreement in each.agreements]
    lines = ["* marks the best value of a column, the first of equal ones. Gains have the interval of the difference."]
    systems = [each for each in agreements if each.question.level == "system"]
    fewest = min((len(each.systems) for each in systems), default=FEW_SYSTEMS)
    if fewest < FEW_SYSTEMS:
        lines.append(
            f"Only {fewest} systems: correlations at the system level depend on each of them. Intervals that draw "
            "segments do not generalise to other systems."
        )
    return lines


def _where(agreement: SweepCorrelation) -> str:
    return f"{agreement.listed.name} ({'+'.join(agreement.listed.references)})"


def _shown(agreement: SweepCorrelation, metric: int, level: float) -> str:
    interval = agreement.interval(metric, level)
    ends = f" [{_number(interval[0])}, {_number(interval[1])}]" if interval else ""
    return _number(agreement.observed[metric]) + ends


def _gain(gain: Gain) -> str:
    if math.isnan(gain.difference):
        return "n/a"
    ends = f" [{_signed(gain.interval[0])}, {_signed(gain.interval[1])}]" if gain.interval else ""
    return _signed(gain.difference) + ends


def _signed(value: float) -> str:
    return f"{round(value, 3) + 0.0:+.3f}"


def _number(value: float) -> str:
    return "n/a" if math.isnan(value) else f"{value:.3f}"


def _rivals(tuned: Tuned) -> list[int]:
    from analysis.meta_evaluation.tuning import rival_positions

    return rival_positions(tuned.sweep)


def as_json(tuned: Sequence[Tuned], level: float) -> str:
    """Everything at full precision, null where undefined."""
    document = {
        "metric": tuned[0].sweep.metrics[0].name,
        "parameter": tuned[0].sweep.parameter,
        "values": list(tuned[0].sweep.values),
        "rivals": [metric.specification for metric in tuned[0].sweep.rivals],
        "variants": [
            {
                "variant": each.label,
                "curves": [_curve_object(each, agreement, level) for agreement in each.agreements],
                "choices": [_choice_object(each, choice, level) for choice in each.choices],
                "cross_fits": [_fold_object(each, fit, level) for fit in each.cross_fits],
            }
            for each in tuned
        ],
    }
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _curve_object(tuned: Tuned, agreement: SweepCorrelation, level: float) -> dict[str, Any]:
    from analysis.meta_evaluation.tuning import best_value

    best = best_value(tuned.sweep, agreement)
    return {
        **_place(agreement),
        "items": agreement.items,
        "unit": agreement.unit,
        "replicates": agreement.listed.replicates,
        "seed": agreement.listed.seed,
        "resampled": agreement.resampled or None,
        "best": None if best is None else tuned.sweep.values[best],
        "points": [
            {"value": value, **_point(agreement, position, level)} for position, value in enumerate(tuned.sweep.values)
        ],
        "rivals": [_point(agreement, position, level) for position in _rivals(tuned)],
    }


def _place(agreement: SweepCorrelation) -> dict[str, Any]:
    listed, question = agreement.listed, agreement.question
    return {
        "test_set": listed.name,
        "references": list(listed.references),
        "level": question.level,
        "statistic": question.statistic,
    }


def _point(agreement: SweepCorrelation, metric: int, level: float) -> dict[str, Any]:
    return {
        "metric": agreement.listed.metrics[metric],
        "observed": _null(agreement.observed[metric]),
        "interval": _interval(agreement.interval(metric, level), level),
    }


def _choice_object(tuned: Tuned, choice: Choice, level: float) -> dict[str, Any]:
    return {
        "chosen_on": _place(choice.chosen_on),
        "reported_on": _place(choice.reported_on),
        "same_data": choice.same_data,
        "value": tuned.sweep.values[choice.value],
        "observed": _null(choice.reported_on.observed[choice.value]),
        "best_there": tuned.sweep.values[choice.best],
        "gains": _gain_objects(tuned, choice.gains, level),
    }


def _fold_object(tuned: Tuned, fit: CrossFit, level: float) -> dict[str, Any]:
    return {
        "test_set": fit.listed.name,
        "references": list(fit.listed.references),
        "level": fit.question.level,
        "statistic": fit.question.statistic,
        "values": [tuned.sweep.values[value] for value in fit.choice.values],
        "documents": list(fit.choice.documents),
        "observed": _null(fit.choice.observed),
        "gains": _gain_objects(tuned, fit.choice.gains, level),
    }


def _gain_objects(tuned: Tuned, gains: Sequence[Gain], level: float) -> list[dict[str, Any]]:
    return [
        {
            "over": rival.specification,
            "difference": _null(gain.difference),
            "interval": _interval(gain.interval, level),
        }
        for rival, gain in zip(tuned.sweep.rivals, gains, strict=True)
    ]


def _interval(ends: tuple[float, float] | None, level: float) -> dict[str, float] | None:
    return None if ends is None else {"level": level, "low": ends[0], "high": ends[1]}


def _null(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def as_tsv(tuned: Sequence[Tuned], level: float) -> str:
    """One row for each curve and value, then those of the rivals, which have no value; empty where undefined."""
    from analysis.meta_evaluation.tuning import best_value

    rows: list[list[Cell]] = []
    for each in tuned:
        positions = [*enumerate(each.sweep.values), *((rival, "") for rival in _rivals(each))]
        for agreement in each.agreements:
            best = best_value(each.sweep, agreement)
            begin = [agreement.listed.name, "+".join(agreement.listed.references), each.label]
            begin += [agreement.question.level, agreement.question.statistic, each.sweep.parameter]
            for position, value in positions:
                interval = agreement.interval(position, level)
                ends: tuple[Cell, ...] = (*interval, level) if interval else (None, None, None)
                cells: list[Cell] = [value, agreement.listed.metrics[position], float(agreement.observed[position])]
                cells += [*ends, agreement.items, agreement.unit, "yes" if value and position == best else ""]
                rows.append([*begin, *cells])
    return delimited.as_tsv(TSV_COLUMNS, rows)


def as_svg(tuned: Sequence[Tuned], level: float) -> str:
    """One chart with a line for each variant, test set and question, for the last choice of references."""
    from campaigns.charts import Series, curve

    sweep = tuned[0].sweep
    numbers = [_float(value) for value in sweep.values]
    ticks = None if None not in numbers else list(sweep.values)
    x = [float(place) if ticks else number or 0.0 for place, number in enumerate(numbers)]
    series = []
    for each in tuned:
        for together in _by_set(each.agreements):
            agreement = together[-1]
            ends = [agreement.interval(position, level) for position in range(len(sweep.values))]
            nothing = (math.nan, math.nan)
            series.append(
                Series(
                    _line_name(each, agreement),
                    x,
                    agreement.observed[: len(sweep.values)].tolist(),
                    [(end or nothing)[0] for end in ends] if any(ends) else None,
                    [(end or nothing)[1] for end in ends] if any(ends) else None,
                )
            )
    name = sweep.metrics[0].name
    return curve(
        series, sweep.parameter, "agreement with human scores", ticks=ticks, width=820, height=420,
        title=f"{name} by {sweep.parameter}",
        description=f"Agreement of {name} with human scores for {len(sweep.values)} values of {sweep.parameter}.",
    )  # fmt: skip


def _line_name(tuned: Tuned, agreement: SweepCorrelation) -> str:
    parts = [tuned.label.rpartition("=")[2], agreement.listed.name]
    return " ".join([*filter(None, parts), agreement.question.level[:3], title_of(agreement.question)])


def _float(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
