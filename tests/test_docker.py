"""The image and the compose file, as far as they can be checked without an engine."""

import re
from pathlib import Path

import yaml

from cli.main import parser
from web.settings import WebSettings as Settings

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
    assert ["serve"] in commands
    for command in commands:
        parser().parse_args(command)


def test_services_wait_for_what_they_need():
    services = COMPOSE["services"]
    for name in ("scheduler", "worker", "web"):
        assert services[name]["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}
        assert services[name]["depends_on"]["redis"] == {"condition": "service_healthy"}
    assert services["migrate"]["depends_on"]["postgres"] == {"condition": "service_healthy"}
    for service in services.values():
        for other, condition in service.get("depends_on", {}).items():
            assert other in services
            assert condition["condition"] != "service_healthy" or "healthcheck" in services[other]


def test_workers_scheduler_and_web_are_asked_for_their_health():
    for name in ("worker", "scheduler", "web"):
        service = COMPOSE["services"][name]
        assert service["healthcheck"]["test"] == ["CMD", "steelyard", "health", name, "--http"]
        assert service["environment"]["STEELYARD_HTTP_PORT"]
        assert service["environment"]["STEELYARD_DATABASE_URL"]
    assert re.search(r"^HEALTHCHECK .*\\\n +CMD .*steelyard health --http", DOCKERFILE, re.MULTILINE)
    for arguments in (
        ["health", "web", "--http"],
        ["health", "worker", "--http"],
        ["health", "scheduler", "--http"],
        ["health", "--http"],
    ):
        assert parser().parse_args(arguments).http == (None, None)


def test_settings_exist_and_a_stopped_worker_has_time_to_finish():
    for service in COMPOSE["services"].values():
        for name in service.get("environment", {}):
            if name.startswith("STEELYARD_"):
                assert name.removeprefix("STEELYARD_").lower() in Settings.model_fields
    grace = int(COMPOSE["services"]["worker"]["stop_grace_period"].removesuffix("s"))
    assert grace > Settings.model_fields["task_seconds"].default


def test_ours_write_nowhere_and_may_do_nothing_special():
    for name, service in COMPOSE["services"].items():
        if service["image"] == "steelyard":
            # What people call by hand may write files.
            assert service["read_only"] is (name != "client")
            assert service["tmpfs"] == ["/tmp"]
            assert service["cap_drop"] == ["ALL"]
            assert service["security_opt"] == ["no-new-privileges:true"]


def test_only_pages_are_open_and_only_to_this_machine():
    assert {name: service["ports"] for name, service in COMPOSE["services"].items() if "ports" in service} == {
        "web": ["127.0.0.1:8718:8718"]
    }


def test_the_web_services_settings_can_be_as_compose_gives_them(monkeypatch):
    for name, value in COMPOSE["services"]["web"]["environment"].items():
        # What is not set in .env has the value after the sign.
        monkeypatch.setenv(name, re.sub(r"\$\{\w+:[-?]([^}]*)\}", r"\1", str(value)))
    settings = Settings()
    assert (settings.web_host, settings.web_port) == ("0.0.0.0", 8718)
    assert not settings.mail_url
    assert settings.stop_seconds < int(COMPOSE["services"]["web"]["stop_grace_period"].removesuffix("s"))


def test_no_password_is_written_down():
    text = (ROOT / "docker" / "compose.yaml").read_text()
    assert "${STEELYARD_DATABASE_PASSWORD:?" in text
    assert not re.search(r"PASSWORD: (?!\$\{)", text)
