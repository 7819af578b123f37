"""The parser of all commands: what it is given may be names of files that strangers chose."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Sequence


class Parser(argparse.ArgumentParser):
    """Takes options by their whole names: `--pair` is no `--paired`, and no new option breaks what was written once.

    Parsers of verbs are made by argparse, of the class of the one above them.
    """

    def __init__(self, *, allow_abbrev: bool = False, **more: Any) -> None:
        super().__init__(allow_abbrev=allow_abbrev, **more)

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """As argparse does it, but for files that `*` of a shell stands for and that are called like options."""
        words = sys.argv[1:] if args is None else args
        for word in words:
            if word.startswith("-") and word != "-" and os.path.lexists(word):
                self.error(f"{word} is a file here, and would be taken for an option. Write ./{word}, or rename it.")
            if word == "--":
                break
        return super().parse_args(words, namespace)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and end with status 2."""
        # Imported only now: it takes longer than most commands that are put rightly need for it.
        from metrics.text.names import visible

        super().error(visible(message))
