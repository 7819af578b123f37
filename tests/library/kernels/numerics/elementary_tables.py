"""The tables of kernels/include/elementary.h, made by `decimal`, which rounds logarithms and exponentials correctly.

`python -m tests.library.kernels.numerics.elementary_tables` writes the file anew.
"""

from collections.abc import Iterable
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from pathlib import Path

from hatch_build import KERNELS

HEADER = Path(KERNELS, "include", "elementary_tables.h")
ABOUT = """\
/* Constants of elementary.h, in units of 2^-127 where nothing else is said, each rounded to the nearest:
 * `python -m tests.library.kernels.numerics.elementary_tables` writes this file. */
"""


def made() -> str:
    """The text of the header."""
    with localcontext(prec=80):
        two = Decimal(2)
        ln2 = two.ln()
        coarse = [round(Decimal(2**17) / at) for at in range(90, 182)]
        return "".join(
            [
                ABOUT + '#include "fixed_point.h"\n\n',
                _constant("LN2", ln2 * 2**116, "in units of 2^-116"),
                _constant("LOG2_E", 1 / ln2 * 2**127),
                _constant("STEP", ln2 / 2**12 * 2**117, "ln 2 / 2^12 in units of 2^-117, rounded down", down=True),
                f"/* What is left of it, in units of 2^-181. */\n{_rest(ln2 / 2**12 * 2**117)}",
                f"/* 2^12 / ln 2 in units of 2^-50. */\n"
                f"static const int64_t STEPS = 0x{_whole(2**12 / ln2 * 2**50):016X};\n",
                f"\n/* 2^10 / (j / 128), from j = 90. */\n"
                f"static const uint16_t RECIPROCALS[] = {{\n{_rows(map(str, coarse), 16)}}};\n",
                _table("COARSE_LOGS", (-(Decimal(each) / 2**10).ln() for each in coarse), "-ln of each of them"),
                _table(
                    "FINE_LOGS",
                    (-(1 - Decimal(at) / 2**13).ln() for at in range(-64, 65)),
                    "-ln (1 - q / 2^13), from q = -64",
                ),
                _table("COARSE_POWERS", (two ** (Decimal(at) / 64) for at in range(64)), "2^(i / 64)"),
                _table("FINE_POWERS", (two ** (Decimal(at) / 4096) for at in range(64)), "2^(i / 4096)"),
                _pairs(
                    "QUICK_LOGS",
                    [(Decimal(each) / 2**10, *_split(-(Decimal(each) / 2**10).ln(), 42)) for each in coarse],
                    "c, and -ln c in two parts, the first of them a multiple of 2^-42",
                ),
                _pairs(
                    "QUICK_POWERS",
                    [_split(two ** (Decimal(at) / 128)) for at in range(128)],
                    "2^(i / 128) in two parts",
                ),
                _doubles("LN2_HIGH", "LN2_LOW", _split(ln2, 42), "ln 2, the first part a multiple of 2^-42"),
                _doubles("PART_HIGH", "PART_LOW", _split(ln2 / 128, 42), "ln 2 / 128, likewise"),
                f"static const double PARTS = {float(128 / ln2).hex()}; /* 128 / ln 2 */\n",
                _table("RECIPROCAL", (1 / Decimal(at) for at in range(2, 11)), "1 / k, from k = 2"),
                _table("FACTORIAL", (1 / Decimal(_factorial(at)) for at in range(2, 10)), "1 / k!, from k = 2"),
            ]
        )


def _split(value: Decimal, places: int | None = None) -> tuple[Decimal, Decimal]:
    """The nearest double, or the nearest multiple of 2^-places, and what is left."""
    first = Decimal(float(value)) if places is None else Decimal(_whole(value * 2**places)) / 2**places
    return first, value - first


def _pairs(name: str, rows: list[tuple[Decimal, ...]], about: str) -> str:
    literals = (f"{{{', '.join(float(each).hex() for each in row)}}}" for row in rows)
    width = 4 // len(rows[0])
    return f"\n/* {about}. */\nstatic const double {name}[][{len(rows[0])}] = {{\n{_rows(literals, width)}}};\n"


def _doubles(high: str, low: str, parts: tuple[Decimal, Decimal], about: str) -> str:
    return f"/* {about}. */\nstatic const double {high} = {float(parts[0]).hex()}, {low} = {float(parts[1]).hex()};\n"


def _factorial(number: int) -> int:
    return number * _factorial(number - 1) if number else 1


def _whole(value: Decimal) -> int:
    return int(value.to_integral_value(ROUND_HALF_EVEN))


def _literal(whole: int) -> str:
    bits = whole % 2**128
    return f"FIXED(0x{bits >> 64:016X}, 0x{bits % 2**64:016X})"


def _constant(name: str, value: Decimal, about: str = "", *, down: bool = False) -> str:
    comment = f"/* {about}. */\n" if about else ""
    return f"{comment}static const uint128 {name} = {_literal(int(value) if down else _whole(value))};\n"


def _rest(value: Decimal) -> str:
    return f"static const uint64_t STEP_REST = 0x{_whole((value - int(value)) * 2**64):016X};\n"


def _table(name: str, values: Iterable[Decimal], about: str) -> str:
    literals = (_literal(_whole(value * 2**127)) for value in values)
    return f"\n/* {about}. */\nstatic const uint128 {name}[] = {{\n{_rows(literals, 2)}}};\n"


def _rows(literals: Iterable[str], width: int) -> str:
    each = list(literals)
    return "".join(f"    {', '.join(each[at : at + width])},\n" for at in range(0, len(each), width))


if __name__ == "__main__":
    HEADER.write_text(made(), "utf-8")
