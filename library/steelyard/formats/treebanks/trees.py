"""From the nodes of a tree to lines: words and lemmas, or t-lemmas and semantic parts of speech."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from steelyard.formats.layers import NOTHING, one_item
from steelyard.text.findings import quoted, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard.formats.plain import Utf8
    from steelyard.formats.treebanks.pml_elements import Node
    from steelyard.text.findings import Findings

UNKNOWN_SEMPOS = "???"
_NUMBER = re.compile(r"[+-]?[0-9]{1,15}(?:\.[0-9]{1,15})?")
_LEMMA_TAIL = re.compile(r"(?<=.)(?:_[;:,^]|`).*", re.DOTALL)
_LEMMA_NUMBER = re.compile(r"(?<=.)-[0-9]+\Z", re.DOTALL)


class Lines(NamedTuple):
    """One sentence of one layer."""

    words: Utf8
    beside: Utf8
    """Lemmas for the words of an A or M layer, items of sempos for a T layer; see `steelyard.formats.layers`."""


def short_lemma(lemma: str) -> str:
    """A lemma of the Prague treebanks without its tail of comments and its number.

    Parameters
    ----------
    lemma : str

    Returns
    -------
    str

    Examples
    --------
    >>> short_lemma("jak-1_;L_^(živočich)"), short_lemma("dva`2"), short_lemma("-1")
    ('jak', 'dva', '-1')
    """
    return _LEMMA_NUMBER.sub("", _LEMMA_TAIL.sub("", lemma, count=1))


def word_lines(nodes: Sequence[Node], morphology: Mapping[str, Node], ordered: bool, findings: Findings) -> Lines:
    """Forms and lemmas of an A layer or of an M layer.

    A node without a form of its own takes those of the node of `morphology` that its `m.rf` names.

    Parameters
    ----------
    nodes : sequence of Node
    morphology : mapping of str to Node
        The M layer, by id.
    ordered : bool
        Whether nodes stand in the order of their `ord`, as in an A layer, and not in that of the file.
    findings : Findings

    Returns
    -------
    Lines
    """
    if ordered:
        nodes = _by_number(nodes, findings)
    forms, lemmas = [], []
    for node in nodes:
        fields = node.fields
        if "form" not in fields and "m.rf" in fields:
            target = fields["m.rf"].rpartition("#")[2].strip()
            if target not in morphology:
                findings.problem(f"{_called(node)}: its m.rf {quoted(target)} is in no M layer. Correct it.", node.line)
                continue
            fields = morphology[target].fields
        form = one_item(fields.get("form", ""))
        if not form:
            findings.problem(f"{_called(node)} has no form. Every node of this layer must be a word.", node.line)
            continue
        forms.append(form)
        lemmas.append(one_item(short_lemma(fields.get("lemma", "").strip())) or NOTHING)
    return Lines(" ".join(forms).encode(), " ".join(lemmas).encode())


def sempos_lines(nodes: Sequence[Node], findings: Findings) -> Lines:
    """T-lemmas of a T layer, and `T_LEMMA/SEMPOS` for the nodes that have a semantic part of speech.

    Nodes stand in the order of `ord` or `deepord`; those without number come last.

    Parameters
    ----------
    nodes : sequence of Node
    findings : Findings

    Returns
    -------
    Lines
    """
    numbered = [(_number(node, "ord", "deepord"), node) for node in nodes]
    numbered.sort(key=lambda pair: (pair[0] is None, pair[0] or 0.0))
    lemmas, items = [], []
    for _, node in numbered:
        lemma = one_item(node.fields.get("t_lemma", ""))
        lemmas.append(lemma or NOTHING)
        sempos = node.fields.get("sempos", "").strip()
        if not sempos or sempos == UNKNOWN_SEMPOS:
            continue
        if not lemma:
            findings.problem(f"{_called(node)} has a sempos, but no t_lemma. Add it.", node.line)
        elif "/" in sempos or sempos.split() != [sempos]:
            findings.problem(f"{_called(node)}: {quoted(sempos)} is no sempos. Correct it.", node.line)
        else:
            items.append(f"{lemma}/{sempos}")
    return Lines(" ".join(lemmas).encode(), " ".join(items).encode())


def _by_number(nodes: Sequence[Node], findings: Findings) -> list[Node]:
    numbered: dict[float, Node] = {}
    for node in nodes:
        number = _number(node, "ord")
        if number is None:
            what = f"its ord {quoted(node.fields['ord'])} is no number" if "ord" in node.fields else "it has no ord"
            findings.problem(f"{_called(node)}: {what}. Number the words of the sentence.", node.line)
        elif number in numbered:
            findings.problem(
                f"{_called(node)}: its ord {shown(node.fields['ord'].strip())} is that of {_called(numbered[number])}, "
                f"line {numbered[number].line}, too. Number the words of the sentence.",
                node.line,
            )
        else:
            numbered[number] = node
    return [numbered[number] for number in sorted(numbered)]


def _number(node: Node, *fields: str) -> float | None:
    text = next((node.fields[name].strip() for name in fields if name in node.fields), "")
    return float(text) if _NUMBER.fullmatch(text) else None


def _called(node: Node) -> str:
    return f"node {quoted(node.id)}" if node.id else "a node"
