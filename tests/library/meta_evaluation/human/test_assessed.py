"""What files of assessments are to the judgments of a test set: marked errors, ratings, or scores alone."""

import pytest

from steelyard.formats.input.contents import Contents
from steelyard.meta_evaluation.human.assessed import read_assessed
from steelyard.meta_evaluation.human.kinds import ERRORS, RATINGS, SCORES


def test_marked_errors_are_weights_that_add_up() -> None:
    """A format's score is minus them; judgments of errors keep the weights themselves."""
    error = '{{"start": {}, "end": {}, "severity": "{}", "category": "x"}}'
    both = ", ".join((error.format(0, 2, "major"), error.format(3, 4, "minor")))
    rated = f'tug\t{{"errors": [{both}]}}\tu1\ntug\t{{"errors": []}}\tu1\n'
    found = read_assessed(Contents(rated.encode(), name="en-cs.mqm.seg.rating"), 0, 2, {})
    assert found.kind == ERRORS
    first, second = (each[3] for each in found.judgments)
    assert first > 0
    assert (second, str(second)) == (0.0, "0.0")


@pytest.mark.parametrize(
    ("who", "spans", "kind"),
    [
        ("u1", "[]", RATINGS),
        ("", "[]", SCORES),
        ("", '"[{""start_i"": 0, ""end_i"": 1, ""severity"": ""minor""}]"', RATINGS),
    ],
)
def test_who_judged_or_what_was_marked_makes_a_rating(who: str, spans: str, kind: str) -> None:
    row = f"{who},tug,0,TGT,eng,ces,90,quay,False,{spans},0,1\n"
    assert read_assessed(Contents(row.encode(), name="x.csv"), 0, 2, {"quay": [0, 1]}).kind == kind
