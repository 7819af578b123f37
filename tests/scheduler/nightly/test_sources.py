"""Outputs of a run: found by a pattern, or written by a command; what is wrong with them is said at once."""

import itertools
import json
import math
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest

from scheduler.errors import BadSchedule, BadSource
from scheduler.nightly.commands import TAIL_BYTES, CommandStopped, _listen, run_command
from scheduler.nightly.patterns import system_in
from scheduler.nightly.sources import Source, WantedTestSet, new_source, outputs
from tests.faults.cluster import until

NIGHT = date(2026, 11, 22)
TWO = (WantedTestSet("news", 2), WantedTestSet("chat@2", 3))


def write(folder: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def read(
    source: Source, wanted: Sequence[WantedTestSet] = TWO, metrics: Sequence[str] = ("chrf",)
) -> dict[str, dict[str, bytes]]:
    with outputs(source, wanted, metrics, schedule="gate", day=NIGHT, stop=threading.Event()) as texts:
        return {title: {name: text.bytes for name, text in systems.items()} for title, systems in texts.items()}


def folder_source(pattern: str, wanted: Sequence[WantedTestSet] = TWO) -> Source:
    return new_source(pattern, None, 1.0, Path(), [each.title for each in wanted])


def test_every_match_is_a_system(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "out/20261122/news/tug.txt": "a\nb\n",
            "out/20261122/news/barge.txt": "c\nd\n",
            "out/20261122/news/.hidden.txt": "x\n",
            "out/20261122/news/README.md": "x\n",
            "out/20261122/chat@2/tug.txt": "a\nb\nc\n",
            "out/20261122/chat@2/barge.txt": "\n\n\n",
            "out/20261121/news/old.txt": "a\nb\n",
        },
    )
    found = read(folder_source(f"{tmp_path}/out/{{date:%Y%m%d}}/{{test_set}}/{{system}}.txt"))
    assert found == {
        "news": {"barge": b"c\nd", "tug": b"a\nb"},
        "chat@2": {"barge": b"\n\n", "tug": b"a\nb\nc"},
    }


def test_the_system_may_be_a_folder_or_said_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"tug/news.tug.txt": "a\nb", "tug/news.barge.txt": "x", "barge/news.barge.txt": "c\nd"})
    monkeypatch.chdir(tmp_path)
    source = folder_source("{system}/{test_set}.{system}.txt", TWO[:1])
    monkeypatch.chdir("/")
    assert read(source, TWO[:1]) == {"news": {"barge": b"c\nd", "tug": b"a\nb"}}
    assert Source.from_json(source.as_json()) == source


@pytest.mark.parametrize(
    "part", ["{system}.txt", "{system}{system}", "a{system}b{system}", "{system}a{system}a{system}"]
)
def test_a_system_is_found_as_by_trying_all_lengths(part: str) -> None:
    def tried(name: str) -> str:
        lengths = range(1, len(name) + 1)
        every = (name[at : at + length] for at in range(len(name)) for length in lengths)
        return next((each for each in every if part.replace("{system}", each) == name), "")

    names = [part.replace("{system}", each) for each in ("a", "b", "ab", "aa", "aba", "a.txt", "žluť")]
    names += ["".join(letters) for length in range(6) for letters in itertools.product("ab", repeat=length)]
    assert [system_in(name, part) for name in names] == [tried(name) for name in names]
    assert any(map(tried, names))


def test_patterns_and_folders_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadSchedule, match=r"4,097 characters; a path has 4,096 at most"):
        folder_source("{system}".ljust(4097, "a"), TWO[:1])
    write(tmp_path, {f"{number}.txt": "a\nb" for number in range(3)})
    source = folder_source(f"{tmp_path}/{{system}}.txt", TWO[:1])
    assert len(read(source, TWO[:1])["news"]) == 3
    monkeypatch.setattr("steelyard.formats.input.given_files.MOST_ENTRIES", 2)
    with pytest.raises(BadSource, match=r"holds more than 2 files"):
        read(source, TWO[:1])


