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
        (
            ["invitation", "create", "--team", "crew", "--campaign-role", "viewer", *SERVER],
            "--campaign-role is for --campaign NAME.",
        ),
        (["testset", "update", "wmt", "news", "--hide", "--early", *SERVER], "--early is for --release."),
        (["testset", "update", "wmt", "news", "--phase", "test", "--early", *SERVER], "--early is for --release."),
        ([*SCORE, "--paired", "randomization", "--trials", "0"], "--trials 0: a test needs at least one trial."),
        (["leaderboard", "--test", "randomization", "--trials", "0", *SERVER], "--trials 0: a test needs at least one"),
        (["leaderboard", "--power", "-f", "csv", *SERVER], "--power has no csv."),
        (["health", "--live"], "--live is for --http"),
        (["health", "worker", "--live"], "--live is for --http"),
        (["campaign", "ngrams", "wmt", "--systems", "a", "b", "c", *SERVER], "--systems takes two systems, not 3."),
        (
            ["scores", "import", "wmt", "FILE", "--create", "--test-set", "news", *SERVER],
            "--create makes test sets of the pairs in the files, so --test-set is not for it.",
        ),
        (["submission", "update", "7", "--primary", "--contrastive", *SERVER], "Give one of --primary and --contrast"),
        (["testset", "correct", "wmt", "news", "FILE", "b/FILE", "--reason", "x", *SERVER], "two files called FILE."),
        (
            ["team", "update", "harbour", *SERVER],
            "Say what to change: --member, --lead, --remove, --publication-name or",
        ),
        (["notice", "update", *SERVER], "Say what to change: KIND... --by CHANNEL, --webhook or --renew-feed."),
        (["system", "update", "wmt", "mast", *SERVER], "Say what to change: --description, --paper, --parameters or"),
        (
            ["system", "update", "wmt", "mast", "--parameters", "many", *SERVER],
            "'many' is no number of parameters. Write it as 7B, 350M or 7000000000.",
        ),
        (["verify"], "Name what was published: a signature, a file, a campaign, or --submission N."),
        (
            ["verify", "--submission", "7", "--score", "30.1", *SERVER],
            "What is stored has its texts and scores: leave out --score.",
        ),
        (
            ["verify", "wmt", "FILE", "-i", "FILE", "-src", "FILE", "--submission", "7", *SERVER],
            "What is stored has its texts and scores: leave out FILE, --input, --source.",
        ),
        ([*SERVER, "db", "status"], "This verb needs the database, not a --server."),
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
