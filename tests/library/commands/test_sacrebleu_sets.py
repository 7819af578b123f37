"""`score -t wmt22 -l en-cs`: test sets where sacreBLEU keeps them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sacrebleu.dataset import DATASETS

from steelyard.commands.main import main
from steelyard.formats.sacrebleu_sets import REFERENCES, cache_folder, cached_test_set

FIELDS = {
    "src": "one\ntwo\nthree",
    "ref-A": "jedna\ndva\ntri",
    "ref-B": "jeden\ndve\ntri",
    "docid": "a\na\nb",
    "origlang": "en\nen\ncs",
    "domain": "news\nnews\nsocial",
}
WMT22 = Path(__file__).parents[4] / "shared" / "data" / "wmt22.en-cs"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SACREBLEU", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "cache" / "wmt22"
    folder.mkdir(parents=True)
    for field, text in FIELDS.items():
        (folder / f"wmt22.en-cs.{field}").write_text(f"{text}\n")
    (folder / "raw").mkdir()
    Path("out.txt").write_text("jedna\ndve\ntri\n")
    Path("A.txt").write_text("jedna\ndva\ntri\n")
    Path("B.txt").write_text("jeden\ndve\ntri\n")
    return folder


def run(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> str:
    assert main(words) == status
    told = capsys.readouterr()
    return told.err if status else told.out


def test_references_are_those_that_sacrebleu_takes(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ours = run(capsys, "score", "-t", "wmt22", "-l", "en-cs", "-i", "out.txt", "-m", "bleu", "chrf", "-f", "tsv")
    assert ours == run(capsys, "score", "B.txt", "-l", "en-cs", "-i", "out.txt", "-m", "bleu", "chrf", "-f", "tsv")
    assert ours != run(capsys, "score", "A.txt", "-l", "en-cs", "-i", "out.txt", "-m", "bleu", "chrf", "-f", "tsv")


def test_a_source_that_is_given_is_read_instead_of_the_cached_one(
    cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("own.txt").write_text("1\n2\n3\n")
    words = "-l", "en-cs", "-i", "out.txt", "-m", "bleu", "-f", "json"
    cached, given, alone = (
        json.loads(run(capsys, "score", *each, *words))["test_set"]["hashes"]
        for each in (("-t", "wmt22"), ("-t", "wmt22", "--source", "own.txt"), ("B.txt", "--source", "own.txt"))
    )
    assert given == alone
    assert given["source"] != cached["source"]


def test_several_are_one_after_the_other(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also what of them is wanted; where they differ in references, they are no one test set."""
    other = cache.parent / "wmt21"
    other.mkdir()
    for field, text in {"src": "four\nfive", "ref-A": "ctyri\npet", "origlang": "en\ncs"}.items():
        # Without a line end at the end, too, lines of two files stay apart.
        (other / f"wmt21.en-cs.{field}").write_text(text)
    Path("all.txt").write_text("ctyri\nsest\njedna\ndve\ntri\n")
    Path("both.txt").write_text("ctyri\npet\njeden\ndve\ntri\n")
    words = "-l", "en-cs", "-m", "bleu", "chrf", "-f", "tsv"
    ours = run(capsys, "score", "-t", "wmt21,wmt22", *words, "-i", "all.txt")
    assert ours == run(capsys, "score", "both.txt", *words, "-i", "all.txt")
    echo = "score", "-t", "wmt21,wmt22", "-l", "en-cs", "--echo", "src", "--origlang", "cs"
    assert run(capsys, *echo) == "five\nthree\n"
    assert "wmt20 of en-cs" in run(capsys, "score", "-t", "wmt21,wmt20", *words, "-i", "all.txt", status=1)
    (other / "wmt21.en-cs.ref-B").write_text("x\ny\n")
    both = other.parent / "wmt21" / "AB"
    both.mkdir()
    for field in ("src", "ref-A", "ref-B"):
        (both / f"wmt21_AB.en-cs.{field}").write_text("x\ny\n")
    told = run(capsys, "score", "-t", "wmt21/AB,wmt22", *words, "-i", "all.txt", status=1)
    assert "different numbers of references: wmt21/AB 2, wmt22 1" in told


