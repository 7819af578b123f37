"""Metrics of other distributions, sound ones and all kinds of broken ones."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from campaigns.inspection.method import describe_metrics
from cli.main import main
from steelyard import BLEU
from steelyard.errors import BadParameter, BrokenMetric, UnknownMetric
from steelyard.metrics.entry_points import origin
from steelyard.metrics.metric import VERSION
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.resources import Resources
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from steelyard.plugins.entry_points import forget, found, is_offered
from steelyard.plugins.integrity import house

SOUND = """
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
from steelyard import Metric
from steelyard.metrics.parameters import parameter

@dataclass(frozen=True)
class Lines(Metric):
    '''Lines that are equal.'''
    name: ClassVar[str] = "lines"
    source: ClassVar[str] = "a test"
    columns = ("equal", "lines")
    def segment_statistics(self, segments):
        texts = [text.split(b"\\n") for text in (segments.references[0], *segments.hypotheses)]
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
    "no class": ("Lines = 5", "lines", "is not a subclass of steelyard.Metric"),
    "another class": ("class Lines: pass", "lines", "is not a subclass of steelyard.Metric"),
    "abstract": (ABSTRACT, "lines", "lacks score"),
    "no dataclass": (NO_DATACLASS, "lines", "has parameters but is not a frozen dataclass"),
    "thawed dataclass": (SOUND.replace("frozen=True", ""), "lines", "cannot inherit non-frozen dataclass"),
    "another name": (SOUND, "rows", 'its entry point is called "rows" and its metric "lines"'),
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
        forget()

    yield lay
    for module in made:
        sys.modules.pop(module, None)
    forget()


def test_a_sound_one_is_found_and_says_where_it_comes_from(install):
    install(SOUND)
    metric = parse_metric("lines")
    assert origin(type(metric)) == "their-package-2.1"
    assert metric.signature(1) == "nrefs:1|version:steelyard-0.1.0|from:their-package-2.1"


