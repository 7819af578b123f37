"""Kernels compiled for aarch64, whose compilers like to fuse a * b + c, give the same bits, under an emulator."""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from hatch_build import FLAGS, KERNELS
from steelyard.kernels.ngram.ngram_scores import bleu_scores, chrf_scores
from steelyard.numerics import deterministic

COMPILER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"
OF_A_LIBRARY = {"-shared", "-fPIC"}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    missing = [name for name in (COMPILER, EMULATOR) if not shutil.which(name)]
    if missing and not os.environ.get("CI"):
        pytest.skip(
            f"no {' and no '.join(missing)} here: apt install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"
        )
    assert not missing
    made = tmp_path_factory.mktemp("aarch64") / "other_processor"
    flags = [flag for flag in FLAGS if flag not in OF_A_LIBRARY]
    source = Path(__file__).with_name("other_processor.c")
    folders = [f"-I{KERNELS / folder}" for folder in ("include", "numerics", "ngram")]
    subprocess.run([COMPILER, *flags, "-static", *folders, "-o", made, source], check=True)
    return made


def test_the_same_bits_on_aarch64(program: Path) -> None:
    numbers = np.random.default_rng(5)
    # Sums of a test set: counts, of which there are fewer the longer the n-grams are.
    sums = np.floor(np.sort(numbers.integers(1, 2**20, (2500, 10)) / 3.0, axis=1)[:, ::-1])
    sums[:, 2:6] = np.floor(sums[:, 6:] * numbers.random((2500, 4)))
    given = np.concatenate(
        [sums.ravel(), numbers.random(20_000), np.arange(1, 401) / 400, 2.0 ** numbers.integers(-70, 9, 50)]
    )
    given = given[: len(given) // 90 * 90]
    bleu = bleu_scores(given.reshape(-1, 10), (1, 2, 3, 4), "exp", 0.0, effective=False).scores
    chrf = chrf_scores(given.reshape(-1, 18), 0.49)
    powers = [deterministic.power(given, exponent) for exponent in (0.83, 3.0)]
    ours = [deterministic.log(given), deterministic.log2(given), *powers, bleu, chrf, deterministic.exp(-given)]
    found = subprocess.run([EMULATOR, program], input=given.tobytes(), capture_output=True, check=True).stdout
    theirs = np.split(np.frombuffer(found), np.cumsum([len(each) for each in ours])[:-1])
    for here, there in zip(ours, theirs, strict=True):
        assert here.tobytes() == there.tobytes()
    assert len(set(bleu.tolist())) > 1000
