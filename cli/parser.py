"""The parser of all commands; its arguments may be untrusted file names."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Sequence


class Parser(argparse.ArgumentParser):
    """Rejects abbreviated options: `--pair` is not `--paired`, and a new option never breaks an existing command line.

    argparse creates the parsers of verbs with the class of their parent.
    """

    def __init__(self, *, allow_abbrev: bool = False, **more: Any) -> None:
        super().__init__(allow_abbrev=allow_abbrev, **more)

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """As argparse, but rejects file names that look like options, which `*` in a shell may expand to."""
        words = sys.argv[1:] if args is None else args
        for word in words:
            if word.startswith("-") and word != "-" and os.path.lexists(word):
                self.error(f"{word} is a file here and would be read as an option. Write ./{word}, or rename it.")
            if word == "--":
                break
        return super().parse_args(words, namespace)

    def error(self, message: str) -> NoReturn:
        """Print the error and exit with status 2."""
        # Imported only now: the import is slow, and valid commands do not need it.
        from steelyard.text.names import visible

        super().error(visible(message))
