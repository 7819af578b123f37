"""Boards from human judgments: the systems of each language pair, ranked by a rule."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from steelyard.errors import BadParameter
from steelyard.ranking.human_rules import ALL_RULES, AVERAGES, MACRO, OWN, RULES, Trials, rank_by_humans
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from steelyard.meta_evaluation.human.assessments import AssessedPair
    from steelyard.ranking.human_rules import RankedSystem

HUMAN = "human"

FEWEST = {"wmt24": 100, "wmt25": 500}
"""Judgments, of a system on average in 2024 and of a pair in 2025, below which WMT left a pair out."""


@dataclass(frozen=True)
class HumanRule:
    """How human judgments rank systems."""

    name: str
    """One of `ALL_RULES`."""
    average: str = MACRO
    """One of `AVERAGES`; WMT25 takes the mean over all judgments."""
    trials: Trials = field(default_factory=Trials)
    """For our own rule."""

    @property
    def own(self) -> bool:
        """Whether it is our own, not WMT's."""
        return self.name == OWN

    @property
    def specification(self) -> str:
        """As `parse_human_rule` takes it."""
        named = HUMAN if self.own else f"{HUMAN}:{self.name}"
        return named + ("" if self.average == MACRO else f":average={self.average}")


@dataclass(frozen=True)
class HumanBoard:
    """The systems of a language pair, best first; those that nobody judged are left out."""

    pair: str
    segments: int
    """Judged ones; one that was judged in several waves counts in each."""
    rule: HumanRule
    systems: tuple[tuple[str, RankedSystem], ...]
    notices: tuple[str, ...] = ()


def registered_human_rules() -> list[HumanRule]:
    """All rules, each as `parse_human_rule` takes its specification.

    Returns
    -------
    list of HumanRule
        Ours first, then WMT's in their order; each that has a choice of average by domains first.
    """
    return [
        HumanRule(name, average) for name in ALL_RULES for average in (AVERAGES if name != "wmt25" else AVERAGES[:1])
    ]


def parse_human_rule(specification: str, trials: Trials | None = None) -> HumanRule:
    """The rule that `human`, `human:RULE` or one with `:average=micro` behind it names.

    Parameters
    ----------
    specification : str
        `human` alone is our own rule.
    trials : Trials, optional
        For our own rule.

    Returns
    -------
    HumanRule

    Raises
    ------
    BadParameter
        For anything else.
    """
    human, *words = specification.split(":")
    name = words.pop(0) if words and "=" not in words[0] else OWN
    if human != HUMAN or name not in ALL_RULES or (words and name == "wmt25") or len(words) > 1:
        names = ", ".join([HUMAN, *(f"{HUMAN}:{each}" for each in RULES)])
        raise BadParameter(
            f'There is no rule "{specification}" for human rankings. Rules: {names}; all but the last with '
            ":average=micro behind it, too."
        )
    key, _, average = words[0].partition("=") if words else ("average", "=", MACRO)
    if key != "average" or average not in AVERAGES:
        raise BadParameter(f'"{words[0]}" is no option of {HUMAN}. There is average={" or ".join(AVERAGES)}.')
    return HumanRule(name, average, trials or Trials())


def human_board(judged: AssessedPair, rule: HumanRule) -> HumanBoard:
    """The board of a pair.

    Parameters
    ----------
    judged : AssessedPair
    rule : HumanRule

    Returns
    -------
    HumanBoard

    Raises
    ------
    BadParameter
        Where no system was judged.
    """
    found = rank_by_humans(
        judged.scores,
        judged.domains,
        rule=rule.name,
        average=rule.average,
        documents=judged.documents,
        adjusted=judged.adjusted,
        trials=rule.trials,
    )
    total = sum(each.n for each in found.ranks)
    judgments = total / len(found.ranks) if rule.name == "wmt24" else total
    title = f"{judged.pair}: " if judged.pair else ""
    notices = list(judged.notices)
    if judgments < FEWEST.get(rule.name, 0):
        what = f"{judgments:,.0f} judgments" + (" a system" if rule.name == "wmt24" else "")
        notices.append(f"{title}{what} are few: WMT left out pairs with fewer than {FEWEST[rule.name]}.")
    if rule.name != "wmt25" and rule.average == MACRO and "" in judged.domains:
        where = "any" if not any(judged.domains) else "some"
        notices.append(
            f"{title}the domain of {where} segments is not known, so they count as one. Name the documents' domains "
            "by --documents."
        )
    missing = [name for row, name in enumerate(judged.systems) if row not in {each.system for each in found.ranks}]
    if missing:
        notices.append(f"{title}not judged: {listed(missing)}.")
    return HumanBoard(
        judged.pair,
        len(judged.domains),
        rule,
        tuple((judged.systems[each.system], each) for each in found.ranks),
        tuple(notices),
    )
