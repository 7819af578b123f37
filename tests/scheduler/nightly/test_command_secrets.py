"""What commands of schedules see of the scheduler's secrets, and what becomes of those that they tell."""

import threading
from datetime import date
from pathlib import Path

import pytest

from runtime.settings import Settings
from scheduler.errors import BadSource
from scheduler.nightly.commands import LONGEST_LINE, LONGEST_SECRET, TAIL_BYTES, TAIL_LINES, run_command
from scheduler.nightly.sources import new_source, outputs

SECRETS = {
    "STEELYARD_MAIL_URL": "smtp://bot:mail%40hunter@mail",
    "STEELYARD_DATABASE_URL": "postgresql://me:database-hunter@db/x",
    "STEELYARD_BROKER_URL": "redis://:broker-hunter@redis/0",
    "STEELYARD_TOKEN": "token-hunter",
    "PGPASSWORD": "pg-hunter",
    "AWS_SECRET_ACCESS_KEY": "cloud/hunter+x=",
    "HF_TOKEN": "model-hunter",
    "SSH_AUTH_SOCK": "/run/agent-hunter",
    "GOOGLE_APPLICATION_CREDENTIALS": "/run/google-hunter.json",
    "http_proxy": "http://me:proxy-hunter@proxy:1",
    "NAMED_LIKE_NOTHING": "other-hunter",
    "PYTHONSAFEPATH": "1",
}


KNOWN = [value for name, value in SECRETS.items() if name not in {"NAMED_LIKE_NOTHING", "PYTHONSAFEPATH"}]
"""Those whose names tell that they are secrets."""


@pytest.fixture
def context(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)


def said(script: str, folder: Path, *passed_on: str, **environment: str) -> str:
    """What a command that fails has said."""
    with pytest.raises(BadSource) as caught:
        run_command(
            ["sh", "-c", f"{script}\nexit 1"],
            folder=str(folder),
            environment=environment,
            seconds=60,
            stop=threading.Event(),
            passed_on=passed_on,
        )
    told = str(caught.value)
    assert "It said" in told
    return told.partition("It said")[2].partition("\n")[2]


@pytest.mark.usefixtures("context")
def test_commands_see_what_is_listed_and_named(tmp_path, monkeypatch):
    for name, value in {"LC_TIME": "cs_CZ.UTF-8", "TZ": "Europe/Prague", "HOME": "/home/x", "CUDA": "1"}.items():
        monkeypatch.setenv(name, value)
    said("env > seen", tmp_path, "CUDA", STEELYARD_DATE="x")
    seen = dict(line.split("=", 1) for line in (tmp_path / "seen").read_text().splitlines())
    assert (seen["LC_TIME"], seen["TZ"], seen["HOME"], seen["CUDA"]) == ("cs_CZ.UTF-8", "Europe/Prague", "/home/x", "1")
    # A shell sets a few of its own.
    allowed = {
        "PATH",
        "HOME",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TMPDIR",
        "CUDA",
        "STEELYARD_DATE",
        "PWD",
        "SHLVL",
        "_",
        "OLDPWD",
    }
    assert {name for name in seen if not name.startswith("LC_")} <= allowed
    assert "hunter" not in (tmp_path / "seen").read_text()


@pytest.mark.usefixtures("context")
def test_a_setting_names_more(tmp_path):
    (tmp_path / "translate.sh").write_text(
        'env > seen; mkdir "$STEELYARD_OUTPUT/news"; echo a > "$STEELYARD_OUTPUT/news/tug.txt"\n'
    )
    source = new_source(None, "sh translate.sh", 60.0, tmp_path, ["news"])
    settings = Settings(schedule_environment="HF_TOKEN, CUDA_VISIBLE_DEVICES,")
    assert settings.schedule_variables == {"HF_TOKEN", "CUDA_VISIBLE_DEVICES"}
    with outputs(
        source,
        [],
        [],
        schedule="gate",
        day=date(2026, 11, 22),
        stop=threading.Event(),
        passed_on=settings.schedule_variables,
    ):
        assert "HF_TOKEN=model-hunter\n" in (tmp_path / "seen").read_text()


@pytest.mark.usefixtures("context")
@pytest.mark.parametrize("secret", [*KNOWN, "mail@hunter", "cloud%2Fhunter%2Bx%3D", "database-hunter"])
def test_known_secrets_are_not_disclosed(secret, tmp_path):
    (tmp_path / "found").write_text(f"the server refused {secret}\nsee above\n")
    told = said("cat found", tmp_path, *SECRETS)
    assert "hunter" not in told
    assert told.splitlines()[-1] == "see above"
    assert told.startswith("the server refused ***")


@pytest.mark.usefixtures("context")
@pytest.mark.parametrize("before", [0, 1, 5, 11, LONGEST_SECRET - 3, LONGEST_SECRET, LONGEST_SECRET + TAIL_BYTES - 4])
def test_no_half_of_a_secret_is_disclosed_where_the_beginning_is_cut_off(before, tmp_path):
    kept = TAIL_BYTES + LONGEST_SECRET
    (tmp_path / "found").write_text("-" * 100 + "model-hunter" * 200 + "." * (kept - before))
    told = said("cat found", tmp_path)
    assert not any(part in told for part in ("hunter", "unter", "nter", "model", "mod", "ter"))


@pytest.mark.usefixtures("context")
def test_passwords_of_others_are_not_disclosed_either(tmp_path):
    told = said("echo 'cannot reach ftp://me:somebody@host/x with password=else'", tmp_path)
    assert "somebody" not in told
    assert "else" not in told


def test_what_is_said_is_cleaned_and_cut(tmp_path):
    script = r"""
printf '\033[31mred\033[0m \033]0;title\007\033]8;;http://x\033\\link \033c\033[2J\r\001\302\205\342\200\256over\n'
i=0; while [ $i -lt 100 ]; do echo line $i; i=$((i + 1)); done
head -c 3000 /dev/zero | tr '\0' x
"""
    told = said(script, tmp_path).splitlines()
    assert len(told) == TAIL_LINES
    assert told[-2] == "line 99"
    assert told[-1] == "x" * LONGEST_LINE + "..."
    told = said(script.splitlines()[1], tmp_path)
    assert "[31m" not in told
    assert "title" not in told
    assert told.startswith("red link ")
    assert all(character.isprintable() or character == "\n" for character in told)
