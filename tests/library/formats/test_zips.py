"""A campaign's zip: whole or not at all, within limits, and called as its file is."""

import zipfile
from dataclasses import replace

import pytest

from steelyard.errors import BadText
from steelyard.formats.campaign import zips
from steelyard.formats.campaign.layouts import BadCampaign
from steelyard.formats.campaign.zips import only_folder, unpack, unpacked_paths
from steelyard.text.limits import DEFAULT_LIMITS


def packed(path, files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def unpacked(path, limits=DEFAULT_LIMITS):
    """Name in the folder that is read -> content; the folder's name; nothing of it stays."""
    with unpacked_paths([str(path)], limits) as (folder,):
        found = {str(each.relative_to(folder)): each.read_text() for each in folder.rglob("*") if each.is_file()}
        name = folder.name
    assert not folder.exists()
    return found, name


@pytest.mark.parametrize(
    ("files", "found", "name"),
    [
        ({"wmt/refs/A.txt": "a", "wmt/x.txt": "b"}, {"refs/A.txt": "a", "x.txt": "b"}, "wmt"),
        ({"refs/A.txt": "a", "x.txt": "b"}, {"refs/A.txt": "a", "x.txt": "b"}, "port"),
        ({"refs/A.txt": "a", "systems/x.txt": "b"}, {"refs/A.txt": "a", "systems/x.txt": "b"}, "port"),
        ({"x.txt": "b"}, {"x.txt": "b"}, "port"),
        ({"wmt/x.txt": "b", "__MACOSX/wmt/._x.txt": "c"}, {"x.txt": "b"}, "wmt"),
        ({"wmt/": "", "empty/": "", "wmt/x.txt": "b"}, {"x.txt": "b"}, "wmt"),
        ({}, {}, "port"),
    ],
)
def test_the_only_folder_in_it_is_the_campaign(tmp_path, files, found, name):
    assert unpacked(packed(tmp_path / "port.zip", files)) == (found, name)


def test_what_is_no_single_zip_is_left_as_it_is(tmp_path):
    one, other = (packed(tmp_path / name, {"x.txt": "a"}) for name in ("a.zip", "b.zip"))
    (tmp_path / "text.zip").write_text("no zip")
    for given in ([one, other], [tmp_path / "text.zip"], [tmp_path], [tmp_path / "gone.zip"], []):
        with unpacked_paths([str(each) for each in given], DEFAULT_LIMITS) as paths:
            assert paths == given


@pytest.mark.parametrize(
    "name",
    [
        *("../x.txt", "a/../../x.txt", "..", "/steelyard-x/x.txt", "{0}/x.txt", "/{0}/x.txt", "//{0}/x.txt", "."),
        *("a" * 251, "a/" + "é" * 126 + "/x.txt"),
    ],
)
def test_names_that_lead_elsewhere_or_are_too_long_write_nothing(tmp_path, name):
    """Two slashes at the beginning are another root than one, for the paths of Python."""
    path = packed(tmp_path / "port.zip", {name.format(tmp_path): "x"})
    with pytest.raises(BadCampaign, match="which cannot be used"), zipfile.ZipFile(path) as archive:
        unpack(archive, tmp_path / "deep" / "root", DEFAULT_LIMITS)
    assert [each.name for each in tmp_path.rglob("*") if each.is_file()] == ["port.zip"]


@pytest.mark.parametrize("names", [("a", "a/x.txt"), ("a/x.txt", "a"), ("a", "a/b/x.txt")])
def test_a_file_and_a_folder_of_one_name_are_refused(tmp_path, names):
    path = packed(tmp_path / "port.zip", dict.fromkeys(names, "x"))
    with pytest.raises(
        BadCampaign, match=rf"^The zip has two files, or a file and a folder, of one name: {names[1]}\.$"
    ):
        unpacked(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("other", ["a/x.txt", "a//x.txt", "./a/x.txt"])
def test_two_files_of_one_name_are_refused(tmp_path, other):
    path = tmp_path / "port.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("a/x.txt", other):
            archive.writestr(name, "x")
    with pytest.raises(BadCampaign, match="of one name"):
        unpacked(path)


def test_the_longest_names_can_be_used(tmp_path):
    longest = "a" * 246 + ".txt"
    assert unpacked(packed(tmp_path / "port.zip", {longest: "x", "..a/x": "y"}))[0] == {longest: "x", "..a/x": "y"}


def test_limits_are_those_of_all_files_together(tmp_path, monkeypatch):
    path = packed(tmp_path / "port.zip", {"a.txt": "x" * 60, "b.txt": "y" * 40, "__MACOSX/c": "z"})
    assert unpacked(path, replace(DEFAULT_LIMITS, file_bytes=100))[1] == "port"
    with pytest.raises(BadCampaign, match="more than 99 bytes unpacked"):
        unpacked(path, replace(DEFAULT_LIMITS, file_bytes=99))
    monkeypatch.setattr(zips, "MAX_FILES", 2)
    assert unpacked(path)[1] == "port"
    monkeypatch.setattr(zips, "MAX_FILES", 1)
    with pytest.raises(BadCampaign, match=r"^The zip has 2 files; 1 are the most\.$"):
        unpacked(path)


def test_a_damaged_zip_is_called_by_its_name(tmp_path):
    path = packed(tmp_path / "port.zip", {"a.txt": "x" * 60})
    data = path.read_bytes()
    path.write_bytes(data.replace(b"x" * 60, b"y" * 60))
    with pytest.raises(BadCampaign) as raised:
        unpacked(path)
    assert str(raised.value) == f"{path}: is a damaged zip, or an encrypted one."


def test_nobody_learns_where_it_was_unpacked(tmp_path):
    path = packed(tmp_path / "port.zip", {"wmt/a.txt": "x"})
    with pytest.raises(BadCampaign) as raised, unpacked_paths([str(path)], DEFAULT_LIMITS) as (folder,):
        raise BadText(f"{folder}: has {folder}/a.txt")
    assert str(raised.value) == f"{path}: has a.txt"


def test_an_empty_folder_is_none_to_look_into(tmp_path):
    for name in ("root", "root/one", "root/two"):
        (tmp_path / name).mkdir()
    assert only_folder(tmp_path / "root") == tmp_path / "root"
    (tmp_path / "root" / "two").rmdir()
    assert only_folder(tmp_path / "root") == tmp_path / "root" / "one"
