"""Questions before something is done that cannot be undone."""

import sys
from types import SimpleNamespace

import pytest

from steelyard.commands.errors import CommandError
from steelyard.commands.prompts import ask, ask_secret, confirm


@pytest.fixture
def asked(monkeypatch):
    """The questions; the answer is the attribute of the same name."""
    questions = SimpleNamespace(all=[], answer="")

    def answered(question):
        questions.all.append(question)
        return questions.answer

    monkeypatch.setattr("builtins.input", answered)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    return questions


@pytest.mark.parametrize("answer", ["y", "Y", "yes", " Yes "])
def test_yes_goes_on(asked, answer):
    asked.answer = answer
    confirm("Delete it?", yes=False)
    assert asked.all == ["Delete it? [y/N] "]


@pytest.mark.parametrize("answer", ["", " ", "n", "no", "N", "x", "yess", "j", "0", "true"])
def test_anything_else_is_no(asked, answer):
    asked.answer = answer
    with pytest.raises(CommandError, match="Nothing was done"):
        confirm("Delete it?", yes=False)


def test_nobody_is_asked_who_has_said_it_already_or_has_no_terminal(asked, monkeypatch):
    confirm("Delete it?", yes=True)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: False))
    asked.answer = "y"
    with pytest.raises(CommandError, match="Add --yes"):
        confirm("Delete it?", yes=False)
    assert asked.all == []


def test_secrets_are_asked_for_one_after_the_other(asked, monkeypatch):
    answers = iter(["hidden", " again "])
    monkeypatch.setattr("getpass.getpass", lambda question: asked.all.append(question) or next(answers))
    assert ask_secret("Password: ", "Again: ") == ["hidden", " again "]
    assert asked.all == ["Password: ", "Again: "]


def test_an_input_that_ends_is_no_answer(asked, monkeypatch, capsys):
    def ended(_question):
        raise EOFError

    monkeypatch.setattr("builtins.input", ended)
    monkeypatch.setattr("getpass.getpass", ended)
    for ask_it in (lambda: ask("Name: "), lambda: ask_secret("Password: "), lambda: confirm("Delete it?", yes=False)):
        with pytest.raises(CommandError, match=r"^The input ended without an answer\. Nothing was changed\.$"):
            ask_it()
        assert capsys.readouterr().err == "\n", "the line of the question ends"
