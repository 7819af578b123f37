"""The memory of a pool process: what it may use, and what becomes of a task that wants more."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from runtime.settings import Settings
from worker.memory_limit import machine_bytes, out_of_memory, task_bytes

WANTS_MORE = """
import sys
import numpy as np
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from worker.memory_limit import limit_memory

held = np.ones(48 * 2**20 // 8)  # as of a parent that has read a campaign
limit_memory(64 * 2**20)
small = Segments.from_bytes(references=[b"a b c"], hypotheses=[b"a b d"])
score_systems(small, [parse_metric("chrf"), parse_metric("bleu")])
within = np.ones(32 * 2**20 // 8)
print("within")
try:
    if sys.argv[1] == "array":
        np.ones(96 * 2**20 // 8)
    else:
        line = " ".join(f"w{i}" for i in range(2_000_000)).encode()
        score_systems(Segments.from_bytes(references=[line], hypotheses=[line]), [parse_metric(sys.argv[1])])
except MemoryError as error:
    del within
    score_systems(small, [parse_metric("chrf")])
    print("refused")
"""


@pytest.mark.parametrize("what", ["array", "chrf", "ter"])
def test_a_process_is_refused_more_memory_and_goes_on(what: str) -> None:
    """Python, NumPy and the kernels in C alike: an error that can be reported, not a dead process."""
    code = [sys.executable, "-c", WANTS_MORE, what]
    ended = subprocess.run(code, cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=300)
    assert (ended.returncode, ended.stdout) == (0, "within\nrefused\n"), ended.stderr


def test_a_lower_limit_that_is_there_stays() -> None:
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_DATA, (2**30, 2**30));"
        "from worker.memory_limit import limit_memory; limit_memory(2**40);"
        "print(resource.getrlimit(resource.RLIMIT_DATA) == (2**30, 2**30))"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], capture_output=True, text=True)
    assert ended.stdout == "True\n", ended.stderr


def test_every_process_has_its_share_of_the_machine() -> None:
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert 0 < machine_bytes() <= whole
    assert task_bytes(Settings(), 4) == machine_bytes() // 4
    assert task_bytes(Settings(task_bytes=2**30), 4) == 2**30
    assert resource.getrlimit(resource.RLIMIT_DATA)[0] == resource.RLIM_INFINITY, "this process itself was limited"


def test_the_reason_says_the_limit_and_the_setting() -> None:
    settings = Settings(task_bytes=2**30)
    said = out_of_memory(MemoryError("Unable to allocate 7.0 GiB."), settings, 2)
    assert said.startswith(
        "it needs more memory than the 1024 MiB that each process may use (unable to allocate 7.0 GiB)."
    )
    assert "STEELYARD_TASK_BYTES" in said
    assert "may use. Set" in out_of_memory(MemoryError(), settings, 2)


STEPS_BACK = """
import os
from billiard import current_process
from celery import signals
from runtime.settings import Settings
from worker.app import make_app
from worker.context import WorkerContext
from worker.processes.celery_pool import prepared

current_process().index = 0
context = WorkerContext(Settings(broker_url="redis://localhost/0"), 1)
before = os.nice(0)
with prepared(make_app(context.settings, context), context):
    signals.worker_process_init.send(sender=None)
print(os.nice(0) - before)
"""


def test_a_pool_process_steps_back_as_far_as_the_setting_says() -> None:
    code = [sys.executable, "-c", STEPS_BACK]
    environment = {**os.environ, "STEELYARD_NICENESS": "3"}
    ended = subprocess.run(code, cwd=Path(__file__).parents[2], env=environment, capture_output=True, text=True)
    assert ended.stdout == "3\n", ended.stderr