def test_it_is_described_with_where_it_comes_from_and_its_signature_too(install, tmp_path, capsys):
    install(SOUND)
    assert main(["metric", "list"]) == 0
    shown = capsys.readouterr()
    told = "lines  (lines, higher is better)\n  Lines that are equal.\n  Source: a test.\n  From: their-package-2.1.\n"
    assert (shown.out[-len(told) - 1 :], shown.err) == (f"\n{told}", "")
    (tmp_path / "a.txt").write_text("one\n")
    words = (str(tmp_path / "a.txt"), "-i", str(tmp_path / "a.txt"), "-f", "json")
    assert main(["verify", "lines|nrefs:1|version:steelyard-0.0.9|from:their-package-2.0 = 100", *words]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["scores"][0]["differences"] == ["from was their-package-2.0, and is their-package-2.1 here"]
    assert found["notes"] == [f"The score was made by steelyard-0.0.9; this is version {VERSION}."]


def test_one_that_has_only_the_name_of_an_offered_one_is_not_said_to_come_from_there(install):
    """The own class of a program beside an installed distribution: their names may be the same."""
    install(SOUND)
    scope: dict[str, Any] = {"__name__": "a_program"}
    exec(SOUND, scope)
    mine = scope["Lines"]
    assert origin(mine) is None
    assert origin(type(parse_metric("lines"))) == "their-package-2.1"
    assert origin(mine) is None
    assert "from:" not in mine().signature(1)


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
    assert main(["metric", "show", entry_point.lower()]) == 1
    assert "their-package-2.1 cannot be used" in capsys.readouterr().err
    assert main(["metric", "list"]) == 0
    shown = capsys.readouterr()
    assert "bleu  (BLEU" in shown.out
    assert "note: The metric" in shown.err
    assert reason in shown.err


def test_one_that_cannot_be_made_is_a_note_in_the_list(install, capsys):
    install(SOUND + "    def __post_init__(self):\n        raise RuntimeError('no way')\n")
    assert main(["metric", "list"]) == 0
    assert 'note: The metric "lines" of their-package-2.1 cannot be described: no way' in capsys.readouterr().err


def test_our_names_stay_ours(install, capsys):
    install(SOUND.replace('"lines"', '"bleu"', 1), "bleu")
    assert parse_metric("bleu") == BLEU()
    assert main(["metric", "list"]) == 0
    shown = capsys.readouterr()
    assert shown.out.count("bleu  (BLEU") == 1
    assert 'note: The metric "bleu" of their-package-2.1 is ignored' in shown.err


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
    forget()
    assert parse_metric("lines").name == "lines"


def test_one_whose_folder_is_of_setuptools_own_kind_is_found(install, tmp_path):
    install(SOUND)
    (info,) = tmp_path.glob("*.dist-info")
    (info / "METADATA").rename(info / "PKG-INFO")
    info.rename(tmp_path / "their_package.egg-info")
    forget()
    assert origin(type(parse_metric("lines"))) == "their-package-2.1"


def test_what_it_says_of_its_module_hides_nothing(install):
    install(SOUND.replace("    columns =", "    __module__ = 'steelyard.lines'\n    columns ="))
    metric = parse_metric("lines")
    assert type(metric).__module__ == "steelyard.lines"
    assert origin(type(metric)) == "their-package-2.1"
    assert "from:their-package-2.1" in metric.signature(1)


def test_one_with_a_signature_of_its_own_is_refused(install):
    install(SOUND + "    def signature(self, *_):\n        return 'nrefs:1|version:steelyard-0.1.0'\n")
    with pytest.raises(BrokenMetric, match=r"Lines has a signature\(\) of its own"):
        parse_metric("lines")


EVERYTHING = """
import {0} as module
for name in list(vars(module)):
    if callable(vars(module)[name]) and not name.startswith("_"):
        setattr(module, name, print)
"""
PATCHES = {
    "a method": (
        "from steelyard import BLEU\nBLEU.score = lambda self, sums: sums[..., 0]",
        "steelyard.metrics.ngram.bleu.BLEU.score",
    ),
    "one of the base": (
        "from steelyard import Metric\nMetric.specification = None",
        "steelyard.metrics.metric.Metric.specification",
    ),
    "one before that of the base": (
        "from steelyard import BLEU\nBLEU.segment_score = lambda self, statistics: 0 * self.score(statistics)",
        "steelyard.metrics.ngram.bleu.BLEU.segment_score",
    ),
    "code": (
        "from steelyard import ChrF\nChrF.score.__code__ = (lambda self, sums: 0).__code__",
        "steelyard.metrics.ngram.chrf.ChrF.score",
    ),
    "a function": (
        "from steelyard.metrics import score_systems\nscore_systems.score_systems = None",
        "steelyard.metrics.score_systems.score_systems",
    ),
    "a kernel": (EVERYTHING.format("steelyard.kernels.nist.ngram_counts"), "steelyard.kernels.nist.ngram_counts"),
    "the metrics": (
        "from steelyard.metrics import built_in\ndel built_in.PLACES['bleu']",
        "steelyard.metrics.built_in.PLACES",
    ),
    "a table": (
        "from steelyard.metrics import registry\nregistry.ALIASES['bleu'] = 'chrf'",
        "steelyard.metrics.registry.ALIASES",
    ),
    "a default": (
        "from steelyard import BLEU\nBLEU.signature.__defaults__ = (7, None)",
        "steelyard.metrics.metric.Metric.signature",
    ),
    "a version": ("from steelyard.metrics import metric\nmetric.VERSION = '9'", "steelyard.metrics.metric.VERSION"),
    "NumPy": ("import numpy\nnumpy.maximum = numpy.minimum", "numpy.maximum"),
    "and fails": ("from steelyard import BLEU\nBLEU.score = None\nraise ValueError", ""),
    "a module that nobody has used": (
        EVERYTHING.format("steelyard.meta_evaluation.sweep"),
        "steelyard.meta_evaluation.sweep",
    ),
}


@pytest.mark.parametrize(("patch", "named"), PATCHES.values(), ids=PATCHES)
def test_one_that_replaces_what_is_built_in_is_refused_and_changes_nothing(install, patch, named):
    expected = corpus_score()
    install(f"{patch}\n{SOUND}")
    with pytest.raises(BrokenMetric) as caught:
        parse_metric("lines")
    assert "replaces what is built in" in str(caught.value) or not named
    assert named in str(caught.value)
    assert house().changed() == []
    assert corpus_score() == expected
    assert "changed:" not in BLEU().signature(1)


def test_one_that_replaces_something_later_changes_all_signatures(install):
    late = SOUND.replace(
        "        return 100 *", "        from steelyard import BLEU\n        BLEU.details = None\n        return 100 *"
    )
    install(late)
    metric = parse_metric("lines")
    assert "changed:" not in BLEU().signature(1)
    try:
        metric.score(np.ones((1, 2)))
        assert "|changed:steelyard.metrics.ngram.bleu.BLEU.details" in BLEU().signature(1)
        assert "|changed:steelyard.metrics.ngram.bleu.BLEU.details" in metric.signature(1)
    finally:
        house().restore()
    assert "changed:" not in BLEU().signature(1)


def corpus_score():
    segments = Segments.from_lines(hypotheses=[["the cat sat on the mat"]], references=[["the cat sat on a mat"]])
    return score_systems(segments, [BLEU()])[0].scores.tolist()


LOST = {
    "hangs": ("import time\nwhile True:\n    time.sleep(1)\n", "takes longer than 3 seconds"),
    "hangs in C": ("import re\nre.search(r'(a+)+b', 'a' * 1000)\n", "takes longer than 3 seconds"),
    "pauses": ("import signal\nsignal.pause()\n", "takes longer than 3 seconds"),
    "exits": ("import os\nos._exit(0)\n", r"ends the process that imports it \(exit status 0\)"),
    "dies": ("import os\nos.kill(os.getpid(), 9)\n", r"ends the process that imports it \(exit status -9\)"),
}


@pytest.fixture(params=LOST)
def lost(request, install, monkeypatch):
    """One that takes along whoever imports it, and what is said of it."""
    monkeypatch.setenv("STEELYARD_IMPORT_SECONDS", "3")
    source, reason = LOST[request.param]
    install(source, "aaa")
    return reason


def test_the_others_are_listed_whatever_one_does_when_it_is_imported(lost, capsys):
    assert main(["metric", "list"]) == 0
    shown = capsys.readouterr()
    assert "bleu  (BLEU" in shown.out
    assert re.search(lost, shown.err)
    describe_metrics.cache_clear()
    assert {"bleu", "chrf"} <= {each.name for each in describe_metrics()}
    describe_metrics.cache_clear()


NOISY = """
import os, pathlib, subprocess, sys
print("noise", flush=True)
print("noise", file=sys.stderr)
child = subprocess.Popen(["sleep", "600"])
pathlib.Path(__file__).with_name("child").write_text(str(child.pid))
os._exit(4 if sys.stdin.read() else 3)
"""


def test_nothing_of_a_trial_is_noticed_and_nothing_of_it_goes_on(install, tmp_path, capfd):
    install(NOISY)
    with pytest.raises(BrokenMetric, match="exit status 3"):
        parse_metric("lines")
    assert capfd.readouterr() == ("", "")
    child = int((tmp_path / "child").read_text())
    try:
        end = time.monotonic() + 60
        while not ended(child) and time.monotonic() < end:
            time.sleep(0.05)
        assert ended(child)
    finally:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)


