"""Every number is the same to the last bit on processors that can do less, as their libraries are set to believe."""

import json
import os
import platform
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

ROOT = Path(__file__).parents[1]
NO_FMA = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2,-AVX512F"}
NEWEST_FIRST = [feature for feature in reversed(__cpu_dispatch__) if __cpu_features__[feature]]


def without(features: list[str]) -> dict[str, str]:
    return {"NPY_DISABLE_CPU_FEATURES": " ".join(features)} if features else {}


def can(instructions: str) -> bool:
    return instructions in Path("/proc/cpuinfo").read_text("utf-8").split()


PROCESSORS = [
    # Neither has FMA; the first had no AVX, either.
    {**NO_FMA, **without(NEWEST_FIRST), "OPENBLAS_CORETYPE": "Nehalem"},
    pytest.param({**NO_FMA, "OPENBLAS_CORETYPE": "Sandybridge"}, marks=pytest.mark.thorough),
    pytest.param(
        {
            **without([each for each in NEWEST_FIRST if "512" in each or each == "X86_V4"]),
            "OPENBLAS_CORETYPE": "Haswell",
        },
        marks=pytest.mark.thorough,
    ),
    {"OPENBLAS_CORETYPE": "SkylakeX"},
]


def numbers(**environment: str) -> list[tuple[str, str]]:
    found = subprocess.run(
        [sys.executable, "-m", "tests.every_number"],
        cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [(name, digest) for name, digest in json.loads(found.stdout)]


@pytest.fixture(scope="module")
def here() -> list[tuple[str, str]]:
    return numbers()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="these are processors of the kind x86-64")
@pytest.mark.parametrize("environment", PROCESSORS, ids=lambda each: each["OPENBLAS_CORETYPE"])
def test_every_number_is_the_same(here: list[tuple[str, str]], environment: dict[str, str]) -> None:
    needed = {"SkylakeX": "avx512f", "Haswell": "avx2", "Sandybridge": "avx"}.get(environment["OPENBLAS_CORETYPE"])
    if needed and not can(needed):
        pytest.skip(f"this processor has no {needed}")
    there = numbers(**environment)
    assert [name for name, _ in there] == [name for name, _ in here]
    assert Counter(name for (name, ours), (_, theirs) in zip(here, there, strict=True) if ours != theirs) == Counter()
