"""What stands below the fields of a class, which Python itself does not keep."""

from __future__ import annotations

import ast
import inspect
import textwrap
from itertools import pairwise


def descriptions(described: type) -> dict[str, str]:
    """Field -> its docstring, of a class and those that it inherits from, as far as they are ours."""
    found: dict[str, str] = {}
    for each in reversed(described.__mro__):
        if each.__module__.split(".")[0] in {"runtime", "web"}:
            (tree,) = ast.parse(textwrap.dedent(inspect.getsource(each))).body
            assert isinstance(tree, ast.ClassDef)
            found |= _of_fields(tree)
    return found


def _of_fields(tree: ast.ClassDef) -> dict[str, str]:
    return {
        statement.target.id: inspect.cleandoc(after.value.value)
        for statement, after in pairwise(tree.body)
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str)
    }
