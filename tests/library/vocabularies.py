"""Word vectors for tests: small vocabularies, stored as `steelyard vectors` stores them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from steelyard.metrics.embeddings.vectors import store
from steelyard.metrics.resources import Resources
from steelyard.metrics.segments import Segments
from tests.library.campaigns import joined

letters = st.lists(st.sampled_from("abcdefgh"), max_size=7)


def some_vectors(size):
    """For all letters but two, in all directions."""
    numbers = np.random.default_rng(size)
    return {letter: numbers.standard_normal(size).astype(np.float32).tolist() for letter in "abcdef"}


def stored(vectors, folder):
    """Resources in which `vectors` (by word) are called toy."""
    folder = Path(folder) / "toy"
    folder.mkdir()
    entries = ((word.encode(), np.array(vector, np.float32)) for word, vector in vectors.items())
    store(entries, folder, "toy", {})
    return Resources(files={"toy": folder})


def batch_with(resources, references, systems):
    """Of lists of lists of words."""
    texts = [[joined([" ".join(words) for words in text]) for text in each] for each in (references, systems)]
    return Segments(references=texts[0], hypotheses=texts[1], resources=resources)


def trained(campaign, folder):
    """Vectors of a campaign's texts as resources, and as gensim has them; some words have none."""
    from gensim.models import Word2Vec

    texts = [*campaign.references.values(), *list(campaign.systems.values())[:3]]
    segments = Segments(references=[joined(texts[0])], hypotheses=[joined(text) for text in texts[1:]])
    words = segments.words("13a", "lc")
    types = words.lines.decode().split("\n")
    sentences = [[types[w] for w in words.ids[a:b]] for a, b in zip(words.starts, words.starts[1:], strict=False)]
    keyed = Word2Vec(sentences, vector_size=50, min_count=3, workers=1, epochs=3, seed=1).wv
    return stored(dict(zip(keyed.index_to_key, keyed.vectors, strict=True)), folder), keyed
