"""What is registered of a program: its command, what it reads, its version, and its limits."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.errors import BadParameter, MissingResource
from steelyard.metrics.registered_names import check_free

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.metrics.resources import Resource, Resources

KIND = "program"
INPUTS = ("source", "reference")
_VERSION = re.compile(r"[\w.+-]{1,50}", re.ASCII)
MOST_SECONDS = 7 * 24 * 3600.0
MOST_SEGMENTS = 100_000


@dataclass(frozen=True, slots=True)
class RegisteredProgram:
    """A program that scores segments.

    Raises
    ------
    BadParameter
        For what cannot be.
    """

    name: str
    command: tuple[str, ...]
    """The program and its arguments; no shell reads them."""
    inputs: tuple[str, ...]
    """What it reads beside the hypothesis, of `INPUTS`, in that order."""
    version: str
    """Raised by whoever registers it when its scores change."""
    higher_is_better: bool = True
    seconds: float = 600.0
    """The longest that it may take for a batch."""
    megabytes: int = 0
    """The most memory that it may ask for, in MiB; 0 for no limit."""
    batch: int = 500
    """Segments that it gets at once."""
    keeps_running: bool = False
    """Whether it answers each batch without waiting for the end of its input, and is kept for the next one."""

    def __post_init__(self) -> None:
        if not self.command or not self.command[0]:
            raise BadParameter("The command is empty. Give the program and its arguments.")
        if any("\0" in word for word in self.command):
            raise BadParameter("The command contains a NUL, which no program can be given.")
        if not set(self.inputs) <= set(INPUTS) or not self.inputs:
            raise BadParameter(f'The inputs are "{",".join(self.inputs)}". Give source, reference or both.')
        if not _VERSION.fullmatch(self.version):
            raise BadParameter(f'The version is "{self.version}". Give letters, digits, ".", "_", "+" and "-".')
        if not 0 < self.seconds <= MOST_SECONDS:
            raise BadParameter(f"The time limit is {self.seconds:g} s. Give more than 0 and at most a week.")
        if not 0 <= self.megabytes < 1 << 30:
            raise BadParameter(f"The memory limit is {self.megabytes} MiB. Give a whole number from 0 on.")
        if not 1 <= self.batch <= MOST_SEGMENTS:
            raise BadParameter(f"A batch has {self.batch} segments. Give 1 to {MOST_SEGMENTS:,}.")

    @property
    def scorer(self) -> str:
        """All that its scores depend on beside the texts, as far as anybody can tell: the limits are not part of it."""
        content = json.dumps([self.name, self.version, self.command, self.inputs])
        return f"program {self.name} {self.version} {sha256(content.encode()).hexdigest()}"


def register_program(resources: Resources, program: RegisteredProgram) -> Resource:
    """Register a program under its name, which may have stood for another one before.

    Parameters
    ----------
    resources : Resources
    program : RegisteredProgram

    Returns
    -------
    Resource

    Raises
    ------
    MissingResource
        Where the name cannot be one, and where there is no folder.
    BadParameter
        Where it is the name of a metric or of another kind of resource.
    """
    from steelyard.metrics.resources import check_name

    check_name(program.name)
    if is_metric(program.name):
        raise BadParameter(f'There is a metric "{program.name}". Choose another name.')
    check_free(resources, program.name, KIND)
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        content = Path(folder) / "program.json"
        content.write_text(json.dumps(asdict(program), ensure_ascii=False, indent=1, sort_keys=True), "utf-8")
        return resources.register(program.name, KIND, content, " ".join(program.command)[:500])


def read_program(resources: Resources, pinned: str) -> RegisteredProgram:
    """A program that is registered.

    Parameters
    ----------
    resources : Resources
    pinned : str
        `NAME@HASH`.

    Returns
    -------
    RegisteredProgram

    Raises
    ------
    MissingResource
        Where it is not here, or is no program.
    """
    path = resources.path(pinned, "program")
    try:
        # A short file of our own; what calls itself a program may be anything.
        with path.open("rb") as file:
            found = json.loads(file.read(1 << 20))
        return RegisteredProgram(**{**found, "command": tuple(found["command"]), "inputs": tuple(found["inputs"])})
    except (OSError, ValueError, TypeError, KeyError, BadParameter) as error:
        raise MissingResource(
            f"{pinned} is not a registered program ({error}). Register it by `steelyard metric create`."
        ) from error


def registered_programs(resources: Resources) -> list[Resource]:
    """Those registered in the folder, by name.

    Parameters
    ----------
    resources : Resources

    Returns
    -------
    list of Resource
    """
    return [each for each in resources.listed() if each.kind == KIND]


def is_metric(name: str) -> bool:
    """Whether metrics of the library or of another distribution have a name.

    Parameters
    ----------
    name : str

    Returns
    -------
    bool
    """
    from steelyard.metrics.built_in import LEARNED, PLACES
    from steelyard.metrics.entry_points import offers
    from steelyard.metrics.registry import ALIASES

    return name.lower() in {*PLACES, *LEARNED, *ALIASES, *(offer.name for offer in offers())}


def with_programs(specifications: Sequence[str], resources: Resources) -> list[str]:
    """The same with registered programs as specifications, so that their names can be used as those of metrics.

    Parameters
    ----------
    specifications : list of str
    resources : Resources

    Returns
    -------
    list of str
        `program:run=NAME` for NAME.
    """
    if all(is_metric(each.partition(":")[0].strip()) for each in specifications):
        return list(specifications)
    names = {each.name for each in registered_programs(resources)}
    return [f"program:run={each.strip()}" if each.strip() in names else each for each in specifications]
