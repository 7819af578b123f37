"""What the compose file says, run: teams submit while containers are killed and upgraded, and all stops in order."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from models.database.migrate import REVISION
from tests.acceptance.commands import steelyard
from tests.containers.engine import BASE, Engine, missing_programs
from tests.running_security import check_all
from tests.servers import free_port

pytestmark = pytest.mark.containers

OURS, NEXT = "localhost/steelyard", "localhost/steelyard-next"
ROOT = Path(__file__).parents[2]
LARGEST_BYTES = 450 * 10**6
"""Of our image above its base."""
MIGRATION = """
import sqlalchemy as sa
from alembic import op

revision = "29990101"
down_revision = "{revision}"
branch_labels = depends_on = None


def upgrade():
    op.add_column("campaign", sa.Column("next", sa.Text()))


def downgrade():
    op.drop_column("campaign", "next")
"""
"""Of a release to come."""
SEGMENTS = 4000
WORDS = ("the", "a", "of", "and", "harbour", "tug", "ship", "crane", "weighs", "goods", "steel", "yard", "balance")
METRICS = ("bleu", "chrf", "ter")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Podman with all images, and nothing running."""
    if missing := missing_programs():
        assert not os.environ.get("CI"), f"CI installs {', '.join(missing)}"
        pytest.skip(f"needs {', '.join(missing)} (Debian's packages)")
    if os.geteuid():
        pytest.skip("needs root")
    podman = Engine(tmp_path_factory.mktemp("engine"))
    try:
        # What a kernel forbids no package brings.
        podman.build_base()
        if reason := podman.start_network():
            pytest.skip(f"this machine runs no containers: {reason}")
        podman.build_all()
        yield podman
    except subprocess.CalledProcessError as error:
        pytest.skip(f"this machine makes no base image: {error}")
    finally:
        podman.remove_all()


def test_the_image_is_small_and_runs_as_nobody_in_particular(engine):
    assert engine.image_bytes(OURS) - engine.image_bytes(f"docker.io/library/{BASE}") <= LARGEST_BYTES
    run = ("run", "--rm", "--network", "none", "--ulimit", "host", "--read-only", "--cap-drop", "ALL")
    assert engine.podman(*run, OURS, "--version").stdout.startswith("steelyard ")
    assert engine.podman(*run, "--entrypoint", "id", OURS, "-u").stdout.strip() == "10001"
    inventory = json.loads(engine.podman(*run, "--entrypoint", "cat", OURS, "/opt/steelyard/sbom.json").stdout)
    packages = {each["name"].lower(): json.dumps(each.get("licenses", "")) for each in inventory["components"]}
    assert {"numpy", "sqlalchemy", "steelyard-server"} <= set(packages)
    # What is linked may be under the LGPL, which asks for nothing of the rest.
    assert not [name for name, licences in packages.items() if re.search(r"(?<!L)GPL|Affero", licences)]
    # What states its licence in words alone is not in the inventory; what it states is kept.
    kept = tomllib.loads((ROOT / "docker" / "licences.toml").read_text())
    silent = [name for name, licences in packages.items() if not re.search(r'"(id|name|expression)"', licences)]
    assert not [name for name in silent if not kept.get(name)]


def write_texts(folder: Path, systems: int) -> dict[str, Path]:
    """A test set and outputs of systems, each worse than the one before."""
    drawn = random.Random(7)
    reference = [[drawn.choice(WORDS) for _ in range(drawn.randint(5, 40))] for _ in range(SEGMENTS)]
    (folder / "test" / "refs").mkdir(parents=True)
    (folder / "test" / "source.txt").write_text("".join(f"{' '.join(words)}\n" for words in reference))
    (folder / "test" / "refs" / "A.txt").write_text("".join(f"{' '.join(words)}\n" for words in reference))
    outputs = {}
    for number in range(systems):
        worse = [
            [drawn.choice(WORDS) if drawn.random() < 0.05 * (number + 1) else word for word in words]
            for words in reference
        ]
        outputs[f"system{number}"] = folder / f"system{number}.txt"
        outputs[f"system{number}"].write_text("".join(f"{' '.join(words)}\n" for words in worse))
    return outputs


