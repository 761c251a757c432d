"""Imports go down the layers only, and folders of one row never import each other (see CONTRIBUTING)."""

import ast
from pathlib import Path

import latentgram

ROWS = [
    {"errors", "progress"},
    {"data"},
    {"stats", "spectral", "dp", "evaluate", "parallel"},
    {"models", "decode"},
    {"learn", "view"},
    {"parser", "store"},
    {"web", "compat"},
    {"cli"},
    {"__main__"},
]
ROW_OF = {part: row for row, parts in enumerate(ROWS) for part in parts}
PACKAGE = Path(latentgram.__file__).parent


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        found |= {name.split(".")[1] for name in names if name.startswith("latentgram.")}
    return found


def test_imports_go_down() -> None:
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        part = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if part == "__init__":
            continue
        for other in imports(path):
            if other != part and ROW_OF[other] >= ROW_OF[part]:
                wrong.append(f"{path.relative_to(PACKAGE)} imports {other}")
    assert not wrong, "\n".join(wrong)
