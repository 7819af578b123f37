"""A program as a metric: the mean of the scores that it gives to segments."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self, Unpack

import numpy as np

from steelyard.errors import MissingResource
from steelyard.fixed_point import on_grid
from steelyard.metrics.content_scores import ContentMetric
from steelyard.metrics.parameters import parameter, registered_name
from steelyard.metrics.programs.registration import INPUTS, read_program

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from steelyard.metrics.content_scores import Content
    from steelyard.metrics.keywords import ProgramKeywords
    from steelyard.metrics.preparation.score_store import Scored
    from steelyard.metrics.resources import Resources
    from steelyard.metrics.run_context import RunContext
    from steelyard.metrics.segments import Segments

NO_PROGRAM = "none"


def _parse_version(text: str) -> str:
    if not re.fullmatch(r"[\w.+-]{0,50}", text, re.ASCII):
        raise ValueError("is letters, digits, '.', '_', '+' and '-'")
    return text


@dataclass(frozen=True)
class Program(ContentMetric):
    """The mean of the scores of a registered program (`steelyard metric create`), on its own scale."""

    name: ClassVar[str] = "program"
    source: ClassVar[str] = "the program's"
    scale: ClassVar[float] = float("inf")
    cost: ClassVar[float] = 1e5
    growth: ClassVar[float] = 1.0
    extra_tokens: ClassVar[int] = 300  # a judge answers in words, and few answers are lost with a shard

    run: str = parameter(
        NO_PROGRAM, "the program, NAME or NAME@HASH; `steelyard metric list` shows those that are registered",
        parse=registered_name("a registered program"), ours=True,
    )  # fmt: skip
    release: str = parameter("", "its version, as it was registered", parse=_parse_version, ours=True)
    reads: str = parameter(
        "source+reference", "what it reads beside the hypothesis, as it was registered",
        choices=("source", "reference", "source+reference"), ours=True,
    )  # fmt: skip
    better: str = parameter(
        "higher", "which scores are the better ones, as it was registered", choices=("higher", "lower"), ours=True
    )

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[ProgramKeywords]) -> None: ...

    @property
    def inputs(self) -> frozenset[str]:  # type: ignore[override]
        """What was registered."""
        return frozenset(self.reads.split("+"))

    @property
    def higher_is_better(self) -> bool:  # type: ignore[override]
        """As registered."""
        return self.better == "higher"

    @property
    def title(self) -> str:
        """The program's name and version."""
        name = self.run.partition("@")[0]
        return f"{name} {self.release}" if self.release else name

    @property
    def columns(self) -> tuple[str, ...]:
        """The segment's score; 1 where there is one; 1 where the program said that there is none."""
        return ("score", "segments", "unscored")

    def resolve(self, context: RunContext) -> tuple[Self, list[str]]:
        """With the hash of what is registered, and what that says. Raises MissingResource."""
        if self.run == NO_PROGRAM:
            raise MissingResource(
                "program needs the name of a registered one: program:run=NAME. `steelyard metric create NAME --command "
                "COMMAND` registers one."
            )
        pinned = context.resources.pinned(self.run, "programs")
        program = read_program(context.resources, pinned)
        return dataclasses.replace(
            self,
            run=pinned,
            release=program.version,
            reads="+".join(each for each in INPUTS if each in program.inputs),
            better="higher" if program.higher_is_better else "lower",
        ), []

    def scorer(self, resources: Resources) -> str:
        """Name, version and command."""
        return read_program(resources, self.run).scorer

    def score_contents(
        self, contents: Sequence[Content], resources: Resources, keep: Callable[[Mapping[int, Scored]], None]
    ) -> None:
        """Ask the program. Raises MissingResource and ProgramFailed."""
        from steelyard.metrics.programs.running import score_by_program

        score_by_program(read_program(resources, self.run), contents, keep)

    def segment_statistics(self, segments: Segments) -> NDArray[np.float64]:
        """(systems, segments, 3)."""
        scores = self.score_segments(segments)
        undefined = np.isnan(scores)
        return np.stack([on_grid(np.where(undefined, 0.0, scores)), 1.0 - undefined, 1.0 * undefined], axis=-1)

    def details(self, sums: NDArray[np.float64]) -> dict[str, float]:
        """How many segments have no score, where there are such."""
        return {"segments without a score": float(sums[2])} if sums[2] else {}
