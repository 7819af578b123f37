"""The image and the compose file, as far as they can be checked without an engine."""

import re
import shutil
import signal
import tempfile
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
import yaml

from models.database.session import make_engine
from runtime.service_settings import WebSettings as Settings
from tests.acceptance.commands import SECONDS, running, steelyard, wait_for
from tests.cli.click_commands import parsed
from tests.servers import START_SECONDS, free_port, start_postgres
from web.app import create_app
from web.pages.documentation import SITE

ROOT = Path(__file__).parents[2]
PASSWORD = "p@ss/w:rd#% $x'"
"""What a generator of passwords may give, with all that has a meaning in URLs."""
GIVEN = {"STEELYARD_DATABASE_PASSWORD": PASSWORD}
"""What .env must have, and nothing else."""
DOCKERFILE = (ROOT / "docker" / "Dockerfile").read_text()
ROOMS = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests", "benchmarks"}


def interpolated(value):
    """A value of the file as compose reads it: ${NAME:-DEFAULT} and ${NAME:?ERROR}, where empty is not set."""
    if isinstance(value, dict):
        return {name: interpolated(each) for name, each in value.items()}
    if isinstance(value, list):
        return [interpolated(each) for each in value]
    if not isinstance(value, str):
        return value

    def of(match):
        name, sign, text = match.groups()
        assert GIVEN.get(name) or sign == "-", f"{name}: {text}"
        return GIVEN.get(name) or text

    return re.sub(r"\$\{(\w+):([-?])([^}]*)\}", of, value)


COMPOSE = interpolated(yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text()))
OURS = {name: service for name, service in COMPOSE["services"].items() if service["image"] == "steelyard"}


def environment_of(name):
    """What a container of ours finds in its environment."""
    return {name: str(value) for name, value in OURS[name]["environment"].items()}


def test_the_image_holds_every_room_and_what_the_build_needs():
    copied = {name for line in re.findall(r"^COPY (?!--)(.+)$", DOCKERFILE, re.MULTILINE) for name in line.split()[:-1]}
    for name in copied:
        assert any(ROOT.glob(name)), f"the Dockerfile copies {name}, which is not there"
    assert copied >= ROOMS | {"alembic", "demo", "pyproject.toml", "library"}
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert {name.partition("/")[0] for name in copied} <= allowed, "the build context lacks what the Dockerfile copies"


def test_the_image_holds_the_documentation_where_the_service_looks_for_it():
    (target,) = re.findall(r"^COPY --from=documentation \S+ (\S+)$", DOCKERFILE, re.MULTILINE)
    assert Path(target).relative_to("/opt/steelyard/lib/python3.12/site-packages") == SITE.relative_to(ROOT)
    assert "FROM python:3.12-" in DOCKERFILE, "the folder of packages has the version of Python in its name"


def test_the_image_runs_as_a_user_whose_number_tells_that_it_is_not_root():
    users = re.findall(r"^USER (\S+)$", DOCKERFILE, re.MULTILINE)
    assert users
    # A name tells nothing before the image is unpacked: Kubernetes refuses it where nobody may run as root.
    assert int(users[-1]) > 0
    assert f"--uid {users[-1]} " in DOCKERFILE


def test_every_service_runs_a_command_that_there_is():
    commands = [service["command"] for service in OURS.values()]
    assert ["db", "upgrade"] in commands
    assert ["scheduler"] in commands
    assert ["worker"] in commands
    assert ["serve"] in commands
    for command in commands:
        parsed(command)


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
        assert parsed(arguments).params["http"] == (None, None)


def test_settings_exist_and_a_stopped_worker_has_time_to_finish():
    for service in COMPOSE["services"].values():
        for name in service.get("environment", {}):
            if name.startswith("STEELYARD_"):
                assert name.removeprefix("STEELYARD_").lower() in Settings.model_fields
    grace = int(COMPOSE["services"]["worker"]["stop_grace_period"].removesuffix("s"))
    assert grace > Settings.model_fields["task_seconds"].default


def test_ours_write_nowhere_else_and_may_do_nothing_special():
    for name, service in OURS.items():
        # What people call by hand may write files.
        assert service["read_only"] is (name != "client")
        assert service["tmpfs"] == ["/tmp"]
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        # Commands of schedules leave processes behind that somebody must wait for.
        assert service["init"] is True


def test_resources_are_on_one_volume_that_ours_may_write():
    for name, service in OURS.items():
        folder = environment_of(name)["STEELYARD_RESOURCE_FOLDER"]
        assert service["volumes"] == [f"resources:{folder}"]
        # A new volume belongs to whom the folder of the image belongs to.
        assert f"install -d -o steelyard -g steelyard {folder}\n" in DOCKERFILE


def test_every_volume_is_declared():
    mounted = {
        volume.partition(":")[0] for service in COMPOSE["services"].values() for volume in service.get("volumes", [])
    }
    assert mounted == set(COMPOSE["volumes"])


