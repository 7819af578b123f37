"""Which leaderboard a corrected one is compared with."""

from types import SimpleNamespace
from typing import Any

import pytest

from campaigns.corrections.board_changes import previous_choice


def choice(number: int, *references: str) -> Any:
    return SimpleNamespace(id=number, listed=SimpleNamespace(references=references))


NEW = choice(2, "A", "B")


@pytest.mark.parametrize(
    ("choices", "replaced_by", "expected"),
    [
        ([choice(1, "A"), choice(1, "A", "B")], {1: 2}, 1),
        ([choice(1, "A"), choice(1, "B", "A")], {1: 2}, None),
        ([choice(3, "A", "B"), choice(1, "A", "B")], {1: 2, 3: None}, 1),
        ([choice(3, "A", "B")], {}, None),
        ([NEW], {2: None}, None),
    ],
    ids=["same references", "other references", "another test set", "hidden", "none"],
)
def test_the_same_references_of_the_version_that_was_replaced(
    choices: list[Any], replaced_by: dict[int, int | None], expected: int | None
) -> None:
    access: Any = SimpleNamespace(
        test_sets={number: SimpleNamespace(replaced_by=newer) for number, newer in replaced_by.items()}
    )
    found = previous_choice(access, [NEW, *choices], NEW)
    assert (found and found.id) == expected
    assert found is None or found.listed.references == NEW.listed.references
