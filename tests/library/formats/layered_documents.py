"""Writes the same layered sentences in every form that TectoMT, Treex and CoNLL-U allow."""

from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

TCZECH, GENERIC, TREEX = "named layers", "generic_subbundle", "treex"


@dataclass(frozen=True)
class Word:
    form: str
    lemma: str | None
    parent: int
    """Index of a word before it in the list; -1 for the technical root."""


@dataclass(frozen=True)
class Meaning:
    t_lemma: str
    sempos: str | None
    parent: int


@dataclass(frozen=True)
class Sentence:
    id: str
    order: tuple[int, ...]
    """Places of the words in the sentence, as `words` is in the order of the tree."""
    words: tuple[Word, ...]
    meanings: tuple[Meaning, ...]


@dataclass(frozen=True)
class Style:
    kind: str = TREEX
    bare: bool = False
    """Lists of one member without LM."""
    by_reference: bool = False
    """An A layer with m.rf alone; the forms are in the M layer."""
    backwards: bool = False
    """Members of structures in the opposite order, the tree's children first or last."""
    prefix: str = ""
    chatter: bool = False
    """Elements that the readers do not know."""
    zone: tuple[str, str] = ("cs", "")


def write(sentences, style):
    """The document as text."""
    root = "treex_document" if style.kind == TREEX else "tmt_document"
    members = [(f" id={quoteattr(s.id)}", _bundle(s, style)) for s in sentences]
    chatter = "<wild><a><children><LM/></children></a></wild>" if style.chatter else ""
    namespace = f"xmlns{':' + style.prefix if style.prefix else ''}"
    text = (
        f'<{root} {namespace}="http://ufal.mff.cuni.cz/pdt/pml/"><head><schema href="x"/></head><meta>{chatter}</meta>'
        f"{_list('bundles', members, style)}</{root}>"
    )
    if style.prefix:
        text = text.replace("</", f"\0{style.prefix}:").replace("<", f"<{style.prefix}:").replace("\0", "</")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + text


def expected(sentences):
    """Lines, lemmas and items of sempos as every reader must give them."""
    lines, lemmas, items = [], [], []
    for s in sentences:
        in_order = [word for _, word in sorted(zip(s.order, s.words, strict=True), key=lambda pair: pair[0])]
        lines.append(" ".join("_".join(word.form.split()) for word in in_order))
        lemmas.append(" ".join("_".join((word.lemma or "_").split()) for word in in_order))
        items.append(" ".join(f"{'_'.join(m.t_lemma.split())}/{m.sempos}" for m in s.meanings if m.sempos))
    return ["\n".join(each).encode() for each in (lines, lemmas, items)]


def write_conllu(sentences):
    """The same in CoNLL-U, without the meanings."""
    blocks = []
    for s in sentences:
        in_order = [word for _, word in sorted(zip(s.order, s.words, strict=True), key=lambda pair: pair[0])]
        rows = [f"# sent_id = {s.id}"]
        for number, word in enumerate(in_order, start=1):
            lemma = " ".join(word.lemma.split()) if word.lemma else "_"
            rows.append("\t".join([str(number), " ".join(word.form.split()), lemma, *["_"] * 7]))
        blocks.append("\n".join(rows) + "\n\n")
    return "".join(blocks)


def _bundle(sentence, style):
    numbers = [str(place + 1) for place in sentence.order]
    a_nodes = [_word(f"a{i}", f"m{sentence.id}-{i}", w, numbers[i], style) for i, w in enumerate(sentence.words)]
    a_root = _tree(a_nodes, [w.parent for w in sentence.words], style)
    t_nodes = [(f' id="t{i}"', _meaning(m, i + 1)) for i, m in enumerate(sentence.meanings)]
    t_root = _tree(t_nodes, [m.parent for m in sentence.meanings], style)
    by_place = sorted(range(len(numbers)), key=lambda i: sentence.order[i])
    morphology = [(f' id="m{sentence.id}-{i}"', "".join(_fields(sentence.words[i]))) for i in by_place]
    m_root = _list("children", morphology, style)
    language, selector = style.zone
    if style.kind == TREEX:
        attribute = f' selector="{selector}"' if selector else ""
        trees = _shuffled([f'<a_tree id="ar">{a_root}</a_tree>', f"<t_tree>{t_root}</t_tree>"], style)
        zone = f'<zone language="{language}"{attribute}><sentence>x</sentence><trees>{trees}</trees></zone>'
        other = '<zone language="cs" selector="x"/>' if style.chatter else ""
        return f"<zones>{other}{zone}</zones>"
    letters = [("a", a_root), ("t", t_root)] + ([("m", m_root)] if style.by_reference else [])
    if style.kind == GENERIC:
        trees = _shuffled([f"<{letter}_tree>{content}</{letter}_tree>" for letter, content in letters], style)
        return (
            '<trees/><generic_subbundles><generic_subbundle language="cs" direction="T">'
            f"<trees>{trees}</trees></generic_subbundle></generic_subbundles>"
        )
    trees = [f"<TCzech{letter.upper()}>{content}</TCzech{letter.upper()}>" for letter, content in letters]
    names = "<TCzechN><children><LM/></children></TCzechN>" if style.chatter else ""
    return f"<czech_target_sentence>x</czech_target_sentence><trees>{names}{_shuffled(trees, style)}</trees>"


def _fields(word):
    lemma = f"<lemma>{escape(word.lemma)}</lemma>" if word.lemma is not None else ""
    return [f"<form>{escape(word.form)}</form>", lemma]


def _word(identity, morphology, word, number, style):
    if style.by_reference:
        fields = [f"<m.rf>{morphology}</m.rf>"]
    elif style.kind == TREEX:
        fields = _fields(word)
    else:
        fields = [f"<m>{_shuffled(_fields(word), style)}</m>"]
    if style.chatter:
        fields += ["<afun>Atr</afun>", "<wild><form>no</form><LM/></wild>"]
    return f' id="{identity}"', _shuffled([*fields, f"<ord> {number} </ord>"], style)


def _meaning(meaning, number):
    sempos = f"<gram><sempos>{meaning.sempos}</sempos><number>sg</number></gram>" if meaning.sempos else ""
    return f"<t_lemma>{escape(meaning.t_lemma)}</t_lemma>{sempos}<deepord>{number}</deepord>"


def _tree(nodes, parents, style):
    """The content of a technical root: `children` nested as the parents say."""
    children = {parent: [] for parent in range(-1, len(nodes))}
    for index, parent in enumerate(parents):
        children[parent].append(index)
    written = {}
    for index in reversed(range(len(nodes))):
        attributes, fields = nodes[index]
        below = _list("children", [written[child] for child in children[index]], style)
        written[index] = (attributes, fields + below if style.backwards else below + fields)
    return _list("children", [written[index] for index in children[-1]], style)


def _list(name, members, style):
    if not members:
        return f"<{name}/>" if style.chatter else ""
    if len(members) == 1 and style.bare:
        attributes, content = members[0]
        return f"<{name}{attributes}>{content}</{name}>"
    return f"<{name}>{''.join(f'<LM{attributes}>{content}</LM>' for attributes, content in members)}</{name}>"


def _shuffled(parts, style):
    return "".join(reversed(parts) if style.backwards else parts)
