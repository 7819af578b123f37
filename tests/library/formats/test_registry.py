"""Every list of formats comes from the registry, and plug-ins join it without harm to others."""

import sys
from pathlib import Path

import pytest

from cli.main import main
from steelyard.errors import BadText, BrokenFormat
from steelyard.formats.detection import looks_like, read_file, read_text
from steelyard.formats.file_names import is_text, system_name
from steelyard.formats.plain import Text
from steelyard.formats.reader import Kind
from steelyard.formats.registry import FORMATS, READERS, formats_with, reader_called, sound_plugins, titles
from steelyard.plugins.entry_points import forget
from tests.cli.status import status_of

DOCS = Path(__file__).parents[3] / "docs" / "reference"
SHOUTED = """
from steelyard.formats.plain import Text
from steelyard.formats.reader import Kind, Reader
def read(contents, how):
    lines = contents.read(how.limits).split(b"!")[1:-1]
    return Text(contents.name, b"\\n".join(lines), len(lines))
X = Reader("shouted", "shouted text", (".loud",), Kind.LINES, lambda head: head.startswith(b"!"), read)
"""
BROKEN = {
    "import error": "import there_is_no_such_module",
    "ends the process": "import os; os._exit(3)",
    "no reader": "X = 5",
    "another name": SHOUTED.replace('"shouted"', '"other"'),
    "replaces ours": SHOUTED + "import steelyard.formats.plain\nsteelyard.formats.plain.read_lines = read\n",
}


@pytest.fixture
def install(tmp_path, monkeypatch):
    """A function that lays a distribution on the path."""
    monkeypatch.syspath_prepend(str(tmp_path))
    made = []

    def forget_all():
        forget()
        sound_plugins.cache_clear()

    def lay(source, distribution="loud"):
        module = f"module_of_{distribution}"
        (tmp_path / f"{module}.py").write_text(source)
        info = tmp_path / f"{distribution}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[steelyard.formats]\nshouted = {module}:X\n")
        made.append(module)
        forget_all()

    yield lay
    for module in made:
        sys.modules.pop(module, None)
    forget_all()


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_every_format_is_documented_and_offered(reader, capsys):
    assert f"`{reader.name}`" in (DOCS / "formats.md").read_text()
    for ending in reader.endings if reader.kind is not Kind.DOCUMENTS else ():
        assert f"`{ending}`" in (DOCS / "campaigns.md").read_text()
        assert (is_text(f"A{ending}.gz"), system_name(f"out/A{ending.upper()}.gz")) == (True, "A")
    for verb in ("score", "check", "submit"):
        assert status_of([verb, "--help"]) == 0
        assert reader.name in capsys.readouterr().out


def test_names_and_endings_mean_one_format():
    assert len(set(FORMATS)) == len(FORMATS)
    single = [ending for reader in READERS if reader.kind is not Kind.DOCUMENTS for ending in reader.endings]
    assert len(set(single)) == len(single)
    assert all(ending == ending.lower() and ending[0] == "." for ending in single)


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
@pytest.mark.parametrize("head", [b"", b"\n", b"\xff\xfe", b"<" * 70_000, b"{" * 70_000, b"\t" * 70_000, b"[" * 70_000])
def test_telling_a_format_never_fails(reader, head):
    assert reader.sniff(head) in (True, False)


def test_words_about_formats():
    assert titles([Kind.SIDES]) == "TectoMT or Treex"
    assert titles([]) == ""
    assert (formats_with("sempos"), formats_with("x")) == ("TectoMT or Treex", "none that is known")


def test_a_format_of_another_distribution_is_found_by_content_name_and_ending(install, capsys, tmp_path):
    install(SHOUTED)
    assert looks_like(b"!a!b!") == "shouted"
    assert read_text(b"!a!b!").bytes == b"a\nb"
    assert (is_text("x.loud"), system_name("x.loud.gz")) == (True, "x")
    (tmp_path / "x.loud").write_bytes(b"!a!b!")
    assert main(["score", str(tmp_path / "x.loud"), "-i", str(tmp_path / "x.loud"), "--input-format", "shouted"]) == 0
    assert "x" in capsys.readouterr().out


@pytest.mark.parametrize("source", BROKEN.values(), ids=BROKEN)
def test_a_broken_one_harms_only_those_who_ask_for_it(install, source):
    install(source)
    with pytest.raises(BrokenFormat, match="loud"):
        reader_called("shouted")
    assert looks_like(b"!a!b!") == "plain"
    assert isinstance(read_file(b"!a!b!"), Text)


def test_one_that_cannot_tell_its_format_is_passed_over(install):
    install(SHOUTED.replace("head.startswith", "head.no_such_thing"))
    assert looks_like(b"!a") == "plain"


def test_two_that_offer_the_same_name(install):
    install(SHOUTED)
    install(SHOUTED, "louder")
    assert looks_like(b"!a!") == "plain"
    with pytest.raises(BrokenFormat, match=r"loud-1\.0 and by louder-1\.0"):
        reader_called("shouted")


def test_a_name_that_nobody_offers(capsys):
    with pytest.raises(BrokenFormat, match="plain, conllu"):
        reader_called("docx")
    assert main(["score", "a", "--input-format", "docx"]) == 2
    assert "plain, conllu" in capsys.readouterr().err
    with pytest.raises((BadText, BrokenFormat)):
        read_file(b"a", format="docx")
