"""sacreBLEU's own tests with the import changed: `make drop-in`, or `python -m tests.sacrebleus_tests [SDIST]`.

They are fetched from the package index, run in a folder of their own, and never become part of this project.
"""

import re
import subprocess
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

FILES = ("test_bleu.py", "test_chrf.py", "test_sentence_bleu.py", "test_ter.py")
"""The others are about test sets to download, its class PairedTest, and a class inside its TER."""


def fetched(folder: Path) -> Path:
    """The source distribution of the release that the tests compare with."""
    asked = ["--no-deps", "--no-binary", ":all:", f"sacrebleu=={version('sacrebleu')}"]
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--dest", folder, *asked], check=True)
    return next(folder.glob("sacrebleu-*.tar.gz"))


def imported_from_here(program: str) -> str:
    """The program with `sacrebleu` replaced in its lines of imports, and nowhere else."""
    program = re.sub(r"^import sacrebleu$", "import steelyard as sacrebleu", program, flags=re.MULTILINE)
    return re.sub(r"^from sacrebleu\b", "from steelyard", program, flags=re.MULTILINE)


def main() -> int:
    with TemporaryDirectory() as name:
        folder = Path(name)
        sdist = Path(sys.argv[1]) if len(sys.argv) > 1 else fetched(folder)
        with tarfile.open(sdist) as archive:
            members = {Path(member.name).name: member for member in archive if "/test/" in member.name}
            for file in FILES:
                program = archive.extractfile(members[file]).read().decode()
                (folder / file).write_text(imported_from_here(program))
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "--rootdir", folder, *FILES], cwd=folder
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
