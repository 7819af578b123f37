"""Puts the elements of TectoMT and Treex documents together to bundles, trees and nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from xml.sax.handler import ContentHandler

from steelyard.formats.treebanks.pml_bounds import Bounds
from steelyard.formats.zones import LETTERS, Layer, Zone, named_zone, subbundle_zone, treex_zone
from steelyard.text.findings import quoted, shown

if TYPE_CHECKING:
    from xml.sax.xmlreader import AttributesImpl, Locator

    from steelyard.text.findings import Findings
    from steelyard.text.limits import TextLimits

TECTOMT, TREEX = "tmt_document", "treex_document"
"""The outermost elements."""
FIELDS = ("form", "lemma", "t_lemma", "sempos", "ord", "deepord", "m.rf")
_TREES = {"a_tree": "A", "m_tree": "M", "t_tree": "T"}
# What an element is inside another one; all others are passed over with everything in them.
_INSIDE = {
    ("", TECTOMT): "document",
    ("", TREEX): "document",
    ("document", "bundles"): "bundles",
    ("bundle", "zones"): "zones",
    ("bundle", "generic_subbundles"): "zones",
    ("zones", "zone"): "zone",
    ("zones", "generic_subbundle"): "subbundle",
    ("zone", "trees"): "trees",
    ("subbundle", "trees"): "trees",
    ("bundle", "trees"): "named trees",
    **{("trees", name): "tree" for name in _TREES},
    ("tree", "children"): "children",
    ("node", "children"): "children",
    ("node", "m"): "structure",
    ("node", "gram"): "structure",
    **{(inside, name): "field" for inside in ("node", "structure") for name in FIELDS},
}
_MEMBERS = {"bundles": "bundle", "children": "node"}


@dataclass(slots=True)
class Node:
    """A node below the technical root."""

    id: str
    line: int
    fields: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Bundle:
    """One sentence: the nodes of its layers, technical roots left out, in the order of the file."""

    id: str
    line: int
    trees: dict[Layer, list[Node]] = field(default_factory=dict)


@dataclass(slots=True)
class _Open:
    """An element that is open and not passed over."""

    name: str
    kind: str
    line: int
    id: str
    bare: bool
    """It has no attributes."""
    members: int = 0
    node: Node | None = None
    """The node that it is, or belongs to as a field or a structure of fields."""


class BundleHandler(ContentHandler):
    """Receives elements from a SAX parser. What it can go on after goes to `findings`.

    Parameters
    ----------
    findings : Findings
    limits : TextLimits
    """

    def __init__(self, findings: Findings, limits: TextLimits) -> None:
        super().__init__()
        self.bundles: list[Bundle] = []
        """Those that are complete; whoever takes them away empties the list."""
        self.zones: dict[str, Zone] = {}
        """By key, in the order of the file."""
        self.layers: dict[Layer, str] = {}
        """The layers found, each as the file names it."""
        self.root = ""
        self.lines: list[int] = []
        """Where the elements that are open begin."""
        self.names: list[str] = []
        self._findings = findings
        self._bounds = Bounds(findings.name, limits)
        self._locator: Locator | None = None
        self._open = [_Open("", "", 0, "", True)]
        self._passed_over = 0
        self._zone: Zone | None = None
        self._nodes: list[Node] = []
        self._text: list[str] | None = None
        self._text_size = 0

    def setDocumentLocator(self, locator: Locator) -> None:  # noqa: N802 (the name that SAX gives it)
        """Called first."""
        self._locator = locator

    @property
    def line(self) -> int:
        """The line that the parser is at."""
        return (self._locator and self._locator.getLineNumber()) or 1

    def startElement(self, name: str, attrs: AttributesImpl[str]) -> None:  # noqa: N802
        """An element begins."""
        line = self.line
        name = name.rpartition(":")[2]
        self._bounds.element(name, attrs, len(self.names), line)
        self.names.append(name)
        self.lines.append(line)
        if self._passed_over:
            self._passed_over += 1
            return
        top = self._open[-1]
        kind = self._kind(top, name, line)
        if kind is None:
            self._passed_over = 1
            return
        top.members += 1
        element = _Open(name, kind, line, attrs.get("id", ""), not len(attrs))
        self._open.append(element)
        if kind in ("bundle", "node"):
            self._begin_member(element)
        elif kind in ("zone", "subbundle"):
            make, key = (treex_zone, "selector") if kind == "zone" else (subbundle_zone, "direction")
            self._zone = self._known_zone(make(attrs.get("language", ""), attrs.get(key, "")), line)
        elif kind == "tree":
            self._begin_tree(name, top.kind, line)
        elif kind in ("structure", "field"):
            element.node = top.node
            if kind == "field":
                self._text, self._text_size = [], 0

    def endElement(self, name: str) -> None:  # noqa: ARG002, N802
        """An element ends."""
        self.names.pop()
        self.lines.pop()
        if self._passed_over:
            self._passed_over -= 1
            return
        closed = self._open.pop()
        if closed.kind == "field":
            self._end_field(closed)
        elif closed.kind == "children" and not closed.members and not closed.bare:
            # A single member that has an id and nothing else.
            closed.kind = "node"
            self._begin_member(closed)

    def characters(self, content: str) -> None:
        """Text, or a part of one."""
        if self._text is not None and not self._passed_over:
            self._text_size += len(content)
            self._bounds.field(self.names[-1], self._text_size, self.line)
            self._text.append(content)

    def _kind(self, top: _Open, name: str, line: int) -> str | None:
        if not top.name:
            self.root = name
        member = _MEMBERS.get(top.kind)
        if member is not None:
            if name == "LM":
                return member
            if top.members:
                self._problem(f"<{shown(name)}> among the <LM> of <{top.name}>. Put it into one of them.", line)
                return None
            # The list has one member and is written without LM: it is the member.
            top.kind = member
            self._begin_member(top)
        elif top.kind == "field":
            self._problem(f"<{shown(name)}> in <{top.name}>, which holds text alone. Remove it.", line)
            return None
        elif name == "LM" and top.kind in _MEMBERS.values():
            self._problem(f"<LM> in <{top.name}>, which is no list. Remove it, or put it into <children>.", line)
            return None
        if top.kind == "named trees":
            return "tree" if len(name) > 1 and name[-1] in LETTERS else None
        return _INSIDE.get((top.kind, name))

    def _begin_member(self, element: _Open) -> None:
        if element.kind == "bundle":
            self._bounds.bundle(element.line)
            self.bundles.append(Bundle(element.id, element.line))
            return
        self._bounds.node(element.line)
        element.node = Node(element.id, element.line)
        self._nodes.append(element.node)

    def _begin_tree(self, name: str, inside: str, line: int) -> None:
        if inside == "named trees":
            zone, letter = self._known_zone(named_zone(name[:-1]), line), name[-1]
        else:
            assert self._zone is not None
            zone, letter = self._zone, _TREES[name]
        layer = Layer(zone.key, letter)
        called = f"{name} of zone {zone.called}" if self.root == TREEX else f"{zone.called}{letter}"
        self.layers.setdefault(layer, called)
        bundle = self.bundles[-1]
        self._nodes = []
        if layer in bundle.trees:
            self._problem(f"bundle {quoted(bundle.id)} has {shown(called)} twice. Remove one.", line)
            return
        bundle.trees[layer] = self._nodes

    def _known_zone(self, zone: Zone, line: int) -> Zone:
        known = self.zones.setdefault(zone.key, zone)
        self._bounds.zones(len(self.zones), line)
        return known

    def _end_field(self, closed: _Open) -> None:
        node, text = closed.node, "".join(self._text or ())
        assert node is not None
        self._text = None
        if closed.name in node.fields:
            self._problem(f"node {quoted(node.id)} has <{closed.name}> twice. Remove one.", closed.line)
        node.fields[closed.name] = text

    def _problem(self, sentence: str, line: int) -> None:
        self._findings.problem(sentence, line)
