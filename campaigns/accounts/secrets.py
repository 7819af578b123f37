"""Random secrets of 256 bits, of which only a hash is stored."""

from __future__ import annotations

import hashlib
import hmac
import secrets


def new_secret(prefix: str = "") -> str:
    """Return an unguessable secret that is safe in URLs, headers and cookies."""
    return prefix + secrets.token_urlsafe(32)


def hash_of(secret: str) -> str:
    """Hash a secret for storage. No salt is needed, because random secrets cannot be guessed."""
    return hashlib.sha256(secret.encode()).hexdigest()


def derive_secret(secret: str, purpose: str) -> str:
    """Derive another secret from this one; this one cannot be derived from it."""
    return hmac.new(secret.encode(), purpose.encode(), hashlib.sha256).hexdigest()


def equal_secrets(one: str, other: str) -> bool:
    """Compare two secrets in constant time."""
    return hmac.compare_digest(one.encode(), other.encode())
