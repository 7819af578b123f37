"""Commands import nothing from the folder that they are started in, nor do the processes that they start."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from importlib.metadata import packages_distributions

import pytest

from tests.acceptance.commands import REPOSITORY, environment, wait_for

pytestmark = pytest.mark.faults

ROOMS = ("analysis", "campaigns", "cli", "models", "runtime", "scheduler", "web", "worker")
LOOKED_FOR = ("celeryconfig", "sitecustomize", "usercustomize", "matplotlibrc", "gunicorn")
"""What libraries look for by name, whether it is installed or not."""

HOSTILE = """
import os
with open({mark!r}, "a") as mark:
    mark.write(__name__ + "\\n")
raise SystemExit(f"imported {{__name__}} from the current folder")
"""

PROGRAM = f"""
import sys
sys.path.append({str(REPOSITORY)!r})
from cli.main import main
if __name__ == "__main__":
    sys.exit(main())
"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A folder that has a module for every name that anybody could import, and the file that they write to."""
    folder = tmp_path_factory.mktemp("hostile")
    mark = tmp_path_factory.mktemp("mark") / "imported"
    for name in {*sys.stdlib_module_names, *packages_distributions(), *ROOMS, *LOOKED_FOR}:
        if name.isidentifier():
            (folder / f"{name}.py").write_text(HOSTILE.format(mark=str(mark)))
    return folder, mark


@contextmanager
def installed(tmp_path, *words, cwd, **settings):
    """A command as it is installed: a program in a folder of its own, whose folder its import path begins with."""
    program = tmp_path / "steelyard"
    program.write_text(PROGRAM)
    log = tmp_path / "log"
    variables = environment(**settings)
    del variables["PYTHONPATH"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, program, *words], cwd=cwd, env=variables, stdout=output, stderr=output,
            start_new_session=True,
        )  # fmt: skip
    try:
        yield process, log
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["up", "--processes", "1"], ["Steelyard is at http", "Nothing to do."]),
        (["serve"], ["Steelyard is at http"]),
        (["worker", "--concurrency", "1"], ["Working with 1 process"]),
        (["scheduler"], ["This scheduler leads"]),
    ],
    ids=lambda value: value[0] if value[0].islower() else "",
)
def test_processes_import_nothing_from_the_current_folder(hostile, words, said, tmp_path, sqlite_url, request):
    folder, mark = hostile
    settings = {"STEELYARD_DATABASE_URL": sqlite_url}
    if words[0] in {"worker", "scheduler"}:
        settings["STEELYARD_BROKER_URL"] = request.getfixturevalue("redis_url")
    mark.unlink(missing_ok=True)
    with installed(tmp_path, *words, cwd=folder, **settings) as (process, log):
        wait_for(lambda: process.poll() is not None or all(each in log.read_text() for each in said), 120)
        assert process.poll() is None, log.read_text()
    assert not mark.exists(), mark.read_text()


def test_an_evaluation_imports_nothing_from_the_current_folder(hostile, tmp_path):
    folder, mark = hostile
    (tmp_path / "trial" / "refs").mkdir(parents=True)
    (tmp_path / "trial" / "systems").mkdir()
    (tmp_path / "trial" / "refs" / "A.txt").write_text("ahoj\n")
    (tmp_path / "trial" / "systems" / "tug.txt").write_text("ahoj\n")
    mark.unlink(missing_ok=True)
    words = ("evaluate", str(tmp_path / "trial"), "--database", f"sqlite:///{tmp_path}/kept.db", "-m", "chrf")
    with installed(tmp_path, *words, cwd=folder) as (process, log):
        assert process.wait(120) == 0, log.read_text()
    assert not mark.exists(), mark.read_text()


def test_the_folder_is_hostile(hostile):
    folder, mark = hostile
    mark.unlink(missing_ok=True)
    # Commands that ran in this process keep those that it starts from importing from there.
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    command = [sys.executable, "-c", "import threading, numpy"]
    subprocess.run(command, cwd=folder, env=usual, capture_output=True, check=False)
    assert mark.read_text().split()[0] in {"sitecustomize", "threading"}
