"""Meteor: words linked by form, stem, lemma or synonym, and a penalty for scattered links."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self, Unpack

import numpy as np

from steelyard.errors import MissingResource
from steelyard.kernels.alignment.meteor import links
from steelyard.metrics.alignment.meteor_modules import MODULES, module_keys, working_modules
from steelyard.metrics.alignment.meteor_resolution import pinned_parameters
from steelyard.metrics.metric import Metric
from steelyard.metrics.parameters import case_parameter, parameter, tokenizer_parameter, whole_number_to
from steelyard.metrics.references.choice import lengths
from steelyard.numerics.deterministic import power
from steelyard.text.languages import language_code

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from steelyard.metrics.keywords import MeteorKeywords
    from steelyard.metrics.run_context import RunContext
    from steelyard.metrics.segments import Segments

FORMULAS = {"orig": (9, 0.5, 3.0), "2007": (4, 0.28, 0.83)}
"""By name of the parameter set: how many times more recall weighs than precision, gamma and beta of the penalty."""


def parse_modules(text: str) -> tuple[str, ...]:
    """The modules of a list such as "exact,lemma".

    Parameters
    ----------
    text : str

    Returns
    -------
    tuple of str
        In the order in which they run.

    Raises
    ------
    ValueError
        For anything else.
    """
    modules = tuple(text.split(","))
    if not all(module in MODULES for module in modules) or len(set(modules)) < len(modules):
        raise ValueError(f"is a list of some of {', '.join(MODULES)}, each once, separated by commas")
    return modules


def parse_language(text: str) -> str:
    """The language that a parameter names.

    Parameters
    ----------
    text : str
        auto, none, or the code of a language.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        For anything else.
    """
    if text in ("auto", "none"):
        return text
    code = language_code(text)
    if not code:
        raise ValueError('is auto, none or the code of a language, such as "cs"')
    return code


def parse_source(text: str) -> str:
    """Where lemmas or synonyms come from.

    Parameters
    ----------
    text : str
        The name of a source, or NAME@HASH.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        For anything else.
    """
    if not re.fullmatch(r"[\w.-]+(@[0-9a-f]+)?", text, re.ASCII):
        raise ValueError("is a name, not a path: name the file with --resource NAME=FILE")
    return text


def parse_stems(text: str) -> str:
    """Where stems come from.

    Parameters
    ----------
    text : str
        auto, none, snowball, or snowball-VERSION.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        For anything else.
    """
    if not re.fullmatch(r"auto|none|snowball(-[\w.]+)?", text, re.ASCII):
        raise ValueError("is auto, none or snowball")
    return text


@dataclass(frozen=True)
class Meteor(Metric):
    """Weighted F-measure of linked words, less a penalty for links that do not follow one another.

    Modules link words one after the other: of equal form, of equal stem, of equal lemma, synonyms. Each links as many
    words as it can, of all ways to do so the one with the fewest crossing links, then the fewest chunks.
    """

    name: ClassVar[str] = "meteor"
    source: ClassVar[str] = "Banerjee and Lavie 2005; Lavie and Agarwal 2007; Kos 2008, section 2.4.1"
    cost: ClassVar[float] = 2.6
    growth: ClassVar[float] = 1.0
    examples: ClassVar[tuple[str, ...]] = (
        "",
        "modules=synonym,exact,stem:params=orig:synonyms=groups",
        "modules=exact,lemma,synonym:lemmas=table:synonyms=groups:case=mixed:tok=none:steps=100",
    )

    case: str = case_parameter("lc")
    tok: str = tokenizer_parameter()
    modules: tuple[str, ...] = parameter(
        ("exact", "lemma", "synonym"),
        f"what links words, in order: some of {', '.join(MODULES)}",
        parse=parse_modules,
        show=",".join,
        ours=True,
        natural=tuple,
        accepts="str | Iterable[str]",
    )
    params: str = parameter(
        "2007", "weights of the formula: those of 2005 or of 2007", choices=tuple(FORMULAS), ours=True
    )
    lemmas: str = parameter(
        "auto",
        "where lemmas come from: layer (of the texts), simplemma, the name of a table, none; auto: what there is",
        parse=parse_source,
        ours=True,
    )
    stems: str = parameter("auto", "where stems come from: snowball, none", parse=parse_stems, ours=True)
    synonyms: str = parameter("none", "name of the synonyms, or none", parse=parse_source, ours=True)
    lang: str = parameter(
        "auto", "language of the text; auto takes the target language", parse=parse_language, ours=True
    )
    steps: int = parameter(
        4_000_000, "of the search for the best links, per segment and module", parse=whole_number_to(10**8), ours=True
    )

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[MeteorKeywords]) -> None: ...

    @classmethod
    def example_resources(cls, folder: Path, words: Sequence[str]) -> dict[str, Path]:
        """A lemma table and synonym groups with some of the words."""
        table, groups = folder / "table.tsv", folder / "groups.txt"
        words = [word for word in words if word.isalpha()]
        table.write_text("".join(f"{word}\t{word[:2]}\n" for word in words[::2]), "utf-8")
        groups.write_text("".join(f"{' '.join(words[at : at + 3])}\n" for at in range(0, len(words), 2)), "utf-8")
        return {"table": table, "groups": groups}

    @property
    def title(self) -> str:
        """The name with the modules that work, and the parameters where they are the original ones."""
        orig = "[orig]" if self.params == "orig" else ""
        return f"Meteor[{'+'.join(working_modules(self))}]{orig}"

    @property
    def columns(self) -> tuple[str, ...]:
        """Links of each module that works; chunks; words; segments whose search was cut short."""
        return (*(f"m_{module}" for module in working_modules(self)), "chunks", "hyp_len", "ref_len", "limited")

    @property
    def layers(self) -> tuple[str, ...]:
        """Lemmas, where they are to come from the input."""
        return ("lemma",) if self.lemmas == "layer" else ()

    def separates_words(self, language: str) -> bool:
        """As for any metric; where lemmas come with the texts, so do the words."""
        return self.lemmas == "layer" or super().separates_words(language)

    def resolve(self, context: RunContext) -> tuple[Self, list[str]]:
        """With the versions and hashes of all that it takes lemmas, stems and synonyms from.

        With lemmas in the input, words are those of the input, whatever the tokenizer. A module that lacks what it
        needs is skipped. Raises MissingResource where no module is left.
        """
        parameters, notices = pinned_parameters(self, context)
        pinned = dataclasses.replace(self, **parameters)
        if not working_modules(pinned):
            raise MissingResource(" ".join([*notices, "No module is left: add the module exact."]))
        return pinned, notices

    def segment_statistics(self, segments: Segments) -> NDArray[np.float64]:
        """(systems, segments, modules that work + 4). Raises MissingResource and MissingLayer."""
        segments = segments.nfc
        words, systems = segments.words(self.tok, self.case), len(segments.hypotheses)
        # The links do not depend on the weights, so that both parameter sets share them.
        found = segments.cached(
            ("meteor links", dataclasses.replace(self, params="2007")),
            lambda: links(words.starts, segments.reference_mask, systems, module_keys(self, segments), self.steps),
        ).counts
        modules = found.shape[-1] - 2
        references, hypotheses = lengths(words, segments.reference_mask, systems)
        out: NDArray[np.float64] = np.empty((*found.shape[:-1], modules + 4))
        out[..., : modules + 1] = found[..., :-1]
        out[..., -3] = hypotheses
        out[..., -2] = references[:, None, :]
        out[..., -1] = found[..., -1]
        if len(segments.references) == 1:
            return out.reshape(out.shape[1:])
        scores = np.where(segments.reference_mask[:, None, :] > 0, self.score(out), -1.0)
        best: NDArray[np.float64] = np.take_along_axis(out, scores.argmax(axis=0)[None, ..., None], axis=0)[0]
        # Any search that was cut short may have changed which reference is the best.
        best[..., -1] = found[..., -1].max(axis=0)
        return best

    def score(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """0 to 100; 0 without a link."""
        weight, gamma, beta = FORMULAS[self.params]
        matches = sums[..., :-4].sum(axis=-1)
        chunks, hypothesis, reference = sums[..., -4], sums[..., -3], sums[..., -2]
        linked = matches > 0
        # The weighted harmonic mean of matches / hypothesis and matches / reference, multiplied out.
        mean: NDArray[np.float64] = (1 + weight) * matches / np.where(linked, weight * reference + hypothesis, 1.0)
        penalty = gamma * power(chunks / np.where(linked, matches, 1.0), beta)
        return np.where(linked, 100.0 * (mean * (1.0 - penalty)), 0.0)

    def details(self, sums: NDArray[np.float64]) -> dict[str, float]:
        """In how many segments the search was cut short, where there are any."""
        return {"limited": float(sums[-1])} if sums[-1] else {}
