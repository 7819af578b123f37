"""Numbers of parameters, as people write and read them."""

from __future__ import annotations

import pytest

from steelyard_client.documents.submissions.systems import MAX_PARAMETERS, parameters_text, parse_parameters


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("", None), ("  ", None), ("1", 1), ("7000000000", 7 * 10**9), ("7,000,000,000", 7 * 10**9), ("7B", 7 * 10**9),
        (" 1.3b ", 13 * 10**8), ("350 M", 35 * 10**7), ("0.5k", 500), ("1.000001t", 1_000_001 * 10**6),
        ("1000000t", MAX_PARAMETERS),
    ],
)  # fmt: skip
def test_they_are_read_exactly(text: str, number: int | None) -> None:
    assert parse_parameters(text) == number


@pytest.mark.parametrize("text", ["0", "0.0B", "0.5", "1000001t", "-1", "7BB", "7 000", "7e9", ".5B", "seven"])
def test_what_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no number of parameters"):
        parse_parameters(text)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (None, ""), (1, "1"), (999, "999"), (1000, "1K"), (10**6, "1M"), (10**9, "1B"), (10**12, "1T"),
        (1_300_000_000, "1.3B"), (7_615_616_512, "7.616B"), (999_999, "1M"), (999_949, "999.9K"),
        (MAX_PARAMETERS, "1000000T"),
    ],
)  # fmt: skip
def test_they_are_written_in_the_largest_unit_that_they_have(number: int | None, text: str) -> None:
    assert parameters_text(number) == text
