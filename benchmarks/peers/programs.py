"""Programs that people still measure with: multi-bleu.perl, mteval-v13a.pl, METEOR 1.5, where the machine has them.

They are no part of the project. Each is looked for on PATH, else a variable of the environment names it.
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

from steelyard.formats.plain import read_lines
from steelyard.metrics.segments import Segments

if TYPE_CHECKING:
    from benchmarks.harness.campaign import Campaign

PROGRAMS = {
    "multi-bleu": ("multi-bleu.perl", "STEELYARD_MULTI_BLEU", "perl"),
    "mteval-v13a": ("mteval-v13a.pl", "STEELYARD_MTEVAL", "perl"),
    "METEOR 1.5": ("meteor-1.5.jar", "STEELYARD_METEOR", "java"),
}
"""File, variable, and what runs it."""

DOCUMENT = 20
"""Segments: one document with all of them would take it much longer."""


@dataclass(frozen=True)
class Program:
    """One of them, or why there is none."""

    path: str = ""
    missing: str = ""


def find(name: str) -> Program:
    """The program of that name, if it can be run."""
    file, variable, runner = PROGRAMS[name]
    path = os.environ.get(variable) or shutil.which(file)
    if path is None or not Path(path).is_file():
        return Program(missing=f"no {file} on PATH, nor named by {variable}")
    if shutil.which(runner) is None:
        return Program(missing=f"there is no {runner} on PATH")
    twig = name == "mteval-v13a" and subprocess.run(
        ["perl", "-MXML::Twig", "-e", "1"], capture_output=True, check=False
    )
    if twig and twig.returncode:
        return Program(missing="Perl has no XML::Twig")
    return Program(path)


def words_apart(text: bytes, tokenizer: str = "13a") -> bytes:
    """The text with a blank between two words, as multi-bleu.perl wants it."""
    words = Segments(references=[text], hypotheses=[]).words(tokenizer, "mixed")
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


def meteor_command(jar: str, reference: Path, system: Path) -> list[str]:
    """METEOR 1.5 with its exact module alone and the parameters of 2005, all words alike."""
    options = ["-l", "other", "-m", "exact", "-lower", "-w", "1.0", "-p", "0.9 3.0 0.5 0.5"]
    return ["java", "-Xmx2G", "-jar", jar, str(system), str(reference), *options]


def meteor_score(output: str) -> float:
    """Of the corpus, 0 to 100."""
    return 100 * float(re.search(r"^Final score: +([\d.]+)$", output, re.MULTILINE)[1])
