"""Each kind of fault is made where it belongs, and nowhere else."""

import ast

import pytest

from tests.mutants.areas import AREAS, FILES
from tests.mutants.c_operators import c_mutants
from tests.mutants.python_operators import python_mutants
from tests.mutants.target import ROOT


def faults(source: str) -> dict[str, list[str]]:
    """Kind of fault -> the sources with it."""
    found: dict[str, list[str]] = {}
    for mutant in python_mutants("a.py", source.encode()):
        found.setdefault(mutant.operator, []).append(mutant.applied(source.encode()).decode())
    return found


@pytest.mark.parametrize(
    ("source", "operator", "expected"),
    [
        ("x = a < b", "comparison", ["x = a <= b"]),
        ("x = a is not b", "comparison", ["x = a is b"]),
        ("x = (a) not in (b)", "comparison", ["x = (a) in (b)"]),
        ("x = a == b < c", "comparison", ["x = a != b < c", "x = a == b <= c"]),
        ("x = a and (b or c)", "and/or", ["x = a or (b or c)", "x = a and (b and c)"]),
        ("x = a or b", "condition dropped", ["x = False or b", "x = a or False"]),
        ("x = y + 3", "constant", ["x = y + 4", "x = y + 2"]),
        ("x = f(True)", "constant", ["x = f(False)"]),
        ("x = y // 3", "arithmetic", ["x = y * 3"]),
        ("x = (p > 0) & (q > 1)", "arithmetic", ["x = (p > 0) | (q > 1)"]),
        ("x = not y", "sign dropped", ["x = y"]),
        ("x = ~(y > 1)", "sign dropped", ["x = (y > 1)"]),
        ("x = any(y)", "function", ["x = all(y)"]),
        ("x = c.is_(None)", "function", ["x = c.is_not(None)"]),
        (
            "x = select(t).where(a).order_by(b)",
            "clause dropped",
            ["x = select(t).where(a)", "x = select(t).order_by(b)"],
        ),
        ("x = (\n    select(t)\n    .where(a)\n)", "clause dropped", ["x = (\n    select(t)\n    \n)"]),
        ("x = s.where(a == 1, b)", "condition dropped", ["x = s.where(b)", "x = s.where(a == 1)"]),
        ("x = f(a, key=b, other=c)", "argument dropped", ["x = f(a, other=c)", "x = f(a, key=b)"]),
        ("x = zip(a, b, strict=True)", "argument dropped", []),
        ("x = f(a, b.c, 1)", "arguments swapped", ["x = f(b.c, a, 1)"]),
        ("x = f(a, a)", "arguments swapped", []),
        ("x = select(a, b)", "arguments swapped", []),
        ("x = s in (A, B)", "element dropped", ["x = s in (B)", "x = s in (A)"]),
        ("x = [s == K.ONE, K.TWO]", "member", ["x = [s == K.TWO, K.TWO]", "x = [s == K.ONE, K.ONE]"]),
        ("x = a if b else c", "choice", ["x = (a)", "x = (c)"]),
        ("x = [a for a in b if c]", "filter dropped", ["x = [a for a in b if True]"]),
        ("if a:\n    b = 1", "never", ["if False:\n    b = 1"]),
        ("if a:\n    b = 1", "always", ["if True:\n    b = 1"]),
        ("f(x)", "statement dropped", ["pass"]),
        ("a.b = 1", "statement dropped", ["pass"]),
        ("a += f(1)", "statement dropped", ["pass"]),
    ],
)
def test_what_each_kind_of_fault_makes(source: str, operator: str, expected: list[str]) -> None:
    assert faults(source).get(operator, []) == expected


@pytest.mark.parametrize(
    "source",
    [
        '"""Says 1 < 2."""',
        "def f(x: A | None) -> B[1]: ...",
        "@f(1)\nclass A: ...",
        "assert a < 1",
        "raise Wrong(1 < 2)",
        "log.info(1 < 2)",
        "x = f'{a < 1}'",
        "if TYPE_CHECKING:\n    import a",
        "x: A | B = y",
        "X = A[1]",
        "class A:\n    b: int = mapped_column(default=1)",
    ],
)
def test_what_is_only_said_or_declared_is_left_alone(source: str) -> None:
    assert faults(source) == {}


def test_letters_of_several_bytes_do_not_move_places() -> None:
    assert faults('x = "čárka" if é < 1 else ("ů", ó)')["comparison"] == ['x = "čárka" if é <= 1 else ("ů", ó)']


C = """#include <x.h>
/* 1 < 2 */
static int f(int a, int b) {
    if (a < b && b != 3) {
        return a + 1;
    }
    for (int i = 0; i < a; i++) {
        continue;
    }
    return "1 < 2";
}
"""


def test_faults_in_c() -> None:
    lines: dict[str, list[str]] = {}
    for mutant in c_mutants("f.c", C.encode()):
        assert mutant.scope == "f"
        lines.setdefault(mutant.operator, []).append(mutant.lines(C.encode())[1])
    assert lines.pop("constant")[:2] == ["if (a < b && b != 2) {", "if (a < b && b != 4) {"]
    assert lines == {
        "comparison": ["if (a <= b && b != 3) {", "if (a < b && b == 3) {", "for (int i = 0; i <= a; i++) {"],
        "and/or": ["if (a < b || b != 3) {"],
        "arithmetic": ["return a - 1;"],
        "statement dropped": [";"],
        "never": ["if (0 && a < b && b != 3) {"],
        "always": ["if (1 || a < b && b != 3) {"],
    }


def test_an_id_stays_when_lines_move_and_changes_with_them() -> None:
    source = b"def f(x):\n    return x < 1\n"
    (one,) = [each for each in python_mutants("a.py", source) if each.operator == "comparison"]
    moved = b"import a\n\n\n" + source.replace(b"    return", b"  return")
    (same,) = [each for each in python_mutants("a.py", moved) if each.operator == "comparison"]
    assert one.id(source) == same.id(moved)
    assert one.diff(source).splitlines()[-2:] == ["-    return x < 1", "+    return x <= 1"]
    for other in (source.replace(b"1", b"2"), source.replace(b"f(", b"g(")):
        (changed,) = [each for each in python_mutants("a.py", other) if each.operator == "comparison"]
        assert changed.id(other) != one.id(source)


def test_no_area_hides_another_one_of_its_name() -> None:
    assert len(AREAS) == sum(map(len, FILES))


@pytest.mark.parametrize("area", AREAS)
def test_areas_name_files_that_are_there_and_have_mutants(area: str) -> None:
    for target in AREAS[area]:
        for name in (*target.sources, *target.tests):
            assert (ROOT / name).is_file(), name
        for name in target.sources:
            source = (ROOT / name).read_bytes()
            mutants = (python_mutants if name.endswith(".py") else c_mutants)(name, source)
            assert mutants, name
            assert all(each.applied(source) != source for each in mutants)
            if name.endswith(".py"):
                ast.parse(mutants[-1].applied(source))
