"""What a tokenizer is: from a text to the same lines with white space between the tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from steelyard.errors import MissingResource
from steelyard.kernels.text.words import words

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from steelyard.kernels.text.words import Words


class Files(Protocol):
    """Where a tokenizer finds files by name and content, such as models: `steelyard.metrics.resources.Resources`."""

    def pinned(self, reference: str, what: str) -> str:
        """The name of a resource with the hash of its content.

        Parameters
        ----------
        reference : str
            `NAME` or `NAME@HASH`.
        what : str
            What is looked for, for messages.

        Returns
        -------
        str
            `NAME@HASH`.

        Raises
        ------
        MissingResource
            Where there is none.
        """

    def path(self, pinned: str, what: str) -> Path:
        """Where the content of a resource lies.

        Parameters
        ----------
        pinned : str
            `NAME@HASH`.
        what : str
            What is looked for, for messages.

        Returns
        -------
        Path

        Raises
        ------
        MissingResource
            Where that content is not here.
        """


class NoFiles:
    """Where there are none."""

    def pinned(self, reference: str, what: str) -> str:
        """Refuse to find anything.

        Parameters
        ----------
        reference : str
        what : str

        Raises
        ------
        MissingResource
            Always.
        """
        raise MissingResource(
            f'There are no {what} called "{reference}": no resources are given here. Commands take --resource '
            "NAME=FILE, services a folder (STEELYARD_RESOURCE_FOLDER)."
        )

    def path(self, pinned: str, what: str) -> Path:
        """Refuse to find anything.

        Parameters
        ----------
        pinned : str
        what : str

        Raises
        ------
        MissingResource
            Always.
        """
        self.pinned(pinned, what)
        raise AssertionError("the line before has raised")


@dataclass(frozen=True)
class Tokenizer:
    """A tokenizer whose words depend on the text alone: a rule.

    Those that depend on more, such as a dictionary or a model, override `pin` and `cut`. Each is one line in
    `steelyard.tokenizers.registry`, or an entry point `steelyard.tokenizers` that leads to an instance.
    """

    name: str
    """As `tok=` has it."""
    describe: str
    """In a few words, for lists."""
    apply: Callable[[bytes], bytes] | None = None
    """UTF-8 lines to as many UTF-8 lines; None where `cut` is overridden."""
    languages: frozenset[str] = frozenset()
    """Codes of the languages that ask for it where no tokenizer is named."""
    any_language: bool = False
    """Its tokens are characters or pieces of words, which suits every language."""
    lowercases_afterwards: Callable[[bytes], bool] = lambda _: False
    """Whether the lowercased tokens of a text are the tokens of the lowercased text; no is always right, but slower."""
    before_13a: Callable[[bytes], bytes] | None = None
    """For a tokenizer that is this function and then the rules of 13a, which the kernel of words applies by itself."""

    def means(self, tokenizer: str) -> bool:
        """Whether a name is that of this tokenizer.

        Parameters
        ----------
        tokenizer : str
            May be pinned.

        Returns
        -------
        bool
        """
        return tokenizer == self.name

    def pin(self, tokenizer: str, files: Files) -> str:  # noqa: ARG002
        """The name with all that the words depend on: from then on it says it all.

        Parameters
        ----------
        tokenizer : str
            May be pinned.
        files : Files
            Where models are found.

        Returns
        -------
        str
            `NAME@VERSION`: what is before the "@" stands in the signature as sacreBLEU has it, what is behind it as
            `dict:VERSION`.

        Raises
        ------
        MissingResource
            Where what the tokenizer needs is not here.
        """
        return self.name

    def cut(self, text: bytes, tokenizer: str, files: Files) -> bytes:  # noqa: ARG002
        """The lines of a text with white space between their tokens.

        Parameters
        ----------
        text : bytes
            UTF-8, lines joined by line feeds.
        tokenizer : str
            May be pinned.
        files : Files
            Where models are found.

        Returns
        -------
        bytes
            As many lines.

        Raises
        ------
        MissingResource
            Where something else than the name asks for is here.
        """
        assert self.apply is not None
        return self.apply(text)

    def words(self, text: bytes, rows: int, tokenizer: str, files: Files) -> Words:
        """The tokens of a text as numbers.

        Parameters
        ----------
        text : bytes
            UTF-8, lines joined by line feeds.
        rows : int
            How many lines it has.
        tokenizer : str
            May be pinned.
        files : Files
            Where models are found.

        Returns
        -------
        Words

        Raises
        ------
        MissingResource
            As `cut`.
        """
        if self.before_13a:
            return words(self.before_13a(text), rows, mteval_13a=True)
        return words(self.cut(text, tokenizer, files), rows)
