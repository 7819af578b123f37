"""What the commands of the library print for a small world of files, to the letter.

`python -m tests.library.commands.printed.command_lines` writes tests/golden/library_commands anew: look at what
differs.
"""

from __future__ import annotations

import io
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from hashlib import sha256
from pathlib import Path
from unittest import mock

from steelyard.commands.main import main

ROOT = Path(__file__).parents[4]
GOLDEN = ROOT / "tests" / "golden" / "library_commands"
LINES = 12
SYSTEMS = ("tug", "barge", "raft", "buoy")
WORDS = ("the", "ship", "came", "in", "noon", "a", "gull", "cried", "hands", "on", "deck", "said", "rope", "was", "wet")
FORMATS = ("markdown", "tsv", "csv", "json", "latex", "html")
WHOLE = ("text", "tsv", "csv", "scr")
"""Formats that are kept as they are printed; of others a digest."""


def number(*of: object) -> int:
    """A number that is another one for everything, and the same each time."""
    return int(sha256(repr(of).encode()).hexdigest()[:8], 16)


def reference(label: str, line: int) -> list[str]:
    return [WORDS[number(label, line, place) % len(WORDS)] for place in range(3 + number(label, line) % 7)]


def output(system: str, line: int) -> list[str]:
    """The first system is best, the last one drops and swaps most."""
    words = reference("A", line)
    for place in range(len(words)):
        if number(system, line, place) % 10 < 1 + 2 * SYSTEMS.index(system):
            words[place] = WORDS[number(system, line, place, "other") % len(WORDS)]
    return words[number(system, line) % 4 == 0 :]


def texts() -> Iterator[tuple[str, str]]:
    """Names and contents of the files."""
    for label in "AB":
        yield f"{label}.txt", "".join(" ".join(reference(label, line)) + "\n" for line in range(LINES))
    for system in SYSTEMS:
        yield f"{system}.txt", "".join(" ".join(output(system, line)) + "\n" for line in range(LINES))
    yield "source.txt", "".join(" ".join(reference("S", line)) + "\n" for line in range(LINES))
    yield "docs.tsv", "".join(f"{'news' if line < 6 else 'talk'}\tdoc{line // 3}\n" for line in range(LINES))
    yield "odd.txt", "the ship\n\n" + "noon " * 40 + "\n" + "Die Katze schläft heute nicht.\n" * 2 + "x\n" * 7


def score(metric: str, pair: str, system: str, line: int) -> float:
    best = 3 - SYSTEMS.index(system) * (1 if pair == "en-cs" else 0.4)
    noise = number(metric, pair, system, line) % 1000 / 250
    return round(best + noise, 3) if metric != "errs" else round(9 - best - noise, 3)


def tables() -> Iterator[tuple[str, str]]:
    """Scores of metrics, and of people, of whom one system of a pair has none."""
    for name, metrics in (("scores.tsv", ("learned", "errs", "plain")), ("human.tsv", ("people",))):
        rows = [
            f"{pair}\t{system}\t{metric}\t{'d' + str(line // 3)}\t{line + 1}\t{score(metric, pair, system, line)}\n"
            for pair in ("en-cs", "en-de")
            for metric in metrics
            for system in SYSTEMS
            if (name, pair, system) != ("human.tsv", "en-de", "buoy")
            for line in range(LINES)
        ]
        yield name, "pair\tsystem\tmetric\tdocument\tsegment\tscore\n" + "".join(rows)
    rated = [
        f"{system}\t{line + 1}\t{round(20 * score('people', 'en-cs', system, line))}\t"
        f"{('ann', 'bob')[line % 2]}\tdoc{line // 3}\n"
        for system in SYSTEMS
        for line in range(LINES)
    ]
    yield "en-cs.rated.tsv", "system\tsegment\tscore\tannotator\tdoc\n" + "".join(rated)
    yield "lists.tsv", "en-cs\tlearned\t2\nen-cs\terrs\t1\nen-de\tplain\n"


