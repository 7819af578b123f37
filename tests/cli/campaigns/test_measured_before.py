"""What `evaluate` says of what was there already."""

import pytest

from cli.campaigns.measured_before import measured_before


@pytest.mark.parametrize(
    ("amounts", "said"),
    [
        ([[0, 0], [0, 0], [0, 0]], []),
        ([[3, 3], [3, 3], [3, 3]], ["3 of 5 metrics of 2 systems were measured before."]),
        (
            [[5, 3], [3, 5], [0, 0]],
            [
                "5 of 5 metrics of 1 system were measured before (against A, B).",
                "3 of 5 metrics of 1 system were measured before (against A, B).",
            ],
        ),
        (
            [[2, 0, 5], [2, 5, 5], [2, 0, 5]],
            [
                "5 of 5 metrics of 2 systems were measured before (against B).",
                "5 of 5 metrics of 1 system were measured before (against A, A+B).",
                "2 of 5 metrics of 1 system were measured before.",
            ],
        ),
        ([[0, 0], [0, 0], [1, 1]], ["1 of 5 metrics of 2 systems were measured before (against A+B)."]),
    ],
)
def test_sentences(amounts: list[list[int]], said: list[str]) -> None:
    assert measured_before([["A"], ["B"], ["A", "B"]], 5, amounts) == said
