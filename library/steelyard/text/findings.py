"""Collects what is wrong with a file, so that all of it can be said at once."""

from __future__ import annotations

from dataclasses import dataclass, field

from steelyard.errors import BadText
from steelyard.text.names import printable
from steelyard.text.wording import number_of

SHOWN_PROBLEMS = 50
SHOWN_NOTICES = 20
MOST_PROBLEMS = 1000
SHOWN_CHARACTERS = 60


class BadMarkup(BadText):
    """A file of marked-up documents is broken, or its parts do not fit together."""


@dataclass(slots=True)
class Findings:
    """Problems and notices about one file or set of files; only the first of each kind are kept, all are counted."""

    name: str
    problems: list[str] = field(default_factory=list)
    problem_count: int = 0
    notices: list[str] = field(default_factory=list)
    notice_count: int = 0
    error: type[BadText] = BadMarkup
    """What problems are raised as."""
    _again: dict[str, tuple[int, int, int | None]] = field(default_factory=dict)
    """What was found more than once: where it is among the problems, how often it came again, and where last."""

    def problem(self, sentence: str, line: int | None = None, name: str | None = None) -> None:
        """Something that the file cannot be used with; `name` is the file, when it is another one.

        Parameters
        ----------
        sentence : str
        line : int or None, optional
        name : str or None, optional
        """
        self.problem_count += 1
        key = f"{name or self.name}: {sentence}"
        if key in self._again:
            at, again, _ = self._again[key]
            self._again[key] = at, again + 1, line
        elif len(self.problems) < SHOWN_PROBLEMS:
            self._again[key] = len(self.problems), 0, line
            self.problems.append(f"{place(name or self.name, line)}: {sentence}")
        if self.problem_count >= MOST_PROBLEMS:
            # Whatever this file is, going on would only cost time.
            self.raise_if_any()

    def notice(self, sentence: str, line: int | None = None, name: str | None = None) -> None:
        """Something odd that does no harm; said once.

        Parameters
        ----------
        sentence : str
        line : int or None, optional
        name : str or None, optional
        """
        whole = f"{place(name or self.name, line)}: {sentence}"
        if whole in self.notices:
            return
        self.notice_count += 1
        if len(self.notices) < SHOWN_NOTICES:
            self.notices.append(whole)

    def include(self, others: Findings) -> None:
        """Add the problems and notices that were found elsewhere.

        Parameters
        ----------
        others : Findings
        """
        for kept, more in ((self.problems, others.told_problems()), (self.notices, others.notices)):
            kept += more[: max(0, (SHOWN_PROBLEMS if kept is self.problems else SHOWN_NOTICES) - len(kept))]
        self.problem_count += others.problem_count
        self.notice_count += others.notice_count

    def told_problems(self) -> list[str]:
        """The problems, each said once, and how often it was found.

        Returns
        -------
        list of str
        """
        told = list(self.problems)
        for at, again, last in self._again.values():
            if again:
                where = f", last in line {last:,}" if last is not None else ""
                told[at] += f" The same {number_of(again, 'more time')}{where}."
        return told

    def all_notices(self) -> tuple[str, ...]:
        """The notices, and how many more there were.

        Returns
        -------
        tuple of str
        """
        if self.notice_count > len(self.notices):
            more = f"{self.name}: {number_of(self.notice_count - len(self.notices), 'more notice')} left out."
            return (*self.notices, more)
        return tuple(self.notices)

    def raise_if_any(self) -> None:
        """Raise an error with all problems found so far."""
        told = self.told_problems()
        said = len(told) + sum(again for _, again, _ in self._again.values())
        if len(told) == 1 and said == self.problem_count:
            raise self.error(told[0])
        if self.problem_count:
            rows = "\n".join(f"  - {problem}" for problem in told)
            more = self.problem_count - said
            rest = f"\n  and {number_of(more, 'more problem')}" if more else ""
            raise self.error(f"{self.name}: {number_of(self.problem_count, 'problem')}:\n{rows}{rest}")


def place(name: str, line: int | None) -> str:
    """`FILE, line 3`, or the file alone.

    Parameters
    ----------
    name : str
    line : int or None

    Returns
    -------
    str
    """
    return name if line is None else f"{name}, line {line}"


def shown(text: str) -> str:
    """Something out of a file as messages show it: short, without control characters.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
    """
    return printable(text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}...")


def quoted(text: str) -> str:
    """The same in quotation marks.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
    """
    return f"'{shown(text)}'"
