"""Small faults in Python: comparisons flipped, conditions, clauses and statements dropped, constants moved.

Sources are cut by the places that `ast` gives, so that everything else stays as it was written. What is only said
(messages, logs, annotations, docstrings) and what is declared (decorators, assertions) is left alone.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from tests.mutants.mutant import Mutant

COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: (r"is\s+not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: (r"not\s+in", "in"),
}
ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: (r"\+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: (r"\*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "+"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: (r"\|", "&"),
}
NAMES = {
    one: other
    for pair in (
        ("any", "all"),
        ("min", "max"),
        ("minimum", "maximum"),
        ("argmin", "argmax"),
        ("floor", "ceil"),
        ("is_", "is_not"),
        ("in_", "not_in"),
        ("startswith", "endswith"),
        ("outerjoin", "join"),
    )
    for one, other in (pair, pair[::-1])
    if one != "join"
}
"""Functions and methods that are taken for one another."""
CLAUSES = {"where", "order_by", "with_for_update", "limit", "distinct", "filter", "group_by", "having", "correlate"}
"""Methods of SQLAlchemy's statements without which a statement is one, too."""
SYMMETRIC = {
    "select",
    "min",
    "max",
    "minimum",
    "maximum",
    "add",
    "multiply",
    "and_",
    "or_",
    "isinstance",
    "add_columns",
}
"""What gives the same with arguments swapped: the columns of a row are read by their names."""
STATEMENTS = (ast.AugAssign, ast.Delete, ast.Continue, ast.Break)
SAID = {"log", "warnings"}
"""What is called of these only tells something."""
DECLARED = {"__table_args__", "__all__"}


def python_mutants(path: str, source: bytes) -> list[Mutant]:
    """All mutants of a file, in their order. A few cannot be compiled, which is found out when they are tried."""
    found = _Mutator(path, source).mutants()
    return list(dict.fromkeys(each for each in found if source[each.start : each.end] != each.replacement))


