"""Counting under callgrind itself, and which workloads there are."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.gate import counting
from benchmarks.gate.counting import CALLGRIND, GROUPS, ROOT, Counted, _keep_least, unavailable
from benchmarks.gate.profiles import by_part, profiles, reason
from benchmarks.gate.queued import QUEUED
from benchmarks.gate.workloads import SPECIFICATIONS, WORKLOADS
from steelyard.metrics.registry import all_metrics

SCRIPT = """
import platform, sys
from benchmarks.gate import inside, requests
from benchmarks.gate.workloads import Work

def loop(times):
    return Work(lambda: [number * number for number in range(times)], lambda: list(range(100_000)))

requests.start(platform.machine())
inside.count("as kept", loop(20_000))
inside.count("again", loop(20_000))
inside.count("slowed", loop(40_000))
"""


def test_every_workload_is_in_one_group():
    names = [name for group in GROUPS for name in group]
    assert sorted(names) == sorted([*WORKLOADS, *QUEUED])


def test_every_metric_of_the_house_is_counted():
    assert {metric.name for metric in all_metrics()} <= set(SPECIFICATIONS)


@pytest.fixture
def valgrind() -> None:
    if missing := unavailable():
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)


@pytest.mark.thorough
def test_the_same_work_takes_the_same_instructions_and_slowed_work_more(valgrind: None, tmp_path: Path):
    command = [*CALLGRIND, "--instr-atstart=no", f"--callgrind-out-file={tmp_path / 'profile'}", sys.executable]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT}/library:{ROOT}/client", "PYTHONHASHSEED": "0"}
    subprocess.run([*command, "-c", SCRIPT], env=environment, cwd=ROOT, check=True)
    counted = Counted()
    for profile in profiles(tmp_path):
        if name := reason(profile):
            _keep_least(counted, name, by_part(profile))
    counts = {name: sum(parts.values()) for name, parts in counted.instructions.items()}
    assert counts["again"] == pytest.approx(counts["as kept"], rel=0.005)
    assert counts["slowed"] == pytest.approx(2 * counts["as kept"], rel=0.05)
    assert counted.instructions["slowed"]["Python"] > 0.9 * counts["slowed"]


def test_machines_without_valgrind_say_so(monkeypatch):
    monkeypatch.setattr(counting.shutil, "which", lambda name: None)
    assert "valgrind" in (unavailable() or "")
    monkeypatch.setattr(counting.platform, "machine", lambda: "riscv64")
    assert "x86_64" in (unavailable() or "")


def test_a_program_that_fails_is_an_error():
    with pytest.raises(RuntimeError, match="ended with 3"):
        counting._run([sys.executable, "-c", "print('why'); raise SystemExit(3)"])
