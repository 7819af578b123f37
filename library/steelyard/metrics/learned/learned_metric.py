"""What learned metrics have in common: a model by name and hash, and what it is computed with and on."""

from __future__ import annotations

import dataclasses
import re
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, Self

import numpy as np

from steelyard.errors import MissingResource
from steelyard.fixed_point import on_grid
from steelyard.metrics.content_scores import Content, ContentMetric
from steelyard.metrics.learned.devices import current_device, device_kind
from steelyard.metrics.learned.encoder import encoder_graph
from steelyard.metrics.learned.folder import encoder_weights, read_config, read_weights
from steelyard.metrics.learned.packages import engine
from steelyard.metrics.learned.tokens import tokenizer_file
from steelyard.metrics.parameters import parameter, registered_name
from steelyard.metrics.preparation.score_store import Scored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from steelyard.metrics.resources import Resources
    from steelyard.metrics.run_context import RunContext
    from steelyard.metrics.segments import Segments

NO_MODEL = "none"
AUTO = "auto"
MODELS = "models"
"""What messages call them."""
TEXTS_AT_ONCE, CHARACTERS_AT_ONCE = 512, 1 << 16
"""Of a group whose encodings are in memory together. After each group its scores are kept."""


class OpenedModel(Protocol):
    """A model in memory."""

    def scores(self, contents: Sequence[Content]) -> list[tuple[float, ...]]:
        """The values of some contents.

        Parameters
        ----------
        contents : list of Content

        Returns
        -------
        list of tuple of float
        """


def parse_made_with(text: str) -> str:
    """An engine with its versions, or a kind of device.

    Parameters
    ----------
    text : str

    Returns
    -------
    str

    Raises
    ------
    ValueError
        For what is neither.
    """
    if not re.fullmatch(r"[a-z][\w.+-]{1,149}", text, re.ASCII):
        raise ValueError("is auto, or what a resolved metric says")
    return text


