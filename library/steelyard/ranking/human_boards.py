"""Boards from human judgments: the systems of each language pair, ranked by one of WMT's rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.errors import BadParameter
from steelyard.ranking.human_rules import ALPHA, AVERAGES, MACRO, RULES, rank_by_humans
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from steelyard.meta_evaluation.human.assessments import AssessedPair
    from steelyard.ranking.human_rules import RankedSystem

HUMAN = "human"

FEWEST = {"wmt24": 100, "wmt25": 500}
"""Judgments, of a system on average in 2024 and of a pair in 2025, below which WMT left a pair out."""

LEVEL = 1.0 - ALPHA


@dataclass(frozen=True)
class HumanRule:
    """How human judgments rank systems."""

    name: str
    """One of `RULES`."""
    average: str = MACRO
    """One of `AVERAGES`; WMT25 takes the mean over all judgments."""

    @property
    def specification(self) -> str:
        """As `parse_human_rule` takes it."""
        return f"{HUMAN}:{self.name}" + ("" if self.average == MACRO else f":average={self.average}")


@dataclass(frozen=True)
class HumanBoard:
    """The systems of a language pair, best first; those that nobody judged are left out."""

    pair: str
    segments: int
    """Judged ones; one that was judged in several waves counts in each."""
    rule: HumanRule
    systems: tuple[tuple[str, RankedSystem], ...]
    notices: tuple[str, ...] = ()


def parse_human_rule(specification: str) -> HumanRule:
    """The rule that `human:RULE` or `human:wmt24:average=micro` names.

    Parameters
    ----------
    specification : str

    Returns
    -------
    HumanRule

    Raises
    ------
    BadParameter
        For anything else.
    """
    name, *options = specification.split(":")[1:] or [""]
    known = f"Rules: {', '.join(f'{HUMAN}:{each}' for each in RULES)}."
    if specification.partition(":")[0] != HUMAN or name not in RULES:
        what = f'There is no rule "{name}" for human rankings.' if name else f"{HUMAN} needs a rule."
        raise BadParameter(f"{what} {known}")
    average = MACRO
    for option in options:
        key, _, average = option.partition("=")
        if (name, key) != ("wmt24", "average") or average not in AVERAGES:
            raise BadParameter(f'{HUMAN}:{name} does not take "{option}". Only {HUMAN}:wmt24:average=micro is there.')
    return HumanRule(name, average)


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
    found = rank_by_humans(judged.scores, judged.domains, rule=rule.name, average=rule.average)
    total = sum(each.n for each in found.ranks)
    judgments = total / len(found.ranks) if rule.name == "wmt24" else total
    title = f"{judged.pair}: " if judged.pair else ""
    notices = list(judged.notices)
    if judgments < FEWEST[rule.name]:
        what = f"{judgments:,.0f} judgments" + (" a system" if rule.name == "wmt24" else "")
        notices.append(f"{title}{what} are few: WMT left out pairs with fewer than {FEWEST[rule.name]}.")
    if rule == HumanRule("wmt24") and "" in judged.domains:
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
