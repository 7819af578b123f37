"""Pages of lists."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from pydantic import Field

from steelyard_client.documents.document import Document

Item = TypeVar("Item")


class Page(Document, Generic[Item]):
    """A page of a list."""

    @classmethod
    def model_parametrized_name(cls, params: tuple[Any, ...]) -> str:
        """`SystemPage` for a page of `SystemResponse`: names of schemas become names of classes in clients."""
        return f"{params[0].__name__.removesuffix('Response').removesuffix('Summary')}Page"

    items: list[Item]
    """The items of this page."""
    next: str | None = Field(description='Value of "after" for the next page; null on the last page.')
