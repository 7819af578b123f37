"""Passwords: which are rejected, and how they are stored (argon2 with its library's current defaults)."""

from __future__ import annotations

import re
import threading
from functools import cache
from itertools import pairwise

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from campaigns.errors import BadRequest, Unavailable
from steelyard.text.normalization import normalized

MIN_LENGTH, MAX_LENGTH = 10, 200

CONCURRENT_HASHES = 4
"""Passwords hashed at the same time: each takes 64 MiB, and anybody may ask for one."""
WAIT_SECONDS = 10.0

COMMON = frozenset(
    """
    abc abcd abcdef abcdefg abcdefgh abcdefghij admin administrator asdf asdfgh asdfghjkl azerty azertyuiop baseball
    bleu changeit changeme computer default dragon evaluation football freedom geheim guest heslo hello hunter iloveyou
    internet jmeno kennwort lemmein letmein login machinetranslation master metallica michael monkey motdepasse mustang
    nothing ourpassword pass passphrase passw passwd password passwords passwort princess pword qazwsx qazwsxedc qwe
    qwert qwerty qwertyui qwertyuiop qwertz qwertzuiop samsung secret secretpassword shadow starwars steelyard summer
    sunshine superman system test tester testing thisispassword topsecret translation trustno unknown user welcome
    whatever winter yourpassword yxcvbnm zaq zxcvbn zxcvbnm
    """.split()  # noqa: SIM905 - a list of a hundred strings reads worse
)
"""The most common passwords, without the digits and punctuation that people put around them."""
_LETTERS = str.maketrans("014357@$!", "oiaestasi")
"""Usual substitutions for letters."""
_AROUND = re.compile(r"\A[\W\d_]++|(?<![\W\d_])[\W\d_]++\Z")

_hasher = PasswordHasher()
_hashing_slots = threading.BoundedSemaphore(CONCURRENT_HASHES)


def check_password(password: str, *, email: str = "", name: str = "") -> None:
    """Raise BadRequest for a password that is too short, too long, or easy to guess."""
    if len(password) < MIN_LENGTH:
        raise BadRequest(f"The password has {len(password)} characters; it needs at least {MIN_LENGTH}.")
    if len(password) > MAX_LENGTH:
        raise BadRequest(f"The password has {len(password)} characters; the maximum is {MAX_LENGTH}.")
    folded = _prepared(password).casefold()
    if len(set(folded)) < 5 or _is_sequence(folded):
        raise BadRequest("The password is too easy to guess: it consists of repeated or consecutive characters.")
    own = {_letters_only(email), _letters_only(email.partition("@")[0]), _letters_only(name)} - {""}
    inside = _AROUND.sub("", folded)
    for core in (_letters_only(folded), _letters_only(inside.translate(_LETTERS))):
        if core in COMMON or _without_repetition(core) in COMMON:
            raise BadRequest("The password is too common. Choose another one.")
        if core in own or _without_repetition(core) in own:
            raise BadRequest("The password is your name or your address. Choose another one.")


def hash_password(password: str) -> str:
    """Hash a password for storage. It takes a tenth of a second: never call it inside a transaction."""
    with _HashingSlot():
        return _hasher.hash(_prepared(password))


def verify_password(password: str, stored: str | None) -> bool:
    """Return whether the password is right, in the same time if there is no stored hash (then it never is)."""
    if len(password) > MAX_LENGTH:
        # No password is that long, and hashing arbitrary input would be free work for an attacker.
        password, stored = "", None
    with _HashingSlot():
        try:
            return _hasher.verify(stored or _dummy_hash(), _prepared(password)) and stored is not None
        except (VerificationError, InvalidHashError):
            return False


def needs_rehash(stored: str) -> bool:
    """Return whether the hash was made with other than the current parameters."""
    return _hasher.check_needs_rehash(stored)


class _HashingSlot:
    """One of the few slots for hashing.

    Raises
    ------
    Unavailable
        If none becomes free in time.
    """

    def __enter__(self) -> None:
        if not _hashing_slots.acquire(timeout=WAIT_SECONDS):
            raise Unavailable("Too many people are signing in. Try again in a minute.")

    def __exit__(self, *_: object) -> None:
        _hashing_slots.release()


@cache
def _dummy_hash() -> str:
    return _hasher.hash("the password of nobody")


def _prepared(password: str) -> str:
    """Normalize to the same bytes for any keyboard."""
    return normalized("NFKC", password)


def _letters_only(text: str) -> str:
    """Return only the letters, case-folded."""
    return "".join(each for each in text.casefold() if each.isalpha())


def _without_repetition(text: str) -> str:
    """Return the first half of a text that consists of two equal halves; otherwise the text."""
    middle = len(text) // 2
    return text[:middle] if text[:middle] == text[middle:] else text


def _is_sequence(text: str) -> bool:
    """Return whether most characters follow the previous one, as in 1234567890 and abcdefghij."""
    steps = [ord(after) - ord(before) for before, after in pairwise(text)]
    return max(steps.count(1), steps.count(-1), steps.count(0)) >= len(steps) - 2