def ended(process):
    """Gone, or there only until its parent has asked for its end."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].startswith("Z")
    except FileNotFoundError:
        return True


def test_who_asks_for_it_learns_whose_it_is(lost, capsys, tmp_path, sqlite_url, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEELYARD_DATABASE_URL", sqlite_url)
    for name in ("source.txt", "refs/A.txt", "systems/x.txt"):
        (tmp_path / "trial" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "trial" / name).write_text("ahoj\n")
    for words in (
        ["score", "trial/refs/A.txt", "-i", "trial/systems/x.txt", "-m", "aaa"],
        ["metric", "check", "aaa"],
        ["evaluate", "trial", "-m", "aaa"],
    ):
        assert main(words) == 1
        assert re.search(f'The metric "aaa" of their-package-2.1 cannot be used: .*{lost}', capsys.readouterr().err)


def test_it_is_tried_once_and_only_where_it_is_not_there_yet(install, monkeypatch):
    tried, start = [], subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *words, **more: tried.append(1) or start(*words, **more))
    install(SOUND)
    assert parse_metric("lines") == parse_metric("lines")
    assert len(tried) == 1
    forget()
    assert parse_metric("lines").name == "lines"
    assert len(tried) == 1


@pytest.mark.parametrize("given", ["soon", "-1", "0", "inf"])
def test_a_time_that_is_none_is_refused(install, monkeypatch, given):
    monkeypatch.setenv("STEELYARD_IMPORT_SECONDS", given)
    install(SOUND)
    with pytest.raises(BadParameter, match="must be a number of seconds"):
        parse_metric("lines")


def test_what_a_run_converts_for_itself_is_no_change_of_the_house(install, tmp_path):
    """As word vectors from a folder that cannot be written to."""
    install(SOUND)
    parse_metric("lines")
    (tmp_path / "toy.txt").write_text("1 1\na 1\n")
    resources = Resources(files={"toy": tmp_path / "toy.txt"})
    resources.converted(resources.pinned("toy", "vectors"), "vectors", lambda _content, _folder: None)
    assert house().changed() == []


def test_a_packed_distribution_is_found_and_counts_once(tmp_path, monkeypatch):
    """Where it is on the path twice, the first one is it: that is what Python imports."""
    for version in ("1.0", "2.0"):
        about, names = (
            f"Metadata-Version: 2.1\nName: packed\nVersion: {version}\n",
            "[steelyard.trials]\nhere = p:HERE\n",
        )
        with zipfile.ZipFile(tmp_path / f"{version}.zip", "w") as archive:
            archive.writestr(f"packed-{version}.dist-info/METADATA", about)
            archive.writestr(f"packed-{version}.dist-info/entry_points.txt", names)
    forget()
    assert not is_offered("steelyard.trials")
    assert found("steelyard.trials") == ()
    for version in ("1.0", "2.0"):
        monkeypatch.syspath_prepend(str(tmp_path / f"{version}.zip"))
        forget()
        ((point, distribution),) = found("steelyard.trials")
        assert (point.name, distribution) == ("here", f"packed-{version}")
    monkeypatch.undo()
    forget()
