"""`steelyard judgments import`: what it is told is what it asks for."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from cli.main import main
from models.database.session import make_engine, writing
from scheduler.ingest.campaigns import store_campaign
from scheduler.ingest.test_sets import NewTestSet, store_test_set
from steelyard.commands.errors import CommandError
from steelyard_client import Client


@pytest.fixture
def here(sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, in which commands use a database with one test set."""
    monkeypatch.setenv("STEELYARD_DATABASE_URL", sqlite_url)
    monkeypatch.chdir(tmp_path)
    with writing(make_engine(sqlite_url)) as connection:
        campaign = store_campaign(connection, "harbour")
        store_test_set(connection, campaign, NewTestSet("quay", {"A": b"x"}))
    return tmp_path


@pytest.mark.parametrize("first", [None, 0, 1])
def test_what_an_import_is_told_is_sent(here: Path, monkeypatch: pytest.MonkeyPatch, *, first: int | None) -> None:
    (here / "da.tsv").write_text("system\tscore\n")
    sent: dict[str, object] = {}

    def add(_client: object, campaign: str, _files: object, **asked: object) -> None:
        sent.update(asked)
        raise CommandError("Nothing more is asked.")

    monkeypatch.setattr(Client, "add_human_scores", add)
    words = ["--name", "esa", "--kind", "ratings", "--pair", "en-cs", "--rename", "a=b", "--by-document", "--weights"]
    words += ["major=7", "--no-standardise", "--system-scores", "auto", "--preview"]
    words += [] if first is None else ["--first-segment", str(first)]
    assert main(["judgments", "import", "da.tsv", *words]) == 1
    assert sent == {
        "test_set": "quay@1", "called": "esa", "kind": "ratings", "pair": "en-cs", "rename": {"a": "b"},
        "by_document": True, "weights": ("major=7",), "standardise": False, "aggregation": "auto", "preview": True,
        "first_segment": first,
    }  # fmt: skip


def write_files(here: Path, files: tuple[str, ...]) -> None:
    """Tables that each say what they are called."""
    for name in files:
        content = f"system\tscore\n{name}\t1\n".encode()
        (here / name).parent.mkdir(exist_ok=True)
        (here / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (("one/da.tsv", "two/da.tsv"), ("da.tsv", "two_da.tsv")),
        (("one/da.tsv.gz", "two/da.tsv.gz"), ("da.tsv", "two_da.tsv")),
        (("one/da.tsv", "two/da.tsv.gz", "three/da.tsv"), ("da.tsv", "two_da.tsv", "three_da.tsv")),
    ],
)
def test_files_of_the_same_name_are_all_sent(
    here: Path, monkeypatch: pytest.MonkeyPatch, files: tuple[str, ...], names: tuple[str, ...]
) -> None:
    """Compressed files are sent unpacked, without the end of their names: none takes the place of another one."""
    write_files(here, files)
    sent: dict[str, bytes] = {}

    def add(_client: object, _campaign: str, taken: dict[str, bytes], **_asked: object) -> None:
        sent.update(taken)
        raise CommandError("Nothing more is asked.")

    monkeypatch.setattr(Client, "add_human_scores", add)
    assert main(["judgments", "import", *files]) == 1
    said = {name: content.decode().split()[2] for name, content in sent.items()}
    assert said == dict(zip(names, files, strict=True))


@pytest.mark.parametrize(
    ("files", "twice"),
    [
        (("two_da.tsv", "one/da.tsv", "two/da.tsv.gz"), "two_da.tsv"),
        (("two_da.tsv.gz", "da.tsv", "two/da.tsv"), "two_da.tsv"),
        (("da.tsv", "da.tsv.gz"), "da.tsv"),
        (("da.tsv.gz", "da.tsv"), "da.tsv"),
    ],
)
def test_files_that_nothing_tells_apart_are_refused(
    here: Path, capsys: pytest.CaptureFixture[str], files: tuple[str, ...], twice: str
) -> None:
    write_files(here, files)
    assert main(["judgments", "import", *files]) == 2
    assert f"There are two files called {twice}." in capsys.readouterr().err