def test_nothing_there_says_what_was_looked_for(tmp_path: Path) -> None:
    pattern = f"{tmp_path}/out/{{date}}/{{system}}.txt"
    with pytest.raises(BadSource) as raised:
        read(folder_source(pattern, TWO[:1]), TWO[:1])
    folder = f"{tmp_path}/out/2026-11-22"
    assert str(raised.value) == (
        f"No output for the test set news: no file matches {folder}/{{system}}.txt. The folder {folder} does not exist."
    )
    (tmp_path / "out/2026-11-22").mkdir(parents=True)
    with pytest.raises(BadSource, match=r"\{system\}.txt\.$"):
        read(folder_source(pattern, TWO[:1]), TWO[:1])


@pytest.mark.parametrize("name", ["{system}.txt", "out.txt/{system}"])
def test_a_path_that_cannot_be_read_says_why(tmp_path: Path, name: str) -> None:
    """No file can have such a name."""
    long = "x" * 300
    with pytest.raises(BadSource) as raised:
        read(folder_source(f"{tmp_path}/{long}/{name}", TWO[:1]), TWO[:1])
    assert str(raised.value) == f"{tmp_path}/{long}{'/out.txt' * ('/' in name)}: File name too long."


def test_all_problems_are_said_at_once(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "news/tug.txt": "a\nb\nc\n",
            "news/Tug.txt": "a\nb\n",
            "news/bar|ge.txt": "a\nb\n",
            "news/raft.txt": "a\nb\n",
            "chat@2/tug.txt": "a\nb\nc\n",
            "chat@2/Tug.txt": "a\nb\nc\n",
            "chat@2/bar|ge.txt": "a\nb\nc\n",
        },
    )
    (tmp_path / "chat@2" / "Tug.txt").write_bytes(b"\xff\n\n\n")
    with pytest.raises(BadSource) as raised:
        read(folder_source(f"{tmp_path}/{{test_set}}/{{system}}.txt"), metrics=["sempos"])
    said = str(raised.value)
    for part in (
        "news/tug.txt: has 3 lines, but the test set news has 2 segments.",
        "a name too similar. Rename one.",
        "bar|ge.txt: not usable as the name of a system",
        "No output for the test set chat@2 from raft, only for other test sets.",
        "chat@2/Tug.txt, line 1, byte 1: not UTF-8",
        'news/raft.txt: lacks the layer "sempos"',
    ):
        assert part in said, said


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("out/{date}/{sytem}.txt", "is no placeholder. There are: .date.,.*.system.\\.$"),
        ("{output}/{system}.txt", '"{output}" in the pattern'),
        ("out/{test_set}/{date}.txt", "does not say where a system's name is"),
        ("out/{system}.txt", "finds the same files for all of 2 test sets"),
        ("out/{test_set}/{system}}.txt", "a brace without its partner"),
        (None, "Say where outputs come from"),
    ],
)
def test_patterns_that_are_refused(pattern: str | None, message: str) -> None:
    with pytest.raises(BadSchedule, match=message):
        new_source(pattern, None, 1.0, Path(), ["a", "b"])
    with pytest.raises(BadSchedule, match="has a slash"):
        new_source("{test_set}/{system}", None, 1.0, Path(), ["a/b"])


@pytest.mark.parametrize(
    ("command", "seconds", "message"),
    [
        ("echo 'a", 1.0, "cannot be parsed: No closing quotation"),
        (" ", 1.0, "is empty"),
        ("true", 0.0, "cannot be given 0 seconds"),
        ("true", -1.0, "cannot be given -1 seconds"),
        ("true", math.nan, "cannot be given nan seconds"),
    ],
)
def test_commands_that_are_refused(command: str, seconds: float, message: str) -> None:
    with pytest.raises(BadSchedule, match=message):
        new_source(None, command, seconds, Path(), ["a"])


