"""Secrets that are handed out: 256 random bits, of which only a hash is stored."""

from __future__ import annotations

import hashlib
import hmac
import secrets


def new_secret(prefix: str = "") -> str:
    """A secret that nobody guesses, fit for addresses, headers and cookies."""
    return prefix + secrets.token_urlsafe(32)


def hash_of(secret: str) -> str:
    """What is stored of it. There is no salt, since there is nothing to guess."""
    return hashlib.sha256(secret.encode()).hexdigest()


def derived(secret: str, purpose: str) -> str:
    """Another secret that follows from this one, from which this one does not follow."""
    return hmac.new(secret.encode(), purpose.encode(), hashlib.sha256).hexdigest()


def same(one: str, other: str) -> bool:
    """Whether two secrets are the same, in a time that does not tell where they differ."""
    return hmac.compare_digest(one.encode(), other.encode())
