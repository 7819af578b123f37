"""The build hook: compiles the C kernels into one shared library beside their sources.

`python library/hatch_build.py` does the same by hand. The compiler is the one of the `ziglang` wheel, a build-time
requirement, so that a machine needs none of its own; the environment variable CC names another. STEELYARD_WHEEL names
one of the WHEELS to compile for instead of this machine: `make wheels` builds all of them.
"""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KERNELS = Path(__file__).parent / "steelyard" / "kernels"
# Every operation is rounded by itself (-ffp-contract), and sqrt is an instruction, not a call for the sake of errno.
# Symbols are hidden but for the kernels (include/kernel.h): the process may have other libraries with such names.
FLAGS = (
    *("-std=c11", "-O3", "-fPIC", "-shared", "-s", "-fvisibility=hidden"),
    *("-Wall", "-Wextra", "-ffp-contract=off", "-fno-math-errno"),
)
# A library built for this machine's own processor could end with SIGILL on another one that shares the
# environment or the image; these levels are old enough to be everywhere and have the popcount we live on.
PROCESSOR = {"x86_64": "x86-64-v2", "AMD64": "x86-64-v2"}

WHEELS = {
    "manylinux_2_17_x86_64": "x86_64-linux-gnu.2.17",
    "manylinux_2_17_aarch64": "aarch64-linux-gnu.2.17",
    "musllinux_1_2_x86_64": "x86_64-linux-musl",
    "musllinux_1_2_aarch64": "aarch64-linux-musl",
    "macosx_11_0_x86_64": "x86_64-macos.11.0",
    "macosx_11_0_arm64": "aarch64-macos.11.0",
}
"""The platforms of wheels as installers know them, and what zig calls them: the oldest C library that one may have."""


def sources() -> list[Path]:
    """The C files, in a fixed order."""
    return sorted(KERNELS.rglob("*.c"))


def fingerprint() -> str:
    """What the library must have been built from: `steelyard.kernels.loader` compares it where there are sources."""
    digest = sha256()
    for path in sorted(KERNELS.rglob("*.[ch]"), key=lambda path: path.name):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def compile_kernels(wheel: str = "") -> Path:
    """Compile all kernels, for this machine or for one of the WHEELS; return the library's path."""
    library = KERNELS / "_kernels.so"
    zig = [sys.executable, "-m", "ziglang", "cc"]
    machine = "x86_64" if wheel.endswith("x86_64") else platform.machine() if not wheel else ""
    level = PROCESSOR.get(machine)
    zig_level = [f"-mcpu={level.replace('-', '_')}"] if level else []
    if wheel:
        compiler, processor = [*zig, "-target", WHEELS[wheel]], zig_level
    elif os.environ.get("CC"):
        compiler, processor = shlex.split(os.environ["CC"]), [f"-march={level}"] if level else []
    else:
        compiler, processor = zig, zig_level
    # A compiler that warns of more than ours must not keep anybody from installing; it may keep CI from passing.
    strict = ["-Werror"] if os.environ.get("CI") else []
    ours = [f'-DFINGERPRINT="{fingerprint()}"', f"-I{KERNELS / 'include'}"]
    command = [*compiler, *FLAGS, *strict, *processor, *ours, "-o", str(library)]
    subprocess.run([*command, *map(str, sources())], check=True)  # noqa: S603
    return library


class KernelBuildHook(BuildHookInterface[BuilderConfig]):
    """Compiles before the wheel is put together, and marks the wheel as made for this platform."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Called by hatchling before each build, editable ones included."""
        wheel = os.environ.get("STEELYARD_WHEEL", "")
        compile_kernels(wheel)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{wheel or f'{sys.platform}_{platform.machine()}'}"


if __name__ == "__main__":
    print(compile_kernels())