def test_the_image_is_built_once_and_by_what_all_others_wait_for():
    assert [name for name, service in COMPOSE["services"].items() if "build" in service] == ["migrate"]
    assert all("migrate" in service["depends_on"] for name, service in OURS.items() if name != "migrate")


def test_what_is_given_no_memory_limit_is_known():
    limited = {name for name, service in COMPOSE["services"].items() if "mem_limit" in service}
    # The database's is that of its own settings, the others end by themselves.
    assert set(COMPOSE["services"]) - limited == {"postgres", "migrate", "client"}


def test_only_pages_are_open_and_only_to_this_machine():
    assert {name: service["ports"] for name, service in COMPOSE["services"].items() if "ports" in service} == {
        "web": ["127.0.0.1:8718:8718"]
    }


@pytest.mark.parametrize("name", OURS)
def test_settings_are_read_from_the_environment_of_a_service(name, monkeypatch):
    for setting, value in environment_of(name).items():
        monkeypatch.setenv(setting, value)
    settings = Settings()
    make_engine(settings.database_url).dispose()
    # What .env leaves out is empty here, and that is to be not set: no mails are sent.
    assert settings.mail_url is None
    create_app(settings)
    assert settings.stop_seconds < int(OURS["web"]["stop_grace_period"].removesuffix("s"))


@pytest.mark.parametrize("name", ["web", "client"])
def test_links_lead_to_where_people_reach_the_pages(name, monkeypatch):
    monkeypatch.setitem(GIVEN, "STEELYARD_PUBLIC_URL", "https://mt.example.org")
    written = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text())
    environment = interpolated(written["services"][name]["environment"])
    assert environment["STEELYARD_PUBLIC_URL"] == "https://mt.example.org"


@pytest.fixture
def guarded_postgres():
    """The port of a PostgreSQL server like that of the file, which lets in nobody without the password."""
    home, process = Path(tempfile.mkdtemp(prefix="steelyard-pg-", dir="/tmp")), None
    try:
        process, url = start_postgres(home, password=PASSWORD)
        with psycopg.connect(url, password=PASSWORD, autocommit=True) as connection:
            connection.execute("CREATE DATABASE steelyard")
            yield connection.info.port
    finally:
        if process is not None:
            process.send_signal(signal.SIGQUIT)
            process.wait(START_SECONDS)
        shutil.rmtree(home, ignore_errors=True)


@pytest.mark.thorough
def test_every_service_starts(guarded_postgres, redis_url, tmp_path):
    # Containers have hosts and ports of their own; here they share this machine's.
    def environment(name):
        hosts = {"@postgres/": f"@127.0.0.1:{guarded_postgres}/", "redis://redis:6379/0": redis_url}
        settings = environment_of(name) | {"STEELYARD_RESOURCE_FOLDER": str(tmp_path / "resources")}
        for setting in ("STEELYARD_HTTP_PORT", "STEELYARD_WEB_PORT"):
            settings |= {setting: str(free_port())} if setting in settings else {}
        for host, here in hosts.items():
            settings = {setting: value.replace(host, here) for setting, value in settings.items()}
        return settings

    def run(settings, *arguments):
        return steelyard(*arguments, cwd=tmp_path, **settings)

    settings, command = environment("migrate"), OURS["migrate"]["command"]
    refused = run(settings | {"PGPASSWORD": "another"}, *command)
    assert (refused.returncode, "password" in refused.stderr) == (1, True)
    assert run(settings, *command).returncode == 0
    with ExitStack() as stack:
        for name in ("scheduler", "worker", "web"):
            settings, (program, *check) = environment(name), OURS[name]["healthcheck"]["test"][1:]
            assert program == "steelyard"
            process = stack.enter_context(running(*OURS[name]["command"], cwd=tmp_path, **settings))

            def is_well(process=process, check=check, settings=settings):
                assert process.poll() is None
                return run(settings, *check).returncode == 0

            wait_for(is_well, SECONDS)
        # Pages are at the address of the host, wherever the container listens.
        # It is well before it has printed its link.
        wait_for(lambda: "http://127.0.0.1:8718/invitations/" in (tmp_path / "serve.log").read_text(), SECONDS)
        invited = run(environment("client"), "invitation", "create", "--email", "ann@example.org")
        assert (invited.returncode, "http://127.0.0.1:8718/invitations/" in invited.stdout) == (0, True), invited.stderr
        assert run(environment("client"), *OURS["client"]["command"]).stderr == (
            "steelyard: There is no such leaderboard. Nothing was evaluated here yet.\n"
        )


def test_no_password_is_written_down():
    text = (ROOT / "docker" / "compose.yaml").read_text()
    assert "${STEELYARD_DATABASE_PASSWORD:?" in text
    assert not re.search(r"PASSWORD: (?!\$\{)", text)
    # Nor pasted into a URL, where it would have to be escaped.
    assert not re.search(r"://[^$\s]*\$\{", text)
