"""Podman on a plain Debian machine, without an image registry: images, and the services of the compose file.

The base image is made by debootstrap, with Debian's Python, and stands in under the name that the Dockerfile asks for.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.docker.test_compose import COMPOSE, DOCKERFILE, ROOT

PROGRAMS = ("podman", "runc", "netavark", "iptables", "debootstrap", "catatonit")
"""Debian's packages of these names, with aardvark-dns."""
BASE = DOCKERFILE.partition("FROM ")[2].split()[0]
IMAGES = Path(__file__).parent / "images"
NETWORK = "steelyard-test"
CONFIGURATION = """
[containers]
default_ulimits = []
[network]
network_backend = "netavark"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
"""
"""Containers inside of a container may set no limits, and find cgroups of the first kind."""


def missing_programs() -> list[str]:
    """Those of the programs that are not here."""
    places = (*os.environ["PATH"].split(os.pathsep), "/usr/sbin", "/usr/lib/podman")
    return [name for name in PROGRAMS if not any(os.access(Path(place) / name, os.X_OK) for place in places)]


class Engine:
    """Podman, with settings of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        configuration = folder / "containers.conf"
        configuration.write_text(CONFIGURATION)
        self._environment = os.environ | {"CONTAINERS_CONF": str(configuration)}
        self._started: list[str] = []

    def podman(self, *arguments: str, check: bool = True, timeout: float = 1800.0) -> subprocess.CompletedProcess[str]:
        """Run a command of podman to its end."""
        ran = subprocess.run(
            ["podman", *arguments], env=self._environment, capture_output=True, text=True, timeout=timeout, check=False
        )
        assert ran.returncode == 0 or not check, f"podman {' '.join(arguments)}: {ran.stdout}{ran.stderr}"
        return ran

    def has_image(self, name: str) -> bool:
        """Whether an image is there."""
        return self.podman("image", "exists", name, check=False).returncode == 0

    def build_base(self) -> None:
        """Make the image that others begin with, unless it is there."""
        name = _base()
        if self.has_image(name):
            return
        with tempfile.TemporaryDirectory(prefix="steelyard-base-") as folder:
            root = Path(folder) / "root"
            packages = "ca-certificates,python3,python3-venv,python3-pip"
            command = ["debootstrap", "--variant=minbase", f"--include={packages}", "bookworm", str(root), _mirror()]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            (root / "usr/bin/python").symlink_to("python3")
            for spare in ("var/cache/apt/archives", "var/lib/apt/lists"):
                shutil.rmtree(root / spare, ignore_errors=True)
            archive = Path(folder) / "root.tar"
            subprocess.run(["tar", "-C", root, "-cf", archive, "."], check=True)
            self.podman("import", "--change", 'CMD ["python3"]', str(archive), name)

    def build(self, file: Path, name: str, context: Path, *arguments: str, pip: bool = False) -> None:
        """Build an image; with `pip` it finds packages as pip does on this machine."""
        mounts = list(_pip_mounts()) if pip else []
        self.podman(
            "build", "--network", "host", "--isolation", "chroot", "--format", "docker", *mounts, *arguments,
            "--file", str(file), "--tag", name, str(context),
        )  # fmt: skip

    def build_all(self) -> None:
        """Build our image, and those that stand in for servers."""
        self.build_base()
        for service in ("postgres", "redis"):
            name = f"docker.io/library/{COMPOSE['services'][service]['image']}"
            self.build(IMAGES / f"{service}.Dockerfile", name, IMAGES)
        self.build(ROOT / "docker" / "Dockerfile", "localhost/steelyard", ROOT, pip=True)

    def start_network(self) -> str:
        """Make the network that services find each other in; why this machine runs no containers, "" if it does."""
        if self.podman("network", "exists", NETWORK, check=False).returncode:
            self.podman("network", "create", NETWORK)
        ran = self.podman("run", "--rm", "--network", NETWORK, "--ulimit", "host", _base(), "true", check=False)
        return ran.stderr.strip() if ran.returncode else ""

    def start(self, service: str, *, name: str | None = None, image: str | None = None, port: int | None = None) -> str:
        """Start a service as the compose file has it; the name of its container.

        Memory limits are left out, which containers inside of a container may not set; the published port is another.
        """
        name = name or service
        options = self._options(service, port)
        said = COMPOSE["services"][service]
        command = said.get("command", [])
        self.podman("run", "--detach", "--name", name, *options, image or _image(said), *command)
        self._started.append(name)
        return name

    def run(self, service: str, *command: str, **keywords: Any) -> subprocess.CompletedProcess[str]:
        """Run another command in a container of a service, to its end."""
        return self.podman(
            "run", "--rm", *self._options(service), _image(COMPOSE["services"][service]), *command, **keywords
        )

    def run_to_end(self, service: str, image: str | None = None) -> None:
        """Run a service that ends, such as that of the migrations."""
        said = COMPOSE["services"][service]
        self.podman("run", "--rm", *self._options(service), image or _image(said), *said["command"])

    def _options(self, service: str, port: int | None = None) -> list[str]:
        said = COMPOSE["services"][service]
        options = ["--network", NETWORK, "--network-alias", service, "--ulimit", "host"]
        options += [f"--env={key}={value}" for key, value in said.get("environment", {}).items()]
        options += [f"--volume={NETWORK}-{volume}" for volume in said.get("volumes", [])]
        options += [f"--tmpfs={folder}" for folder in said.get("tmpfs", [])]
        options += [f"--cap-drop={each}" for each in said.get("cap_drop", [])]
        options += [f"--security-opt={each.partition(':')[0]}" for each in said.get("security_opt", [])]
        options += ["--read-only"] if said.get("read_only") else []
        options += ["--init"] if said.get("init") else []
        if port is not None:
            (published,) = said["ports"]
            options.append(f"--publish=127.0.0.1:{port}:{published.rpartition(':')[2]}")
        return options

    def is_healthy(self, service: str, name: str | None = None) -> bool:
        """Whether the check of the compose file passes."""
        kind, *check = COMPOSE["services"][service]["healthcheck"]["test"]
        command = ["sh", "-c", *check] if kind == "CMD-SHELL" else check
        return self.podman("exec", name or service, *command, check=False).returncode == 0

    def wait_healthy(self, service: str, name: str | None = None, seconds: float = 300.0) -> None:
        """Wait until the check passes."""
        end = time.monotonic() + seconds
        while not self.is_healthy(service, name):
            assert time.monotonic() < end, self.logs(name or service)
            time.sleep(0.5)

    def logs(self, name: str) -> str:
        """What a container has printed."""
        ran = self.podman("logs", name)
        return ran.stdout + ran.stderr

    def wait_logged(self, name: str, text: str, seconds: float = 60.0) -> None:
        """Wait until a container has printed a text: it may be ready before it has said all."""
        end = time.monotonic() + seconds
        while text not in (printed := self.logs(name)):
            assert time.monotonic() < end, printed
            time.sleep(0.2)

    def kill(self, name: str) -> None:
        """Kill a container and remove it."""
        self.podman("kill", "--signal", "KILL", name)
        self.podman("rm", "--force", name)

    def stop(self, service: str, name: str | None = None) -> int:
        """Stop a container as compose does, and remove it; its exit status."""
        name = name or service
        grace = COMPOSE["services"][service].get("stop_grace_period", "10s").removesuffix("s")
        self.podman("stop", "--time", grace, name)
        (found,) = json.loads(self.podman("inspect", name).stdout)
        status = int(found["State"]["ExitCode"])
        if status:
            print(f"{name} ended with {status}; it said:\n{self.logs(name)}")
        self.podman("rm", name)
        return status

    def image_bytes(self, name: str) -> int:
        """The size of an image, with what it is built on."""
        (found,) = json.loads(self.podman("image", "inspect", name).stdout)
        return int(found["Size"])

    def remove_all(self) -> None:
        """Remove the containers, volumes and the network of the test."""
        self.podman("rm", "--force", "--ignore", *self._started, check=False)
        for volume in COMPOSE["volumes"]:
            self.podman("volume", "rm", "--force", f"{NETWORK}-{volume}", check=False)
        self.podman("network", "rm", "--force", NETWORK, check=False)


def _base() -> str:
    return f"docker.io/library/{BASE}"


def _image(service: dict[str, Any]) -> str:
    image = service["image"]
    return "localhost/steelyard" if image == "steelyard" else f"docker.io/library/{image}"


def _mirror() -> str:
    """Where this machine's packages come from."""
    for file in sorted(Path("/etc/apt").glob("sources.list*/*.sources")):
        for line in file.read_text().splitlines():
            if line.startswith("URIs:"):
                return line.split()[1]
    return "http://deb.debian.org/debian"


def _pip_mounts() -> list[str]:
    """This machine's certificates and settings of pip, and the folders that these name."""
    mounts = ["--volume=/etc/ssl/certs:/etc/ssl/certs:ro"]
    settings = Path("/etc/pip.conf")
    if settings.is_file():
        mounts.append(f"--volume={settings}:{settings}:ro")
    if "PIP_CERT" in os.environ:
        mounts.append(f"--env=PIP_CERT={os.environ['PIP_CERT']}")
    return mounts