VERSION = re.compile(r"(steelyard[- ])\d+\.\d+\.\d+", re.IGNORECASE)
TIME = re.compile(r"\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}|[\d.]+ seconds")
"""What differs between releases and runs."""
SCORE = "score A.txt B.txt -i tug.txt barge.txt raft.txt"
RANK = "rank scores.tsv --lower-is-better errs --replicates 60"
HUMAN = "rank en-cs.rated.tsv --trials 50"
CORRELATE = "correlate scores.tsv --human human.tsv --lower-is-better errs --replicates 40 --trials 30"
COMMAND_LINES = {
    "score": [
        "score A.txt -i tug.txt",
        "score A.txt -i tug.txt -b",
        f"{SCORE} -m bleu bleu:order=2 chrf ter --confidence 50",
        f"{SCORE} -m bleu ter --confidence 50 --interval bca --level 0.8 --seed 7",
        f"{SCORE} -m bleu ter --confidence 50 --paired bootstrap",
        f"{SCORE} -m bleu ter --confidence 50 --paired bootstrap --all-pairs --correction bh --alpha 0.3",
        f"{SCORE} -m bleu ter --confidence 50 --paired bootstrap --baseline raft --correction none",
        # Between p and corrected p.
        f"{SCORE} -m bleu ter --confidence 50 --paired bootstrap --alpha 0.03",
        f"{SCORE} -m chrf ter --paired randomization --trials 60",
        f"{SCORE} -m bleu ter --paired randomization --trials 60 --resample document --documents docs.tsv",
        f"{SCORE} -m bleu chrf --segments",
        f"{SCORE} -m gtm --runs",
        f"{SCORE} -m bleu -v",
        f"{SCORE} -lc -tok none -w 3",
        f"{SCORE} -l en-zh -m bleu",
        f"{SCORE} -m bleu -f scr",
        "score A.txt --system all tug.txt barge.txt raft.txt --system one buoy.txt -m bleu ter --confidence 40",
        *(f"{SCORE} -m bleu ter --confidence 50 --paired bootstrap -f {each}" for each in FORMATS),
        *(f"{SCORE} -m bleu ter --segments -f {each}" for each in FORMATS),
        "score A.txt --system all tug.txt barge.txt raft.txt --system one buoy.txt -m bleu ter --confidence 40 -f json",
        "score A.txt -i nothing.txt",
        "score A.txt -i tug.txt -m nothing",
        f"{SCORE} --paired bootstrap",
    ],
    "rank": [
        RANK,
        f"{RANK} --by autorank:wmt24",
        f"{RANK} --by errs --pair en-de",
        f"{RANK} --by learned --paired randomization --trials 40 --correction holm --level 0.8 --seed 3",
        f"{RANK} --by learned --resample document --correction bh",
        f"{RANK} -m plain errs",
        f"{RANK} --metrics lists.tsv",
        "rank scores.tsv --lower-is-better errs --replicates 0 --by plain",
        *(f"{RANK} -f {each}" for each in FORMATS),
        f"{HUMAN} --by human",
        f"{HUMAN} --by human --documents docs.tsv --seed 5 --correction bh --level 0.7",
        "rank en-cs.rated.tsv --by human:wmt24 --documents docs.tsv",
        "rank en-cs.rated.tsv --by human:wmt25",
        *(f"{HUMAN} --by human -f {each}" for each in FORMATS),
        "rank scores.tsv --by nothing",
        "rank scores.tsv --pair en-fr",
        "rank scores.tsv --documents docs.tsv",
        "rank scores.tsv -m plain --metrics lists.tsv",
    ],
    "correlate": [
        CORRELATE,
        f"{CORRELATE} --pair en-cs --granularity system",
        f"{CORRELATE} --pair en-cs --granularity segment --statistics pearson kendall acc-eq --level 0.8 --seed 4",
        f"{CORRELATE} --pair en-cs --baseline plain --correction bh -w 2",
        f"{CORRELATE} --pair en-cs -m plain errs --leave-out raft",
        f"{CORRELATE} --metrics-task",
        *(f"{CORRELATE} --pair en-de -f {each}" for each in FORMATS),
        *(f"{CORRELATE} --metrics-task -f {each}" for each in FORMATS),
        # One system left: nothing is defined.
        f"{CORRELATE} --leave-out tug barge raft --granularity system",
        f"{CORRELATE} --leave-out tug barge raft --granularity system -f json",
        f"{CORRELATE} --baseline nothing",
        f"{CORRELATE} --statistics nothing",
        f"{CORRELATE} --pair en-fr",
    ],
    "check": [
        "check tug.txt --reference A.txt",
        "check odd.txt --reference A.txt B.txt --source source.txt --source-language en --target-language cs",
        "check odd.txt --source source.txt --target-language de --strict",
        "check A.txt --source source.txt --reference B.txt -f json",
        "check A.txt --source A.txt --reference A.txt",
        "check docs.tsv --input-format plain --reference A.txt",
        "check lists.tsv --input-format plain --reference A.txt",
    ],
    "mtrics": [
        "mtrics -c tug.txt -r A.txt -b",
        "mtrics -c tug.txt barge.txt -r A.txt B.txt -b 6,1-3 -n -p -f 2,1 -g 2 -w -t -s",
        "mtrics -c raft.txt -r A.txt -b -t -conf 40 -cl 0.9 --seed 3",
        "mtrics -c raft.txt -r A.txt B.txt -g -b 2 -v -T",
        "mtrics -c tug.txt -r A.txt -m",
    ],
    "verify": [
        "verify nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0 A.txt tug.txt",
        "verify BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0 A.txt tug.txt --score 61.0",
        "verify BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0 A.txt tug.txt raft.txt --score 12.5",
        "verify chrF2|nrefs:2|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0 A.txt B.txt -i tug.txt",
        "verify result.json A.txt B.txt tug.txt barge.txt raft.txt",
        "verify result.json A.txt B.txt tug.txt raft.txt barge.txt buoy.txt",
        "verify result.json A.txt tug.txt barge.txt",
        *(f"verify result.json A.txt B.txt tug.txt barge.txt -f {each}" for each in FORMATS),
        "verify result.json",
        "verify nothing.json A.txt tug.txt",
    ],
    "metric": [
        "metric list",
        "metric show bleu",
        "metric show chrf -f json",
        "metric list -f json",
        "metric show nothing",
    ],
}


