"""What users pick beside ours, from text files to scores: NLTK, rapidfuzz, jiwer, gensim; sacreBLEU is in sacre.py.

Each function gets the reference and the systems as files, and does the same work as ours from the same bytes; gensim
alone is given words.
"""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

MODULES = {
    "sacreBLEU": ("sacrebleu.metrics", "sacrebleu.significance"),
    "NLTK": ("nltk.translate.nist_score", "nltk.translate.meteor_score"),
    "rapidfuzz": ("rapidfuzz.distance",),
    "jiwer": ("jiwer",),
    "gensim": ("gensim.models",),
}
"""What is imported before anything is timed: what is warm is compared with what is warm."""


def imported() -> set[str]:
    """The peers that are installed, after importing them."""
    found = set()
    for peer, modules in MODULES.items():
        with suppress(ImportError):
            for module in modules:
                import_module(module)
            found.add(peer)
    return found


def lines(path: Path) -> list[str]:
    """Of a text file."""
    return path.read_bytes().decode().removesuffix("\n").split("\n")


def nltk_nist(reference: Path, systems: list[Path]) -> list[float]:
    """NIST by corpus_nist, which wants tokens: cut by sacreBLEU's 13a."""
    from nltk.translate.nist_score import corpus_nist
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
    from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp

    # It remembers the lines of earlier rounds, which a new test set is not made of.
    for tokenizer in (Tokenizer13a, TokenizerRegexp):
        tokenizer.__call__.cache_clear()
    cut = Tokenizer13a()
    references = [[cut(line).split()] for line in lines(reference)]
    return [corpus_nist(references, [cut(line).split() for line in lines(system)], 5) for system in systems]


def nltk_meteor(reference: Path, systems: list[Path]) -> list[float]:
    """Segment scores of Meteor's exact module, 0 to 1: NLTK with a stemmer and a WordNet that know nothing."""
    from nltk.translate.meteor_score import single_meteor_score

    class NoStemmer:
        stem = str

    class NoWordNet:
        synsets = staticmethod(lambda word: [])  # noqa: ARG005

    references = [line.split() for line in lines(reference)]
    return [
        single_meteor_score(one, line.split(), stemmer=NoStemmer, wordnet=NoWordNet)
        for system in systems
        for one, line in zip(references, lines(system), strict=True)
    ]


def unrepeated(reference: Path, systems: list[Path]) -> list[bool]:
    """By segment of each system whether every word that both sides have is there once: NLTK links others otherwise."""
    alike = []
    references = [line.lower().split() for line in lines(reference)]
    for system in systems:
        for one, line in zip(references, lines(system), strict=True):
            other = line.lower().split()
            alike.append(all(one.count(word) + other.count(word) == 2 for word in {*one} & {*other}))
    return alike


def rapidfuzz_wer(reference: Path, systems: list[Path]) -> list[float]:
    """WER by a loop over rapidfuzz's distance; there is no PER in it."""
    from rapidfuzz.distance import Levenshtein

    references = [line.split() for line in lines(reference)]
    words = sum(map(len, references))
    return [
        100 * sum(map(Levenshtein.distance, references, [line.split() for line in lines(system)])) / words
        for system in systems
    ]


def jiwer_wer(reference: Path, systems: list[Path]) -> list[float]:
    """WER by jiwer, which cuts at plain blanks alone, so that other white space is made one first."""
    import jiwer

    references = [" ".join(line.split()) for line in lines(reference)]
    return [
        100 * jiwer.process_words(references, [" ".join(line.split()) for line in lines(system)]).wer
        for system in systems
    ]


def gensim_sums(keyed: Any, reference: list[list[str]], hypothesis: list[list[str]]) -> list[float]:
    """BLEU_modif's sums (gamma=0) of each order, from words: one call of n_similarity per pair of n-grams."""
    sums = [0.0] * 4
    for segment in zip(hypothesis, reference, strict=True):
        for n in range(4):
            own, theirs = ([words[at : at + n + 1] for at in range(len(words) - n)] for words in segment)
            sums[n] += sum(max([0.0, *(_similarity(keyed, one, other) for other in theirs)]) for one in own)
    return sums


def _similarity(keyed: Any, one: list[str], other: list[str]) -> float:
    if one == other:
        return 1.0
    known = [[word for word in words if word in keyed] for words in (one, other)]
    return float(keyed.n_similarity(*known)) if all(known) else 0.0
