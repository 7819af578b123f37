"""Small files that took minutes: each holds up nobody now."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from steelyard import Meteor
from steelyard.metrics.segments import Segments
from tests.web.hostile.world import PRIVATE, Template, World

ADDRESS = f"/api/v1/campaigns/{PRIVATE}/checks"
REFERENCES = b'<refset setid="s" srclang="en" trglang="cs"><doc docid="d"><seg id="1">a</seg></doc></refset>'
BOMB = gzip.compress(b"word\n" * 100_000, mtime=0)


@pytest.fixture(scope="module")
def world(world_template: Template, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with ExitStack() as stack:
        yield world_template.copy(tmp_path_factory.mktemp("texts"), stack)


@pytest.fixture(scope="module")
def narrow(world_template: Template, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """With limits that are soon reached."""
    limits = {
        "segment_seconds": 1e-6,
        "markup_tags": 20,
        "markup_depth": 4,
        "tree_elements": 30,
        "tree_depth": 10,
        "tag_attributes": 2,
        "upload_bytes": 100_000,
        "unpacked_bytes": 100_000,
    }
    with ExitStack() as stack:
        yield world_template.copy(tmp_path_factory.mktemp("narrow"), stack, **limits)


def test_a_comment_of_blanks_is_read_at_once(world: World) -> None:
    """A regular expression looked for its end at each: a kilobyte, packed, kept the whole server for an hour."""
    comment = b"# text = a" + b" " * 999_000 + b"b\n1\ta\ta" + b"\t_" * 7 + b"\n"
    said = world.program("lead").post(
        ADDRESS,
        data={"system": "new", "team": "harbour"},
        files={"file": ("out.conllu", gzip.compress(comment, mtime=0))},
    )
    assert said.status_code == 200, said.text
    assert [each["code"] for each in said.json()["findings"]] == ["count"]


def test_marks_in_disorder_are_composed_at_once() -> None:
    """Python moves each past all that belong behind it: four such outputs kept the workers for four minutes."""
    hypothesis = "a" + "\u0301\u0323" * 400_000
    texts = Segments(references=[b"a b"], hypotheses=[hypothesis.encode()])
    statistics = Meteor().segment_statistics(texts)
    assert statistics.shape[:2] == (1, 1)


@pytest.mark.parametrize(
    ("document", "told"),
    [
        (b"<tstset>\n" + b"<doc>\n</doc>\n" * 20, "line 21: more than 20 tags and attributes"),
        (b'<?xml version="1.0"?>\n<tstset>' + b"<p>\n" * 20, "line 5: more than 4 elements inside one another"),
        (b"<tmt_document>\n<bundles>" + b"<x/>\n" * 50, "line 30: more than 30 elements"),
        (b"<tmt_document>\n" + b"<x>\n" * 50, "line 11: more than 10 elements inside one another"),
        (b'<tmt_document a="1"\nb="2"\nc="3">', "has more than 2 attributes"),
        (b'<tstset a="1"\nb="2"\nc="3">', "line 3: <tstset> has more than 2 attributes"),
    ],
)
def test_limits_of_markup_are_settings_and_say_where(narrow: World, document: bytes, told: str) -> None:
    said = narrow.program("lead").post(
        ADDRESS, data={"system": "new", "team": "harbour"}, files={"file": ("out.sgm", document)}
    )
    assert told in str(said.json()["findings"]), said.text


SET, TREE = "a.sgm", "a.tmt"
DEEP = b"<tmt_document>\n" + b"<x>\n" * 50
LONG = b"word\n" * 4 + b"word " * 10_000 + b"\n" + b"word\n" * 3
HERE = f"/api/v1/campaigns/{PRIVATE}"
DOORS = {
    "tags of a test set": (
        "/test-sets", "references", SET, b"<refset>\n" + b"<doc>\n</doc>\n" * 20, "line 21: more than 20 tags and"
    ),
    "tags of a source": (
        "/test-sets", "source", SET, b"<srcset>\n" + b"<doc>\n</doc>\n" * 20, "line 21: more than 20 tags and"
    ),
    "depth of a test set": ("/test-sets", "references", TREE, DEEP, "line 11: more than 10 elements inside one"),
    "size of a test set": ("/test-sets", "references", "A.txt.gz", BOMB, "larger than 100,000 bytes"),
    "size of documents": ("/test-sets", "documents", "docs.tsv", BOMB, "larger than 100,000 bytes"),
    "a segment of a test set": ("/test-sets", "references", "A.txt", LONG, "line 5: 50,000 characters in one segment"),
    "depth of a correction": ("/corrections", "references", TREE, DEEP, "line 11: more than 10 elements inside one"),
    "size of a correction": ("/corrections", "references", "A.txt.gz", BOMB, "larger than 100,000 bytes"),
    "a segment of a correction": ("/corrections", "references", "A.txt", LONG, "line 5: 50,000 characters in one"),
}  # fmt: skip


@pytest.mark.parametrize(("address", "field", "name", "document", "told"), DOORS.values(), ids=DOORS)
def test_the_limits_are_the_same_whatever_a_file_is_for(
    narrow: World, address: str, field: str, name: str, document: bytes, told: str
) -> None:
    forms = {
        "/test-sets": {"name": "more", "replicates": "0"},
        "/corrections": {"test_set": str(narrow.test_sets[PRIVATE]), "reason": "wrong"},
    }
    files = [(field, (name, document))]
    if address == "/test-sets" and field != "references":
        files.append(("references", (SET, REFERENCES) if name == SET else ("A.txt", b"word\n")))
    said = narrow.program("organiser").post(HERE + address, data=forms[address], files=files)
    assert said.status_code == 422, said.text
    assert told in said.text


def test_a_segment_that_is_too_expensive_is_refused_at_submission(narrow: World) -> None:
    lines = [b"line"] * 8
    lines[4] = b"word " * 10_000
    for address in (ADDRESS, ADDRESS.replace("checks", "submissions")):
        said = narrow.program("lead").post(
            address, data={"system": "new", "team": "harbour"}, files={"file": ("out.txt", b"\n".join(lines))}
        )
        assert "out.txt, line 5: 50,000 characters in one segment. The maximum for " in said.text, said.text
