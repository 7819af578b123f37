"""`steelyard embeddings`: train, import and list word vectors."""

from __future__ import annotations

import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cli.options import whole_number
from steelyard.commands.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from steelyard.metrics.embeddings.vectors import Vectors
    from steelyard.metrics.resources import Resource, Resources

FORMATS = ("auto", "text", "binary", "gensim")


def add_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`embeddings`, with verbs of its own."""
    parser = verbs.add_parser(
        "embeddings",
        help="train, import and list word vectors",
        description="Word vectors for bleu_modif and wer_modif. They are registered by name in the folder "
        "STEELYARD_RESOURCE_FOLDER and pinned by a hash of their content: name them as bleu_modif:vectors=NAME.",
    )
    own = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    _add_train(own)
    _add_import(own)
    own.add_parser("list", help="list registered vectors").set_defaults(run=run_list)


def _add_train(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "train",
        help="train vectors on text",
        description="Train word vectors with gensim's word2vec on UTF-8 text, one sentence per line, plain or gzipped. "
        "With --workers 1 the same text gives the same vectors on the same machine.",
    )
    parser.add_argument("name", metavar="NAME", help="name of the vectors")
    parser.add_argument("--input", nargs="+", type=Path, required=True, metavar="FILE", help="the text")
    parser.add_argument("--model", choices=("cbow", "skip-gram"), default="cbow", help="default: cbow")
    for name, default, what in (
        ("size", 100, "dimensions"),
        ("window", 5, "words to each side that are context"),
        ("epochs", 5, "passes over the text"),
        ("min-count", 5, "how often a word must occur to get a vector"),
        ("workers", 1, "threads; more than one are faster but not reproducible"),
        ("seed", 1, "seed of the training"),
    ):
        parser.add_argument(f"--{name}", type=whole_number, default=default, metavar="N", help=f"{what} ({default})")
    parser.add_argument("--case", choices=("lc", "mixed"), default="lc",
                        help="lowercase (lc, the default), as the metrics do, or keep the case")  # fmt: skip
    parser.add_argument("--tokenize", default="13a", metavar="TOK", help="tokenizer, as in the metrics (13a)")
    parser.set_defaults(run=run_train)


def _add_import(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "import",
        help="register existing vectors",
        description="Register the vectors of a word2vec file, text or binary, plain or gzipped, or of one of gensim's "
        "own. The latter are pickles: loading one can run arbitrary code, so --format gensim must be given "
        "explicitly, and only for files that you trust.",
    )
    parser.add_argument("name", metavar="NAME", help="name of the vectors")
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument(
        "--format", choices=FORMATS, default="auto", help="default: auto, which distinguishes text and binary"
    )
    parser.set_defaults(run=run_import)


def run_train(options: argparse.Namespace) -> int:
    """Train and register vectors and print their size; the exit status."""
    from steelyard.metrics.embeddings.training import Sentences, Training, train
    from steelyard.metrics.embeddings.vector_files import LARGEST_SIZE
    from steelyard.tokenizers.registry import TOKENIZERS, resolve_tokenizer

    if options.tokenize not in TOKENIZERS:
        raise UsageError(f'There is no tokenizer "{options.tokenize}". Tokenizers: {", ".join(TOKENIZERS)}.')
    tokenizer = resolve_tokenizer(options.tokenize, "")
    for name in ("size", "window", "epochs", "min_count", "workers"):
        largest = LARGEST_SIZE if name == "size" else 2**31 - 1
        if not 1 <= getattr(options, name) <= largest:
            raise UsageError(f"--{name.replace('_', '-')} must be from 1 to {largest:,}.")
    training = Training(
        options.model, options.size, options.window, options.epochs, options.min_count, options.workers,
        options.seed, options.case, tokenizer,
    )  # fmt: skip
    with _registering(options.name) as register:
        with _shown_rounds(options.epochs + 1) as on_progress:
            entries, origin = train(Sentences(options.input, training, on_progress))
        names = ", ".join(file.name for file in options.input[:3])
        if len(options.input) > 3:
            names += f" and {len(options.input) - 3} more"
        register(entries, names, origin, f"{training.model} trained on {names}")
    return 0


def run_import(options: argparse.Namespace) -> int:
    """Convert and register vectors and print their size; the exit status."""
    from steelyard.metrics.embeddings.vector_files import entries_of

    with _registering(options.name) as register:
        entries, form = entries_of(options.file, options.format)
        register(entries, str(options.file), {"imported": form}, f"{form} file {options.file.name}")
    return 0


def run_list(options: argparse.Namespace) -> int:  # noqa: ARG001 - all verbs are called alike
    """Print a table of the registered vectors; the exit status."""
    from steelyard.metrics.embeddings.vectors import vectors_in
    from steelyard.tables.text import aligned

    resources = _resources()
    table = [["Vectors", "Words", "Dimensions", "From"]]
    for each in resources.listed():
        if each.kind == "vectors":
            about = vectors_in(resources, each.pinned).about
            table.append([each.pinned, f"{about['words']:,}", str(about["size"]), each.description])
    if len(table) > 1:
        print(aligned(table), end="")
    else:
        print(f"None are registered in {resources.folder}. Use `steelyard embeddings train` or `import`.")
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
