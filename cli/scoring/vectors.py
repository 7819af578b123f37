"""`steelyard vectors`: train, import and list word vectors."""

from __future__ import annotations

import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.commands import noun
from steelyard.commands.errors import UsageError
from steelyard.commands.options import format_option, many, option, together
from steelyard.commands.parsing import Value
from steelyard.commands.values import whole_number
from steelyard.tables.rendering import render
from steelyard.tables.table import Column, Kind, Table
from steelyard.text.wording import number_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from steelyard.metrics.embeddings.vectors import Vectors
    from steelyard.metrics.resources import Resource, Resources

INPUT_FORMATS = ("auto", "text", "binary", "gensim")
NUMBERS = {
    "size": (100, "dimensions"),
    "window": (5, "words to each side that are context"),
    "epochs": (5, "passes over the text"),
    "min-count": (5, "how often a word must occur to get a vector"),
    "threads": (1, "more than one are faster but not reproducible"),
}

vectors = noun(
    "vectors",
    "Train, import and list word vectors for bleu_modif and wer_modif. They are registered by name in the folder "
    "STEELYARD_RESOURCE_FOLDER and pinned by a hash of their content: name them as bleu_modif:vectors=NAME.",
)
NAME = click.argument("name", metavar="NAME", help="name of the vectors")


@vectors.command(
    "create",
    help="Train word vectors with gensim's word2vec on UTF-8 text, one sentence per line, plain or gzipped. With one "
    "thread the same text gives the same vectors on the same machine.",
    example="steelyard vectors create news --input news.cs.txt.gz --size 300",
)
@NAME
@many("--input", "texts", parse=Path, required=True, metavar="FILE...", help="the text")
@option("--model", type=click.Choice(("cbow", "skip-gram")), default="cbow", help="architecture (default: cbow)")
@together(
    *(
        option(f"--{name}", type=Value(whole_number), default=default, metavar="N", help=f"{what} (default: {default})")
        for name, (default, what) in NUMBERS.items()
    )
)
@option("--seed", type=Value(whole_number), default=1, metavar="N", help="seed of the training (default: 1)")
@option(
    "--case",
    type=click.Choice(("lc", "mixed")),
    default="lc",
    help="lowercase (lc, the default), as the metrics do, or keep the case",
)
@option("--tokenize", default="13a", metavar="TOK", help="tokenizer, as in the metrics (default: 13a)")
def create(name: str, texts: Sequence[Path], model: str, seed: int, case: str, tokenize: str, **numbers: Any) -> int:
    """Train and register vectors and print their size; the exit status."""
    from steelyard.metrics.embeddings.training import Sentences, Training, train
    from steelyard.metrics.embeddings.vector_files import LARGEST_SIZE
    from steelyard.tokenizers.registry import TOKENIZERS, resolve_tokenizer

    if tokenize not in TOKENIZERS:
        raise UsageError(f'There is no tokenizer "{tokenize}". Tokenizers: {", ".join(TOKENIZERS)}.')
    for each, number in numbers.items():
        largest = LARGEST_SIZE if each == "size" else 2**31 - 1
        if not 1 <= number <= largest:
            raise UsageError(f"--{each.replace('_', '-')} must be from 1 to {largest:,}.")
    training = Training(
        model, numbers["size"], numbers["window"], numbers["epochs"], numbers["min_count"], numbers["threads"],
        seed, case, resolve_tokenizer(tokenize, ""),
    )  # fmt: skip
    with _registering(name) as register:
        with _shown_rounds(training.epochs + 1) as on_progress:
            entries, origin = train(Sentences(list(texts), training, on_progress))
        names = ", ".join(file.name for file in texts[:3])
        if len(texts) > 3:
            names += f" and {len(texts) - 3} more"
        register(entries, names, origin, f"{training.model} trained on {names}")
    return 0


@vectors.command(
    "import",
    help="Register the vectors of a word2vec file, text or binary, plain or gzipped, or of one of gensim's own. The "
    "latter are pickles: loading one can run arbitrary code, so --input-format gensim must be given explicitly, and "
    "only for files that you trust.",
    example="steelyard vectors import wiki vectors.bin.gz",
)
@NAME
@click.argument("file", type=Value(Path), metavar="FILE", help="the file with the vectors")
@option(
    "--input-format",
    type=click.Choice(INPUT_FORMATS),
    default="auto",
    help="format of the file (default: auto, which distinguishes text and binary)",
)
def import_(name: str, file: Path, input_format: str) -> int:
    """Convert and register vectors and print their size; the exit status."""
    from steelyard.metrics.embeddings.vector_files import entries_of

    with _registering(name) as register:
        entries, form = entries_of(file, input_format)
        register(entries, str(file), {"imported": form}, f"{form} file {file.name}")
    return 0


@vectors.command("list", help="List the registered vectors.", example="steelyard vectors list -f json")
@format_option()
def list_(format: str) -> int:  # noqa: A002 - the option's name
    """Print a table of the registered vectors; the exit status."""
    from steelyard.metrics.embeddings.vectors import vectors_in

    resources = _resources()
    columns = [
        Column("name", "Vectors", Kind.NAME),
        Column("words", "Words", Kind.COUNT),
        Column("dimensions", "Dimensions", Kind.COUNT),
        Column("source", "From"),
    ]
    rows = []
    for each in resources.listed():
        if each.kind == "vectors":
            about = vectors_in(resources, each.pinned).about
            rows.append([each.pinned, about["words"], about["size"], each.description])
    nothing = f"None are registered in {resources.folder}. Use `steelyard vectors create` or `import`."
    print(render([Table(columns, rows, empty=nothing)], format, "Word vectors"), end="")
    return 0


@contextmanager
def _registering(name: str) -> Iterator[Callable[..., None]]:
    """A function that stores entries, registers them under this name and prints what they are."""
    from steelyard.metrics.embeddings.vectors import store
    from steelyard.metrics.resources import check_name

    check_name(name)
    resources, began = _resources(), time.monotonic()
    assert resources.folder is not None
    resources.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=resources.folder, prefix=".new-") as scratch:

        def register(entries: object, source: str, origin: object, description: str) -> None:
            folder = Path(scratch) / "vectors"
            folder.mkdir()
            vectors = store(entries, folder, source, origin)  # type: ignore[arg-type]
            resource = resources.register(name, "vectors", folder, description, move=True)
            _tell(resource, vectors, time.monotonic() - began)

        yield register


def _tell(resource: Resource, vectors: Vectors, seconds: float) -> None:
    count, size = vectors.values.shape
    print(f"{resource.pinned}: {count:,} words, {size} dimensions, {seconds:.1f} s")
    if composed := vectors.about.get("composed"):
        line = f"{number_of(composed['words'], 'word')} brought into Unicode's NFC, in which words are looked up"
        if composed["left_out"]:
            line += f"; {composed['left_out']:,} of them left out, as the file has another vector of the same word"
        print(f"{line}.")


def _resources() -> Resources:
    from steelyard.commands.registered import registered_resources

    return registered_resources()


@contextmanager
def _shown_rounds(rounds: int) -> Iterator[Callable[[int, int], None]]:
    """A function that shows how much of the text has been read: a bar on a terminal, a line per round elsewhere."""
    if not sys.stderr.isatty():
        shown = 0

        def show_line(done: int, every: int) -> None:
            nonlocal shown
            here = done * rounds // every if every else rounds
            if here > shown:
                shown = here
                print(f"round {shown} of {rounds} read", file=sys.stderr)

        yield show_line
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("training", total=None)
        yield lambda done, every: bar.update(task, total=every, completed=done)
