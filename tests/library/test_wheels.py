"""The wheel that people install: its tags, its symbols, what is in it, and a score made from it alone."""

import os
import platform
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from packaging.tags import sys_tags
from packaging.utils import parse_wheel_filename

from hatch_build import WHEELS
from steelyard.kernels.bindings import TABLE
from steelyard.numerics import deterministic
from tests.wheels import install_alone, requirements
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
    assert {Path(name).suffix for name in names if "dist-info" not in name} == {".html", ".py", ".so", ".typed"}
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


NUMPY = ("numpy", "numpy.libs")


@pytest.fixture(scope="module")
def alone(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install_alone(wheel, tmp_path_factory.mktemp("alone"))


def test_it_brings_few_packages_and_few_bytes(wheel: Path, alone: Path) -> None:
    assert len(requirements(wheel)) < 10
    paths = [path for path in alone.iterdir() if path.name not in NUMPY]
    files = [file for path in paths for file in ([path] if path.is_file() else path.rglob("*"))]
    assert sum(file.stat().st_size for file in files if "__pycache__" not in file.parts and file.is_file()) < 12e6


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["score", "ref", "-i", "out", "-m", "bleu", "chrf", "ter", "-f", "json"], '"score": 100.0'),
        (["score", "ref", "-i", "out", "-m", "bleu", "-f", "html"], "<h1>Scores</h1>"),
        (["check", "out", "--reference", "ref"], "No problems found."),
        (["correlate", "scores", "--human", "people", "--granularity", "system"], "1  ours      1.000"),
        (["metric", "show", "bleu"], "bleu "),
        (["mtrics", "-c", "out", "-r", "ref", "-p"], "out:\tPER:\t0"),
    ],
)
def test_its_commands_need_nothing_else(alone: Path, arguments: list[str], shown: str, tmp_path: Path) -> None:
    for name in ("ref", "out"):
        (tmp_path / name).write_text("".join(f"Line {number} of a small text.\n" for number in range(40)))
    for name, metric in (("scores", "ours"), ("people", "mqm")):
        lines = ["system\tmetric\tsegment\tscore", *(f"s{place}\t{metric}\t1\t{place}" for place in range(4))]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    done = subprocess.run(
        [sys.executable, "-S", "-m", "steelyard", *arguments],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(alone)}, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert shown in done.stdout


def test_a_missing_distribution_is_named(alone: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("one\n")
    for arguments, needed in (
        (["submit", "out"], "pip install 'steelyard-client[cli]'"),
        (["evaluate", "out"], "pip install steelyard-server"),
        (["check", "out", "--reference", "out", "--target-language", "en"], "steelyard[langid]"),
    ):
        done = subprocess.run(
            [sys.executable, "-S", "-m", "steelyard", *arguments],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(alone)}, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 2
        assert needed in done.stderr


@pytest.mark.long
def test_the_kernels_for_aarch64_run_under_an_emulator(tmp_path: Path) -> None:
    """Loaded with Debian's C library for that processor; there is no Python for it."""
    compiler, emulator, root = "aarch64-linux-gnu-gcc", "qemu-aarch64", Path("/usr/aarch64-linux-gnu")
    missing = [name for name in (compiler, emulator) if not shutil.which(name)]
    if missing and not os.environ.get("CI"):
        pytest.skip(
            f"no {' and no '.join(missing)} here: apt install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"
        )
    wheel = build("manylinux_2_17_aarch64", tmp_path / "dist")
    zipfile.ZipFile(wheel).extract("steelyard/kernels/_kernels.so", tmp_path)
    program = tmp_path / "load_wheel"
    subprocess.run([compiler, "-O1", "-o", program, Path(__file__).with_name("load_wheel.c"), "-ldl"], check=True)
    numbers = np.random.default_rng(3).random(4096)
    command = [emulator, "-L", root, program, tmp_path / "steelyard/kernels/_kernels.so"]
    command += [f"steelyard_{name}" for name in TABLE]
    found = subprocess.run(command, input=numbers.tobytes(), capture_output=True, check=True).stdout
    assert found == deterministic.log(numbers).tobytes()
