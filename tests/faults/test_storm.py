"""Faults drawn from a seed; `python -m tests.faults.storm --help` says how to have more of them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from models.database.session import make_engine
from tests.faults.campaigns import compare, randomizations, undisturbed
from tests.faults.cluster import Cluster
from tests.faults.pauses import no_pauses
from tests.faults.servers.broker import Broker
from tests.faults.storm import SECONDS, SEED, SETTINGS, Storm, main

pytestmark = pytest.mark.faults


@pytest.mark.long
def test_whatever_happens(tmp_path: Path, postgres_url: str, sqlite_url: str) -> None:
    seed, seconds = int(os.environ.get(SEED, "5")), float(os.environ.get(SECONDS, "6"))
    print(f"\nseed {seed}, {seconds:g} s; what the processes say is in {tmp_path}", flush=True)
    with Broker() as broker, Cluster(tmp_path, postgres_url, broker.url, **SETTINGS) as cluster:
        storm = Storm(cluster, broker, seed)
        storm.blow(seconds)
        # A frozen transaction may hold its locks for a minute.
        with no_pauses():
            storm.check(undisturbed(sqlite_url, storm.jobs), 120.0 + seconds)
            calm = make_engine(sqlite_url, pooled=False)
            for job in storm.compared:
                compare(calm, job, at_once=True)
            storm.check_tests(randomizations(calm), 120.0)
        again = storm.claims()
        print(f"{storm.done.total()} faults, {len(storm.jobs)} jobs, {len(storm.compared)} compared", end=", ")
        print(f"{cluster.shards()} shards, {again} claims again")
        assert again, "no fault hit anything"
        assert len(storm.done) == 11


def test_the_command_runs_the_storm(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is among the long tests, which pytest leaves out unless they are asked for."""
    ran: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _, command: ran.append(command))
    monkeypatch.setattr(sys, "argv", ["storm", "--seed", "7", "--seconds", "0"])
    monkeypatch.setenv(SEED, "")
    monkeypatch.setenv(SECONDS, "")
    main()
    (command,) = ran
    found = subprocess.run([*command, "--collect-only"], capture_output=True, text=True, check=False)
    assert f"::{test_whatever_happens.__name__}" in found.stdout
