"""The image and the compose file, as far as they can be checked without an engine."""

import re
from pathlib import Path

import yaml

from cli.main import parser
from worker.settings import Settings

ROOT = Path(__file__).parents[1]
COMPOSE = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text())
DOCKERFILE = (ROOT / "docker" / "Dockerfile").read_text()
ROOMS = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests", "benchmarks"}


def test_the_image_holds_every_room_and_what_the_build_needs():
    copied = {name for line in re.findall(r"^COPY (?!--)(.+)$", DOCKERFILE, re.MULTILINE) for name in line.split()[:-1]}
    for name in copied:
        assert (ROOT / name).exists(), f"the Dockerfile copies {name}, which is not there"
    assert copied >= ROOMS | {"alembic", "demo", "pyproject.toml", "hatch_build.py"}
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert copied <= allowed, "the build context lacks what the Dockerfile copies"


def test_the_image_does_not_run_as_root():
    users = re.findall(r"^USER (\S+)$", DOCKERFILE, re.MULTILINE)
    assert users
    assert users[-1] != "root"


def test_every_service_runs_a_command_that_there_is():
    commands = [service["command"] for service in COMPOSE["services"].values() if service["image"] == "steelyard"]
    assert ["db", "upgrade"] in commands
    assert ["scheduler"] in commands
    assert ["worker"] in commands
    for command in commands:
        parser().parse_args(command)


def test_services_wait_for_what_they_need():
    services = COMPOSE["services"]
    for name in ("scheduler", "worker"):
        assert services[name]["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}
        assert services[name]["depends_on"]["redis"] == {"condition": "service_healthy"}
    assert services["migrate"]["depends_on"]["postgres"] == {"condition": "service_healthy"}
    for service in services.values():
        for other, condition in service.get("depends_on", {}).items():
            assert other in services
            assert condition["condition"] != "service_healthy" or "healthcheck" in services[other]


def test_workers_and_scheduler_are_asked_for_their_health():
    for name in ("worker", "scheduler"):
        service = COMPOSE["services"][name]
        assert service["healthcheck"]["test"] == ["CMD", "steelyard", "health", name, "--http"]
        assert service["environment"]["STEELYARD_HTTP_PORT"]
        assert service["environment"]["STEELYARD_DATABASE_URL"]
    assert re.search(r"^HEALTHCHECK .*\\\n +CMD .*steelyard health --http", DOCKERFILE, re.MULTILINE)
    for arguments in (["health", "worker", "--http"], ["health", "scheduler", "--http"], ["health", "--http"]):
        assert parser().parse_args(arguments).http == (None, None)


def test_settings_exist_and_a_stopped_worker_has_time_to_finish():
    for service in COMPOSE["services"].values():
        for name in service.get("environment", {}):
            if name.startswith("STEELYARD_"):
                assert name.removeprefix("STEELYARD_").lower() in Settings.model_fields
    grace = int(COMPOSE["services"]["worker"]["stop_grace_period"].removesuffix("s"))
    assert grace > Settings.model_fields["task_seconds"].default


def test_no_password_is_written_down():
    text = (ROOT / "docker" / "compose.yaml").read_text()
    assert "${STEELYARD_DATABASE_PASSWORD:?" in text
    assert not re.search(r"PASSWORD: (?!\$\{)", text)
