"""The fields submitted with an output, by a form, JSON or a URL."""

from __future__ import annotations

from typing import Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, field_validator

from campaigns.errors import BadRequest
from campaigns.fields.short_text import short_text
from campaigns.submissions.submit import MAX_DESCRIPTION_LENGTH
from models.schema.roles import DeclaredKind, SystemOrigin
from steelyard_client.vocabulary import PriorityClass


class SubmissionFields(BaseModel):
    """The fields submitted with an output."""

    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True)

    team: str = Field(default="", max_length=100, description="The team; optional for members of a single team.")
    system: str = Field(min_length=1, max_length=200, description="The system of the team.")
    test_set: str = Field(
        default="", max_length=260, description="The test set, NAME or NAME@VERSION; optional where there is only one."
    )
    run: str = Field(default="", max_length=100, description="Which of several runs of the system it is.")
    kind: DeclaredKind = Field(
        default=DeclaredKind.UNDECLARED, description="primary: the team's ranked submission; contrastive: not ranked."
    )
    constrained: bool | None = Field(default=None, description="Whether only data that the campaign allows were used.")
    description: str = Field(default="", max_length=MAX_DESCRIPTION_LENGTH, description="What the team says about it.")
    origin: SystemOrigin | None = Field(
        default=None,
        description="For organisers: baseline or online, for a system of no team. It is ranked beside the teams' "
        "systems, marked as such, and accepted outside the phases.",
    )
    override: bool = Field(default=False, description="For organisers: accept it outside the phases.")
    input_format: str = Field(default="", max_length=40, description="The format of the file; detected if empty.")
    part: str = Field(
        default="",
        max_length=200,
        description="The layer or zone of the file that is the output.",
    )
    queue_class: PriorityClass = Field(
        default=PriorityClass.INTERACTIVE, description="For organisers: its priority class in the queue."
    )
    due_at: AwareDatetime | None = Field(default=None, description="For organisers: when its scores are needed.")

    @field_validator("system", "run", "description")
    @classmethod
    def _normalize(cls, value: str, info: Any) -> str:
        """Normalize the text; pydantic has checked its length."""
        try:
            return short_text(value, f"The {info.field_name}", len(value), lines=info.field_name == "description")
        except BadRequest as error:
            raise ValueError(str(error)) from error

    @field_validator("constrained", "override", "kind", "origin", "queue_class", "due_at", mode="before")
    @classmethod
    def _empty_as_default(cls, value: Any, info: Any) -> Any:
        """Treat an empty form field as not given."""
        if value == "":
            return cls.model_fields[info.field_name].default
        return value
