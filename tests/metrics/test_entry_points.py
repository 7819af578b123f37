"""Metrics of other distributions, sound ones and all kinds of broken ones."""

import sys

import pytest

from cli.main import main
from metrics import BLEU, parse_metric
from metrics.entry_points import offers, origin
from metrics.errors import BrokenMetric, UnknownMetric

SOUND = """
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
from metrics import Metric
from metrics.parameters import parameter

@dataclass(frozen=True)
class Lines(Metric):
    '''Lines that are equal.'''
    name: ClassVar[str] = "lines"
    source: ClassVar[str] = "a test"
    columns = ("equal", "lines")
    def segment_statistics(self, batch):
        texts = [text.split(b"\\n") for text in (batch.references[0], *batch.systems)]
        return np.array([[[a == b, 1] for a, b in zip(text, texts[0])] for text in texts[1:]], float)
    def score(self, sums):
        return 100 * sums[..., 0] / np.maximum(sums[..., 1], 1)
"""
ABSTRACT = SOUND.replace("def score", "def other")
WITH_PARAMETER = SOUND.replace("    columns", "    n: int = parameter(1, 'a number')\n    columns")
NO_DATACLASS = WITH_PARAMETER.replace("@dataclass(frozen=True)\n", "")
BROKEN = {
    "import error": ("import there_is_no_such_module", "lines", "ModuleNotFoundError: No module named"),
    "syntax error": ("def", "lines", "SyntaxError"),
    "ends the process": ("raise SystemExit(3)", "lines", "SystemExit: 3"),
    "no such class": ("x = 1", "lines", "AttributeError"),
    "no class": ("Lines = 5", "lines", "is not a subclass of metrics.Metric"),
    "another class": ("class Lines: pass", "lines", "is not a subclass of metrics.Metric"),
    "abstract": (ABSTRACT, "lines", "lacks score"),
    "no dataclass": (NO_DATACLASS, "lines", "has parameters but is not a frozen dataclass"),
    "thawed dataclass": (SOUND.replace("frozen=True", ""), "lines", "cannot inherit non-frozen dataclass"),
    "another name": (SOUND, "rows", 'its entry point is called "rows" and its class "lines"'),
    "upper case": (SOUND.replace('"lines"', '"Lines"', 1), "Lines", "in lower case"),
}


@pytest.fixture
def install(tmp_path, monkeypatch):
    """A function that lays a distribution on the path."""
    monkeypatch.syspath_prepend(str(tmp_path))
    made = []

    def lay(source, entry_point="lines", distribution="their-package", version="2.1"):
        module = f"module_of_{distribution.replace('-', '_')}"
        (tmp_path / f"{module}.py").write_text(source)
        info = tmp_path / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(f"[steelyard.metrics]\n{entry_point} = {module}:Lines\n")
        made.append(module)
        offers.cache_clear()

    yield lay
    for module in made:
        sys.modules.pop(module, None)
    offers.cache_clear()


def test_a_sound_one_is_found_and_says_where_it_comes_from(install):
    install(SOUND)
    metric = parse_metric("lines")
    assert origin(type(metric)) == "their-package-2.1"
    assert metric.signature(1) == "nrefs:1|version:steelyard-0.1.0|from:their-package-2.1"


def test_ours_come_from_here():
    assert origin(BLEU) is None
    assert "from:" not in BLEU().signature(1)


def test_nothing_is_imported_unless_asked_for(install):
    install("raise SystemExit(3)")
    assert parse_metric("bleu") == BLEU()
    with pytest.raises(UnknownMetric, match="lines"):
        parse_metric("linse")
    assert "module_of_their_package" not in sys.modules


@pytest.mark.parametrize(("source", "entry_point", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_broken_one_is_an_error_for_those_who_ask_and_a_note_for_others(install, capsys, source, entry_point, reason):
    install(source, entry_point)
    with pytest.raises(BrokenMetric) as caught:
        parse_metric(entry_point)
    assert reason in str(caught.value)
    assert f'The metric "{entry_point.lower()}" of their-package-2.1 cannot be used: ' in str(caught.value)
    assert main(["metrics", entry_point.lower()]) == 1
    assert "their-package-2.1 cannot be used" in capsys.readouterr().err
    assert main(["metrics"]) == 0
    shown = capsys.readouterr()
    assert "bleu  (BLEU" in shown.out
    assert "note: The metric" in shown.err
    assert reason in shown.err


def test_one_that_cannot_be_made_is_a_note_in_the_list(install, capsys):
    install(SOUND + "    def __post_init__(self):\n        raise RuntimeError('no way')\n")
    assert main(["metrics"]) == 0
    assert 'note: The metric "lines" of their-package-2.1 cannot be described: no way' in capsys.readouterr().err


def test_our_names_stay_ours(install, capsys):
    install(SOUND.replace('"lines"', '"bleu"', 1), "bleu")
    assert parse_metric("bleu") == BLEU()
    assert main(["metrics"]) == 0
    shown = capsys.readouterr()
    assert shown.out.count("bleu  (BLEU") == 1
    assert 'note: The metric "bleu" of their-package-2.1 is passed over' in shown.err


def test_two_of_the_same_name_are_an_error_that_names_both(install):
    install(SOUND)
    install(SOUND, distribution="another", version="1")
    with pytest.raises(BrokenMetric, match=r"offered by another-1 and by their-package-2\.1"):
        parse_metric("lines")


def test_unreadable_metadata_of_others_breaks_nothing(install, tmp_path):
    install(SOUND)
    info = tmp_path / "wreck-1.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_bytes(b"\xff[steelyard.metrics\nx\n")
    (tmp_path / "empty-1.dist-info").mkdir()
    offers.cache_clear()
    assert parse_metric("lines").name == "lines"
