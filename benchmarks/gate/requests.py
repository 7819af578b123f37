"""What a program may ask of the callgrind that it runs under: to count, and to write down what it counted.

valgrind translates the code of a program as it comes to it. Four rotations of a register that together do nothing,
and then an exchange of another register with itself, mean to it: do what the numbers say to which rax points, and leave
the answer in rdx. That is what the macros of valgrind/callgrind.h expand to, in six words of machine code, so
that no compiler is needed here. On the processor itself they do nothing.
"""

from __future__ import annotations

import ctypes
import mmap
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_CODE = {
    "x86_64": bytes.fromhex(
        "4889f8"  # mov rax, rdi: the argument, where the request is
        "31d2"  # xor edx, edx: the answer of the processor itself
        "48c1c703 48c1c70d 48c1c73d 48c1c733"  # rol rdi by 3, 13, 61, 51: once around, twice
        "4887db"  # xchg rbx, rbx
        "4889d0 c3"  # mov rax, rdx; ret
    ),
}
MACHINES = tuple(_CODE)

_RUNNING = 0x1001
_COMMAND = 0x1202
_ZERO, _DUMP, _START = ((ord("C") << 24 | ord("T") << 16) + number for number in (1, 3, 4))


def on_valgrind(machine: str) -> bool:
    """Whether this process runs under it."""
    return machine in _CODE and bool(_ask(machine, _RUNNING))


def start(machine: str) -> None:
    """Begin to count, where callgrind was started with `--instr-atstart=no`: until then it is ten times faster."""
    _ask(machine, _START)


def zero(machine: str) -> None:
    """Forget what was counted."""
    _ask(machine, _ZERO)


def dump(machine: str, name: str) -> None:
    """Write down what was counted, in a file of its own that names the reason, and forget it."""
    text = ctypes.create_string_buffer(name.encode())
    _ask(machine, _DUMP, ctypes.addressof(text))


def counted(machine: str, log: Path) -> int:
    """How many instructions were counted so far: callgrind says it in valgrind's log, the file of `--log-file`."""
    text = ctypes.create_string_buffer(b"status internal")
    began = log.stat().st_size
    _ask(machine, _COMMAND, ctypes.addressof(text))
    with log.open() as file:
        file.seek(began)
        return int(next(line for line in file if line.startswith("events-1: ")).split()[1])


def _ask(machine: str, request: int, argument: int = 0) -> int:
    numbers = (ctypes.c_uint64 * 6)(request, argument)
    return int(_function(machine)(ctypes.addressof(numbers)))


@cache
def _function(machine: str) -> Callable[[int], int]:
    protection = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=protection)
    page.write(_CODE[machine])
    held = ctypes.c_char.from_buffer(page)
    function = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)(ctypes.addressof(held))
    # The page must live as long as the function does.
    function.page = held  # type: ignore[attr-defined]
    return function
