"""The build hook: compiles the C kernels into one shared library beside their sources.

`python hatch_build.py` does the same by hand. The compiler is the one of the `ziglang` wheel, a build-time
requirement, so that a machine needs none of its own; the environment variable CC names another.
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

KERNELS = Path(__file__).parent / "metrics" / "kernels"
# Every operation is rounded by itself (-ffp-contract), and sqrt is an instruction, not a call for the sake of errno.
FLAGS = ("-std=c11", "-O3", "-fPIC", "-shared", "-s", "-Wall", "-Wextra", "-ffp-contract=off", "-fno-math-errno")
# A library built for this machine's own processor could end with SIGILL on another one that shares the
# environment or the image; these levels are old enough to be everywhere and have the popcount we live on.
PROCESSOR = {"x86_64": "x86-64-v2", "AMD64": "x86-64-v2"}


def sources() -> list[Path]:
    """The C files, in a fixed order."""
    return sorted(KERNELS.glob("*.c"))


def fingerprint() -> str:
    """What the library must have been built from; `steelyard.kernels.loader` compares it when it loads."""
    digest = sha256()
    for path in sorted(KERNELS.glob("*.[ch]")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def compile_kernels() -> Path:
    """Compile all kernels; return the library's path."""
    library = KERNELS / "_kernels.so"
    level = PROCESSOR.get(platform.machine())
    if os.environ.get("CC"):
        compiler = shlex.split(os.environ["CC"])
        processor = [f"-march={level}"] if level else []
    else:
        compiler = [sys.executable, "-m", "ziglang", "cc"]
        processor = [f"-mcpu={level.replace('-', '_')}"] if level else []
    # A compiler that warns of more than ours must not keep anybody from installing; it may keep CI from passing.
    strict = ["-Werror"] if os.environ.get("CI") else []
    command = [*compiler, *FLAGS, *strict, *processor, f'-DFINGERPRINT="{fingerprint()}"', "-o", str(library)]
    subprocess.run([*command, *map(str, sources())], check=True)  # noqa: S603
    return library


class KernelBuildHook(BuildHookInterface[BuilderConfig]):
    """Compiles before the wheel is put together, and marks the wheel as made for this platform."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Called by hatchling before each build, editable ones included."""
        compile_kernels()
        build_data["pure_python"] = False
        system = "linux" if sys.platform == "linux" else sys.platform
        build_data["tag"] = f"py3-none-{system}_{platform.machine()}"


if __name__ == "__main__":
    print(compile_kernels())
