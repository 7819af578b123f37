"""Makes texts with layers of TectoMT and Treex documents, one side of them at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from steelyard.errors import BadText
from steelyard.formats.input.contents import opened
from steelyard.formats.sentences import SentenceIds, text_of_sentences
from steelyard.formats.treebanks.pml import PmlReader
from steelyard.formats.treebanks.pml_elements import TREEX
from steelyard.formats.treebanks.trees import Lines, sempos_lines, word_lines
from steelyard.formats.zones import Layer, named_layer
from steelyard.text.findings import Findings, quoted, shown
from steelyard.text.limits import DEFAULT_LIMITS
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from steelyard.formats.input.contents import Source
    from steelyard.formats.plain import Text
    from steelyard.formats.treebanks.pml_elements import Bundle, BundleHandler
    from steelyard.text.limits import TextLimits


class NoSuchPart(BadText):
    """The file does not have the layer or zone that was asked for, or several and none was asked for."""


@dataclass(slots=True)
class _LayerLines:
    findings: Findings
    lines: list[Lines] = field(default_factory=list)
    bundles: list[int] = field(default_factory=list)
    """The bundles that have it, counted from 0."""


def read_layered(
    source: Source, *, name: str | None = None, part: str | None = None, limits: TextLimits = DEFAULT_LIMITS
) -> Text:
    """Read one side of a TectoMT or Treex document; its segments are the bundles, in their order.

    The words are those of the layer named, else of the A layer, else of the M layer; in a document with a T layer alone
    they are its t-lemmas. Layers: `lemma` where a word has one, `sempos` where the side has a T layer.

    Parameters
    ----------
    source : path, bytes or Contents
    name : str, optional
        What messages call it; without it, the path.
    part : str, optional
        The name of a layer of TectoMT (`TCzechA`) or of a zone of Treex (`cs_ref`); without it, the document must have
        one
        side only.
    limits : TextLimits

    Returns
    -------
    Text

    Raises
    ------
    BadText
        NoSuchPart, naming what there is; BadMarkup with all that is wrong with this side; OverLimit or ForbiddenMarkup
        for
        what no document holds; Unreadable, BadGzip, WrongFormat.
    """
    contents = opened(source, name=name, limits=limits)
    findings = Findings(contents.name)
    reader = PmlReader(contents, findings, limits)
    named = named_layer(part) if part else None
    wanted = {part, named.zone if named else None}
    ids = SentenceIds("bundle", findings)
    layers: dict[Layer, _LayerLines] = {}
    for number, bundle in enumerate(reader.bundles()):
        ids.add(bundle.id, bundle.line)
        if not bundle.trees:
            findings.problem(f"bundle {quoted(bundle.id)} has no layers. Complete or remove it.", bundle.line)
        for layer in bundle.trees:
            of_layer = layers.setdefault(layer, _LayerLines(Findings(contents.name)))
            if part is None or layer.zone in wanted:
                of_layer.bundles.append(number)
                of_layer.lines.append(_lines(bundle, layer, of_layer.findings))
    if not layers:
        findings.problem("has no bundles with layers. Is it a TectoMT or Treex document?")
    findings.raise_if_any()

    words, sempos = _chosen(reader.elements, contents.name, part)
    for layer in dict.fromkeys(layer for layer in (words, sempos) if layer):
        _check(layers[layer], reader.elements.layers[layer], ids, findings)
    findings.raise_if_any()
    beside = {}
    if words.letter != "T":
        beside["lemma"] = [each.beside for each in layers[words].lines]
    if sempos:
        beside["sempos"] = [each.beside for each in layers[sempos].lines]
    return text_of_sentences(
        f"{contents.name}:{part}" if part else contents.name,
        [each.words for each in layers[words].lines],
        beside,
        ids,
        limits,
        language=reader.elements.zones[words.zone].language,
    )


def _lines(bundle: Bundle, layer: Layer, findings: Findings) -> Lines:
    nodes = bundle.trees[layer]
    if layer.letter == "T":
        return sempos_lines(nodes, findings)
    morphology = {node.id: node for node in bundle.trees.get(Layer(layer.zone, "M"), ())}
    return word_lines(nodes, morphology, layer.letter == "A", findings)


def _chosen(found: BundleHandler, name: str, part: str | None) -> tuple[Layer, Layer | None]:
    """The layer of the words, and that of the sempos where there is one."""
    treex = found.root == TREEX
    named = named_layer(part) if part and not treex else None
    zones = {layer.zone for layer in found.layers}
    if part is None and len(zones) == 1:
        (zone,) = zones
    elif part is not None and (part in zones if treex else named in found.layers):
        zone = part if treex or named is None else named.zone
    else:
        there = [found.zones[key].called for key in found.zones if key in zones] if treex else [*found.layers.values()]
        what = "zone" if treex else "layer"
        fault = f"has no {what} {quoted(part)}" if part else f"has several sides; say which {what}"
        raise NoSuchPart(
            f"{name}: {fault}. It has: {listed([shown(each) for each in there])}. Name one: FILE:{what.upper()}."
        )
    if named and named.letter != "T":
        letters = named.letter
    else:
        letters = "AMT"
    words = next(Layer(zone, letter) for letter in letters if Layer(zone, letter) in found.layers)
    sempos = Layer(zone, "T")
    return words, sempos if sempos in found.layers else None


def _check(layer: _LayerLines, called: str, ids: SentenceIds, findings: Findings) -> None:
    """Every bundle must have the layer; what was found in it counts now that it is used."""
    there = set(layer.bundles)
    for number, (bundle, line) in enumerate(ids.places()):
        if number not in there:
            findings.problem(f"bundle {quoted(bundle)} has no {shown(called)}, which others have. Add it.", line)
    findings.include(layer.findings)