@contextmanager
def world() -> Iterator[None]:
    """A folder with the files, which is the current one."""
    with tempfile.TemporaryDirectory() as scratch, chdir(scratch):
        for name, content in (*texts(), *tables()):
            Path(name).write_text(content)
        yield


def printed(words: Sequence[str]) -> str:
    """What a command line prints."""
    out, error = io.StringIO(), io.StringIO()
    with mock.patch.dict(os.environ, {"COLUMNS": "120"}), redirect_stdout(out), redirect_stderr(error):
        ended = main(list(words), dict)
    shown = TIME.sub("TIME", VERSION.sub(r"\1VERSION", out.getvalue()))
    if words[-2] == "-f" and words[-1] not in WHOLE:
        shown = f"{len(shown)} characters, {sha256(shown.encode()).hexdigest()[:16]}"
    lines = [f"$ steelyard {' '.join(words)}", *(f"  {each}" for each in shown.splitlines())]
    lines += [*(f"! {each}" for each in error.getvalue().splitlines()), *([f"= {ended}"] if ended else [])]
    return "\n".join(map(str.rstrip, lines)) + "\n"


def file_of(command: str) -> str:
    """All that a command prints."""
    with world():
        if command == "verify":
            with Path("result.json").open("w") as file, redirect_stdout(file):
                main(
                    [*SCORE.split(), "-m", "bleu", "ter", "--confidence", "50", "--paired", "bootstrap", "-f", "json"],
                    dict,
                )
        return "\n".join(printed(each.split()) for each in COMMAND_LINES[command])


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for name in COMMAND_LINES:
        (GOLDEN / f"{name}.txt").write_text(file_of(name))
