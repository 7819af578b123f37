"""Signatures that were printed somewhere, ours or sacreBLEU's, and the metrics that they stand for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from steelyard.errors import BadParameter, UnknownMetric
from steelyard.metrics.built_in import PLACES
from steelyard.metrics.registry import metric_class

if TYPE_CHECKING:
    from steelyard.metrics.metric import Metric

BESIDE_PARAMETERS = frozenset(
    {
        "nrefs",
        "bs",
        "ar",
        "seed",
        "resample",
        "test",
        "lang",
        "subset",
        "origlang",
        "version",
        "from",
        "changed",
        "dict",
    }
)
"""Fields of signatures that say what was scored, how it was resampled, and with what, and are no parameters."""
_SHORT = {
    "#": "nrefs",
    "v": "version",
    "rs": "seed",
    "l": "lang",
    "S": "subset",
    "o": "origlang",
    "c": "case",
    "e": "eff",
}
_SHORT_OF = {
    "bleu": {"s": "smooth", "t": "test"},
    "chrf": {"s": "space", "t": "test"},
    "ter": {"t": "tok", "nr": "norm", "pn": "punct", "as": "asian"},
}
"""The keys of sacreBLEU's short signatures."""
_FIRST_RELEASES = {"numrefs": "nrefs", "numchars": "nc"}
"""Keys of sacreBLEU 1, such as BLEU+case.mixed+numrefs.1+smooth.exp+tok.13a+version.1.5.1."""
_TITLE = re.compile(r"[^\W\d]+(?:[-_][^\W\d]+)*")
_VALUE = re.compile(r"[-+]?\d[\d.]*(?:[eE][-+]?\d+)?|nan|n/a")


@dataclass(frozen=True)
class Signature:
    """A signature taken apart."""

    title: str
    """The metric's name, as people read it: chrF2++; "" where the signature does not say it."""
    fields: Mapping[str, str]
    """Of version 2 of sacreBLEU, and our own."""
    score: str | None = None
    """The score that was printed behind it, as it was printed."""

    @property
    def references(self) -> int | None:
        """How many there were; None where that differs between segments, or is not said."""
        given = self.fields.get("nrefs", "")
        return int(given) if given.isdecimal() else None

    @property
    def replicates(self) -> int:
        """Of the bootstrap; 0 without one."""
        given = self.fields.get("bs", "")
        return int(given) if given.isdecimal() else 0

    @property
    def ours(self) -> bool:
        """Whether this program made it, in some version."""
        return self.fields.get("version", "").startswith("steelyard-")

    def metric(self) -> Metric:
        """The metric with the parameters that the signature names.

        Returns
        -------
        Metric

        Raises
        ------
        UnknownMetric
            Where no metric has that name.
        BadParameter
            Where it has no such parameter or value.
        """
        found = metric_class(name_of(self.title))
        own = {field.name for field in found.parameters()}
        # Meteor has a parameter of the name of a field that says what was scored.
        known = {key: value for key, value in self.fields.items() if key in own or key not in BESIDE_PARAMETERS}
        if not self.ours:
            known.pop("lang", None)
        return found.from_signature(self.title, known)


def name_of(title: str) -> str:
    """The name of the metric that has a title.

    Parameters
    ----------
    title : str
        Such as "chrF2++", "F-measure" or "BLEU (tok=zh)".

    Returns
    -------
    str
        In the registry.

    Raises
    ------
    UnknownMetric
    """
    if not title:
        raise UnknownMetric(
            "A signature begins with the name of a metric, and this one has none. Write it in front, as in "
            "BLEU|nrefs:1|...: files in JSON keep it beside the signature."
        )
    found = _TITLE.match(title)
    bare = _letters(found.group() if found else title)
    for name in PLACES:
        if _letters(name) == bare:
            return name
    from steelyard.metrics.entry_points import offers

    names = [*PLACES, *(offer.name for offer in offers())]
    for name in names:
        if name == title or _letters(name) == bare:
            return name
    close = get_close_matches(bare, names, 1)
    raise UnknownMetric(
        f'A signature begins with the name of a metric, and there is no metric "{title[:60]}".'
        + (f' Did you mean "{close[0]}"?' if close else "")
    )


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name.lower())


def parse_signature(text: str, title: str = "") -> Signature:
    """Take a signature apart.

    Parameters
    ----------
    text : str
        `BLEU|nrefs:1|case:mixed|...`, with or without ` = 33.2 ...` behind it: ours, sacreBLEU's, its short form, or
        that of its first releases, with "+" between the fields.
    title : str, optional
        The metric's name, where the text does not begin with it.

    Returns
    -------
    Signature

    Raises
    ------
    UnknownMetric, BadParameter
    """
    signature, equals, printed = text.strip().partition(" = ")
    first, *parts = signature.split("|")
    separator = ":"
    if not parts and "+" in first:
        first, *parts = first.split("+")
        separator = "."
    if ":" in first and separator == ":":
        first, parts = title, [first, *parts]
    pairs = [part.partition(separator) for part in parts]
    if not pairs or any(not (key and sign) for key, sign, _ in pairs):
        raise BadParameter(
            f"{text[:100]!r} is neither a file nor a signature: NAME|key:value|key:value..., as `steelyard score` and "
            "sacreBLEU print it."
        )
    given = {key: value for key, _, value in pairs}
    short = {**_SHORT, **_SHORT_OF.get(name_of(first), {})} if "#" in given else {}
    fields = {(short | _FIRST_RELEASES).get(key, key): value for key, value in given.items()}
    if separator == ".":
        fields = _of_first_releases(fields)
    score = _VALUE.match(printed.strip())
    if equals and not score:
        raise BadParameter(f"{printed[:40]!r} behind the signature begins with no score.")
    return Signature(first, fields, score.group() if score else None)


def _of_first_releases(fields: Mapping[str, str]) -> dict[str, str]:
    """Fields of sacreBLEU 1 as version 2 has them."""
    found = dict(fields)
    if "space" in found:
        found["space"] = {"False": "no", "True": "yes"}.get(found["space"], found["space"])
    if found.get("tok", "").startswith("tercom-"):
        _, norm, punct, asian, case = (found["tok"] + "----").split("-")[:5]
        found |= {
            "tok": "tercom",
            "norm": "yes" if norm == "norm" else "no",
            "asian": "yes" if asian == "asian" else "no",
        }
        found |= {"punct": "yes" if punct == "punct" else "no", "case": "lc" if case == "uncased" else "mixed"}
    return found
