"""Names of teams that are made to be taken for another's."""

from __future__ import annotations

import pytest
import regex  # type: ignore[import-untyped]

from campaigns.accounts.lookalikes import confusable_key
from steelyard.text.names import fault_of_name, hides
from tests.service.service import Service

ALIKE = {
    "Cyrillic": ("Sorbonne", "Sоrbonnе"),
    "Cyrillic throughout": ("coco", "сосо"),
    "Greek": ("KIT", "ΚΙΤ"),
    "a small L for I": ("IBM", "lBM"),
    "a digit": ("Logos", "L0gos"),
    "two letters for one": ("modern", "rnodern"),
    "wide letters": ("harbour", "ｈａｒｂｏｕｒ"),
    "an anonymous one": ("Team 12", "Tеam 12"),
}
UNSEEN = [
    "\u034f",
    "\u115f",
    "\u1160",
    "\u17b4",
    "\u180b",
    "\u3164",
    "\ufe0f",
    "\uffa0",
    "\U000e0100",
    "\u200d",
    "\u202e",
]


@pytest.mark.parametrize(("known", "made"), ALIKE.values(), ids=ALIKE)
@pytest.mark.parametrize("field", ["name", "publication_name"])
def test_no_team_is_called_like_another(service: Service, known: str, made: str, field: str) -> None:
    first, second = (service.program(service.account(each)) for each in ("mary", "eve"))
    there = first.post("/api/v1/teams", json={"name": "lighthouse", field: known})
    assert there.status_code == (422 if known == "Team 12" else 201), there.text
    answer = second.post("/api/v1/teams", json={"name": "dune", field: made})
    assert answer.status_code == (422 if known == "Team 12" else 409), answer.text
    assert second.post("/api/v1/teams", json={"name": "dune", field: "gull"}).status_code == 201


@pytest.mark.parametrize("unseen", UNSEEN, ids=ascii)
def test_no_team_differs_from_another_by_what_takes_no_ink(service: Service, unseen: str) -> None:
    program = service.program(service.account("eve"))
    for name in (f"harbour{unseen}", f"har{unseen}bour", unseen):
        assert program.post("/api/v1/teams", json={"name": name}).status_code == 422
        assert program.post("/api/v1/teams", json={"name": "gull", "publication_name": name}).status_code == 422


def test_no_character_that_takes_no_ink_is_in_a_name() -> None:
    ignorable = regex.compile(r"\p{Default_Ignorable_Code_Point}")
    named = [chr(code) for code in range(0x110000) if ignorable.match(chr(code))]
    assert [hex(ord(each)) for each in named if fault_of_name(f"a{each}a") is None] == []
    # What chooses the look of another character, and what joins letters, is left in texts.
    left = {ord(each) for each in named if not hides(each)}
    assert left == {*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0), 0x200C, 0x200D} - {0x180E}


@pytest.mark.parametrize("names", [("harbour", "Harfour"), ("CUNI", "CUNY"), ("team-a", "team-b"), ("ρόδα", "роза")])
def test_other_names_are_other_names(names: tuple[str, str]) -> None:
    first, second = names
    assert confusable_key(first) != confusable_key(second)
