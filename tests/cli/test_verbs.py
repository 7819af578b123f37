"""Commands load their own words, and they are the same words as where all are loaded."""

import argparse
import subprocess
import sys
from importlib import import_module

import pytest

from cli.adapter import parser
from cli.verb_files import FILES
from tests.acceptance.commands import REPOSITORY


def verbs_of(parsers: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    (action,) = (each for each in parsers._actions if isinstance(each, argparse._SubParsersAction))
    return dict(action.choices)


@pytest.mark.parametrize("file", FILES)
def test_each_file_has_the_verbs_that_are_said_of_it(file: str) -> None:
    top = argparse.ArgumentParser()
    import_module(f"cli.{file}").add_verbs(top.add_subparsers())
    (action,) = (each for each in top._actions if isinstance(each, argparse._SubParsersAction))
    assert {each.dest: each.help for each in action._choices_actions} == FILES[file]


def test_the_words_of_a_verb_do_not_depend_on_the_others() -> None:
    together = verbs_of(parser())
    assert list(together) == [verb for verbs in FILES.values() for verb in verbs]
    for verb, words in together.items():
        assert verbs_of(parser(verb))[verb].format_help() == words.format_help()


def test_anything_else_is_answered_with_all_verbs() -> None:
    assert verbs_of(parser("--server")).keys() == verbs_of(parser("evalute")).keys() == verbs_of(parser()).keys()


def test_a_command_loads_no_other() -> None:
    code = "import sys; from cli.main import main; main(['score', '-h']); print({'cli.campaigns'} & set(sys.modules))"
    ended = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines()[-1] == "set()"