def test_a_command_writes_what_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_DATABASE_URL", "postgresql://me:secret@db/x")
    monkeypatch.setenv("PGPASSWORD", "secret")
    (tmp_path / "translate.sh").write_text(
        'set -e; env > said; mkdir "$STEELYARD_OUTPUT/news"; printf "a\\nb\\n" > "$STEELYARD_OUTPUT/news/tug.txt"\n'
    )
    source = new_source(None, "sh translate.sh", 60.0, tmp_path, ["news"])
    assert read(Source.from_json(source.as_json()), TWO[:1]) == {"news": {"tug": b"a\nb"}}
    said = dict(line.split("=", 1) for line in (tmp_path / "said").read_text().splitlines() if "=" in line)
    assert (said["STEELYARD_DATE"], said["STEELYARD_SCHEDULE"]) == ("2026-11-22", "gate")
    assert said["STEELYARD_TEST_SETS"] == "news"
    assert not Path(said["STEELYARD_OUTPUT"]).exists()
    assert "secret" not in (tmp_path / "said").read_text()


def test_what_a_command_says_when_it_fails(tmp_path: Path) -> None:
    code = f"import sys; print('x' * {TAIL_BYTES * 3}); print('no GPU \\x1b[1m'); sys.exit(3)"
    with pytest.raises(BadSource) as raised:
        run_command(
            [sys.executable, "-c", code], folder=str(tmp_path), environment={}, seconds=60, stop=threading.Event()
        )
    said = str(raised.value)
    assert "failed with exit status 3. It said at last:\n" in said
    assert said.endswith("no GPU")
    assert len(said) < 2 * TAIL_BYTES
    for command, folder, message in (
        (["no-such-program"], str(tmp_path), "status 127.*\nno-such-program: No such file"),
        (["true"], str(tmp_path / "gone"), "cannot be started in .*gone: No such file"),
        (["sh", "-c", "kill -9 $$"], str(tmp_path), "status 137. It said nothing"),
    ):
        with pytest.raises(BadSource, match=message):
            run_command(command, folder=folder, environment={}, seconds=60, stop=threading.Event())


def group_of(folder: Path) -> list[int]:
    """What a command wrote of itself and its child."""
    file = folder / "pids"
    until(lambda: file.exists() and len(file.read_text().split()) == 2, "the command and its child")
    return [int(each) for each in file.read_text().split()]


def gone(pid: int) -> bool:
    try:
        return "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True


FOREVER = ["sh", "-c", "sleep 600 & echo $$ $! > pids; echo begun; wait"]


@pytest.mark.parametrize("why", ["time", "stop"])
def test_a_command_is_ended_with_all_its_processes(tmp_path: Path, why: str) -> None:
    stop, ended = threading.Event(), []

    def run() -> None:
        try:
            run_command(FOREVER, folder=str(tmp_path), environment={}, seconds=0.3 if why == "time" else 600, stop=stop)
        except (BadSource, CommandStopped) as error:
            ended.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    pids = group_of(tmp_path)
    if why == "stop":
        stop.set()
    thread.join()
    until(lambda: all(map(gone, pids)), "the processes to end")
    if why == "stop":
        assert isinstance(ended[0], CommandStopped)
    else:
        assert "took longer than its 0.3 seconds and was ended. It said at last:\nbegun" in str(ended[0])


def test_a_command_does_not_outlive_the_process_that_runs_it(tmp_path: Path) -> None:
    child = os.fork()
    if not child:
        try:
            run_command(FOREVER, folder=str(tmp_path), environment={}, seconds=600, stop=threading.Event())
        finally:
            os._exit(1)
    pids = group_of(tmp_path)
    os.kill(child, 9)
    os.waitpid(child, 0)
    until(lambda: all(map(gone, pids)), "the processes to end")


