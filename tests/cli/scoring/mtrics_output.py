"""The texts that tests give to `mtrics`, and what it prints, taken apart."""

import re

from steelyard.commands.mtrics.command import main

REFERENCE = ["The crane lifts the red box .", "Nobody waits below it .", "Then it stops ."]
OTHER = ["A crane takes up the red box now .", "All wait far from it .", "After that it stops ."]
CRANE = ["the red box the crane lifts .", "nobody waits under it .", "Then it stopped ."]
WINCH = ["A winch,red 1 200 boxes", "Nobody is there", "Then it stops ."]

ALL = ["-t", "-w", "-g", "-f", "-p", "-b", "1,2"]

GOLDEN = [
    "crane:\tBLEU:\t0.6864",
    "crane:\tPER:\t0.125",
    "crane:\tF-measure:\t0.875",
    "crane:\tGTM:\t0.875",
    "crane:\tWER:\t0.375",
    "crane:\tTER:\t0.1875",
]
"""By hand: 16 words on both sides, 14 in common; 7 of 13 bigrams; PER 0 + 1 + 1, WER 4 + 1 + 1, TER 1 + 1 + 1 edits."""


def sections(text):
    """What is printed below the header: the lines of each section."""
    _, *parts = re.split(r"^([A-Z][^\t\n]*):\n\n", text, flags=re.MULTILINE)
    return {
        title: [line for line in lines.split("\n") if line] for title, lines in zip(*[iter(parts)] * 2, strict=True)
    }


def total(text):
    """The lines under "Total score:"."""
    return sections(text)["Total score"]


def scores_of(capsys, *arguments):
    """What `mtrics` prints under "Total score:"."""
    assert main(list(arguments)) == 0
    return total(capsys.readouterr().out)
