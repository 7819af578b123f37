"""Whether a number that was computed again is the published one, and the message about it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from steelyard.tables.rendering import as_json, render
from steelyard.tables.table import Column, Kind, Table

BITS = "equal to the bit"
NOT_COMPARED = "nothing to compare with"


@dataclass(frozen=True)
class Verdict:
    """A published number beside the same one computed again."""

    system: str
    metric: str
    """As people know it."""
    signature: str
    """Of the score computed again."""
    published: str | None
    """As it was written; None for an undefined score, or where none was given."""
    recomputed: float | None
    """None where it is undefined, or could not be computed."""
    equal: bool
    verdict: str
    differences: Sequence[str] = ()
    """What differs, in words."""


@dataclass
class Verification:
    """All that was computed again, and what kept the rest from it."""

    verdicts: list[Verdict] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """Texts that are not those that were scored, and the like: the published numbers are not reproduced."""
    notes: list[str] = field(default_factory=list)
    """What a reader should know, though the numbers are equal: another version made them."""

    @property
    def verified(self) -> bool:
        """Whether everything that was published came out again."""
        return not self.problems and all(each.equal for each in self.verdicts)

    def rendered(self, form: str) -> str:
        """The whole result in a format of tables.

        Parameters
        ----------
        form : str

        Returns
        -------
        str
        """
        if form == "json":
            return as_json(
                {
                    "verified": self.verified,
                    "scores": [asdict(each) for each in self.verdicts],
                    "problems": self.problems,
                    "notes": self.notes,
                }
            )
        columns = [
            Column("system", "System", Kind.NAME),
            Column("metric", "Metric", Kind.NAME),
            Column("published", "Published"),
            Column("recomputed", "Computed again"),
            Column("verdict", "Verdict"),
        ]
        # Boards that draw differently have the same scores, whose signatures only JSON shows.
        rows = dict.fromkeys(
            (each.system, each.metric, each.published or "", _exact(each.recomputed), each.verdict)
            for each in self.verdicts
        )
        told = [f"{each.system}, {each.metric}: {line}" for each in self.verdicts for line in each.differences]
        return render([Table(columns, [*rows], "Verification", notes=[*self.problems, *told, *self.notes])], form, "")


def _exact(value: float | None) -> str:
    return "n/a" if value is None else repr(value)


def compared(published: str | None, found: float | None) -> tuple[bool, str]:
    """Whether a number is the published one, and in words how far.

    Parameters
    ----------
    published : str or None
        As it was written: equal in all digits that were written is equal. None for an undefined number.
    found : float or None
        None and NaN where it is undefined.

    Returns
    -------
    equal : bool
    verdict : str
    """
    undefined = found is None or math.isnan(found)
    if published is None or published in ("nan", "n/a", "null"):
        return undefined, "both undefined" if undefined else "differs: undefined when it was published"
    if undefined or found is None:
        return False, "differs: undefined now"
    value = float(published)
    if value == found:
        return True, BITS
    decimals = len(published.lower().partition("e")[0].partition(".")[2])
    if "e" not in published.lower() and f"{found:.{decimals}f}" == published.lstrip("+"):
        return True, "equal in all digits published"
    return False, f"differs by {found - value:+.3g}"


def different(published: Any, found: Any, where: str = "") -> Iterator[str]:
    """What differs between two documents, in words; numbers of the published one are texts, as they were written.

    Parameters
    ----------
    published, found : Any
        Dictionaries, lists and values, as JSON has them.
    where : str
        Of the part that is compared.

    Yields
    ------
    str
    """
    if isinstance(published, Mapping) and isinstance(found, Mapping):
        for key in {**published, **found}:
            place = f"{where}.{key}" if where else str(key)
            if key not in found:
                yield f"{place} is not computed by this version"
            elif key in published:
                yield from different(published[key], found[key], place)
    elif isinstance(published, list) and isinstance(found, list):
        if len(published) != len(found):
            yield f"{where} has {len(published)} entries, computed again {len(found)}"
        for number, (one, other) in enumerate(zip(published, found, strict=False)):
            yield from different(one, other, f"{where}[{number}]")
    elif isinstance(found, (int, float)) and not isinstance(found, bool):
        if not isinstance(published, str) or not compared(published, found)[0]:
            yield f"{where} is {published}, computed again {found!r}"
    elif published != found:
        yield f"{where} is {published!r}, computed again {found!r}"
