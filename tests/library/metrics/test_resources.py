"""The store of resources: names, hashes, files named for one run, and what must not happen."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from steelyard.errors import BadParameter, MissingResource
from steelyard.metrics.registered_names import unregister
from steelyard.metrics.resources import Resources, content_digest, merged_resources


@pytest.fixture
def store(tmp_path):
    return Resources(tmp_path / "store")


def file(tmp_path, content="one", name="file.txt"):
    path = tmp_path / name
    path.write_text(content)
    return path


def test_registered_content_is_found_by_name_and_by_hash(store, tmp_path):
    resource = store.register("news", "synonyms", file(tmp_path), "a description")
    assert resource.digest == hashlib.sha256(b"one").hexdigest()[:12]
    assert resource.pinned == f"news@{resource.digest}"
    assert store.pinned("news", "synonyms") == resource.pinned
    assert store.pinned(resource.pinned, "synonyms") == resource.pinned
    path = store.path(resource.pinned, "synonyms")
    assert (path.name, path.read_text()) == ("file.txt", "one")
    assert store.listed() == Resources(store.folder).listed() == [resource]


def test_a_name_can_get_new_content_and_the_old_stays_reachable(store, tmp_path):
    old = store.register("news", "synonyms", file(tmp_path, "one"))
    new = store.register("news", "synonyms", file(tmp_path, "two"))
    assert store.pinned("news", "synonyms") == new.pinned != old.pinned
    assert store.path(old.pinned, "synonyms").read_text() == "one"
    assert store.pinned(old.pinned, "synonyms") == old.pinned
    assert store.listed() == [new]


def test_the_same_content_lies_once_under_two_names(store, tmp_path):
    one, two = (store.register(name, "synonyms", file(tmp_path)) for name in ("one", "two"))
    assert one.digest == two.digest
    assert [each.name for each in store.listed()] == ["one", "two"]
    assert sorted(path.name for path in store.folder.iterdir()) == [one.digest, "one.json", "two.json"]


def test_content_goes_with_the_last_of_its_names(store, tmp_path):
    one, two = (store.register(name, "synonyms", file(tmp_path)) for name in ("one", "two"))
    assert unregister(store, "one", "synonyms") == one
    assert [each.name for each in store.listed()] == ["two"]
    assert store.path(two.pinned, "synonyms").read_text() == "one"
    for name, kind in (("one", "synonyms"), ("two", "vectors")):
        with pytest.raises(MissingResource) as raised:
            unregister(store, name, kind)
        there = "two" if kind == "synonyms" else "none"
        assert str(raised.value) == f'There is no registered {kind} "{name}". Registered: {there}.'
    assert unregister(store, "two", "synonyms") == two
    assert list(store.folder.iterdir()) == []


def test_folders_are_registered_whole(store, tmp_path):
    folder = tmp_path / "vectors"
    (folder / "deep").mkdir(parents=True)
    file(folder, "a", "b.txt")
    file(folder / "deep", "c", "d.txt")
    digest = content_digest(folder)
    moved = tmp_path / "again"
    resource = store.register("all", "vectors", folder)
    assert (resource.digest, folder.exists()) == (digest, True)
    assert (store.path(resource.pinned, "vectors") / "deep" / "d.txt").read_text() == "c"
    folder.rename(moved)
    assert content_digest(moved) == digest, "the name of the folder itself is no content"
    (moved / "b.txt").rename(moved / "e.txt")
    assert content_digest(moved) != digest


def test_content_can_be_moved_in(store, tmp_path):
    folder = tmp_path / "vectors"
    folder.mkdir()
    file(folder, "a", "b.txt")
    resource = store.register("all", "vectors", folder, move=True)
    assert not folder.exists()
    assert (store.path(resource.pinned, "vectors") / "b.txt").read_text() == "a"


def test_files_named_for_a_run_come_first(store, tmp_path):
    registered = store.register("news", "synonyms", file(tmp_path, "one"))
    own = Resources(store.folder, {"news": file(tmp_path, "mine", "mine.txt")})
    pinned = own.pinned("news", "synonyms")
    assert pinned != registered.pinned
    assert own.path(pinned, "synonyms").read_text() == "mine"
    assert own.path(registered.pinned, "synonyms").read_text() == "one"
    assert own.pinned(registered.pinned, "synonyms") == registered.pinned


def test_a_changed_file_has_another_hash(tmp_path):
    path = file(tmp_path, "one")
    before = content_digest(path)
    path.write_text("other")
    assert content_digest(path) != before


def test_what_is_missing_is_said_with_the_names_there_are(store, tmp_path):
    with pytest.raises(MissingResource, match=r'no vectors called "news"\. Resources known here: none\.'):
        store.pinned("news", "vectors")
    store.register("wiki", "vectors", file(tmp_path))
    own = Resources(store.folder, {"mine": file(tmp_path)})
    with pytest.raises(MissingResource, match=r"known here: mine, wiki\. .*--resource news=FILE"):
        own.pinned("news", "vectors")
    with pytest.raises(MissingResource, match=r"wiki has other content"):
        own.pinned("wiki@0123456789ab", "vectors")
    with pytest.raises(MissingResource, match=r"STEELYARD_RESOURCE_FOLDER"):
        own.path("wiki@0123456789ab", "vectors")
    with pytest.raises(MissingResource, match="cannot be read"):
        Resources(files={"mine": tmp_path / "missing"}).pinned("mine", "vectors")
    with pytest.raises(MissingResource, match="Set STEELYARD_RESOURCE_FOLDER"):
        Resources().register("wiki", "vectors", file(tmp_path))


@pytest.mark.parametrize("reference", ["x@..", "x@../..", "x@/etc", "x@", "x@.", "wiki", "@"])
def test_no_reference_leads_out_of_the_folder(reference, store, tmp_path):
    file(tmp_path, "secret", "secret.txt")
    store.register("other", "vectors", file(tmp_path))
    with pytest.raises(MissingResource):
        store.pinned(reference, "vectors")
    with pytest.raises(MissingResource):
        store.path(reference, "vectors")


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "a b", "é", "a" * 101, "-x", "a@b", "a:b"])
def test_names_that_no_resource_can_have(name, store, tmp_path):
    with pytest.raises(MissingResource, match="cannot be the name"):
        store.register(name, "vectors", file(tmp_path))
    assert not (tmp_path / "x.json").exists()


def test_a_broken_entry_is_named(store, tmp_path):
    store.register("wiki", "vectors", file(tmp_path))
    (store.folder / "wiki.json").write_text("{")
    with pytest.raises(MissingResource, match=r"wiki\.json: is not an entry"):
        store.listed()


def copied(content: Path, folder: Path) -> None:
    (folder / "converted.txt").write_text(content.read_text().upper())


def test_registered_content_is_converted_once_and_kept(store, tmp_path):
    resource = store.register("wiki", "vectors", file(tmp_path))
    folder = store.converted(resource.pinned, "vectors", copied)
    assert (folder / "converted.txt").read_text() == "ONE"
    assert folder.is_relative_to(store.folder)

    def never(content, folder):
        raise AssertionError

    assert Resources(store.folder).converted(resource.pinned, "vectors", never) == folder
    assert [each.name for each in store.listed()] == ["wiki"]


def test_a_conversion_that_fails_leaves_nothing_behind(store, tmp_path):
    resource = store.register("wiki", "vectors", file(tmp_path))
    before = sorted(store.folder.rglob("*"))

    def fails(content, folder):
        (folder / "half").write_text("half")
        raise MissingResource

    with pytest.raises(MissingResource):
        store.converted(resource.pinned, "vectors", fails)
    after = [path for path in sorted(store.folder.rglob("*")) if path.name != ".vectors"]
    assert after == before


def test_processes_that_convert_at_the_same_time_end_with_one(store, tmp_path):
    resource = store.register("wiki", "vectors", file(tmp_path))
    gate = threading.Barrier(4)
    found = []

    def slow(content, folder):
        gate.wait(60)
        copied(content, folder)

    def convert():
        found.append(Resources(store.folder).converted(resource.pinned, "vectors", slow))

    threads = [threading.Thread(target=convert) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(found)) == 1
    assert (found[0] / "converted.txt").read_text() == "ONE"
    assert not list(store.folder.glob(".new-*"))


def test_a_store_that_cannot_be_written_is_left_alone(store, tmp_path, monkeypatch):
    """As where it is mounted read-only: the process keeps what it converts to itself."""
    resource = store.register("wiki", "vectors", file(tmp_path))
    before = sorted(store.folder.rglob("*"))
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    folder = store.converted(resource.pinned, "vectors", copied)
    assert (folder / "converted.txt").read_text() == "ONE"
    assert not folder.is_relative_to(store.folder)
    assert store.converted(resource.pinned, "vectors", copied) == folder
    assert sorted(store.folder.rglob("*")) == before


def test_a_conversion_that_cannot_be_put_in_its_place_is_not_taken_for_done(store, tmp_path):
    resource = store.register("wiki", "vectors", file(tmp_path))
    place = store.folder / ".vectors" / resource.pinned.partition("@")[2]
    place.parent.mkdir()
    place.write_text("no folder")
    with pytest.raises(NotADirectoryError):
        store.converted(resource.pinned, "vectors", copied)


PROGRAM = """
import sys
from pathlib import Path
from steelyard.metrics.resources import Resources
resources = Resources(files={"mine": Path(sys.argv[1])})
pinned = resources.pinned("mine", "vectors")
made = [resources.converted(pinned, "vectors", lambda old, new: (new / "x").write_text("x")) for _ in range(2)]
assert made[0] == made[1] and made[0].is_dir()
print(made[0])
"""


def test_a_file_named_for_a_run_is_converted_for_the_process_alone(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(file(tmp_path))], cwd=Path(__file__).parents[3], capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    assert not Path(done.stdout.strip()).exists()


def test_content_that_somebody_has_removed_is_missing_until_it_is_registered_again(store, tmp_path):
    resource = store.register("news", "synonyms", file(tmp_path))
    store.path(resource.pinned, "synonyms").unlink()
    with pytest.raises(MissingResource) as refused:
        store.path(resource.pinned, "synonyms")
    assert str(refused.value).startswith(
        f"The synonyms {resource.pinned} are not in {store.folder}. Register them there"
    )
    assert store.register("news", "synonyms", file(tmp_path)) == resource
    assert store.path(resource.pinned, "synonyms").read_text() == "one"


def test_metrics_that_are_scored_together_have_one_folder_and_one_file_of_a_name(tmp_path):
    store, files = Resources(tmp_path / "a"), Resources(None, {"news": tmp_path / "one"})
    assert merged_resources([None]) is None
    assert merged_resources([None, store, store]) is store
    both = merged_resources([store, files, None])
    assert (both.folder, both.files) == (tmp_path / "a", {"news": tmp_path / "one"})
    told = f"Resources are registered in {tmp_path / 'a'} and {tmp_path / 'b'}. Give one folder for all."
    with pytest.raises(BadParameter) as raised:
        merged_resources([store, Resources(tmp_path / "b")])
    assert str(raised.value) == told
    told = f'The resource "news" is {tmp_path / "one"} and {tmp_path / "two"}. Give them different names.'
    with pytest.raises(BadParameter) as raised:
        merged_resources([files, Resources(None, {"news": tmp_path / "two"})])
    assert str(raised.value) == told