@dataclass(frozen=True)
class LearnedMetric(ContentMetric):
    """A mean of segment scores that a model gives.

    What the bits of a score depend on beside model and texts is pinned by `resolve`: engine, versions, precision and
    kind of device. A process whose own differ refuses to score.
    """

    figures: ClassVar[tuple[str, ...]] = ("truncated",)
    """Further values of a segment; the last says whether one of its texts was longer than the model's window."""
    width: ClassVar[int] = 2
    scale: ClassVar[float] = 1.0
    cost: ClassVar[float] = 10_000.0
    growth: ClassVar[float] = 1.5
    examples: ClassVar[tuple[str, ...]] = ("model=tiny",)

    model: str = parameter(
        NO_MODEL, "the model, NAME or NAME@HASH: a registered one, or a folder given with --resource NAME=FOLDER",
        parse=registered_name("a model"), ours=True,
    )  # fmt: skip
    engine: str = parameter(
        AUTO, "what computes it, with versions and precision; auto is what is installed", parse=parse_made_with,
        ours=True,
    )  # fmt: skip
    device: str = parameter(
        AUTO, "the kind of device that it is computed on; auto is that of the chosen device, else of the processor",
        parse=parse_made_with, ours=True,
    )  # fmt: skip

    @property
    def columns(self) -> tuple[str, ...]:
        """The sum of the scores, segments that have one, and the sums of further values."""
        return ("score", "segments", *self.figures)

    @abstractmethod
    def opened(self, folder: Path, device: str) -> OpenedModel:
        """The model in a folder, loaded once in a process.

        Parameters
        ----------
        folder : Path
        device : str
            "cpu" or "cuda:N".

        Returns
        -------
        OpenedModel

        Raises
        ------
        BadModel, MissingResource
        """

    def resolve(self, context: RunContext) -> tuple[Self, list[str]]:
        """With the hash of the model, the engine and the kind of device. Raises MissingResource and BadModel."""
        pinned = context.resources.pinned(self._named(), MODELS)
        self.check_folder(context.resources.path(pinned, MODELS))
        made_with = {
            "engine": engine() if self.engine == AUTO else self.engine,
            "device": device_kind(current_device()) if self.device == AUTO else self.device,
        }
        return dataclasses.replace(self, model=pinned, **made_with), []

    def check_folder(self, folder: Path) -> None:
        """Look whether a folder has what a model of this metric needs, without reading weights.

        Parameters
        ----------
        folder : Path

        Raises
        ------
        BadModel
        """
        read_config(folder)

    def check_model(self, folder: Path) -> None:
        """Read everything that a model of this metric needs, as whoever registers it does; no package is needed.

        Parameters
        ----------
        folder : Path

        Raises
        ------
        BadModel
            Where something is missing or damaged.

        """
        config = read_config(folder)
        tokenizer_file(folder)
        encoder_graph(config, encoder_weights(read_weights(folder), folder), config.layers, folder)

    def scorer(self, resources: Resources) -> str:  # noqa: ARG002 - the hash says it all
        """Parameters, engine, device and the model's hash; what the model is called changes nothing."""
        own = {field.name: self.shown(field) for field in self.parameters()}
        own["model"] = own["model"].rpartition("@")[2]
        return "|".join([self.name, *(f"{name}:{value}" for name, value in own.items())])

    def check_here(self, resources: Resources) -> None:
        """The model, and engine and device of the same kind. Raises MissingResource."""
        resources.path(self.model, MODELS)
        self._check_made_with(current_device())

    def score_contents(
        self, contents: Sequence[Content], resources: Resources, keep: Callable[[Mapping[int, Scored]], None]
    ) -> None:
        """Score contents in groups that share references and sources."""
        device = current_device()
        self._check_made_with(device)
        model = self.opened(resources.path(self.model, MODELS), device)
        for group in groups(contents):
            values = model.scores([contents[position] for position in group])
            keep({position: Scored(each) for position, each in zip(group, values, strict=True)})

    def segment_statistics(self, segments: Segments) -> NDArray[np.float64]:
        """(systems, segments, 2 + figures)."""
        values = self.values(segments)
        defined = ~np.isnan(values[..., :1])
        known = on_grid(np.where(defined, values, 0.0))
        return np.concatenate([known[..., :1], defined.astype(np.float64), known[..., 1:]], axis=-1)

    def details(self, sums: NDArray[np.float64]) -> dict[str, float]:
        """The means of further values; how many segments have a text that the model could not read to its end."""
        if not sums[1]:
            return {}
        means = {name: float(total / sums[1]) for name, total in zip(self.figures, sums[2:], strict=True)}
        del means["truncated"]
        return {**means, **({"truncated segments": float(sums[-1])} if sums[-1] else {})}

    def _named(self) -> str:
        if self.model == NO_MODEL:
            raise MissingResource(
                f"{self.name} needs a model: name it with {self.name}:model=NAME, and give its folder with "
                "--resource NAME=FOLDER, in Python with resources={...}, or register it."
            )
        return self.model

    def _check_made_with(self, device: str) -> None:
        here = {"engine": engine(), "device": device_kind(device)}
        for name, found in here.items():
            if (wanted := getattr(self, name)) != found:
                raise MissingResource(
                    f"{self.name} is to be computed with {name}={wanted}, and here it would be {found}: scores may "
                    f"differ in their last digits. Score where it is the same, or again with {name}=auto."
                )


def groups(contents: Sequence[Content]) -> Iterator[list[int]]:
    """Positions of contents, those with the same references and source beside each other, short texts first.

    Parameters
    ----------
    contents : list of Content

    Yields
    ------
    list of int
        So many that their encodings fit in memory.
    """

    def shared(position: int) -> tuple[int, tuple[str, ...], str]:
        content = contents[position]
        references, source = content.references or (), content.source or ""
        return max(map(len, (*references, source))), references, source

    group: list[int] = []
    texts = characters = 0
    last: tuple[int, tuple[str, ...], str] | None = None
    for position in sorted(range(len(contents)), key=shared):
        own = shared(position)
        of_own = [contents[position].hypothesis, *(() if own == last else (*own[1], own[2]))]
        if group and (texts + len(of_own) > TEXTS_AT_ONCE or characters + sum(map(len, of_own)) > CHARACTERS_AT_ONCE):
            yield group
            group, texts, characters = [], 0, 0
        group.append(position)
        texts += len(of_own)
        characters += sum(map(len, of_own))
        last = own
    if group:
        yield group


def distinct_texts(contents: Sequence[Content]) -> list[str]:
    """All texts of contents, each once.

    Parameters
    ----------
    contents : list of Content

    Returns
    -------
    list of str
    """
    texts = (
        text
        for each in contents
        for text in (each.source, each.hypothesis, *(each.references or ()))
        if text is not None
    )
    return list(dict.fromkeys(texts))
