"""Commands compute in one thread: the parallel work is done by processes."""

import os
import subprocess
import sys

import pytest

THREADS = """
import os, sys
from {module} import main
assert "numpy" not in sys.modules
assert main(sys.argv[1:]) == 0
assert "numpy" in sys.modules
print(len(os.listdir("/proc/self/task")))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts threads as Linux lists them")
@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("cli.main", ["score", "text", "-i", "text"]),
        ("steelyard.commands.mtrics.command", ["-c", "text", "-r", "text", "-b"]),
    ],
)
def test_numpy_starts_no_threads_in_a_command(module, words, tmp_path):
    (tmp_path / "text").write_text("ahoj světe\n")
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    run = subprocess.run(
        [sys.executable, "-c", THREADS.format(module=module), *words],
        env=environment, cwd=tmp_path, capture_output=True, check=False, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1] == "1"
