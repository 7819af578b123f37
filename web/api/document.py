"""The base of all documents that the API takes and sends."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Document(BaseModel):
    """A document of the API. The docstring of a field is its description in the OpenAPI document."""

    model_config = ConfigDict(use_attribute_docstrings=True)