def build_next(engine: Engine, folder: Path) -> None:
    """The image of a release with another migration."""
    (folder / "29990101_next.py").write_text(MIGRATION.format(revision=REVISION))
    (folder / "Dockerfile").write_text(
        f"FROM {OURS}\nUSER 0\n"
        "COPY 29990101_next.py /tmp/\n"
        "RUN mv /tmp/29990101_next.py /opt/steelyard/lib/python3*/site-packages/models/migrations/versions/\n"
        "USER 10001\n"
    )
    engine.build(folder / "Dockerfile", NEXT, folder)


def test_a_campaign_survives_kills_and_an_upgrade(engine, tmp_path):
    port = free_port()
    server = f"http://127.0.0.1:{port}"
    outputs = write_texts(tmp_path, 12)
    (next_folder := tmp_path / "next").mkdir()
    build_next(engine, next_folder)

    for service in ("postgres", "redis"):
        engine.start(service)
    for service in ("postgres", "redis"):
        engine.wait_healthy(service)
    engine.run_to_end("migrate")
    engine.start("scheduler")
    for number in (1, 2):
        engine.start("worker", name=f"worker-{number}")
    engine.start("web", port=port)
    for service, name in (("scheduler", None), ("worker", "worker-1"), ("worker", "worker-2"), ("web", None)):
        engine.wait_healthy(service, name)
    engine.wait_logged("web", "/invitations/")
    check_all(server, re.findall(r"/invitations/([\w-]+)", engine.logs("web"))[0])
    engine.run("client", "user", "create", "ann@example.org", "--name", "Ann", "--role", "administrator", "--verified")
    scopes = [word for scope in ("read", "submit", "organise") for word in ("--scope", scope)]
    token = engine.run("client", "token", "create", "ann@example.org", *scopes).stdout.strip()

    def asked(*arguments: str) -> str:
        ran = steelyard(*arguments, "--server", server, cwd=tmp_path, STEELYARD_TOKEN=token)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    def submit(*names: str) -> None:
        for name in names:
            options = ("--campaign", "wmt", "--team", "harbour", "--system", name, "--no-wait")
            asked("submit", str(outputs[name]), *options)

    names = list(outputs)
    asked("campaign", "create", "wmt", "--title", "WMT")
    asked("team", "create", "harbour")
    asked("team", "join", "harbour", "wmt")
    asked("testset", "create", "wmt", "news", "test", "-m", *METRICS)
    submit(*names[:4])
    # While work goes on: a worker, the scheduler and Redis with all its messages are gone at once.
    for killed in ("worker-1", "scheduler", "redis"):
        engine.kill(killed)
    engine.start("redis")
    engine.start("scheduler")
    engine.start("worker", name="worker-1")
    submit(*names[4:8])
    # The next release: tables first, then one container after the other, while teams submit.
    engine.run_to_end("migrate", NEXT)
    submit(*names[8:10])
    engine.start("worker", name="worker-3", image=NEXT)
    for number in (1, 2):
        assert engine.stop("worker", f"worker-{number}") == 0
    assert engine.stop("scheduler") == 0
    engine.start("scheduler", image=NEXT)
    assert engine.stop("web") == 0
    engine.start("web", image=NEXT, port=port)
    engine.wait_healthy("web")
    submit(*names[10:])

    end = time.monotonic() + 600
    while True:
        (board,) = json.loads(asked("leaderboard", "wmt", "--all", "-f", "json"))
        if len(board["systems"]) == len(outputs) and all(each["state"] == "done" for each in board["systems"]):
            break
        assert time.monotonic() < end, engine.run("client", "status").stdout
        time.sleep(1)

    files = [str(path) for path in outputs.values()]
    options = ("-m", *METRICS, "--confidence", "1000", "-f", "json")
    here = json.loads(steelyard("score", "test/refs/A.txt", "-i", *files, *options, cwd=tmp_path).stdout)
    scored = {Path(each["system"]).stem: each["scores"] for each in here["systems"]}
    for system in board["systems"]:
        for score, expected in zip(system["scores"], scored[system["system"].split("/")[-1]], strict=True):
            assert (score["score"], score["interval"]["low"]) == (expected["score"], expected["interval"]["low"])

    for service, name in (("web", None), ("worker", "worker-3"), ("scheduler", None)):
        assert engine.stop(service, name) == 0, name or service
