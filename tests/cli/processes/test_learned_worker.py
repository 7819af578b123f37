"""The options of `steelyard worker` for learned metrics."""

import pytest

from cli.main import main


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--device", "cpu"], "--device is for --queue learned."),
        (["--queue", "learned", "--concurrency", "2"], "A learned worker is one process"),
        (["--queue", "other"], "'other' is not 'learned'"),
        (["--queue", "learned", "--device", "tpu"], 'The device is "tpu", but must be cpu or cuda:N'),
    ],
)
def test_what_does_not_fit_is_an_error(words, said, sqlite_url, monkeypatch, capsys):
    monkeypatch.setenv("STEELYARD_DATABASE_URL", sqlite_url)
    assert main(["worker", *words]) == 2
    assert said in capsys.readouterr().err