def test_the_table_of_references_is_that_of_sacrebleu() -> None:
    for name, dataset in DATASETS.items():
        defaults = dataset.kwargs.get("refs", ())
        known = REFERENCES.get(name, {})
        fields = tuple(f"ref-{each}" if each else "ref" for each in defaults)
        assert known.get("", ()) == fields, name
        for pair, data in dataset.langpairs.items():
            own = data.get("refs") if isinstance(data, dict) else None
            wanted = tuple(f"ref-{each}" if each else "ref" for each in own) if own else fields
            assert known.get(pair, known.get("", ())) == wanted, (name, pair)


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        (("--origlang", "en"), (0, 1)),
        (("--origlang", "non-en"), (2,)),
        (("--subset", "^soc"), (2,)),
        (("--origlang", "en", "--subset", "news|social"), (0, 1)),
    ],
)
def test_some_segments_alone(
    cache: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], lines: tuple[int, ...]
) -> None:
    for name in ("out", "B"):
        kept = Path(f"{name}.txt").read_text().splitlines()
        Path(f"some-{name}.txt").write_text("".join(f"{kept[line]}\n" for line in lines))
    told = "score", "-t", "wmt22", "-l", "en-cs", "-m", "chrf", "-f", "json"
    whole = run(capsys, *told, "-i", "out.txt", *options)
    alone = run(capsys, "score", "some-B.txt", "-l", "en-cs", "-i", "some-out.txt", "-m", "chrf", "-f", "json")
    assert [line for line in whole.splitlines() if '"score"' in line] == [
        line for line in alone.splitlines() if '"score"' in line
    ]
    echoed = run(capsys, "score", "-t", "wmt22", "-l", "en-cs", "--echo", "src", *options)
    assert echoed.split() == [FIELDS["src"].split("\n")[line] for line in lines]


def test_echo(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = "score", "-t", "wmt22", "-l", "en-cs", "--echo"
    assert run(capsys, *told, "src", "ref:B").splitlines()[0] == "one\tjeden"
    assert run(capsys, *told, "ref").split() == FIELDS["ref-A"].split("\n"), "the first, where none is called so"
    assert run(capsys, *told, "all").splitlines()[2] == "three\ttri\ttri\tb\tcs\tsocial", "the order of sacreBLEU"
    assert "It has src, ref:A" in run(capsys, *told, "genre", status=1)
    assert "stands alone" in run(capsys, *told, "all", "src", status=2)


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (("-t", "wmt22", "-l", "de-en", "-i", "out.txt"), 1, "downloads it once; nothing is downloaded here"),
        (("-t", "wmt23", "-l", "en-cs", "-i", "out.txt"), 1, "sacrebleu -t wmt23 -l en-cs --echo src"),
        (("-t", "../wmt22", "-l", "en-cs", "-i", "out.txt"), 1, "no name of a test set"),
        (("-t", "wmt22", "-l", "czech", "-i", "out.txt"), 1, "no language pair"),
        (("-t", "wmt22", "-i", "out.txt"), 2, "needs a language pair"),
        (("-t", "wmt22", "-l", "en-cs", "A.txt"), 2, "references of its own"),
        (("--origlang", "en", "A.txt", "-i", "out.txt"), 2, "--origlang goes with"),
        (("--subset", "news", "A.txt", "-i", "out.txt"), 2, "--subset goes with"),
        (("A.txt", "-i", "out.txt", "--echo", "src"), 2, "--echo goes with"),
        (("-i", "out.txt"), 2, "reference files, or a test set"),
        (("-t", "wmt22", "-l", "en-cs", "--subset", "(", "-i", "out.txt"), 1, "no regular expression"),
        (("-t", "wmt22", "-l", "en-cs", "--origlang", "uk", "-i", "out.txt"), 1, "no such segments"),
    ],
)
def test_what_cannot_be_is_said(
    cache: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], status: int, says: str
) -> None:
    assert says in run(capsys, "score", *words, status=status)


def test_a_part_of_a_test_set_is_for_plain_texts(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("out.conllu").write_text("".join(f"1\t{word}\t{word}\tX\t_\t_\t0\troot\t_\t_\n\n" for word in ("a", "b", "c")))
    words = ("score", "-t", "wmt22", "-l", "en-cs", "-i", "out.conllu", "-m", "bleu")
    assert run(capsys, *words)
    for part in (("--origlang", "en"), ("--subset", "news")):
        told = "--origlang and --subset are for plain texts: give the outputs without layers."
        assert run(capsys, *words, *part, status=1) == f"steelyard: {told}\n"


def test_the_cache_is_in_the_home_folder_unless_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SACREBLEU", raising=False)
    assert cache_folder() == Path.home() / ".sacrebleu"


def test_subsets_of_a_year_have_a_folder_below_it(cache: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "wmt21" / "B"
    folder.mkdir(parents=True)
    for field in ("src", "ref-A", "ref-B"):
        (folder / f"wmt21_B.en-cs.{field}").write_text("x\n")
    assert [path.name for path in cached_test_set("wmt21/B", "en-cs").references] == ["wmt21_B.en-cs.ref-B"]


@pytest.mark.skipif(not WMT22.exists(), reason="the real data are not here")
def test_wmt22_as_sacrebleu_printed_it(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for field, file in (("src", "source"), ("ref-B", "refs/B"), ("ref-C", "refs/C")):
        (cache / f"wmt22.en-cs.{field}").write_bytes((WMT22 / f"{file}.txt").read_bytes())
    system = str(WMT22 / "systems" / "Online-W.txt")
    out = run(capsys, "score", "-t", "wmt22", "-l", "en-cs", "-i", system, "-m", "bleu", "-f", "json")
    assert "45.79813415037" in out
