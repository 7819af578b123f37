"""What was stored of files of human judgments, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.text.names import printable
from steelyard.text.wording import listed, number_of

if TYPE_CHECKING:
    from collections.abc import Sequence

RENAME_HINT = "Where they have another name here, say --rename OLD=NEW."


def describe_import(
    title: str, *, kind: str, judgments: int, rankings: int, annotators: int, systems: int, segments: int
) -> str:
    """What was stored, in one line; `systems` and `segments` count scores, and `title` says of which test set."""
    counts = []
    if judgments:
        # A ranking is several judgments, and one of errors may say that there is none.
        count, what = (rankings or judgments), "judgment" if kind == "errors" else kind[:-1]
        counts.append(f"{number_of(count, what)} by {number_of(annotators, 'annotator')}")
    scored = [(systems, "system"), (segments, "segment")]
    counts.append("scores of " + " and ".join(number_of(count, noun) for count, noun in scored if count))
    return f"{title}: {', '.join(counts)}."


def match_notices(matched: Sequence[str], unknown: Sequence[str], not_judged: Sequence[str]) -> list[str]:
    """Notices on which judged systems have submissions and which do not; human translations have none."""
    if not matched:
        # With submissions, judgments that match none of them are rejected.
        return ["The test set has no submissions yet; later ones are matched by exactly these names."]
    notices = [f"Judged and submitted: {_names(matched)}."]
    if unknown:
        notices.append(f"Judged, but not submitted under that name: {_names(unknown)}. {RENAME_HINT}")
    if not_judged:
        notices.append(f"Submitted, but not judged: {_names(not_judged)}.")
    return notices


def _names(names: Sequence[str]) -> str:
    return listed([printable(name) for name in names])
