"""Options that mean nothing without another one, or beside it, are refused and not ignored."""

from pathlib import Path

import pytest

from tests.cli.status import status_of

SCORE = ["score", "FILE", "-i", "FILE"]
SERVER = ["--server", "https://mt.example.org"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([*SCORE, "--confidence", "10", "--documents", "FILE"], "--documents goes with --resample document."),
        ([*SCORE, "--resample", "document"], "--resample document goes with --confidence or --paired."),
        (["verify", "RESULT", "FILE", "--score", "30.1"], "--score is for a signature"),
        (["leaderboard", "--average", "macro", *SERVER], "--average goes with --group-by document or domain."),
        (["compare", "--report", "report", *SERVER], "--report is for a database"),
        (["invitation", "create", "--lead", *SERVER], "--lead is for --team NAME."),
        (["invitation", "create", "--campaign-role", "viewer", *SERVER], "--campaign-role is for --campaign NAME."),
        (["testset", "update", "wmt", "news", "--hide", "--early", *SERVER], "--early is for --release."),
        (["testset", "update", "wmt", "news", "--phase", "test", "--early", *SERVER], "--early is for --release."),
        ([*SCORE, "--paired", "randomization", "--trials", "0"], "--trials 0: a test needs at least one trial."),
        (["leaderboard", "--test", "randomization", "--trials", "0", *SERVER], "--trials 0: a test needs at least one"),
        (["leaderboard", "--power", "-f", "csv", *SERVER], "--power has no csv."),
        (["health", "--live"], "--live is for --http"),
        (["health", "worker", "--live"], "--live is for --http"),
    ],
)
def test_options_that_do_not_go_together(
    arguments: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEELYARD_TOKEN", "sty_secret")
    Path("FILE").write_text("one\ntwo\n")
    Path("RESULT").write_text('{"systems": []}')
    assert status_of(arguments) == 2
    assert says in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["FILE", "RESULT"]