def test_a_command_that_leaves_a_daemon_behind_ends(tmp_path: Path) -> None:
    command = ["sh", "-c", "setsid sleep 600 & echo $! > pid; echo done"]
    run_command(command, folder=str(tmp_path), environment={}, seconds=60, stop=threading.Event())
    daemon = int((tmp_path / "pid").read_text())
    if not gone(daemon):
        os.kill(daemon, 9)


def test_a_command_that_is_ended_with_the_scheduler_has_not_failed(tmp_path: Path) -> None:
    """systemd tells all processes of a service to end, and the command may be quicker than we."""
    command = ["sh", "-c", "kill -TERM $$"]

    def run(stop: threading.Event) -> None:
        run_command(command, folder=str(tmp_path), environment={}, seconds=60, stop=stop)

    with pytest.raises(BadSource, match="exit status 143"):
        run(threading.Event())

    class Later(threading.Event):
        """Set as soon as somebody waits for it."""

        def wait(self, timeout: float | None = None) -> bool:
            if timeout:
                self.set()
            return super().wait(timeout)

    with pytest.raises(CommandStopped):
        run(Later())


@pytest.mark.parametrize("seconds", [0.5, 3600.0, 90000.0])
def test_a_source_is_read_as_it_was_stored(tmp_path: Path, seconds: float) -> None:
    command = new_source("{output}/a/{system}.txt", "translate --fast 'a b'", seconds, tmp_path, ["news"])
    assert (command.seconds, command.folder, command.command) == (
        *(seconds, str(tmp_path), ("translate", "--fast", "a b")),
    )
    for source in (command, folder_source(f"{tmp_path}/{{test_set}}/{{system}}.txt")):
        assert Source.from_json(json.loads(json.dumps(source.as_json()))) == source


def test_what_a_run_says_of_itself_goes_before_our_own_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where a variable of that name is passed on: the scheduler may be what another schedule has started."""
    monkeypatch.setenv("STEELYARD_DATE", "2020-01-01")
    monkeypatch.setenv("LIMIT", "not passed on")
    script = f"import json, os; open({str(tmp_path / 'seen')!r}, 'w').write(json.dumps(dict(os.environ)))"
    run_command(
        [sys.executable, "-c", script],
        folder=str(tmp_path),
        environment={"STEELYARD_DATE": "2026-11-22"},
        seconds=60.0,
        stop=threading.Event(),
        passed_on=["STEELYARD_DATE"],
    )
    seen = json.loads((tmp_path / "seen").read_text())
    assert seen["STEELYARD_DATE"] == "2026-11-22"
    assert "LIMIT" not in seen


def test_what_a_command_said_before_it_ended_is_heard() -> None:
    """Its last words may lie in the pipe when its end is noticed."""
    with subprocess.Popen(["sh", "-c", "printf 'last words'"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.wait()
        assert _listen(process, process.stdout, 60.0, None) == (b"last words", True)


@pytest.mark.parametrize("twin", ["cafe\u0301", "CAFÉ", "ｃafé"])
def test_names_that_look_alike_are_refused_however_they_are_composed(tmp_path: Path, twin: str) -> None:
    write(tmp_path, {"out/news/café.txt": "a\nb\n", f"out/chat@2/{twin}.txt": "a\nb\nc\n"})
    with pytest.raises(BadSource, match="a name too similar"):
        read(folder_source(f"{tmp_path}/out/{{test_set}}/{{system}}.txt"))


@pytest.mark.parametrize("metrics", [("sempos",), ("chrf", "sempos"), ("sempos", "chrf")])
def test_a_layer_that_any_metric_needs_is_missed(tmp_path: Path, metrics: tuple[str, ...]) -> None:
    write(tmp_path, {"out/tug.txt": "a\nb\n"})
    with pytest.raises(BadSource, match="lacks the layer"):
        read(folder_source(f"{tmp_path}/out/{{system}}.txt", TWO[:1]), TWO[:1], metrics)
