"""Metrics that compare forms of words do not care how an accent is written; those that sacreBLEU has do."""

import gc
import unicodedata
import weakref

import pytest

from steelyard import BLEU, TBLEU, TER, WER, BLEUModif, CharacTER, ChrF, LeBLEU, Meteor, SemPOS, WERModif
from steelyard.metrics.segments import Segments
from tests.library.vocabularies import stored

LINES = ("žluťoučký kůň úpěl", "ďábelské ódy", "pěl kůň")
LAYER = ("žluťoučký/adj.denot kůň/n.denot", "óda/n.denot", "pět/v")


def segments(folder, form, reference_form="NFC"):
    """The system in `form`, the reference in another."""
    (reference, own), (reference_layer, layer) = (
        [unicodedata.normalize(each, "\n".join(rows)).encode() for each in (reference_form, form)]
        for rows in (LINES, LAYER)
    )
    folder.mkdir()
    resources = stored({"kůň": [1.0, 0.5], "úpěl": [0.25, 1.0], "pěl": [0.5, 1.0]}, folder)
    return Segments(
        references=[reference], hypotheses=[own], layers={"sempos": [reference_layer, layer]}, resources=resources
    )


@pytest.mark.parametrize("metric", [Meteor(), SemPOS(), BLEUModif(vectors="toy"), WERModif(vectors="toy")])
def test_forms_are_compared_in_nfc(metric, tmp_path):
    composed, *others = (
        metric.segment_statistics(segments(tmp_path / "".join(forms), *forms))
        for forms in (("NFC", "NFC"), ("NFD", "NFC"), ("NFC", "NFD"), ("NFD", "NFD"))
    )
    assert [other.tobytes() for other in others] == [composed.tobytes()] * 3


@pytest.mark.parametrize("metric", [BLEU(), WER()])
def test_others_see_code_points(metric, tmp_path):
    composed, decomposed = (metric.segment_statistics(segments(tmp_path / form, form)) for form in ("NFC", "NFD"))
    assert composed.tobytes() != decomposed.tobytes()


def test_composed_texts_are_prepared_once(tmp_path):
    composed, decomposed = segments(tmp_path / "a", "NFC"), segments(tmp_path / "b", "NFD")
    assert composed.nfc is composed
    assert decomposed.nfc is decomposed.nfc
    assert decomposed.nfc.nfc is decomposed.nfc


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_batch_goes_when_nobody_needs_it(tmp_path, form):
    """Not later, when cycles are looked for: workers would grow by shard after shard."""
    used = segments(tmp_path / "a", form)
    for metric in (Meteor(), LeBLEU(), CharacTER(), BLEU(), ChrF(), TER(), TBLEU(), SemPOS(), WERModif(vectors="toy")):
        metric.segment_statistics(used)
    gone = weakref.ref(used)
    gc.disable()
    try:
        del used
        assert gone() is None
    finally:
        gc.enable()
