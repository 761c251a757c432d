"""Kernels that borrow arrays (`njit(borrows=True)`) make none, return none, and call only functions like that."""

import ast
from pathlib import Path

import pytest

import latentgram

PACKAGE = Path(latentgram.__file__).parent
NUMBERS = {"abs", "int", "kind", "len", "max", "min", "range"}
"""What makes numbers only; `kind` is the type of those of an array."""
OF_MODULES = {"exp", "float64", "int64", "ldexp", "log", "sqrt", "type", "uint64"}
"""The same of numpy, of math and of the kind of an array."""
SCALAR = {"unseen_rule", "unseen_weight"}
"""Functions that can be inlined anywhere, since they return numbers."""


def _options(function: ast.FunctionDef) -> dict[str, object]:
    """The constants that `njit` is given for a function."""
    found: dict[str, object] = {}
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and getattr(decorator.func, "id", None) == "njit":
            for option in decorator.keywords:
                found[option.arg or ""] = getattr(option.value, "value", None)
    return found


FUNCTIONS = {
    node: _options(node)
    for path in sorted(PACKAGE.rglob("*.py"))
    for node in ast.walk(ast.parse(path.read_text("utf-8")))
    if isinstance(node, ast.FunctionDef)
}
BORROWING = [function for function, options in FUNCTIONS.items() if options.get("borrows")]
CALLABLE = {function.name for function in BORROWING} | SCALAR | {"cell_of"}
CALLABLE |= {function.name for function, options in FUNCTIONS.items() if options.get("inline") == "always"}


def faults(function: ast.FunctionDef) -> set[str]:
    """What a function does that one that borrows must not."""
    found, inside = set(), [node for statement in function.body for node in ast.walk(statement)]
    arrays = {
        node.value.id for node in inside if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)
    }
    for node in inside:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id not in NUMBERS | CALLABLE:
                found.add(f"calls {node.func.id}")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr not in OF_MODULES:
                found.add(f"calls {node.func.attr}")
        elif isinstance(node, ast.Return) and node.value is not None:
            for value in node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]:
                part = isinstance(value, ast.Subscript) and any(
                    isinstance(each, ast.Slice) for each in ast.walk(value)
                )
                if part or (isinstance(value, ast.Name) and value.id in arrays):
                    found.add("returns an array")
    return found


@pytest.mark.parametrize("function", BORROWING, ids=lambda function: function.name)
def test_what_borrows_makes_and_returns_no_array(function: ast.FunctionDef) -> None:
    assert not faults(function)


def test_what_makes_an_array_is_found() -> None:
    (bad,) = ast.parse("def f(a):\n    b = np.zeros(3)\n    return a[0], b[1:]").body
    assert isinstance(bad, ast.FunctionDef)
    assert faults(bad) == {"calls zeros", "returns an array"}
