"""What is said with an output that is handed in, wherever it comes from: a form, JSON, an address."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from campaigns.errors import BadRequest
from campaigns.short_text import short_text
from campaigns.submissions.submit import LONGEST_DESCRIPTION
from models.schema.roles import DeclaredKind


class SubmissionFields(BaseModel):
    """What is said with an output."""

    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True)

    team: str = Field(default="", max_length=100, description="The team; may be left out by who is in only one.")
    system: str = Field(min_length=1, max_length=200, description="The system of the team.")
    test_set: str = Field(
        default="", max_length=260, description="NAME or NAME@VERSION; may be left out where there is one."
    )
    run: str = Field(default="", max_length=100, description="Which of several runs of the system it is.")
    kind: DeclaredKind = Field(default=DeclaredKind.UNDECLARED, description="Primary is what is ranked.")
    constrained: bool | None = Field(default=None, description="Whether only data were used that are allowed.")
    description: str = Field(default="", max_length=LONGEST_DESCRIPTION, description="What the team says about it.")
    override: bool = Field(default=False, description="For organisers: whatever the phases say.")

    @field_validator("system", "run", "description")
    @classmethod
    def _as_typed(cls, value: str, info: Any) -> str:
        """Its length was asked for; composed like all that people type, without what cannot be shown."""
        try:
            return short_text(value, f"The {info.field_name}", len(value), lines=info.field_name == "description")
        except BadRequest as error:
            raise ValueError(str(error)) from error

    @field_validator("constrained", "override", "kind", mode="before")
    @classmethod
    def _nothing_said(cls, value: Any, info: Any) -> Any:
        """An empty field of a form says nothing."""
        if value == "":
            return {"constrained": None, "override": False, "kind": DeclaredKind.UNDECLARED}[info.field_name]
        return value