def can_be_compiled(source: bytes) -> bool:
    """Whether it is Python."""
    try:
        compile(source, "mutant", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


class _Mutator:
    def __init__(self, path: str, source: bytes) -> None:
        self._path = path
        self._source = source
        self._tree = ast.parse(source)
        self._begins = [0, *(each.end() for each in re.finditer(rb"\n", source))]
        self._members: dict[str, list[str]] = defaultdict(list)
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr.isupper():
                members = self._members[node.value.id]
                if node.attr not in members:
                    members.append(node.attr)

    def mutants(self) -> Iterator[Mutant]:
        yield from self._walk(self._tree, "")

    def _walk(self, node: ast.AST, scope: str) -> Iterator[Mutant]:
        if _is_left_alone(node):
            return
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            scope = f"{scope}.{node.name}" if scope else node.name
        for operator, place, replacement in self._faults(node):
            yield Mutant(self._path, operator, *place, replacement.encode(), scope)
        for name, value in ast.iter_fields(node):
            if name in {"annotation", "returns", "decorator_list", "type_params", "format_spec"}:
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from self._walk(child, scope)

    def _faults(self, node: ast.AST) -> Iterator[tuple[str, tuple[int, int], str]]:
        """Which operator, where, and what stands there instead."""
        match node:
            case ast.Compare():
                operands = [node.left, *node.comparators]
                for kind, (left, right) in zip(node.ops, pairwise(operands), strict=True):
                    pattern, other = COMPARISONS[type(kind)]
                    yield "comparison", self._between(left, right, pattern), other
                    if isinstance(kind, ast.In | ast.NotIn):
                        yield from self._element_dropped(right)
            case ast.BoolOp():
                word, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
                for left, right in pairwise(node.values):
                    yield "and/or", self._between(left, right, rf"\b{word}\b"), other
                for value in node.values:
                    yield "condition dropped", self._place(value), str(word == "and")
            case ast.BinOp() if type(node.op) in ARITHMETIC and not _is_text(node.left) and not _is_text(node.right):
                pattern, other = ARITHMETIC[type(node.op)]
                yield "arithmetic", self._between(node.left, node.right, pattern), other
            case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert()):
                start = self._place(node)[0]
                spelling = re.match(rb"not\s*|.", self._source[start:])
                assert spelling is not None
                yield "sign dropped", (start, start + spelling.end()), ""
            case ast.Constant(value=bool() as value):
                yield "constant", self._place(node), str(not value)
            case ast.Constant(value=int() as value):
                for other in (value + 1, *([value - 1] if value > 0 else [])):
                    yield "constant", self._place(node), str(other)
            case ast.Constant(value=float() as value):
                yield "constant", self._place(node), repr(2 * value or 1.0)
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if attr.isupper() and len(self._members[name]) > 1:
                members = self._members[name]
                other = members[(members.index(attr) + 1) % len(members)]
                yield "member", self._place(node), f"{name}.{other}"
            case ast.IfExp():
                for choice in (node.body, node.orelse):
                    yield "choice", self._place(node), f"({self._text(choice)})"
            case ast.comprehension():
                for condition in node.ifs:
                    yield "filter dropped", self._place(condition), "True"
            case ast.If():
                yield "always", self._place(node.test), "True"
                yield "never", self._place(node.test), "False"
            case ast.Call():
                yield from self._faults_of_call(node)
            case ast.Expr(value=ast.Call() | ast.Await()):
                yield "statement dropped", self._place(node), "pass"
            case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
                yield "statement dropped", self._place(node), "pass"
            case _ if isinstance(node, STATEMENTS):
                yield "statement dropped", self._place(node), "pass"

    def _faults_of_call(self, node: ast.Call) -> Iterator[tuple[str, tuple[int, int], str]]:
        end = self._place(node)[1]
        if isinstance(node.func, ast.Attribute):
            name, name_end = node.func.attr, self._place(node.func)[1]
            if name in CLAUSES:
                yield "clause dropped", (self._source.rindex(b".", 0, name_end), end), ""
                for argument in node.args if len(node.args) > 1 else []:
                    yield "condition dropped", self._with_comma(argument), ""
            if name in {"in_", "not_in"} and node.args:
                yield from self._element_dropped(node.args[0])
        else:
            name, name_end = (node.func.id if isinstance(node.func, ast.Name) else ""), self._place(node.func)[1]
        if name in NAMES:
            yield "function", (name_end - len(name), name_end), NAMES[name]
        for keyword in node.keywords:
            if keyword.arg and keyword.arg != "strict":
                yield "argument dropped", self._with_comma(keyword), ""
        for one, other in pairwise(node.args if name not in SYMMETRIC else []):
            if isinstance(one, ast.Name | ast.Attribute) and isinstance(other, ast.Name | ast.Attribute):
                place = self._place(one)[0], self._place(other)[1]
                between = self._source[self._place(one)[1] : self._place(other)[0]].decode()
                yield "arguments swapped", place, self._text(other) + between + self._text(one)

    def _element_dropped(self, collection: ast.expr) -> Iterator[tuple[str, tuple[int, int], str]]:
        if isinstance(collection, ast.Tuple | ast.List | ast.Set) and len(collection.elts) > 1:
            for element in collection.elts:
                yield "element dropped", self._with_comma(element), ""

    def _place(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._begins[node.lineno - 1] + node.col_offset, self._begins[node.end_lineno - 1] + node.end_col_offset

    def _text(self, node: ast.expr) -> str:
        return self._source[slice(*self._place(node))].decode()

    def _between(self, left: ast.expr, right: ast.expr, pattern: str) -> tuple[int, int]:
        """Where the operator stands."""
        start = self._place(left)[1]
        found = re.search(pattern.encode(), self._source[start : self._place(right)[0]])
        assert found is not None
        return start + found.start(), start + found.end()

    def _with_comma(self, node: ast.expr | ast.keyword) -> tuple[int, int]:
        """An element of a list with the comma after it, or before it where it is the last one."""
        start, end = self._place(node)
        if after := re.match(rb"\s*,\s*", self._source[end:]):
            return start, end + after.end()
        if before := re.search(rb",\s*\Z", self._source[:start]):
            return before.start(), end
        return start, end


def _is_left_alone(node: ast.AST) -> bool:
    match node:
        case ast.Assert() | ast.Raise() | ast.JoinedStr() | ast.Import() | ast.ImportFrom():
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name in DECLARED or isinstance(node.value, ast.Subscript)
        case (
            ast.Call(func=ast.Attribute(value=ast.Name(id=name)))
            | ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name))))
        ):
            return name in SAID
        case ast.Call(func=ast.Name(id="mapped_column" | "field" | "cast" | "TypeVar")):
            return True
    return False


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
