"""Scripts in Perl that people still measure with: multi-bleu.perl and mteval-v13a.pl, where the machine has them.

They are no part of the project. Each is looked for on PATH, else STEELYARD_MULTI_BLEU and STEELYARD_MTEVAL name them.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from metrics.batch import Batch
from metrics.text.plain import read_lines

if TYPE_CHECKING:
    from benchmarks.campaign import Campaign

SCRIPTS = {
    "multi-bleu": ("multi-bleu.perl", "STEELYARD_MULTI_BLEU"),
    "mteval-v13a": ("mteval-v13a.pl", "STEELYARD_MTEVAL"),
}


DOCUMENT = 20
"""Segments: one document with all of them would take it much longer."""


@dataclass(frozen=True)
class Script:
    """One of them, or why there is none."""

    path: str = ""
    missing: str = ""


def find(name: str) -> Script:
    """The script of that name, if it can be run."""
    file, variable = SCRIPTS[name]
    path = os.environ.get(variable) or shutil.which(file)
    if path is None or not Path(path).is_file():
        return Script(missing=f"no {file} on PATH, nor named by {variable}")
    if shutil.which("perl") is None:
        return Script(missing="there is no Perl")
    twig = name == "mteval-v13a" and subprocess.run(
        ["perl", "-MXML::Twig", "-e", "1"], capture_output=True, check=False
    )
    if twig and twig.returncode:
        return Script(missing="Perl has no XML::Twig")
    return Script(path)


def words_apart(text: bytes, tokenizer: str = "13a") -> bytes:
    """The text with a blank between two words, as multi-bleu.perl wants it."""
    words = Batch([text], []).words(tokenizer, "mixed")
    types = words.lines.split(b"\n")
    starts = words.starts.tolist()
    lines = [b" ".join([types[word] for word in words.ids[begin:end].tolist()]) for begin, end in pairwise(starts)]
    return b"\n".join(lines) + b"\n"


def write_words(path: Path, folder: Path) -> Path:
    """The file with its words apart."""
    written = folder / f"{path.stem}.words.txt"
    written.write_bytes(words_apart(read_lines(path).bytes))
    return written


def write_sgml(campaign: Campaign, system: Path, folder: Path) -> list[str]:
    """What mteval-v13a.pl reads, in documents of DOCUMENT segments; its options for these files."""
    source = campaign.source if campaign.source.exists() else campaign.reference
    command = []
    for option, kind, file in (("-s", "src", source), ("-r", "ref", campaign.reference), ("-t", "tst", system)):
        lines = read_lines(file).bytes.decode().split("\n")
        written = folder / f"{kind}.sgm"
        with written.open("w") as out:
            out.write(f'<{kind}set setid="bench" srclang="any" trglang="any">\n')
            for begin in range(0, len(lines), DOCUMENT):
                out.write(f'<doc docid="d{begin}" sysid={quoteattr(file.stem)}>\n')
                for number, line in enumerate(lines[begin : begin + DOCUMENT], 1):
                    out.write(f'<seg id="{number}">{escape(line)}</seg>\n')
                out.write("</doc>\n")
            out.write(f"</{kind}set>\n")
        command += [option, str(written)]
    return command


def multi_bleu_score(output: str) -> list[float]:
    """BLEU as it prints it, with two decimals."""
    return [float(re.search(r"^BLEU = ([\d.]+),", output, re.MULTILINE)[1])]


def mteval_scores(output: str) -> list[float]:
    """BLEU, times 100, and NIST as it prints them, with four decimals."""
    nist, bleu = re.search(r"NIST score = +([\d.]+) +BLEU score = +([\d.]+) +for system", output).groups()
    return [100 * float(bleu), float(nist)]
