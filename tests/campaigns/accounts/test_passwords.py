"""Which passwords are refused, and how they are stored."""

import pytest
from argon2 import PasswordHasher

from campaigns.accounts.passwords import check_password, hash_password, needs_rehash, verify_password
from campaigns.errors import BadRequest

MARY = {"email": "mary.miller@example.org", "name": "Mary Miller"}


@pytest.mark.parametrize(
    ("password", "why"),
    [
        ("", "has 0"),
        ("short", "has 5"),
        ("x" * 201, "has 201"),
        ("aaaaaaaaaaaa", "repeated or consecutive"),
        ("1212121212121", "repeated or consecutive"),
        ("1234567890", "consecutive"),
        ("9876543210", "consecutive"),
        ("abcdefghijkl", "consecutive"),
        ("password123", "too common"),
        ("Passw0rd2026!", "too common"),
        ("!!!letmein!!!", "too common"),
        ("steelyard2026", "too common"),
        ("qwertyuiop", "too common"),
        ("passwordpassword", "too common"),
        ("mary.miller@example.org", "your name"),
        ("MaryMiller1", "your name"),
        ("marymillermarymiller", "your name"),
    ],
)
def test_what_is_tried_first_is_refused(password: str, why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        check_password(password, **MARY)


@pytest.mark.parametrize(
    "password",
    ["correct horse battery", "žluťoučký kůň", "a7#kQ!2mZp", "kdo to čte, je hodný", "日本語の長い合言葉です"],
)
def test_others_are_taken(password: str) -> None:
    check_password(password, **MARY)


def test_a_password_is_known_again_however_it_was_typed() -> None:
    stored = hash_password("žluťoučký kůň")
    # RFC 9106's second choice, for servers: 64 MiB, three passes.
    assert stored.startswith("$argon2id$v=19$m=65536,t=3,")
    assert "kůň" not in stored
    assert verify_password("z\u030clut\u030couc\u030cky\u0301 ku\u030an\u030c", stored)
    assert not verify_password("zlutoucky kun", stored)
    assert not verify_password("x" * 10_000_000, stored)


def test_nobody_has_a_password() -> None:
    assert not verify_password("the password of nobody", None)
    assert not verify_password("", None)
    assert not verify_password("anything at all", "not a hash")


def test_weaker_hashes_are_replaced() -> None:
    weak = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash("correct horse battery")
    assert verify_password("correct horse battery", weak)
    assert needs_rehash(weak)
    assert not needs_rehash(hash_password("correct horse battery"))
