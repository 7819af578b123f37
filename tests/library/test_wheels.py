"""The wheel that people install: its tags, its symbols, what is in it, and a score made from it alone."""

import os
import platform
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from packaging.tags import sys_tags
from packaging.utils import parse_wheel_filename

from hatch_build import WHEELS
from wheels import build

PLATFORM = f"manylinux_2_17_{platform.machine()}"

pytestmark = pytest.mark.skipif(PLATFORM not in WHEELS, reason=f"no wheel for {platform.machine()}")

PROGRAM = """
import steelyard
from steelyard import BLEU, evaluate
print(steelyard.__file__)
print(BLEU().corpus_score(["the cat sat on the mat"], [["the cat sat on the mat"]]).score)
print(evaluate({"a": ["x"]}, references=[["x"]], metrics=["chrf"])["a"]["chrf"].score)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(PLATFORM, tmp_path_factory.mktemp("dist"))


def test_installers_take_it(wheel: Path) -> None:
    *_, tags = parse_wheel_filename(wheel.name)
    assert {tag.platform for tag in tags} == {PLATFORM}
    assert tags & set(sys_tags())


def test_it_has_the_kernels_and_no_c(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {Path(name).suffix for name in names if "dist-info" not in name} == {".py", ".so", ".typed"}
    assert "steelyard/kernels/_kernels.so" in names
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"steelyard"}


def test_its_symbols_are_of_the_oldest_c_library(wheel: Path) -> None:
    library = zipfile.ZipFile(wheel).read("steelyard/kernels/_kernels.so")
    needed = {tuple(map(int, found.split(b"."))) for found in re.findall(rb"GLIBC_([\d.]+)", library)}
    assert needed
    assert max(needed) <= (2, 17)


def test_it_scores_where_there_is_nothing_else(wheel: Path, tmp_path: Path) -> None:
    """In a folder with packages of the names that research projects have."""
    installed, folder = tmp_path / "installed", tmp_path / "project"
    zipfile.ZipFile(wheel).extractall(installed)
    for name in ("metrics", "models", "kernels", "text"):
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text("raise ImportError('of somebody else')")
    environment = {**os.environ, "PYTHONPATH": f"{folder}:{installed}:{Path(np.__file__).parents[1]}"}
    done = subprocess.run(
        [sys.executable, "-S", "-c", PROGRAM], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [str(installed / "steelyard" / "__init__.py"), "100.00000000000004", "100.0"]
