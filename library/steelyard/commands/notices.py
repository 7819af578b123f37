"""What commands say on standard error."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def note(sentences: Iterable[str]) -> None:
    """Print notices that are not errors to standard error.

    Parameters
    ----------
    sentences : iterable of str
    """
    tell(f"note: {sentence}" for sentence in sentences)


def tell(lines: Iterable[str]) -> None:
    """Print lines to standard error.

    Parameters
    ----------
    lines : iterable of str
    """
    for line in lines:
        print(line, file=sys.stderr)
