"""Kernels that were not built from the sources beside them are refused."""

import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from steelyard.errors import KernelsNotBuilt
from steelyard.kernels import loader


@pytest.fixture
def folder(tmp_path: Path, monkeypatch) -> Path:
    """A copy of the kernels and their sources, from which the loader loads."""
    for path in loader.FOLDER.rglob("*.[ch]"):
        shutil.copy(path, tmp_path)
    shutil.copy(loader.FOLDER / "_kernels.so", tmp_path)
    monkeypatch.setattr(loader, "FOLDER", tmp_path)
    return tmp_path


def test_what_was_built_from_these_sources_is_loaded(folder):
    assert loader.shared_library.__wrapped__()["steelyard_words"]


def test_a_changed_source_is_noticed(folder):
    with (folder / "words.c").open("a") as file:
        file.write("/* one more line */\n")
    with pytest.raises(KernelsNotBuilt, match=r"older than the C files beside it.*make kernels"):
        loader.shared_library.__wrapped__()


def test_a_missing_library_is_named(folder):
    (folder / "_kernels.so").unlink()
    with pytest.raises(KernelsNotBuilt, match=r"_kernels\.so is missing.*make install"):
        loader.shared_library.__wrapped__()


REUSING = """
import resource
from steelyard.kernels.loader import shared_library

def faults():
    blocks = [b"x" * (4 << 20) for _ in range(4)]
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

shared_library()
first = faults()
for _ in range(10):
    last = faults()
print((last - first) * resource.getpagesize())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators have other ways")
def test_freed_memory_is_used_again_instead_of_got_from_the_system_each_time():
    run = subprocess.run([sys.executable, "-c", REUSING], capture_output=True, check=True, text=True)
    assert int(run.stdout) < 16 << 20
