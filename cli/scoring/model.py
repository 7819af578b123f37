"""`steelyard model`: import, list and delete models for learned metrics."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.commands import noun
from steelyard.commands.options import format_option, yes_option
from steelyard.commands.parsing import Value
from steelyard.commands.prompts import confirm
from steelyard.commands.registered import registered_resources
from steelyard.tables.rendering import render
from steelyard.tables.table import Column, Kind, Table

if TYPE_CHECKING:
    from steelyard.metrics.resources import Resource, Resources

KIND = "model"

model = noun(
    "model",
    "Import, list and delete models for bertscore and comet. They are registered by name in the folder "
    "STEELYARD_RESOURCE_FOLDER and pinned by a hash of their content: name them as comet:model=NAME.",
)
NAME = click.argument("name", metavar="NAME", help="name of the model")


@model.command(
    "import",
    help="Register the folder of an encoder (config.json, tokenizer and weights) or of a checkpoint of COMET "
    "(hparams.yaml). It is checked for what is needed, copied, and never executed; still, take models from people "
    "you trust.",
    example="steelyard model import wmt22 wmt22-comet-da/",
)
@NAME
@click.argument("folder", type=Value(Path), metavar="FOLDER", help="the folder with the model")
def import_(name: str, folder: Path) -> int:
    """Register a folder and print its name with its hash; the exit status."""
    from steelyard.errors import BadModel
    from steelyard.metrics.registered_names import check_free
    from steelyard.metrics.resources import check_name

    check_name(name)
    resources = registered_resources()
    check_free(resources, name, KIND)
    if not folder.is_dir():
        raise BadModel(f"{folder}: is no folder. Give the folder with the files of a model.")
    metric = _checked(folder)
    resource = resources.register(name, KIND, folder.resolve(), f"for {metric}, from {folder.name}")
    print(f"{resource.pinned}: use it as {metric}:model={name}")
    return 0


@model.command("list", help="List the registered models.", example="steelyard model list -f json")
@format_option()
def list_(format: str) -> int:  # noqa: A002 - the option's name
    """Print a table of the registered models; the exit status."""
    resources = registered_resources()
    columns = [
        Column("name", "Model", Kind.NAME),
        Column("bytes", "Bytes", Kind.COUNT),
        Column("source", "What it is"),
    ]
    rows = [[each.pinned, _size(resources, each), each.description] for each in resources.listed() if each.kind == KIND]
    nothing = f"None are registered in {resources.folder}. Use `steelyard model import`."
    print(render([Table(columns, rows, empty=nothing)], format, "Models"), end="")
    return 0


@model.command(
    "delete",
    help="Delete a registered model. Scores that it gave stay; what it has not scored yet waits for a worker that has "
    "it.",
    example="steelyard model delete wmt22",
)
@NAME
@yes_option()
def delete(name: str, yes: bool) -> int:
    """Take a model out of the registered ones; the exit status."""
    from steelyard.metrics.registered_names import unregister

    confirm(f"Delete the model {name}?", yes=yes)
    print(f"{unregister(registered_resources(), name, KIND).pinned} is deleted.")
    return 0


def _checked(folder: Path) -> str:
    """The metric that a folder is a model for. Raises BadModel and MissingResource."""
    from steelyard.metrics.learned.bertscore import BERTScore
    from steelyard.metrics.learned.comet import COMET

    if (folder / "hparams.yaml").exists():
        COMET().check_model(folder)
        return COMET.name
    BERTScore().check_model(folder)
    return BERTScore.name


def _size(resources: Resources, resource: Resource) -> int:
    content = resources.path(resource.pinned, KIND)
    return sum(each.stat().st_size for each in content.rglob("*") if each.is_file())
