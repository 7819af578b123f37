"""A process whose parent is killed ends as well."""

import os
import signal
import subprocess
import sys

import pytest

from tests.acceptance.commands import REPOSITORY
from tests.faults.cluster import until
from worker.processes.parent_death import end_with_parent

PARENT = """
import os, signal, time
from worker.processes.parent_death import end_with_parent
if not os.fork():
    end_with_parent(signal.SIGKILL)
    print(os.getpid(), flush=True)
time.sleep(600)
"""


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells of the death of a parent")
def test_a_child_of_the_pool_does_not_outlive_its_parent() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert alive(child)
        parent.kill()
    until(lambda: not alive(child), "the child to be gone")


def test_systems_without_it_are_distinguished(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(OSError, match="Only Linux"):
        end_with_parent(signal.SIGKILL)
